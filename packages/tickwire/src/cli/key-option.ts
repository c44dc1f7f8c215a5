/**
 * Keys on the command line: the text itself, or the path of a file that contains it. Secrets belong in files: all users
 * of the machine can read a command line.
 */

import { readFileSync } from 'node:fs'
import { type KeyKind, textToKey } from '../core/crypto/token-text.ts'
import { UsageError } from './command.ts'
import { cannotBe } from './file-option.ts'

/** The key of `kind` that `--option value` names. */
export function readKeyOption(option: string, value: string | undefined, kind: KeyKind): Uint8Array {
  if (value === undefined)
    throw new UsageError(`${option} is missing. Fix: give the ${describe(kind)}, or a file with it.`)
  const text = value.startsWith('tickwire-') ? value : readKeyFile(option, value)
  const found = textToKey(text.trim())
  if (found === undefined)
    throw new UsageError(`${option} ${shown(value)} is not a key. Fix: make keys with "tickwire token keys".`)
  if (found.kind !== kind)
    throw new UsageError(
      `${option}: wrong key (expected the ${describe(kind)}, got `
        + `${found.kind.startsWith('i') ? 'an' : 'a'} ${found.kind.replace('-', ' ')} key).`,
    )
  return found.key
}

function readKeyFile(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`${option}: ${path} ${cannotBe('read', error)}`)
  }
}

function describe(kind: KeyKind): string {
  return `${kind.replace('-', '\'s ')} key`
}

/** A value that may be a secret is not printed. */
function shown(value: string): string {
  return value.startsWith('tickwire-') ? '' : value
}
