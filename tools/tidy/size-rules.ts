/**
 * Length of files and functions, as a ratchet: what is too long today is listed with its size and may only shrink; what
 * is not listed may not become too long.
 */

import { findFunctions } from './functions.ts'
import { type Finding, type Repository } from './repository.ts'

/** Lines of a file that can be read aloud in five minutes. */
export const FILE_LINES_MAX = 400

/** Lines of a function that can be seen at once. */
export const FUNCTION_LINES_MAX = 70

/** Where the exceptions are listed. */
export const RATCHET_PATH = 'tools/tidy-ratchet.json'

/** Known exceptions: path, or `path name-of-function`, to lines. */
export interface Ratchet {
  readonly files: Readonly<Record<string, number>>
  readonly functions: Readonly<Record<string, number>>
}

/** Files and functions that are too long, or that no longer match their entry. */
export function* sizeFindings(repository: Repository): Generator<Finding> {
  const ratchet = readRatchet(repository)
  const sizes = measure(repository)
  yield* compare(sizes.files, ratchet.files, FILE_LINES_MAX, 'a file')
  yield* compare(sizes.functions, ratchet.functions, FUNCTION_LINES_MAX, 'a function')
}

/** The ratchet turned: entries that shrank are lowered, those no longer needed go. It never gains one. */
export function tightenedRatchet(repository: Repository): Ratchet {
  const { files, functions } = readRatchet(repository)
  const sizes = measure(repository)
  return {
    files: tighten(files, sizes.files, FILE_LINES_MAX),
    functions: tighten(functions, sizes.functions, FUNCTION_LINES_MAX),
  }
}

function readRatchet(repository: Repository): Ratchet {
  return JSON.parse(repository.texts.get(RATCHET_PATH) ?? '{"files":{},"functions":{}}')
}

interface Sizes {
  readonly files: ReadonlyMap<string, number>
  readonly functions: ReadonlyMap<string, number>
}

function measure(repository: Repository): Sizes {
  const files = new Map<string, number>()
  const functions = new Map<string, number>()
  for (const file of repository.sources.values()) {
    files.set(file.path, file.text.split('\n').length - 1)
    for (const { name, lineCount, isGrouping } of findFunctions(file)) {
      const key = `${file.path} ${name}`
      if (!isGrouping) functions.set(key, Math.max(lineCount, functions.get(key) ?? 0))
    }
  }
  return { files, functions }
}

type Lines = ReadonlyMap<string, number>
type KnownLines = Readonly<Record<string, number>>

function* compare(sizes: Lines, known: KnownLines, max: number, what: string): Generator<Finding> {
  for (const key of new Set([...sizes.keys(), ...Object.keys(known)])) {
    const [path = '', name] = key.split(' ')
    const lines = sizes.get(key) ?? 0
    const allowed = known[key]
    const subject = name === undefined ? what : `${what} (${key.slice(path.length + 1)})`
    const report = (problem: string): Finding => ({ rule: 'size', path, line: 1, problem })
    if (allowed === undefined) {
      if (lines > max) yield report(`${subject} of ${lines} lines, over ${max}: find the seam`)
    } else if (lines > allowed) {
      yield report(`${subject} grew from ${allowed} to ${lines} lines: it may only shrink`)
    } else if (lines < allowed) {
      yield report(`${subject} shrank from ${allowed} to ${lines} lines: npm run check -- --fix`)
    }
  }
}

function tighten(known: KnownLines, sizes: Lines, max: number): KnownLines {
  const kept = Object.entries(known).map(([key, lines]) => [key, Math.min(lines, sizes.get(key) ?? 0)] as const)
  return Object.fromEntries(kept.filter(([, lines]) => lines > max))
}
