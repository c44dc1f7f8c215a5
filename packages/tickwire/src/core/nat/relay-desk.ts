/**
 * The relay's answers to control messages: Allocate, Bind, Refresh and Ping.
 *
 * A stranger costs one MAC: the token is read, and its signature checked, only at an address that returned its cookie.
 * Nothing is stored before that. Every answer goes to the address that asked, and is not longer than the question.
 *
 * Replays: an allocation accepts only transactions above the last. A Refresh from another address moves the allocation
 * only with a cookie of that address, so that no third address can be made to receive data.
 */

import { RELAY_LIFE_MS, RELAY_SESSION_MEMBERS_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { challengeBucket, checkCookie, makeCookie } from '../crypto/challenge-cookie.ts'
import type { TokenCheck } from '../crypto/connect-token.ts'
import { CRYPTO_BYTES, type CryptoProvider } from '../crypto/provider.ts'
import { type Allocation, Binding, nameOf } from './allocation.ts'
import type { Allocations } from './allocations.ts'
import type { RelayCounts, RelayOptions } from './relay-options.ts'
import type { RelayGate } from './relay-gate.ts'
import { leastQuota, verifyRelayToken } from './relay-token.ts'
import {
  COOKIE_BYTES, RELAY_ERROR, RELAY_KIND, RelayMessage, type RelayError, isMacValid, sealRelay,
} from './relay-wire.ts'

const NO_KEY = new Uint8Array(CRYPTO_BYTES.publicKey)
const TAG_BYTES = 8

/** Answers control messages. */
export class RelayDesk {
  isDraining: boolean = false
  #options: RelayOptions
  #provider: CryptoProvider
  #table: Allocations
  #gate: RelayGate
  #check: TokenCheck
  #counts: RelayCounts
  #secret: Uint8Array = new Uint8Array(CRYPTO_BYTES.key)
  #answer: RelayMessage = new RelayMessage()

  constructor(
    options: RelayOptions, table: Allocations, gate: RelayGate, check: TokenCheck, counts: RelayCounts,
  ) {
    this.#options = options
    this.#provider = options.provider
    this.#table = table
    this.#gate = gate
    this.#check = check
    this.#counts = counts
    options.entropy.fill(this.#secret)
  }

  /** Answers `message`, whose bytes are `bytes[0, length)`, into `out`. Returns the length; 0: no answer. */
  handle(
    now: Millis, from: string, message: RelayMessage, bytes: Uint8Array, length: number, out: Uint8Array,
  ): number {
    this.#answer.idLo = message.idLo
    this.#answer.idHi = message.idHi
    this.#answer.transaction = message.transaction
    switch (message.kind) {
      case RELAY_KIND.allocate: return this.#allocate(now, from, message, out)
      case RELAY_KIND.bind: return this.#bind(now, from, message, bytes, length, out)
      case RELAY_KIND.refresh: return this.#refresh(now, from, message, bytes, length, out)
      case RELAY_KIND.ping: return this.#ping(now, from, message, out)
      default:
        this.#counts.malformed++
        return 0
    }
  }

  /** Writes the notice that the relay closes to one allocation. Returns its length. */
  writeMoving(allocation: Allocation, leftMs: number, out: Uint8Array): number {
    const answer = this.#answer
    answer.kind = RELAY_KIND.moving
    answer.idLo = allocation.idLo
    answer.idHi = allocation.idHi
    answer.transaction = 0
    answer.leftMs = Math.min(65_535, Math.max(0, Math.round(leftMs)))
    answer.reason = RELAY_ERROR.draining
    return sealRelay(this.#provider, allocation.key, answer, out)
  }

  #allocate(now: Millis, from: string, message: RelayMessage, out: Uint8Array): number {
    if (!this.#gate.mayAsk(now, from)) return this.#drop('limited')
    const cookie = message.cookie.slice()
    if (!this.#isProven(now, from, cookie)) return this.#sendCookie(now, from, out)
    if (!this.#gate.mayVerify(now, from)) return this.#drop('limited')
    if (this.isDraining) return this.#error('draining', out)
    const known = this.#table.ofAddress(from)
    const token = verifyRelayToken(this.#check, message.token.slice(), this.#options.wallSeconds())
    if (typeof token === 'string') {
      this.#counts.tokens++
      return this.#error('token', out)
    }
    const name = nameOf(token.id)
    const taken = this.#table.ofToken(name)
    // The answer was lost: the same peer asks again.
    if (taken !== undefined && taken === known) return this.#sendAllocateOk(taken, out)
    if (taken !== undefined) return this.#error('quota', out)
    const { quota } = this.#options
    const allocation = this.#table.add(now, {
      address: from, origin: this.#gate.originOf(from), token: name, session: token.session,
      transaction: message.transaction, lifeMs: RELAY_LIFE_MS,
      packetsPerSecond: quota.packetsPerSecond, ...leastQuota(token, quota),
    })
    if (typeof allocation === 'string') {
      this.#counts.full++
      return this.#error(allocation, out)
    }
    this.#counts.allocated++
    return this.#sendAllocateOk(allocation, out)
  }

  #bind(
    now: Millis, from: string, message: RelayMessage, bytes: Uint8Array, length: number, out: Uint8Array,
  ): number {
    const allocation = this.#table.ofId(message.idLo, message.idHi)
    if (allocation === undefined) return this.#unknown(now, from, out)
    // An answer to another address than the proven one would be a reflection. The proven address is not limited:
    // otherwise forged messages in its name would use up its share.
    if (allocation.address !== from) return this.#drop('forged')
    const isFresh = message.transaction > allocation.transaction
    if (!isFresh || !isMacValid(this.#provider, allocation.key, bytes, length)) return this.#drop('forged')
    allocation.transaction = message.transaction
    const peer = this.#table.ofId(message.peerLo, message.peerHi)
    if (peer === undefined || peer.session !== allocation.session || peer === allocation)
      return this.#error('unknown', out)
    const binding = this.#pair(allocation, peer)
    if (binding === undefined) return this.#error('full', out)
    binding.learn(message.connectionLo, message.connectionHi)
    const answer = this.#answer
    answer.kind = RELAY_KIND.bindOk
    answer.channel = binding.channel
    answer.originTag = this.#tagOf(peer)
    return sealRelay(this.#provider, allocation.key, answer, out)
  }

  #refresh(
    now: Millis, from: string, message: RelayMessage, bytes: Uint8Array, length: number, out: Uint8Array,
  ): number {
    const allocation = this.#table.ofId(message.idLo, message.idHi)
    if (allocation === undefined) return this.#unknown(now, from, out)
    const isMoving = allocation.address !== from
    if (isMoving && !this.#gate.mayAsk(now, from)) return this.#drop('limited')
    const isFresh = message.transaction > allocation.transaction
    if (!isFresh || !isMacValid(this.#provider, allocation.key, bytes, length)) return this.#drop('forged')
    if (isMoving && !this.#isProven(now, from, message.cookie.slice())) return this.#sendCookie(now, from, out)
    allocation.transaction = message.transaction
    if (isMoving) {
      this.#counts.moved++
      this.#table.move(allocation, from, this.#gate.originOf(from))
    }
    if (message.lifeSeconds === 0) this.#table.remove(allocation)
    else allocation.expiresAt = now + RELAY_LIFE_MS
    const answer = this.#answer
    answer.kind = RELAY_KIND.refreshOk
    answer.lifeSeconds = message.lifeSeconds === 0 ? 0 : RELAY_LIFE_MS / 1000
    return sealRelay(this.#provider, allocation.key, answer, out)
  }

  #ping(now: Millis, from: string, message: RelayMessage, out: Uint8Array): number {
    const allocation = this.#table.ofAddress(from)
    // A peer whose address changed learns it here, and proves the new one.
    const isLost = (message.idLo | message.idHi) !== 0
      && (allocation?.idLo !== message.idLo || allocation.idHi !== message.idHi)
    if (isLost) return this.#unknown(now, from, out)
    if (allocation === undefined && !this.#gate.mayAsk(now, from)) return this.#drop('limited')
    const answer = this.#answer
    answer.kind = RELAY_KIND.pong
    answer.nonce = message.nonce
    answer.load = this.isDraining ? 255 : Math.floor((254 * this.#table.count) / this.#table.countMax)
    answer.seen = this.#options.addressOf(from)
    return sealRelay(this.#provider, NO_KEY, answer, out)
  }

  /** The binding from one to the other, made if need be. The pair carries data once both have bound it. */
  #pair(allocation: Allocation, peer: Allocation): Binding | undefined {
    const known = allocation.bindingTo(peer)
    if (known !== undefined) return known
    const { bindings } = allocation
    // Channels of peers that are gone are used again.
    const free = bindings.findIndex((binding) => binding.peer.isGone)
    const index = free < 0 ? bindings.length : free
    if (index >= RELAY_SESSION_MEMBERS_MAX) return undefined
    const binding = new Binding(peer, allocation.channelAt(index))
    allocation.setBinding(index, binding)
    const back = peer.bindingTo(allocation)
    if (back === undefined) return binding
    binding.peerChannel = back.channel
    back.peerChannel = binding.channel
    return binding
  }

  #sendAllocateOk(allocation: Allocation, out: Uint8Array): number {
    const answer = this.#answer
    answer.kind = RELAY_KIND.allocateOk
    answer.idLo = allocation.idLo
    answer.idHi = allocation.idHi
    answer.key = allocation.key
    answer.lifeSeconds = RELAY_LIFE_MS / 1000
    answer.kbitsPerSecond = Math.min(65_535, allocation.kbitsPerSecond)
    answer.mebibytes = Math.min(65_535, this.#options.quota.mebibytes)
    answer.relayed = this.#options.relayed
    answer.seen = this.#options.addressOf(allocation.address)
    return sealRelay(this.#provider, NO_KEY, answer, out)
  }

  #sendCookie(now: Millis, from: string, out: Uint8Array): number {
    this.#counts.cookies++
    const answer = this.#answer
    answer.kind = RELAY_KIND.cookie
    answer.cookie = makeCookie(this.#provider, this.#secret, challengeBucket(now), from, NO_KEY)
    return sealRelay(this.#provider, NO_KEY, answer, out)
  }

  #isProven(now: Millis, from: string, cookie: Uint8Array): boolean {
    if (cookie.length !== COOKIE_BYTES || cookie.every((byte) => byte === 0)) return false
    return checkCookie(this.#provider, this.#secret, challengeBucket(now), from, NO_KEY, cookie) !== undefined
  }

  #tagOf(peer: Allocation): Uint8Array {
    const origin = peer.origin === '' ? peer.address : peer.origin
    const text = new Uint8Array(2 * origin.length)
    for (let index = 0; index < origin.length; index++) {
      text[2 * index] = origin.charCodeAt(index)
      text[2 * index + 1] = origin.charCodeAt(index) >>> 8
    }
    return this.#provider.hmacSha256(this.#secret, text).subarray(0, TAG_BYTES)
  }

  #unknown(now: Millis, from: string, out: Uint8Array): number {
    this.#counts.unknown++
    return this.#gate.mayAsk(now, from) ? this.#error('unknown', out) : 0
  }

  #error(reason: RelayError, out: Uint8Array): number {
    this.#answer.kind = RELAY_KIND.error
    this.#answer.reason = RELAY_ERROR[reason]
    return sealRelay(this.#provider, NO_KEY, this.#answer, out)
  }

  #drop(why: 'limited' | 'forged'): 0 {
    this.#counts[why]++
    return 0
  }
}
