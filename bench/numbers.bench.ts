/**
 * Exact numbers beside those of the JavaScript engine: the cost of a sin that has the same bits everywhere. Also the
 * content hash, the generators and fixed point, which the language does not have.
 *
 * Arguments are those of games (angles of a few turns, directions, distances), not the special cases.
 */

import { parseArgs } from 'node:util'
import * as fixedMath from '../packages/tickwire/src/core/base/fixed-point-math.ts'
import * as fixed from '../packages/tickwire/src/core/base/fixed-point.ts'
import { hashBytes, hashCombine, hashWords } from '../packages/tickwire/src/core/base/hash.ts'
import { KeyedPrng } from '../packages/tickwire/src/core/base/keyed-prng.ts'
import * as exact from '../packages/tickwire/src/core/base/math.ts'
import { Prng } from '../packages/tickwire/src/core/base/prng.ts'
import * as quaternion from '../packages/tickwire/src/core/base/quaternion.ts'
import {
  allocatedBytes, interleave, ratio, type Bench, type BenchResult, type Contender, type Figure,
} from './harness.ts'

const COST_MAX = 4

export const bench: Bench = {
  name: 'numbers',
  summary: 'exact functions beside Math, the content hash, generators, fixed point',
  options: ['--rounds N     timed rounds (default 31)'],
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { rounds: { type: 'string', default: '31' } } })
    return run(Number(values.rounds))
  },
}

function run(rounds: number): BenchResult {
  const names = Object.keys(RIVALS) as (keyof typeof RIVALS)[]
  const rivals = names.flatMap((name) => RIVALS[name])
  const timings = interleave(rivals, rounds)
  const ns = (name: string): number => timings.find((timing) => timing.name === name)!.ns
  const cost = (name: string): number => ratio(timings, `exact.${name}`, `Math.${name}`)
  const hashes = interleave(hashContenders(), rounds)
  const rate = (name: string): number => 1000 / hashes.find((timing) => timing.name === name)!.ns
  const others = interleave(otherContenders(), rounds)
  const ours = [...rivals.filter(({ name }) => name.startsWith('exact')), ...hashContenders(), ...otherContenders()]

  return {
    tables: [
      {
        title: 'exact functions, ns a call',
        columns: ['function', 'exact', 'Math', 'ratio'],
        rows: names.map((name) => [name, ns(`exact.${name}`), ns(`Math.${name}`), cost(name)]),
      },
      { title: 'content hash', columns: ['what', 'MB/s'], rows: hashes.map(({ name }) => [name, rate(name)]) },
      { title: 'the rest, ns a call', columns: ['what', 'ns'], rows: others.map(({ name, ns }) => [name, ns]) },
    ],
    figures: [
      ...names.map((name): Figure => ({
        name: `exact_ratio_math_${name}`, value: cost(name), unit: 'ratio',
        against: `Math.${name} of Node ${process.versions.node}`, atMost: COST_MAX,
      })),
      { name: 'hash_words_mbps_100k', value: rate('words, 100 KB'), unit: 'MB/s', against: null },
      { name: 'hash_words_mbps_4k', value: rate('words, 4 KB'), unit: 'MB/s', against: null },
      { name: 'hash_bytes_mbps_100k', value: rate('bytes, 100 KB'), unit: 'MB/s', against: null },
      ...others.map(({ name, ns }): Figure => ({
        name: `${name.replaceAll(' ', '_')}_ns`, value: ns, unit: 'ns', against: null,
      })),
      {
        name: 'numbers_alloc', unit: 'B/call', against: null, atMost: 0,
        value: Math.max(...ours.map(({ run, ops }) => allocatedBytes(run, ops, 5))),
      },
    ],
  }
}

const COUNT = 20_000
/** Calls per loop. One long loop would be compiled while it runs, unlike the loops of a game. */
const CHUNK = 1000

/** Sums are stored here, so that no call is optimised away. */
const sink = new Float64Array(1)

const prng = new Prng(0x5eed)
const filled = (draw: () => number): Float64Array => Float64Array.from({ length: COUNT }, draw)
const angles = filled(() => prng.nextFloat() * 20 - 10)
const units = filled(() => prng.nextFloat() * 2 - 1)
const sizes = filled(() => prng.nextFloat() * 100)
const powers = filled(() => prng.nextFloat() * 6 - 3)

/** Calls one function for each argument in a range. */
type Loop = (from: number, to: number) => void

/** The exact function and that of Math, each in a separate loop, so that every loop calls only one function. */
function pair(name: string, exactLoop: Loop, mathLoop: Loop): Contender[] {
  const contender = (of: string, loop: Loop): Contender => ({
    name: `${of}.${name}`,
    ops: COUNT,
    run() {
      for (let from = 0; from < COUNT; from += CHUNK) loop(from, from + CHUNK)
    },
  })
  return [contender('exact', exactLoop), contender('Math', mathLoop)]
}

/** Written out: `new Function` would be shorter, but would not measure code that is really used. */
const RIVALS = {
  sin: pair('sin',
    (i, to) => { let sum = 0; for (; i < to; i++) sum += exact.sin(angles[i]!); sink[0] = sum },
    (i, to) => { let sum = 0; for (; i < to; i++) sum += Math.sin(angles[i]!); sink[0] = sum }),
  cos: pair('cos',
    (i, to) => { let sum = 0; for (; i < to; i++) sum += exact.cos(angles[i]!); sink[0] = sum },
    (i, to) => { let sum = 0; for (; i < to; i++) sum += Math.cos(angles[i]!); sink[0] = sum }),
  tan: pair('tan',
    (i, to) => { let sum = 0; for (; i < to; i++) sum += exact.tan(angles[i]!); sink[0] = sum },
    (i, to) => { let sum = 0; for (; i < to; i++) sum += Math.tan(angles[i]!); sink[0] = sum }),
  asin: pair('asin',
    (i, to) => { let sum = 0; for (; i < to; i++) sum += exact.asin(units[i]!); sink[0] = sum },
    (i, to) => { let sum = 0; for (; i < to; i++) sum += Math.asin(units[i]!); sink[0] = sum }),
  acos: pair('acos',
    (i, to) => { let sum = 0; for (; i < to; i++) sum += exact.acos(units[i]!); sink[0] = sum },
    (i, to) => { let sum = 0; for (; i < to; i++) sum += Math.acos(units[i]!); sink[0] = sum }),
  atan: pair('atan',
    (i, to) => { let sum = 0; for (; i < to; i++) sum += exact.atan(angles[i]!); sink[0] = sum },
    (i, to) => { let sum = 0; for (; i < to; i++) sum += Math.atan(angles[i]!); sink[0] = sum }),
  atan2: pair('atan2',
    (i, to) => { let sum = 0; for (; i < to; i++) sum += exact.atan2(angles[i]!, units[i]!); sink[0] = sum },
    (i, to) => { let sum = 0; for (; i < to; i++) sum += Math.atan2(angles[i]!, units[i]!); sink[0] = sum }),
  exp: pair('exp',
    (i, to) => { let sum = 0; for (; i < to; i++) sum += exact.exp(angles[i]!); sink[0] = sum },
    (i, to) => { let sum = 0; for (; i < to; i++) sum += Math.exp(angles[i]!); sink[0] = sum }),
  log: pair('log',
    (i, to) => { let sum = 0; for (; i < to; i++) sum += exact.log(sizes[i]!); sink[0] = sum },
    (i, to) => { let sum = 0; for (; i < to; i++) sum += Math.log(sizes[i]!); sink[0] = sum }),
  log2: pair('log2',
    (i, to) => { let sum = 0; for (; i < to; i++) sum += exact.log2(sizes[i]!); sink[0] = sum },
    (i, to) => { let sum = 0; for (; i < to; i++) sum += Math.log2(sizes[i]!); sink[0] = sum }),
  pow: pair('pow',
    (i, to) => { let sum = 0; for (; i < to; i++) sum += exact.pow(sizes[i]!, powers[i]!); sink[0] = sum },
    (i, to) => { let sum = 0; for (; i < to; i++) sum += Math.pow(sizes[i]!, powers[i]!); sink[0] = sum }),
  hypot: pair('hypot',
    (i, to) => { let sum = 0; for (; i < to; i++) sum += exact.hypot(angles[i]!, units[i]!); sink[0] = sum },
    (i, to) => { let sum = 0; for (; i < to; i++) sum += Math.hypot(angles[i]!, units[i]!); sink[0] = sum }),
  cbrt: pair('cbrt',
    (i, to) => { let sum = 0; for (; i < to; i++) sum += exact.cbrt(angles[i]!); sink[0] = sum },
    (i, to) => { let sum = 0; for (; i < to; i++) sum += Math.cbrt(angles[i]!); sink[0] = sum }),
}

/** Timed per byte, so that 1000 / ns is megabytes a second. */
function hashContenders(): Contender[] {
  const words = Int32Array.from({ length: 25_600 }, () => prng.nextU32())
  const bytes = new Uint8Array(words.buffer)
  const out = new Uint32Array(2)
  const repeated = (name: string, sizeBytes: number, times: number, hash: () => void): Contender => ({
    name, ops: sizeBytes * times, run: () => { for (let i = 0; i < times; i++) hash() },
  })
  return [
    repeated('words, 100 KB', 102_400, 10, () => hashWords(words, 0, 25_600, 1, out, 0)),
    repeated('words, 4 KB', 4096, 250, () => hashWords(words, 0, 1024, 1, out, 0)),
    repeated('bytes, 100 KB', 102_400, 10, () => hashBytes(bytes, 0, 102_400, 1, out, 0)),
  ]
}

/** Each in a separate loop, as in a game: in one shared loop the compiler could not inline the calls. */
function otherContenders(): Contender[] {
  const out = new Uint32Array(2)
  const streaming = new Prng(1)
  const keyed = new KeyedPrng(1)
  const a = fixed.q32(0x1234567, 3)
  const b = fixed.q32(0x7654321, -1)
  const c = fixed.q32()
  const q = { x: 0, y: 0, z: 0, w: 1 }
  const r = { x: 0.5, y: -0.5, z: 0.5, w: 0.5 }
  const between = { x: 0, y: 0, z: 0, w: 1 }
  const loops: Record<string, (ops: number) => void> = {
    'hash combine': (ops) => { for (let i = 0; i < ops; i++) hashCombine(out, 0, i, 1) },
    'prng word': (ops) => { for (let i = 0; i < ops; i++) sink[0] = streaming.nextU32() },
    'prng float': (ops) => { for (let i = 0; i < ops; i++) sink[0] = streaming.nextFloat() },
    'prng int': (ops) => { for (let i = 0; i < ops; i++) sink[0] = streaming.nextInt(1, 6) },
    'keyed first word': (ops) => { for (let i = 0; i < ops; i++) sink[0] = keyed.at(i, 7).nextU32() },
    'keyed next word': (ops) => { for (let i = 0; i < ops; i++) sink[0] = keyed.nextU32() },
    'fixed add': (ops) => { for (let i = 0; i < ops; i++) fixed.add(a, c, c) },
    'fixed multiply': (ops) => { for (let i = 0; i < ops; i++) fixed.multiply(a, c, c) },
    'fixed divide': (ops) => { for (let i = 0; i < ops; i++) fixed.divide(c, b, c) },
    'fixed sqrt': (ops) => { for (let i = 0; i < ops; i++) fixedMath.sqrt(a, c) },
    'fixed sin': (ops) => { for (let i = 0; i < ops; i++) fixedMath.sin(a, c) },
    'quaternion slerp': (ops) => { for (let i = 0; i < ops; i++) quaternion.slerp(q, r, 0.3, between) },
    'quaternion nlerp': (ops) => { for (let i = 0; i < ops; i++) quaternion.nlerp(q, r, 0.3, between) },
  }
  const ops = 5 * CHUNK
  return Object.entries(loops).map(([name, loop]) => ({ name, ops, run: () => loop(ops) }))
}
