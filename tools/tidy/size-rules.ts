/**
 * Length of files and functions, and width of lines. A limit of length is worth nothing where lines may be wide.
 */

import { findFunctions } from './functions.ts'
import { type Limit, type Sizes } from './ratchet.ts'
import { type Repository } from './repository.ts'

/** Lines of a file that can be read aloud in five minutes. */
export const FILE_LINES_MAX = 400

/** Lines of a function that can be seen at once. */
export const FUNCTION_LINES_MAX = 70

/** Columns of a line of code. */
export const COLUMNS_MAX = 120

/** A line that holds one long word (a hash, an address) may be wider: it cannot be broken. */
const UNBREAKABLE = /\S{80,}/

export const SIZE_LIMITS: readonly Limit[] = [
  {
    group: 'files',
    rule: 'size',
    max: FILE_LINES_MAX,
    measure: fileLines,
    describe: (_, size) => `a file of ${size} lines`,
    advice: 'split it',
  },
  {
    group: 'functions',
    rule: 'size',
    max: FUNCTION_LINES_MAX,
    measure: functionLines,
    describe: (key, size) => `a function (${key.slice(key.indexOf(' ') + 1)}) of ${size} lines`,
    advice: 'split it',
  },
  {
    group: 'columns',
    rule: 'columns',
    max: 0,
    measure: wideLines,
    describe: (_, size) => `${size} lines wider than ${COLUMNS_MAX} columns`,
    advice: 'break them',
  },
]

function fileLines({ sources }: Repository): Sizes {
  return new Map([...sources.values()].map(({ path, text }) => [path, text.split('\n').length - 1]))
}

function functionLines({ sources }: Repository): Sizes {
  const sizes = new Map<string, number>()
  for (const file of sources.values()) {
    for (const { name, lineCount, isGrouping } of findFunctions(file)) {
      const key = `${file.path} ${name}`
      if (!isGrouping) sizes.set(key, Math.max(lineCount, sizes.get(key) ?? 0))
    }
  }
  return sizes
}

function wideLines({ sources }: Repository): Sizes {
  const isWide = (line: string): boolean => line.length > COLUMNS_MAX && !UNBREAKABLE.test(line)
  return new Map([...sources.values()].map(({ path, text }) => [path, text.split('\n').filter(isWide).length]))
}
