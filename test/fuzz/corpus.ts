/**
 * The corpus: inputs that once reached lines that the seeds of a target do not reach. One file per target, one input
 * per line, as hex. `npm run fuzz -- --save-corpus` adds to it.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { FuzzTarget } from './target.ts'

const FOLDER = new URL('./corpus/', import.meta.url)

/** The names of files, and their sizes in bytes. */
export function corpusFiles(): readonly { readonly name: string; readonly sizeBytes: number }[] {
  return readdirSync(FOLDER).map((name) => ({ name, sizeBytes: readFileSync(new URL(name, FOLDER)).length }))
}

/** The name of a target's file. */
export function corpusFileOf(target: string): string {
  return `${target.replaceAll('/', '-')}.txt`
}

/** The inputs of a target. */
export function readCorpus(target: string): readonly Uint8Array[] {
  const file = new URL(corpusFileOf(target), FOLDER)
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8').trim().split('\n').map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')))
}

/** Replaces the inputs of a target. */
export function writeCorpus(target: string, inputs: readonly Uint8Array[]): void {
  mkdirSync(FOLDER, { recursive: true })
  const lines = inputs.map((bytes) => `${Buffer.from(bytes).toString('hex')}\n`)
  writeFileSync(new URL(corpusFileOf(target), FOLDER), lines.join(''))
}

/** The target, with its inputs of the corpus behind its own seeds. */
export function withCorpus(target: FuzzTarget): FuzzTarget {
  return { ...target, seeds: () => [...target.seeds(), ...readCorpus(target.name)], run: (bytes) => target.run(bytes) }
}
