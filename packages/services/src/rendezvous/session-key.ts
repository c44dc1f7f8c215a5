/** The option `--key-file`: the secret that proves hosts, over a restart and at several instances. */

import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { ConfigError } from 'tickwire'
import type { Option } from '../cli/options.ts'

const KEY_BYTES = 32
const KEY_TEXT = /^[0-9a-f]{64}$/

/** The option of every service that has codes. */
export const KEY_FILE_OPTION = {
  kind: 'text', value: 'FILE',
  help: 'keeps the secret that lets hosts keep their codes over a restart; made if missing; needed with redis://',
} as const satisfies Option

/** The secret in a file, which is made if it is missing. Undefined: none is given, and the store is not shared. */
export function readSessionKey(file: string | undefined, store: string | undefined): Uint8Array | undefined {
  if (file !== undefined) return readSecret(file)
  if (store === undefined || !/^rediss?:/.test(store)) return undefined
  throw new ConfigError(
    '--store', 'needs --key-file', 'give all instances the same file: it proves hosts at each of them.',
  )
}

function readSecret(file: string): Uint8Array {
  try {
    // Another instance may make it at the same time: the first one wins.
    const made = `${randomBytes(KEY_BYTES).toString('hex')}\n`
    if (!existsSync(file)) writeFileSync(file, made, { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const text = readFileSync(file, 'utf8').trim()
  if (!KEY_TEXT.test(text))
    throw new ConfigError('--key-file', `${file} has no key`, 'delete the file; it is made again.')
  return Buffer.from(text, 'hex')
}
