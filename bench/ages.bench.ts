/**
 * The age of baselines in whole matches, by network faults and byte budget, and the cost of other policies for choosing
 * baselines. The age affects the bits more than the coder does.
 *
 * Hosts and connections are the real ones (ages/crowd-match.ts). Other policies are computed from the sent rows: each
 * row is encoded again as if its baseline had been the newest even tick, or the newest multiple of four, at or before
 * the chosen one, with the row sent before it. A client that missed exactly that tick would cost more. Bits are made
 * once for each (object, baseline); `copies` is the number of clients that got them.
 */

import { parseArgs } from 'node:util'
import { BitWriter } from '../packages/tickwire/src/core/bits/bit-writer.ts'
import { EntropyCoder } from '../packages/tickwire/src/core/codec/entropy-coder.ts'
import { RowPair } from '../packages/tickwire/src/core/codec/row-coder.ts'
import { ValueHeap } from '../packages/tickwire/src/core/schema/value-heap.ts'
import { playMatch, TICK_RATE, type Account, type SentRow } from './ages/crowd-match.ts'
import type { Bench, BenchResult } from './harness.ts'
import { FIELD_COUNT } from './scenario.ts'
import { crowdSchema } from './scenario/crowd-rows.ts'

const ROUND_TRIPS_MS = [50, 200]
const LOSSES = [0, 0.05, 0.2]
/** A share of the bytes that the crowd takes without a cap. */
const TIGHT_SHARE = 0.4

export const bench: Bench = {
  name: 'ages',
  summary:
    'how old baselines are in whole matches, by weather and byte budget, and what other ways to choose them would cost',
  options: [
    '--players N     (default 64)',
    '--clients N     (default 8)',
    '--ticks N       (default 180)',
    '--seed N        (default 1)',
    '--rate N        snapshots a second (default 30)',
  ],
  run: async (args) => {
    const number = (otherwise: number): { type: 'string'; default: string } => ({
      type: 'string',
      default: String(otherwise),
    })
    const { values } = parseArgs({
      args: [...args],
      options: { players: number(64), clients: number(8), ticks: number(180), seed: number(1), rate: number(30) },
    })
    return run(
      Number(values.players),
      Number(values.clients),
      Number(values.ticks),
      Number(values.seed),
      Number(values.rate),
    )
  },
}

function run(players: number, clients: number, ticks: number, seed: number, snapshotRate: number): BenchResult {
  const rows = ROUND_TRIPS_MS.flatMap((roundTripMs) =>
    LOSSES.flatMap((loss) => {
      const match = { players, clients, ticks, seed, roundTripMs, loss, snapshotRate }
      const free = playMatch({ ...match, bytesPerSecond: Infinity })
      const tight = playMatch({
        ...match,
        bytesPerSecond: Math.round(free.bytesPerClientTick * TICK_RATE * TIGHT_SHARE),
      })
      return [free, tight].map((account, at) =>
        rowOf(
          `${roundTripMs} ms, ${loss * 100} %${at === 0 ? '' : ', capped'}`,
          account,
          players * ticks,
          TICK_RATE / snapshotRate,
        ),
      )
    }),
  )
  const worst = (column: number): number => Math.max(...rows.map((row) => Number(row[column])))
  return {
    tables: [
      {
        title:
          `baselines of ${players} walkers at ${TICK_RATE} Hz, sent at ${snapshotRate} Hz, ${clients} clients with 0.6 `
          + `to 1.4 of the round trip; capped: ${TIGHT_SHARE * 100} % of the bytes`,
        columns: [
          'weather',
          'age p50',
          'p90',
          'p99',
          'with older %',
          'rested %',
          'B a client and tick',
          'bits a row',
          'no older',
          'even',
          'fours',
          'made an object and tick',
          'even',
          'fours',
        ],
        rows,
      },
    ],
    figures: [
      { name: 'ages_p50_worst', value: worst(1), unit: 'ticks', against: null },
      { name: 'ages_p99_worst', value: worst(3), unit: 'ticks', against: null },
      {
        name: 'even_baselines_bits_ratio',
        value: Math.max(...rows.map((row) => Number(row[9]) / Number(row[7]))),
        unit: 'ratio',
        against: 'bits a row by the newest baseline whose row before is held',
      },
    ],
  }
}

function rowOf(name: string, account: Account, objectTicks: number, stride: number): (string | number)[] {
  const { sent, made, restedCount, fullCount } = account
  const ages = sent.map(({ age }) => age).toSorted((a, b) => a - b)
  const at = (share: number): number => ages[Math.min(ages.length - 1, Math.floor(ages.length * share))] ?? 0
  const all = sent.length + restedCount + fullCount
  const bits = policies(account, stride)
  const madeBy = (step: number): number =>
    new Set(made.map(({ index, tick, base }) => `${index} ${tick} ${base - (base % step)}`)).size / objectTicks
  return [
    name,
    at(0.5),
    at(0.9),
    at(0.99),
    (100 * sent.filter(({ hasOlder }) => hasOlder).length) / sent.length,
    (100 * restedCount) / all,
    account.bytesPerClientTick,
    ...bits,
    madeBy(1),
    madeBy(2),
    madeBy(4),
  ]
}

/** Mean bits of a row: as sent, without older rows, from even ticks, from every fourth tick. */
function policies({ sent, rows }: Account, stride: number): number[] {
  const coder = new EntropyCoder(crowdSchema(), TICK_RATE)
  const heap = new ValueHeap()
  const pair = new RowPair()
  const out = new BitWriter(new Uint8Array(1024))
  const cost = ({ index, tick }: SentRow, base: number, hasOlder: boolean): number => {
    const place = index * FIELD_COUNT
    Object.assign(pair, {
      rows: rows[tick]!,
      at: place,
      baseRows: rows[base]!,
      baseAt: place,
      age: tick - base,
      olderRows: rows[base - stride] ?? rows[base]!,
      olderAt: hasOlder ? place : -1,
      olderTicks: stride,
    })
    out.reset(out.bytes)
    coder.write(out, 0, pair, heap)
    return out.bitLength
  }
  const mean = (each: (one: SentRow) => number): number => sent.reduce((sum, one) => sum + each(one), 0) / sent.length
  const stepped = (one: SentRow, step: number): number => {
    const base = one.tick - one.age
    return cost(one, base - (base % step), base % step === 0 ? one.hasOlder : true)
  }
  return [
    mean((one) => cost(one, one.tick - one.age, one.hasOlder)),
    mean((one) => cost(one, one.tick - one.age, false)),
    mean((one) => stepped(one, 2)),
    mean((one) => stepped(one, 4)),
  ]
}
