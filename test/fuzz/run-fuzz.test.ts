import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { corpusFileOf, corpusFiles, readCorpus } from './corpus.ts'
import { fuzzTarget, replayInput, type FuzzReport } from './run-fuzz.ts'
import { certainInputs, fuzzInputs } from './run-fuzz-inputs.ts'
import { targets } from './run-fuzz-planted.ts'
import { findTargets, fuzzGuarded } from './run-fuzz-worker.ts'
import type { FuzzTarget } from './target.ts'

const limits = { seed: 1, inputs: 5000, seconds: Infinity }
const file = fileURLToPath(new URL('./run-fuzz-planted.ts', import.meta.url))

function planted(name: string): FuzzTarget {
  const found = targets.find((target) => target.name === `planted/${name}`)
  if (found === undefined) throw new Error(`no planted target ${name}`)
  return found
}

function countsOf({ throws, slow, large }: FuzzReport): object {
  return { throws, slow, large }
}

function take(count: number, seed: number, seeds: readonly Uint8Array[]): string[] {
  const taken: string[] = []
  for (const bytes of fuzzInputs(seed, seeds)) {
    if (taken.push(Buffer.from(bytes).toString('hex')) === count) break
  }
  return taken
}

test('[FUZZ1] the inputs begin with every seed and every truncation of it, and the seed determines the rest', () => {
  const seeds = [Uint8Array.of(1, 2, 3), Uint8Array.of(9)]
  const inputs = take(400, 7, seeds)
  expect(inputs.slice(0, certainInputs(seeds))).toEqual(['010203', '09', '', '01', '0102', ''])
  expect(take(400, 7, seeds)).toEqual(inputs)
  expect(take(400, 8, seeds)).not.toEqual(inputs)
  const random = new Set(inputs.slice(certainInputs(seeds)))
  expect(random.size).toBeGreaterThan(200)
})

test('[FUZZ2] a throw is found with the input that replays it, by truncation and by mutation', () => {
  const truncated = fuzzTarget(planted('throws-when-truncated'), limits)
  expect(truncated.throws).toBeGreaterThan(0)
  expect(truncated.failures[0]).toMatchObject({ kind: 'throw', hex: '4204', message: 'RangeError: read past the end' })

  const mutated = fuzzTarget(planted('throws-when-mutated'), limits)
  expect(mutated.throws).toBeGreaterThan(0)
  const hex = mutated.failures[0]?.hex ?? ''
  expect(() => replayInput(planted('throws-when-mutated'), hex)).toThrow('length out of range')
})

test('[FUZZ2] an input that is slow five times in a row, or allocates above the limit twice, is found', () => {
  const slow = fuzzTarget(planted('slow'), { ...limits, inputs: 7 })
  expect(countsOf(slow)).toEqual({ throws: 0, slow: 1, large: 0 })
  expect(slow.failures[0]?.hex).toBe('42040a')

  const large = fuzzTarget(planted('large'), { ...limits, inputs: 7 })
  expect(countsOf(large)).toEqual({ throws: 0, slow: 0, large: 1 })
  expect(large.maxAllocatedBytes).toBeGreaterThan((1 << 18) - 2048)
})

test('[FUZZ2] a sound target passes, and a target that decodes in place is handed fresh bytes each time', () => {
  expect(countsOf(fuzzTarget(planted('sound'), limits))).toEqual({ throws: 0, slow: 0, large: 0 })
  expect(countsOf(fuzzTarget(planted('scribbles'), { ...limits, inputs: 7 }))).toEqual({ throws: 0, slow: 0, large: 0 })
})

test('[FUZZ3] an endless loop ends in a report that names the input', async () => {
  const report = await fuzzGuarded({ file, target: planted('endless') }, limits, 1500)
  expect(report.slow).toBe(1)
  expect(report.failures[0]).toMatchObject({ kind: 'slow', hex: '42040a' })
})

test('[FUZZ3] the guarded run reports what the plain run reports', async () => {
  const target = planted('throws-when-mutated')
  const guarded = await fuzzGuarded({ file, target }, limits)
  const plain = fuzzTarget(target, limits)
  expect({ ...guarded, maxAllocatedBytes: 0 }).toEqual({ ...plain, maxAllocatedBytes: 0 })
})

test('[FUZZ3] planted faults are not among the targets that are found', async () => {
  const names = (await findTargets()).map((found) => found.target.name)
  expect(names.filter((name) => name.startsWith('planted/'))).toEqual([])
})

test('[FUZZ7] every file of the corpus is of a target, its inputs are seeds of it, and all are small', async () => {
  const targets = (await findTargets()).map((found) => found.target)
  const files = corpusFiles()
  expect(files.length).toBeGreaterThan(10)
  const names = targets.map(({ name }) => corpusFileOf(name))
  expect(files.filter(({ name }) => !names.includes(name))).toEqual([])
  expect(files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).toBeLessThan(1 << 20)
  const target = targets.find(({ name }) => name === 'rtype-peers')!
  const kept = readCorpus(target.name)
  expect(kept.length).toBeGreaterThan(0)
  expect(target.seeds().slice(-kept.length)).toEqual(kept)
})
