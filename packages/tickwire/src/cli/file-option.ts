/** Messages for files on the command line that cannot be read or written: why, and the fix, in two sentences. */

import { writeFileSync } from 'node:fs'
import { UsageError } from './command.ts'

const REMEDIES: { readonly [code: string]: string } = {
  EACCES: 'The current user has no permission there.',
  EEXIST: 'It is a file: give a folder.',
  EISDIR: 'It is a folder: give a file.',
  ENOENT: 'There is no such file or folder.',
  ENOSPC: 'The disk is full.',
  ENOTDIR: 'A part of that path is a file, not a folder.',
  EROFS: 'Nothing can be written there.',
}

/** The system's error code. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
}

/** `cannot be read (ENOENT). There is no such file or folder.` */
export function cannotBe(done: 'read' | 'written', error: unknown): string {
  const code = codeOf(error)
  const remedy = REMEDIES[code]
  return `cannot be ${done} (${code}).${remedy === undefined ? '' : ` ${remedy}`}`
}

/** Writes the file that `--option path` names. */
export function writeFileOption(option: string, path: string, text: string): void {
  try {
    writeFileSync(path, text)
  } catch (error) {
    throw new UsageError(`${option} ${path} ${cannotBe('written', error)}`)
  }
}
