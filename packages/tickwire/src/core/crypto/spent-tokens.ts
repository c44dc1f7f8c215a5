/**
 * Which tokens were used: each is good once, also across restarts.
 *
 * ```
 * journal     │ record │ record │ …        record = token id 16 | client key 32 | expires at 8, LE | check 8      64 bytes
 * ```
 *
 * A token is spent by the key of the client that used it. The same key may say it again, since a client whose answer was
 * lost repeats itself: that is a repetition, and must never open a second connection. What is spent is written to the
 * journal before the client is let in, and forgotten when the token has expired.
 *
 * Invariants: nothing that has not expired is forgotten; when `capacity` tokens are held, or the journal cannot be
 * written, nobody new is let in. Time only goes forward here: a wall clock set back revives no token.
 *
 * Several servers that accept the same tokens need one of these between them; this is the memory of one process.
 */

import { SPENT_TOKENS_MAX } from '../base/limits.ts'
import { hashBytes } from '../base/hash.ts'
import { readUint32, writeUint32 } from '../packet/header.ts'
import { isEqualConstantTime } from './constant-time.ts'
import { TOKEN_ID_BYTES } from './connect-token.ts'
import { bytesToText } from './token-text.ts'
import { CRYPTO_BYTES } from './provider.ts'

/** Where spent tokens outlive the process: bytes, appended and now and then replaced. */
export interface TokenJournal {
  /** Everything that was appended since it was last replaced. The end may be torn. */
  load(): Uint8Array
  /** False when it could not be written. Must not throw. */
  append(bytes: Uint8Array): boolean
  /** Instead of all there was: either wholly or not at all. False when it could not be done. Must not throw. */
  replace(bytes: Uint8Array): boolean
}

/** 'fresh': let him in. 'repeated': the same client again, answer as before. 'spent': another client had it. */
export type SpendVerdict = 'fresh' | 'repeated' | 'spent' | 'expired' | 'full' | 'unwritten'

const RECORD_BYTES = 64
const KEY_AT = TOKEN_ID_BYTES
const EXPIRES_AT = KEY_AT + CRYPTO_BYTES.publicKey
const CHECK_AT = EXPIRES_AT + 8
/** Tokens that expire within the same minute are forgotten together. */
const SLOT_SECONDS = 60

/** The tokens that were used and have not expired. */
export class SpentTokens {
  /** Records of the journal that made no sense: torn by a crash, or worse. */
  readonly damagedRecords: number
  readonly capacity: number
  #journal: TokenJournal | undefined
  #records: Map<string, Uint8Array> = new Map()
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

  /** Tokens held. */
  get count(): number {
    return this.#records.size
  }

  /** Whether a token was spent, and by another key than this, or by anybody when `isAnyone`. Spends nothing. */
  isSpent(tokenId: Uint8Array, clientKey: Uint8Array, isAnyone: boolean): boolean {
    const known = this.#records.get(bytesToText(tokenId))
    return known !== undefined && (isAnyone || !isEqualConstantTime(known.subarray(KEY_AT, EXPIRES_AT), clientKey))
  }

  /** Spends a token that has been verified. */
  spend(nowSeconds: number, tokenId: Uint8Array, clientKey: Uint8Array, expiresAt: number): SpendVerdict {
    this.#sweep(nowSeconds)
    const known = this.#records.get(bytesToText(tokenId))
    if (known !== undefined) return isEqualConstantTime(known.subarray(KEY_AT, EXPIRES_AT), clientKey) ? 'repeated' : 'spent'
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
    // A slot is over when its last second is. Bounded by the minutes that a token may live, however far the clock leapt.
    for (; this.#slots.size > 0 && (this.#oldestSlot + 1) * SLOT_SECONDS <= this.#nowSeconds; this.#oldestSlot++) {
      for (const id of this.#slots.get(this.#oldestSlot) ?? []) this.#records.delete(id)
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

  /** The journal anew, with what still matters: a torn end is gone and records are in step again. */
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

/** Against accidents, not against whoever can write to the journal: he could as well empty it. */
function checkOf(record: Uint8Array): Uint32Array {
  const out = new Uint32Array(2)
  hashBytes(record, 0, CHECK_AT, RECORD_BYTES, out, 0)
  return out
}
