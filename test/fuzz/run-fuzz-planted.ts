/**
 * Decoders with planted faults, which the tests of the fuzzer must find. Not a `*.fuzz.ts` file, so that no run of the
 * real targets includes it.
 */

import type { FuzzTarget } from './target.ts'

/** Over the limit for one input, in microseconds of processor time. */
const SLOW_US = 60_000

const MAGIC = 0x42

/** A length-prefixed record: [0x42][length][bytes]. */
const record = Uint8Array.of(MAGIC, 4, 10, 20, 30, 40)

const isRecord = (bytes: Uint8Array): boolean => bytes.length >= 2 && bytes[0] === MAGIC
const fullLength = (bytes: Uint8Array): number => 2 + (bytes[1] ?? 0)

let retained: unknown

/** One target for each kind of fault, and one without. */
export const targets: readonly FuzzTarget[] = [
  { name: 'planted/sound', seeds: () => [record], run: () => undefined },
  {
    name: 'planted/throws-when-truncated',
    seeds: () => [record],
    run(bytes) {
      if (isRecord(bytes) && bytes.length < fullLength(bytes)) throw new RangeError('read past the end')
    },
  },
  {
    name: 'planted/throws-when-mutated',
    seeds: () => [record],
    run(bytes) {
      if (isRecord(bytes) && bytes.length === 6 && (bytes[1] ?? 0) > 100) throw new RangeError('length out of range')
    },
  },
  {
    name: 'planted/slow',
    seeds: () => [record],
    run(bytes) {
      if (bytes.length !== 3) return
      const scratch = new Uint8Array(1)
      const from = process.cpuUsage()
      for (let spent = from; spent.user + spent.system < SLOW_US || spent === from; spent = process.cpuUsage(from)) {
        // Reading the CPU time allocates, so it is read seldom: this input is slow, and not large.
        for (let turns = 0; turns < 1e6; turns++) scratch[0] = (scratch[0]! + turns) & 0xff
      }
    },
  },
  {
    name: 'planted/endless',
    seeds: () => [record],
    run(bytes) {
      for (; bytes.length === 3;);
    },
  },
  {
    name: 'planted/large',
    seeds: () => [record],
    allocationBytesMax: 1 << 16,
    run(bytes) {
      if (bytes.length === 3) retained = new Uint8Array(1 << 18)
    },
  },
  {
    name: 'planted/scribbles',
    seeds: () => [record],
    run(bytes) {
      if (bytes.length === 6 && bytes[2] !== 10)
        throw new Error('got bytes that an earlier run had overwritten')
      bytes.fill(0)
      retained = bytes
    },
  },
]

/** Keeps the last allocation reachable, as a real decoder's state would. */
export function lastRetained(): unknown {
  return retained
}
