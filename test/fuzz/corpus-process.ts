/**
 * Looks for inputs that reach new blocks of the packages, under the coverage of V8, and adds them to the corpus.
 *
 *   corpus-process.ts SEED INPUTS [TARGET...]
 *
 * A batch that reaches a new block is halved until it is the input that reaches the block. That input is kept.
 */

import { Session } from 'node:inspector'
import { readCorpus, writeCorpus } from './corpus.ts'
import { fuzzInputs } from './run-fuzz-inputs.ts'
import { findTargets } from './run-fuzz-worker.ts'
import type { FuzzTarget } from './target.ts'

interface Coverage {
  readonly result: readonly {
    readonly url: string
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[]
    }[]
  }[]
}

const BATCH = 256
const KEPT_MAX = 16
/** Longer inputs are not kept, so that the corpus stays small. */
const KEPT_BYTES_MAX = 512

const [seed = 1, inputs = 5000] = process.argv.slice(2, 4).map(Number)
const only = process.argv.slice(4)
const session = new Session()
session.connect()
const post = (method: string, parameters: object = {}): Coverage => {
  let result: unknown
  session.post(method, parameters, (_error, answer) => { result = answer })
  // reason: commands of a session of the same thread are answered before `post` returns.
  return result as Coverage
}

/** The blocks that ran since the last call and are not in `known`. */
function newBlocks(known: Set<string>): string[] {
  const found: string[] = []
  for (const { url, functions } of post('Profiler.takePreciseCoverage').result) {
    if (!url.includes('/packages/')) continue
    for (const { ranges } of functions) {
      for (const { startOffset, endOffset, count } of ranges) {
        const block = `${url} ${startOffset} ${endOffset}`
        if (count > 0 && !known.has(block)) found.push(block)
      }
    }
  }
  return found
}

function attempt(target: FuzzTarget, bytes: Uint8Array): void {
  try {
    target.run(bytes.slice())
  } catch {
    // reason: `npm run fuzz` reports what throws
  }
}

/** Halves a batch that reaches new blocks until it is the inputs that do. */
function search(target: FuzzTarget, batch: readonly Uint8Array[], known: Set<string>, kept: Uint8Array[]): void {
  for (const bytes of batch) attempt(target, bytes)
  const blocks = newBlocks(known)
  if (blocks.length === 0 || kept.length >= KEPT_MAX) return
  const [bytes] = batch
  if (batch.length > 1 || bytes === undefined) {
    search(target, batch.slice(0, batch.length >> 1), known, kept)
    search(target, batch.slice(batch.length >> 1), known, kept)
    return
  }
  for (const block of blocks) known.add(block)
  if (bytes.length > 0 && bytes.length <= KEPT_BYTES_MAX) kept.push(bytes)
}

/** The inputs to keep for a target, with those of the corpus. */
function collect(target: FuzzTarget): Uint8Array[] {
  const seeds = target.seeds()
  const known = new Set<string>()
  newBlocks(known)
  const kept = [...readCorpus(target.name)]
  for (const bytes of [...seeds, ...kept]) attempt(target, bytes)
  for (const block of newBlocks(known)) known.add(block)
  const source = fuzzInputs(seed, seeds)
  for (let done = 0; done < inputs && kept.length < KEPT_MAX; done += BATCH) {
    search(target, Array.from({ length: BATCH }, () => source.next().value), known, kept)
  }
  return kept
}

post('Profiler.enable')
post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
for (const { target } of await findTargets()) {
  if (only.length > 0 && !only.includes(target.name)) continue
  const before = readCorpus(target.name).length
  const kept = collect(target)
  if (kept.length > before) writeCorpus(target.name, kept)
  console.log(`${target.name}: ${kept.length - before} more inputs`)
}
