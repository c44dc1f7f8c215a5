/**
 * The fuzzer: feeds one target its inputs and judges every run by three questions.
 *
 * Did it throw? Did it take over 50 ms, twice in a row? Did it allocate above its limit, twice in a row? ("Twice", since
 * the machine's own hiccups do not repeat on the same input.) It runs in the caller's thread: an endless loop in a
 * target is an endless loop here. `run-fuzz-worker.ts` puts a watchdog around it.
 */

import { getHeapStatistics } from 'node:v8'
import { fuzzInputs } from './run-fuzz-inputs.ts'
import type { FuzzTarget } from './target.ts'

/** Longer than this on one datagram is an attack that works. */
export const SLOW_MS = 50

/** What one input may allocate, unless its target says otherwise. */
export const ALLOCATION_BYTES_MAX = 1 << 20

/** Failures kept per target: the first of each message. The rest are only counted. */
const FAILURES_KEPT = 5

/** How far to go: so many inputs, or so many seconds, whichever ends first. */
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

/** What became of one target. `slow` counts endless loops too. */
export interface FuzzReport {
  readonly name: string
  readonly inputs: number
  readonly throws: number
  readonly slow: number
  readonly large: number
  /** The most that any one input allocated, reproducibly. */
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
  const endsAt = performance.now() + limits.seconds * 1000
  for (const bytes of fuzzInputs(mixName(limits.seed, target.name), target.seeds())) {
    if (inputs >= limits.inputs || performance.now() >= endsAt) break
    inputs++
    onInput?.(bytes)
    const first = runOnce(target, bytes)
    if (first.error !== undefined) fail('throw', bytes, first.error)
    if (first.elapsedMs <= SLOW_MS && first.allocatedBytes <= maxAllocatedBytes) continue
    const second = runOnce(target, bytes)
    const elapsedMs = Math.min(first.elapsedMs, second.elapsedMs)
    const allocatedBytes = Math.min(first.allocatedBytes, second.allocatedBytes)
    maxAllocatedBytes = Math.max(maxAllocatedBytes, allocatedBytes)
    if (elapsedMs > SLOW_MS) fail('slow', bytes, `took ${elapsedMs.toFixed(0)} ms, over ${SLOW_MS} ms`)
    if (allocatedBytes > allocationBytesMax) {
      fail('large', bytes, `allocated ${allocatedBytes} bytes, over ${allocationBytesMax}`)
    }
  }
  const { name } = target
  return { name, inputs, throws: counts.throw, slow: counts.slow, large: counts.large, maxAllocatedBytes, failures }
}

/** Runs one given input, as `--input HEX` does; the error, if any, is the caller's to see. */
export function replayInput(target: FuzzTarget, hex: string): void {
  target.run(fromHex(hex))
}

interface Run {
  readonly error: string | undefined
  readonly elapsedMs: number
  readonly allocatedBytes: number
}

/** On a copy, since decoders may open in place. */
function runOnce(target: FuzzTarget, bytes: Uint8Array): Run {
  const copy = bytes.slice()
  let error: string | undefined
  const allocatedBefore = liveBytes()
  const startedAt = performance.now()
  try {
    target.run(copy)
  } catch (thrown) {
    error = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)
  }
  const elapsedMs = performance.now() - startedAt
  return { error, elapsedMs, allocatedBytes: Math.max(0, liveBytes() - allocatedBefore - MEASUREMENT_BYTES) }
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
