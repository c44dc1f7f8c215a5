/**
 * A snapshot codec on the standard crowd, beside @colyseus/schema on the same ticks: bytes a tick of frames as they are
 * sent, and time per object of the codec alone.
 *
 * The peer sends patches against the tick before, quantised, over an ordered stream. Tickwire sends deltas against the
 * tick `--distance` before, the newest that the receiver acknowledged. Trained tables come from a crowd of another
 * seed.
 */

import type { BenchResult, Figure, Table } from '../harness.ts'
import {
  FIRST_TICK, makeCoder, makeCrowdRows, makePlainCoder, measureFrames, trainOn, type CodecName,
} from './codec-level.ts'
import { timeCodec } from './codec-time.ts'
import { crowdSchema } from './crowd-rows.ts'
import { makeCrowd } from '../scenario.ts'
import { makePeers } from '../schema-peers.ts'

const COLYSEUS = '@colyseus/schema 5.0.34, patches of the tick before, quantised'

/** The bytes of frames to one client, and the time that the codec takes for a row. */
export function runCodec(
  codec: CodecName,
  distance: number,
  players: number,
  ticks: number,
  seed: number,
  trainSeed: number,
  rounds: number,
): BenchResult {
  if (trainSeed === seed) throw new Error('trained and tested on one seed: choose another --train-seed')
  const schema = crowdSchema()
  const crowd = makeCrowdRows(players, ticks, seed)
  // Timed first, with built-in tables: after training, the engine has more than one kind of sink, and its calls are
  // slower.
  const timings = timeCodec(makeCoder(schema, codec), crowd, distance, rounds)
  // Then as in a page. Two coders in turns would be slower by a twentieth.
  const plain = timeCodec(makePlainCoder(schema, codec), crowd, distance, rounds)
  const isTrained = codec === 'entropy' && trainSeed !== 0
  const priors = isTrained ? trainOn(makeCrowdRows(500, 400, trainSeed), distance) : undefined
  const sent = { frames: makeCrowd(players, ticks, seed), players }
  const bytes = measureFrames(codec, sent, distance, priors)
  const builtIn = isTrained ? measureFrames(codec, sent, distance) : bytes
  const peer = peerBytes(players, ticks, seed)
  const ns = (name: string): number => timings.find((timing) => timing.name === name)!.ns
  const onPage = plain.filter(({ name }) => name === 'encode' || name === 'decode')
  const table: Table = {
    title: `${players} players, ${ticks} ticks, seed ${seed}, baseline t-${distance}: bytes a tick of frames as sent`,
    columns: ['', 'bytes', 'of the peer'],
    rows: [
      [
        `${codec}${isTrained ? ', trained' : codec === 'entropy' ? ', built-in tables' : ''}`,
        bytes,
        bytes / peer,
      ],
      ...(isTrained ? [['entropy, built-in tables', builtIn, builtIn / peer]] : []),
      ['@colyseus/schema', peer, 1],
    ],
  }
  const time: Table = {
    title: 'time, ns an object',
    columns: ['', 'median', 'least'],
    rows: [...timings, ...onPage.map((timing) => ({ ...timing, name: `${timing.name}, on a page` }))].map(
      ({ name, ns: median, nsMin }) => [name, median, nsMin],
    ),
  }
  return {
    tables: [table, time],
    figures: [
      ...byteFigures(codec, distance, bytes, builtIn, peer, isTrained),
      ...timeFigures(codec, ns),
      ...onPage.map((timing): Figure => ({
        name: `${codec}_${timing.name}_page_ns_per_object`,
        value: timing.ns,
        unit: 'ns',
        against: null,
      })),
    ],
  }
}

function byteFigures(
  codec: CodecName,
  distance: number,
  bytes: number,
  builtIn: number,
  peer: number,
  isTrained: boolean,
): Figure[] {
  const name = distance === 1 ? `${codec}_bytes_ratio_colyseus` : `${codec}_t${distance}_bytes_ratio_colyseus`
  const atMost =
    codec === 'packed'
      ? distance === 1
        ? 0.3
        : undefined
      : distance === 1
        ? isTrained
          ? 0.11
          : 0.13
        : distance === 6 && isTrained
          ? 0.19
          : undefined
  return [
    { name: 'bytes_per_tick', value: bytes, unit: 'B', against: null },
    { name, value: bytes / peer, unit: 'ratio', against: COLYSEUS, ...(atMost === undefined ? {} : { atMost }) },
    ...(isTrained
      ? [
          {
            name: `${name}_built_in`,
            value: builtIn / peer,
            unit: 'ratio',
            against: COLYSEUS,
            ...(distance === 1 ? { atMost: 0.13 } : {}),
          },
        ]
      : []),
  ]
}

function timeFigures(codec: CodecName, ns: (name: string) => number): Figure[] {
  const most: { readonly [name: string]: number } = codec === 'entropy' ? { encode: 250, decode: 350, copy: 20 } : {}
  return ['encode', 'decode', 'copy'].flatMap((name) => [
    {
      name: `${codec}_${name}_ns_per_object`,
      value: ns(name),
      unit: 'ns',
      against: null,
      ...(most[name] !== undefined && { atMost: most[name] }),
    },
    {
      name: `${codec}_${name}_ratio_control`,
      value: ns(name) / ns('control'),
      unit: 'ratio',
      against: 'a hundred steps of a generator that write to a table',
    },
  ])
}

/** Mean bytes of the peer's patches in the ticks that are counted. */
function peerBytes(players: number, ticks: number, seed: number): number {
  const frames = makeCrowd(players, ticks, seed)
  const peer = makePeers(frames, players).find(({ name }) => name === '@colyseus/schema')!
  let sum = 0
  for (let tick = 0; tick < ticks; tick++) {
    const { length } = peer.pack(tick)
    if (tick >= FIRST_TICK) sum += length
  }
  return sum / (ticks - FIRST_TICK)
}
