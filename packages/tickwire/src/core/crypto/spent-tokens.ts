/**
 * Which tokens were used, and by which client. Each token admits one client, also across restarts.
 *
 * ```
 * journal     │ record │ record │ …        record = token id 16 | client key 32 | expires at 8, LE | check 8
 * ```
 *
 * A token is spent by the key of the client that used it, and no other key can use it again. The same key may repeat it
 * until its connection has opened (`finish`), because the answer was lost, its address changed, or the server
 * restarted. After that the token admits no client, so one token never has two connections. A spent token is written to
 * the journal before the client is admitted, and discarded when the token has expired. An opened connection is not
 * written: it ended with the process, and only the client whose key is in the record can use the token again.
 *
 * Invariants: no token is discarded before it expires. When `capacity` tokens are stored, or the journal cannot be
 * written, no new client is admitted. Time only moves forward here: setting the wall clock back makes no token valid
 * again.
 *
 * Several servers that accept the same tokens must share one instance. This class is the memory of one process.
 */

import { SPENT_TOKENS_MAX } from '../base/limits.ts'
import { hashBytes } from '../base/hash.ts'
import { readUint32, writeUint32 } from '../packet/header.ts'
import { isEqualConstantTime } from './constant-time.ts'
import { TOKEN_ID_BYTES } from './connect-token.ts'
import { bytesToText } from './token-text.ts'
import { CRYPTO_BYTES } from './provider.ts'

/** Persistent storage of spent tokens: bytes that are appended and occasionally replaced. */
export interface TokenJournal {
  /** Everything that was appended since it was last replaced. The end may be incomplete. */
  load(): Uint8Array
  /** False when it could not be written. Must not throw. */
  append(bytes: Uint8Array): boolean
  /** Replaces all content, completely or not at all. False when it could not be done. Must not throw. */
  replace(bytes: Uint8Array): boolean
}

/**
 * 'fresh': the first use. 'repeated': the same client again. 'spent': a different client used the token, or its
 * connection has opened.
 */
export type SpendVerdict = 'fresh' | 'repeated' | 'spent' | 'expired' | 'full' | 'unwritten'

const RECORD_BYTES = 64
const KEY_AT = TOKEN_ID_BYTES
const EXPIRES_AT = KEY_AT + CRYPTO_BYTES.publicKey
const CHECK_AT = EXPIRES_AT + 8
/** Tokens that expire within the same minute are discarded together. */
const SLOT_SECONDS = 60

/** The tokens that were used and have not expired. */
export class SpentTokens {
  /** Journal records that were invalid: incomplete after a crash, or corrupted. */
  readonly damagedRecords: number
  /** How many unexpired tokens it can remember. Further tokens are refused. */
  readonly capacity: number
  #journal: TokenJournal | undefined
  #records: Map<string, Uint8Array> = new Map()
  /** Ids of spent tokens whose connection has opened. */
  #finished: Set<string> = new Set()
  #slots: Map<number, string[]> = new Map()
  #oldestSlot: number
  #nowSeconds: number
  #recordsInJournal: number = 0

  constructor(nowSeconds: number, journal: TokenJournal | undefined = undefined, capacity: number = SPENT_TOKENS_MAX) {
    this.capacity = capacity
    this.#journal = journal
    this.#nowSeconds = nowSeconds
    this.#oldestSlot = slotOf(nowSeconds)
    this.damagedRecords = journal === undefined ? 0 : this.#restore(journal.load())
    this.#compact()
  }

  /** Number of stored tokens. */
  get count(): number {
    return this.#records.size
  }

  /** Whether this client can no longer use this token. Spends nothing. */
  isSpent(tokenId: Uint8Array, clientKey: Uint8Array): boolean {
    const id = bytesToText(tokenId)
    const known = this.#records.get(id)
    return (
      known !== undefined
      && (this.#finished.has(id) || !isEqualConstantTime(known.subarray(KEY_AT, EXPIRES_AT), clientKey))
    )
  }

  /** The connection of a spent token has opened. */
  finish(tokenId: Uint8Array): void {
    const id = bytesToText(tokenId)
    if (this.#records.has(id)) this.#finished.add(id)
  }

  /** Spends a token that has been verified. */
  spend(nowSeconds: number, tokenId: Uint8Array, clientKey: Uint8Array, expiresAt: number): SpendVerdict {
    this.#sweep(nowSeconds)
    if (this.#records.has(bytesToText(tokenId))) return this.isSpent(tokenId, clientKey) ? 'spent' : 'repeated'
    if (expiresAt <= this.#nowSeconds) return 'expired'
    if (this.#records.size >= this.capacity) return 'full'
    const record = encodeRecord(tokenId, clientKey, expiresAt)
    if (this.#journal !== undefined) {
      if (this.#recordsInJournal >= 2 * this.capacity) this.#compact()
      if (!this.#journal.append(record)) return 'unwritten'
      this.#recordsInJournal++
    }
    this.#hold(record)
    return 'fresh'
  }

  #sweep(nowSeconds: number): void {
    if (nowSeconds > this.#nowSeconds) this.#nowSeconds = nowSeconds
    // A slot expires with its last second. The loop is bounded by the minutes of a token's lifetime, however far the
    // clock jumped.
    for (; this.#slots.size > 0 && (this.#oldestSlot + 1) * SLOT_SECONDS <= this.#nowSeconds; this.#oldestSlot++) {
      for (const id of this.#slots.get(this.#oldestSlot) ?? []) {
        this.#records.delete(id)
        this.#finished.delete(id)
      }
      this.#slots.delete(this.#oldestSlot)
    }
    if (this.#slots.size === 0) this.#oldestSlot = slotOf(this.#nowSeconds)
  }

  #hold(record: Uint8Array): void {
    const id = bytesToText(record.subarray(0, TOKEN_ID_BYTES))
    if (this.#records.has(id)) return
    this.#records.set(id, record)
    const slot = slotOf(readExpiry(record))
    const ids = this.#slots.get(slot)
    if (ids === undefined) this.#slots.set(slot, [id])
    else ids.push(id)
  }

  #restore(bytes: Uint8Array): number {
    let damaged = bytes.length % RECORD_BYTES === 0 ? 0 : 1
    for (let at = 0; at + RECORD_BYTES <= bytes.length; at += RECORD_BYTES) {
      const record = bytes.slice(at, at + RECORD_BYTES)
      if (!isWhole(record)) damaged++
      else if (readExpiry(record) > this.#nowSeconds) this.#hold(record)
    }
    return damaged
  }

  /** Rewrites the journal with the unexpired records. This removes an incomplete end and realigns the records. */
  #compact(): void {
    if (this.#journal === undefined) return
    const bytes = new Uint8Array(this.#records.size * RECORD_BYTES)
    let at = 0
    for (const record of this.#records.values()) {
      bytes.set(record, at)
      at += RECORD_BYTES
    }
    if (this.#journal.replace(bytes)) this.#recordsInJournal = this.#records.size
  }
}

function slotOf(seconds: number): number {
  return Math.floor(seconds / SLOT_SECONDS)
}

function encodeRecord(tokenId: Uint8Array, clientKey: Uint8Array, expiresAt: number): Uint8Array {
  const record = new Uint8Array(RECORD_BYTES)
  record.set(tokenId)
  record.set(clientKey, KEY_AT)
  writeUint32(record, EXPIRES_AT, expiresAt)
  writeUint32(record, EXPIRES_AT + 4, Math.floor(expiresAt / 0x1_0000_0000))
  const check = checkOf(record)
  writeUint32(record, CHECK_AT, check[0])
  writeUint32(record, CHECK_AT + 4, check[1])
  return record
}

function readExpiry(record: Uint8Array): number {
  return readUint32(record, EXPIRES_AT) + readUint32(record, EXPIRES_AT + 4) * 0x1_0000_0000
}

function isWhole(record: Uint8Array): boolean {
  const check = checkOf(record)
  return readUint32(record, CHECK_AT) === check[0] && readUint32(record, CHECK_AT + 4) === check[1]
}

/**
 * Detects accidental damage. It does not protect against an attacker with write access, which could also empty the
 * journal.
 */
function checkOf(record: Uint8Array): Uint32Array {
  const out = new Uint32Array(2)
  hashBytes(record, 0, CHECK_AT, RECORD_BYTES, out, 0)
  return out
}
