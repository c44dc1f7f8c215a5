/**
 * Tokens that were used, for workers: a token admits one client, whichever worker the client goes to.
 *
 * Workers share a folder. A token is spent by creating a file with its id, which only one process can do. The file has
 * the key of the client, the end of the token, and one more byte once its connection has opened. Memory and journal of
 * a worker are asked too: they know its tokens of before.
 *
 * The first process removes the folder at its end, and the files of expired tokens before.
 */

import { closeSync, openSync, readFileSync, readdirSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { isEqualConstantTime } from '../core/crypto/constant-time.ts'
import { CRYPTO_BYTES } from '../core/crypto/provider.ts'
import type { SpendVerdict } from '../core/crypto/spent-tokens.ts'
import type { TokenPolicy } from '../core/endpoint/endpoint-security.ts'

type Spent = TokenPolicy['spent']

const OPENED = Uint8Array.of(1)
/** The key of the client, and when the token expires. */
const RECORD_BYTES = CRYPTO_BYTES.publicKey + 8

export class WorkerTokens implements Spent {
  readonly #own: Spent
  readonly #folder: string

  constructor(own: Spent, folder: string) {
    this.#own = own
    this.#folder = folder
  }

  isSpent(tokenId: Uint8Array, clientKey: Uint8Array): boolean {
    return this.#own.isSpent(tokenId, clientKey) || this.#isTaken(tokenId, clientKey)
  }

  spend(nowSeconds: number, tokenId: Uint8Array, clientKey: Uint8Array, expiresAt: number): SpendVerdict {
    const path = this.#pathOf(tokenId)
    try {
      writeFileSync(path, recordOf(clientKey, expiresAt), { flag: 'wx', mode: 0o600 })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return 'unwritten'
      if (this.#isTaken(tokenId, clientKey)) return 'spent'
    }
    return this.#own.spend(nowSeconds, tokenId, clientKey, expiresAt)
  }

  finish(tokenId: Uint8Array): void {
    this.#own.finish(tokenId)
    try {
      const file = openSync(this.#pathOf(tokenId), 'r+')
      writeSync(file, OPENED, 0, 1, RECORD_BYTES)
      closeSync(file)
    } catch {
      // reason: the token has expired, so that no client can use it
    }
  }

  #isTaken(tokenId: Uint8Array, clientKey: Uint8Array): boolean {
    try {
      const bytes = readFileSync(this.#pathOf(tokenId))
      // A process that creates the file writes the key a moment later: until then it is the key of another client.
      return bytes.length !== RECORD_BYTES || !isEqualConstantTime(bytes.subarray(0, CRYPTO_BYTES.publicKey), clientKey)
    } catch {
      return false
    }
  }

  #pathOf(tokenId: Uint8Array): string {
    return join(this.#folder, Buffer.from(tokenId).toString('hex'))
  }
}

/** Removes the files of tokens that have expired. */
export function sweepTokens(folder: string, nowSeconds: number): void {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const bytes = readFileSync(path)
    if (bytes.length >= RECORD_BYTES && bytes.readDoubleLE(CRYPTO_BYTES.publicKey) < nowSeconds)
      rmSync(path, { force: true })
  }
}

function recordOf(clientKey: Uint8Array, expiresAt: number): Uint8Array {
  const record = Buffer.alloc(RECORD_BYTES)
  record.set(clientKey)
  record.writeDoubleLE(expiresAt, CRYPTO_BYTES.publicKey)
  return record
}
