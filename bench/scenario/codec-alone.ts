/**
 * The standard crowd by a snapshot codec, beside @colyseus/schema on the same ticks: bytes a tick and time an object.
 *
 * The peer sends patches of the tick before, quantised, over an ordered stream; ours is told against a tick `--distance`
 * before, which it takes for the newest the receiver holds. Trained tables come from a crowd of another seed.
 */

import type { BenchResult, Figure, Table } from '../harness.ts'
import { makeCoder, makeCrowdRows, makePlainCoder, measureBytes, trainOn, type CodecName } from './codec-level.ts'
import { timeCodec } from './codec-time.ts'
import { crowdSchema } from './crowd-rows.ts'
import { makeCrowd } from '../scenario.ts'
import { makePeers } from '../schema-peers.ts'

const COLYSEUS = '@colyseus/schema 5.0.34, patches of the tick before, quantised'

/** The codec by itself: every row of the crowd, against the row of `distance` ticks before. */
export function runCodec(codec: CodecName, distance: number, players: number, ticks: number, seed: number, trainSeed: number, rounds: number): BenchResult {
  if (trainSeed === seed) throw new Error('trained and tested on one seed: choose another --train-seed')
  const schema = crowdSchema()
  const crowd = makeCrowdRows(players, ticks, seed)
  // Timed first, by built-in tables: training leaves the engine with more than one kind of sink.
  const timings = timeCodec(makeCoder(schema, codec), crowd, distance, rounds)
  // Then as a page has it: two coders in turns would cost both of them a twentieth.
  const plain = timeCodec(makePlainCoder(schema, codec), crowd, distance, rounds)
  const isTrained = codec === 'entropy' && trainSeed !== 0
  const priors = isTrained ? trainOn(makeCrowdRows(500, 400, trainSeed), distance) : undefined
  const bytes = measureBytes(makeCoder(schema, codec, priors), crowd, distance)
  const builtIn = isTrained ? measureBytes(makeCoder(schema, codec), crowd, distance) : bytes
  const peer = peerBytes(players, ticks, seed)
  const ns = (name: string): number => timings.find((timing) => timing.name === name)!.ns
  const plainNs = plain.find(({ name }) => name === 'encode')!.ns
  const table: Table = {
    title: `${players} players, ${ticks} ticks, seed ${seed}, baseline t-${distance}: bytes a tick`,
    columns: ['', 'bytes', 'presence', 'of the peer'],
    rows: [
      [`${codec}${isTrained ? ', trained' : codec === 'entropy' ? ', built-in tables' : ''}`, bytes.total, bytes.presence, bytes.total / peer],
      ...(isTrained ? [['entropy, built-in tables', builtIn.total, builtIn.presence, builtIn.total / peer]] : []),
      ['@colyseus/schema', peer, '', 1],
    ],
  }
  const time: Table = { title: 'time, ns an object', columns: ['', 'median', 'least'], rows: [...timings, ...plain.filter(({ name }) => name === 'encode').map((timing) => ({ ...timing, name: 'encode, on a page' }))].map(({ name, ns: median, nsMin }) => [name, median, nsMin]) }
  return { tables: [table, time], figures: [...byteFigures(codec, distance, bytes.total, builtIn.total, peer, isTrained), ...timeFigures(codec, ns), { name: `${codec}_encode_plain_ns_per_object`, value: plainNs, unit: 'ns', against: null }] }
}

function byteFigures(codec: CodecName, distance: number, bytes: number, builtIn: number, peer: number, isTrained: boolean): Figure[] {
  const name = distance === 1 ? `${codec}_bytes_ratio_colyseus` : `${codec}_t${distance}_bytes_ratio_colyseus`
  const atMost = codec === 'packed' ? (distance === 1 ? 0.3 : undefined) : distance === 1 ? (isTrained ? 0.11 : 0.12) : distance === 6 && isTrained ? 0.19 : undefined
  return [
    { name: 'bytes_per_tick', value: bytes, unit: 'B', against: null },
    { name, value: bytes / peer, unit: 'ratio', against: COLYSEUS, ...(atMost === undefined ? {} : { atMost }) },
    ...(isTrained ? [{ name: `${name}_built_in`, value: builtIn / peer, unit: 'ratio', against: COLYSEUS, ...(distance === 1 ? { atMost: 0.12 } : {}) }] : []),
  ]
}

function timeFigures(codec: CodecName, ns: (name: string) => number): Figure[] {
  const most: { readonly [name: string]: number } = codec === 'entropy' ? { encode: 250, decode: 350, copy: 20 } : {}
  return ['encode', 'decode', 'copy'].flatMap((name) => [
    { name: `${codec}_${name}_ns_per_object`, value: ns(name), unit: 'ns', against: null, ...(most[name] !== undefined && { atMost: most[name] }) },
    { name: `${codec}_${name}_ratio_control`, value: ns(name) / ns('control'), unit: 'ratio', against: 'a hundred steps of a generator that write to a table' },
  ])
}

/** Mean bytes of the peer's patches, the ticks that are not scored aside. */
function peerBytes(players: number, ticks: number, seed: number): number {
  const frames = makeCrowd(players, ticks, seed)
  const peer = makePeers(frames, players).find(({ name }) => name === '@colyseus/schema')!
  let sum = 0
  for (let tick = 0; tick < ticks; tick++) {
    const { length } = peer.pack(tick)
    if (tick >= 30) sum += length
  }
  return sum / (ticks - 30)
}
