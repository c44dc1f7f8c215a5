/**
 * The fuzzer: feeds one target its inputs and judges every run by three questions.
 *
 * Did it throw? Did it take over 50 ms, five times in a row? Did it allocate above its limit, twice in a row? (The
 * machine's own hiccups do not repeat on the same input.) Measuring the heap takes longer than most inputs, so it is
 * measured once for a batch of them. If a batch allocated more than one input may, each of its inputs is measured. It
 * runs in the caller's thread: an endless loop in a target is an endless loop here. `run-fuzz-worker.ts` puts a
 * watchdog around it.
 */

import { getHeapStatistics } from 'node:v8'
import { fuzzInputs } from './run-fuzz-inputs.ts'
import type { FuzzTarget } from './target.ts'

/** A datagram that takes longer than this is a successful attack. */
export const SLOW_MS = 50

/** Runs of one input, all of which must be slow, for it to count as slow. */
const SLOW_TRIES = 4

/** What one input may allocate, unless its target says otherwise. */
export const ALLOCATION_BYTES_MAX = 1 << 20

/**
 * Inputs between two measurements of the heap; and one in this many batches is measured input by input, for the report.
 */
const BATCH = 64
const MEASURED_EVERY = 64

/** Failures kept per target: the first of each message. The rest are only counted. */
const FAILURES_KEPT = 5

/** How long to fuzz: a number of inputs or of seconds, whichever ends first. */
export interface FuzzLimits {
  readonly seed: number
  readonly inputs: number
  readonly seconds: number
}

/** One input that broke the target. */
export interface FuzzFailure {
  readonly kind: 'throw' | 'slow' | 'large'
  readonly hex: string
  readonly message: string
}

/** The result of one target. `slow` counts endless loops too. */
export interface FuzzReport {
  readonly name: string
  readonly inputs: number
  readonly throws: number
  readonly slow: number
  readonly large: number
  /** The most that any input allocated, reproducibly, of those that were measured by themselves. */
  readonly maxAllocatedBytes: number
  readonly failures: readonly FuzzFailure[]
}

/** Fuzzes one target. `onInput` sees every input before it is run. */
export function fuzzTarget(target: FuzzTarget, limits: FuzzLimits, onInput?: (bytes: Uint8Array) => void): FuzzReport {
  const allocationBytesMax = target.allocationBytesMax ?? ALLOCATION_BYTES_MAX
  const counts = { throw: 0, slow: 0, large: 0 }
  const failures: FuzzFailure[] = []
  let inputs = 0
  let maxAllocatedBytes = 0
  const fail = (kind: FuzzFailure['kind'], bytes: Uint8Array, message: string): void => {
    counts[kind]++
    const isNew = !failures.some((known) => known.kind === kind && (kind !== 'throw' || known.message === message))
    if (isNew && failures.length < FAILURES_KEPT) failures.push({ kind, hex: toHex(bytes), message })
  }
  const measure = (bytes: Uint8Array): void => {
    const [first, second] = [runOnce(target, bytes), runOnce(target, bytes)]
    const allocatedBytes = Math.min(first.allocatedBytes, second.allocatedBytes)
    maxAllocatedBytes = Math.max(maxAllocatedBytes, allocatedBytes)
    if (allocatedBytes > allocationBytesMax)
      fail('large', bytes, `allocated ${allocatedBytes} bytes, over ${allocationBytesMax}`)
  }
  const source = fuzzInputs(mixName(limits.seed, target.name), target.seeds())
  const endsAt = performance.now() + limits.seconds * 1000
  const batch: Uint8Array[] = []
  for (let batches = 0; inputs < limits.inputs && performance.now() < endsAt; batches++) {
    batch.length = 0
    const allocatedBefore = liveBytes()
    for (
      let startedAt = performance.now();
      batch.length < BATCH && inputs < limits.inputs && startedAt < endsAt;
      inputs++
    ) {
      const bytes = source.next().value
      batch.push(bytes)
      onInput?.(bytes)
      const error = errorOf(target, bytes.slice())
      if (error !== undefined) fail('throw', bytes, error)
      // The clock is read once for both: making an input takes microseconds.
      const endedAt = performance.now()
      const elapsedMs = endedAt - startedAt
      startedAt = endedAt
      if (elapsedMs <= SLOW_MS) continue
      const leastMs = fastest(target, bytes)
      if (leastMs > SLOW_MS) fail('slow', bytes, `took ${leastMs.toFixed(0)} ms, over ${SLOW_MS} ms`)
      startedAt = performance.now()
    }
    if (liveBytes() - allocatedBefore > allocationBytesMax || batches % MEASURED_EVERY === 0) batch.forEach(measure)
  }
  const { name } = target
  return { name, inputs, throws: counts.throw, slow: counts.slow, large: counts.large, maxAllocatedBytes, failures }
}

/** Runs one given input, as `--input HEX` does. Throws the error of the target. */
export function replayInput(target: FuzzTarget, hex: string): void {
  target.run(fromHex(hex))
}

interface Run {
  readonly elapsedMs: number
  readonly allocatedBytes: number
}

/** On a copy, since decoders may open in place. */
function runOnce(target: FuzzTarget, bytes: Uint8Array): Run {
  const copy = bytes.slice()
  const allocatedBefore = liveBytes()
  const [startedAt, usedBefore] = [performance.now(), process.cpuUsage()]
  errorOf(target, copy)
  const { user, system } = process.cpuUsage(usedBefore)
  // On a busy machine a run waits for the processor. That time does not count.
  const elapsedMs = Math.min(performance.now() - startedAt, (user + system) / 1000)
  return { elapsedMs, allocatedBytes: Math.max(0, liveBytes() - allocatedBefore - MEASUREMENT_BYTES) }
}

/** The fastest of several runs: on a busy machine one run may wait for the processor, but hardly every run. */
function fastest(target: FuzzTarget, bytes: Uint8Array): number {
  let leastMs = Infinity
  for (let tries = 0; tries < SLOW_TRIES && leastMs > SLOW_MS; tries++)
    leastMs = Math.min(leastMs, runOnce(target, bytes).elapsedMs)
  return leastMs
}

function errorOf(target: FuzzTarget, bytes: Uint8Array): string | undefined {
  try {
    target.run(bytes)
    return undefined
  } catch (thrown) {
    return thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  }
}

/** A collection in between makes the difference negative, never too large. */
function liveBytes(): number {
  const statistics = getHeapStatistics()
  return statistics.used_heap_size + statistics.external_memory
}

/** What measuring itself allocates: the statistics object and a few boxed numbers. */
const MEASUREMENT_BYTES = 1024

/** Two targets with the same seed inputs still get different streams. FNV-1a. */
function mixName(seed: number, name: string): number {
  let hash = seed ^ 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return hash | 0
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}

function fromHex(hex: string): Uint8Array {
  if (!/^([0-9a-fA-F]{2})*$/.test(hex)) throw new Error(`not hex, or half a byte: ${hex}`)
  return new Uint8Array(Buffer.from(hex, 'hex'))
}
