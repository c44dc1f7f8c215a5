/**
 * Keys as options: the text itself, or the path of a file that contains it. Secrets belong in files: all users of the
 * machine can read a command line.
 */

import { readFileSync } from 'node:fs'
import { ConfigError } from 'tickwire'
import { textToKey } from 'tickwire/engine'

type KeyKind = NonNullable<ReturnType<typeof textToKey>>['kind']

/** The key of `kind` that `--option value` names. Throws `ConfigError` when it is not a key. */
export function readKeyOption(option: string, value: string, kind: KeyKind): Uint8Array {
  const text = value.startsWith('tickwire-') ? value : readKeyFile(option, value)
  const found = textToKey(text.trim())
  const fix = 'make keys with "tickwire token keys".'
  // A value that may be a secret is not printed.
  if (found === undefined) throw new ConfigError(option, 'not a key', fix)
  if (found.kind !== kind) throw new ConfigError(option, `wrong key (expected ${kind}, got ${found.kind})`, fix)
  return found.key
}

function readKeyFile(option: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new ConfigError(option, `${path}: ${(error as Error).message}`, 'give a file that can be read.')
  }
}
