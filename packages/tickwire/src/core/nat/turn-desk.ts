/**
 * A subset of TURN (RFC 8656) for browsers: Allocate, Refresh, CreatePermission, ChannelBind, Send and Data indications
 * and channel data, over UDP.
 *
 * A client gets a virtual address: the relay's own IP address, and a port number that no socket has. Data
 * goes from one allocation to another of the same session, inside of the process. A peer address is looked up in the
 * table and never sent to, so whatever a client writes there, nothing leaves the table.
 *
 * A stranger costs one MAC: the first answer is 401 with a nonce, which is a MAC of the address. A user name is read
 * only together with that nonce. It is a relay token (`turn-credentials.ts`), and nothing is stored before its
 * signature is checked.
 *
 * Permissions count by IP address in TURN. All virtual addresses have the same one, so one permission opens the
 * session, and nothing else.
 */

import {
  DATAGRAM_BYTES_MAX, RELAY_SESSION_MEMBERS_MAX, TURN_ALLOCATIONS_PER_TOKEN, TURN_LIFE_MS, TURN_NONCE_MS,
} from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { Transmit } from '../connection/transmit.ts'
import { makeCookie } from '../crypto/challenge-cookie.ts'
import type { TokenCheck } from '../crypto/connect-token.ts'
import { isEqualConstantTime } from '../crypto/constant-time.ts'
import { CRYPTO_BYTES } from '../crypto/provider.ts'
import { bytesToText, textToBytes } from '../crypto/token-text.ts'
import { type Allocation, Binding, nameOf } from './allocation.ts'
import type { Allocations } from './allocations.ts'
import { familyOf, hostOf, portOf } from './net-address.ts'
import type { RelayDesk } from './relay-desk.ts'
import type { RelayGate } from './relay-gate.ts'
import type { RelayCounts, RelayOptions } from './relay-options.ts'
import { leastQuota, verifyRelayToken } from './relay-token.ts'
import { isChannel } from './relay-wire.ts'
import {
  STUN_ATTRIBUTE, STUN_CLASS, STUN_METHOD, type StunMessage, StunWriter, readUint16Be, unknownAttribute,
  writeStunError, writeUint16Be,
} from './stun.ts'
import { TURN_REALM } from './turn-credentials.ts'
import { isTurnIntegrityValid, turnKey, writeTurnIntegrity } from './turn-key.ts'

const A = STUN_ATTRIBUTE
const KNOWN: readonly number[] = [
  A.username, A.realm, A.nonce, A.lifetime, A.requestedTransport, A.requestedAddressFamily, A.xorPeerAddress,
  A.channelNumber, A.data, A.evenPort,
]
const UDP = 17
const HEAD_BYTES = 4
const NONCE_CHARS = 12
/** A nonce is the first bytes of a cookie, as text. */
const NONCE_BYTES = 9
const NO_KEY = new Uint8Array(CRYPTO_BYTES.publicKey)
const REALM = Uint8Array.from(TURN_REALM, (letter) => letter.charCodeAt(0))

/** Answers the messages of TURN clients. */
export class TurnDesk {
  readonly #options: RelayOptions
  readonly #table: Allocations
  readonly #gate: RelayGate
  readonly #check: TokenCheck
  readonly #desk: RelayDesk
  readonly #counts: RelayCounts
  readonly #host: string
  readonly #family: 0 | 4 | 6
  readonly #secret: Uint8Array = new Uint8Array(CRYPTO_BYTES.key)
  readonly #writer: StunWriter = new StunWriter()
  /** The key of the message in hand. */
  #key: Uint8Array = NO_KEY
  /** The bytes from which the transactions of Data indications are taken: a counter. */
  readonly #indication: Uint8Array = new Uint8Array(12)

  constructor(
    options: RelayOptions, table: Allocations, gate: RelayGate, check: TokenCheck, desk: RelayDesk,
    counts: RelayCounts,
  ) {
    this.#options = options
    this.#table = table
    this.#gate = gate
    this.#check = check
    this.#desk = desk
    this.#counts = counts
    this.#host = hostOf(options.relayed)
    this.#family = familyOf(options.relayed)
    options.entropy.fill(this.#secret)
  }

  /** Handles a message that is not a Binding request. True when `out` must be sent. */
  handle(now: Millis, from: string, message: StunMessage, out: Transmit): boolean {
    if (message.class === STUN_CLASS.indication && message.method === STUN_METHOD.send)
      return this.#send(now, from, message, out)
    const isRequest = message.class === STUN_CLASS.request
      && (message.method === STUN_METHOD.allocate || message.method === STUN_METHOD.refresh
        || message.method === STUN_METHOD.createPermission || message.method === STUN_METHOD.channelBind)
    if (!isRequest) {
      this.#counts.malformed++
      return false
    }
    out.to = from
    out.length = this.#request(now, from, message, out.bytes)
    return out.length > 0
  }

  #request(now: Millis, from: string, message: StunMessage, out: Uint8Array): number {
    const username = message.value(A.username)
    const nonce = message.value(A.nonce)
    if (message.integrityAt === 0) return this.#challenge(now, from, message, 401, out)
    if (username === undefined || nonce === undefined) return this.#refuse(message, 400, out)
    if (!this.#isNonce(now, from, nonce)) return this.#challenge(now, from, message, 438, out)
    this.#key = turnKey(username)
    if (!isTurnIntegrityValid(this.#key, message)) {
      this.#counts.forged++
      return this.#challenge(now, from, message, 401, out)
    }
    const unknown = unknownAttribute(message, KNOWN)
    if (unknown >= 0) return this.#fail(message, 420, out, unknown)
    const allocation = this.#table.ofAddress(from)
    if (message.method === STUN_METHOD.allocate) return this.#allocate(now, from, message, username, allocation, out)
    if (allocation === undefined || allocation.turnPort === 0) return this.#fail(message, 437, out)
    if (!isEqualConstantTime(allocation.key, this.#key)) return this.#fail(message, 441, out)
    if (message.method === STUN_METHOD.refresh) return this.#refresh(now, message, allocation, out)
    if (message.method === STUN_METHOD.channelBind) return this.#channelBind(message, allocation, out)
    return this.#createPermission(message, allocation, out)
  }

  #allocate(
    now: Millis, from: string, message: StunMessage, username: Uint8Array, known: Allocation | undefined,
    out: Uint8Array,
  ): number {
    const transaction = transactionOf(message)
    if (known !== undefined) {
      // The answer was lost: the same client asks again.
      const isAgain = known.turnPort !== 0 && known.transaction === transaction
        && isEqualConstantTime(known.key, this.#key)
      return isAgain ? this.#sendAllocated(message, known, TURN_LIFE_MS, out) : this.#fail(message, 437, out)
    }
    const transport = message.word(A.requestedTransport)
    if (transport === undefined) return this.#fail(message, 400, out)
    if (transport >>> 24 !== UDP) return this.#fail(message, 442, out)
    const family = message.word(A.requestedAddressFamily)
    if (family !== undefined && family >>> 24 !== (this.#family === 4 ? 1 : 2)) return this.#fail(message, 440, out)
    // All virtual ports are even. The next higher one cannot be reserved.
    if (((message.value(A.evenPort)?.[0] ?? 0) & 0x80) !== 0) return this.#fail(message, 508, out)
    if (!this.#gate.mayVerify(now, from)) {
      this.#counts.limited++
      return 0
    }
    if (this.#desk.isDraining) return this.#fail(message, 508, out)
    const bytes = textToBytes(latin(username))
    const token = bytes === undefined ? 'malformed'
      : verifyRelayToken(this.#check, bytes, this.#options.wallSeconds())
    if (typeof token === 'string') {
      this.#counts.tokens++
      return this.#challenge(now, from, message, 401, out)
    }
    const name = nameOf(token.id)
    const origin = this.#gate.originOf(from)
    const first = this.#table.ofToken(name)
    // A token is spent by the machine that showed it first. A browser has one allocation for each of its networks.
    const isTaken = first !== undefined && (first.turnPort === 0 || hostOf(first.address) !== hostOf(from))
    if (isTaken) return this.#fail(message, 486, out)
    if (first !== undefined && first.users >= TURN_ALLOCATIONS_PER_TOKEN) {
      this.#table.freeSilent(now, origin)
      if (first.users >= TURN_ALLOCATIONS_PER_TOKEN) return this.#fail(message, 486, out)
    }
    const { quota } = this.#options
    const grant = {
      address: from, origin, token: name, session: token.session, transaction, lifeMs: TURN_LIFE_MS,
      packetsPerSecond: quota.packetsPerSecond, turnKey: this.#key, ...leastQuota(token, quota),
    }
    let allocation = this.#table.add(now, grant)
    if (allocation === 'quota') {
      this.#table.freeSilent(now, origin)
      allocation = this.#table.add(now, grant)
    }
    if (typeof allocation === 'string') {
      this.#counts.full++
      return this.#fail(message, allocation === 'quota' ? 486 : 508, out)
    }
    this.#counts.allocated++
    return this.#sendAllocated(message, allocation, TURN_LIFE_MS, out)
  }

  #sendAllocated(message: StunMessage, allocation: Allocation, lifeMs: number, out: Uint8Array): number {
    const writer = this.#begin(message, STUN_CLASS.success, out)
    writer.address(A.xorRelayedAddress, this.#virtual(allocation))
    writer.word(A.lifetime, lifeMs / 1000)
    writer.address(A.xorMappedAddress, this.#options.addressOf(allocation.address))
    return this.#end(message, writer)
  }

  #refresh(now: Millis, message: StunMessage, allocation: Allocation, out: Uint8Array): number {
    const isEnd = message.word(A.lifetime) === 0
    if (isEnd) this.#table.remove(allocation)
    else allocation.expiresAt = now + TURN_LIFE_MS
    this.#counts.refreshed++
    const writer = this.#begin(message, STUN_CLASS.success, out)
    return this.#end(message, writer.word(A.lifetime, isEnd ? 0 : TURN_LIFE_MS / 1000))
  }

  #createPermission(message: StunMessage, allocation: Allocation, out: Uint8Array): number {
    let count = 0
    for (let index = 0; index < message.count; index++) {
      if (message.types[index] !== A.xorPeerAddress) continue
      const address = message.address(index)
      if (address === undefined) return this.#fail(message, 400, out)
      if (hostOf(address) !== this.#host) return this.#fail(message, 403, out)
      count++
    }
    if (count === 0) return this.#fail(message, 400, out)
    allocation.isOpen = true
    return this.#end(message, this.#begin(message, STUN_CLASS.success, out))
  }

  #channelBind(message: StunMessage, allocation: Allocation, out: Uint8Array): number {
    const channel = (message.word(A.channelNumber) ?? 0) >>> 16
    const address = message.address(message.find(A.xorPeerAddress))
    if (!isChannel(channel) || address === undefined) return this.#fail(message, 400, out)
    const peer = this.#peerAt(allocation, address)
    if (peer === undefined) return this.#fail(message, 403, out)
    const known = channelOf(allocation, channel)
    const bound = allocation.bindingTo(peer)
    if (known !== bound && ((known !== undefined && !known.peer.isGone) || bound !== undefined))
      return this.#fail(message, 400, out)
    if (bound === undefined && !bind(allocation, peer, channel)) return this.#fail(message, 508, out)
    allocation.isOpen = true
    return this.#end(message, this.#begin(message, STUN_CLASS.success, out))
  }

  /** Channel data of a client. @hot */
  forward(now: Millis, sender: Allocation, bytes: Uint8Array, length: number, out: Transmit): boolean {
    const binding = channelOf(sender, readUint16Be(bytes, 0))
    if (binding === undefined) {
      this.#counts.unbound++
      return false
    }
    // Padding may follow the data.
    const size = readUint16Be(bytes, 2)
    if (size + HEAD_BYTES > length || size + HEAD_BYTES + 3 < length) {
      this.#counts.malformed++
      return false
    }
    return this.#pass(now, sender, binding.peer, bytes, HEAD_BYTES, size, out)
  }

  #send(now: Millis, from: string, message: StunMessage, out: Transmit): boolean {
    const sender = this.#table.ofAddress(from)
    const address = message.address(message.find(A.xorPeerAddress))
    const data = message.find(A.data)
    if (sender === undefined || sender.turnPort === 0 || address === undefined || data < 0
      || unknownAttribute(message, KNOWN) >= 0) {
      this.#counts.unbound++
      return false
    }
    const peer = this.#peerAt(sender, address)
    if (peer === undefined) {
      this.#counts.unbound++
      return false
    }
    return this.#pass(now, sender, peer, message.bytes, message.starts[data], message.sizes[data], out)
  }

  /** Data from one allocation to another of its session, as channel data if the receiver has a channel. @hot */
  #pass(
    now: Millis, sender: Allocation, peer: Allocation, bytes: Uint8Array, at: number, size: number, out: Transmit,
  ): boolean {
    if (peer.isGone || now >= sender.expiresAt || !sender.isOpen || !peer.isOpen) {
      this.#counts.unbound++
      return false
    }
    const back = peer.bindingTo(sender)
    const head = back !== undefined ? HEAD_BYTES : this.#writeIndication(sender, out.bytes)
    const length = head + (back !== undefined ? size : (size + 3) & ~3)
    if (length > DATAGRAM_BYTES_MAX) {
      this.#counts.malformed++
      return false
    }
    if (!sender.take(now, length)) {
      this.#counts.overQuota++
      return false
    }
    for (let index = 0; index < size; index++) out.bytes[head + index] = bytes[at + index]
    for (let index = head + size; index < length; index++) out.bytes[index] = 0
    if (back !== undefined) writeUint16Be(out.bytes, 0, back.channel)
    else writeUint16Be(out.bytes, 2, length - 20)
    writeUint16Be(out.bytes, head - 2, size)
    out.to = peer.address
    out.length = length
    this.#counts.forwarded++
    this.#counts.forwardedBytes += length
    return true
  }

  /** Writes a Data indication up to the size of its data. Returns its length. */
  #writeIndication(sender: Allocation, out: Uint8Array): number {
    const counter = this.#indication
    for (let at = 0; at < counter.length; at++) if (++counter[at] !== 0) break
    const writer = this.#writer.begin(out, STUN_METHOD.data, STUN_CLASS.indication, counter, 0)
    writer.address(A.xorPeerAddress, this.#virtual(sender))
    writeUint16Be(out, writer.length, A.data)
    return writer.length + HEAD_BYTES
  }

  /** The allocation of the same session at a virtual address. */
  #peerAt(allocation: Allocation, address: string): Allocation | undefined {
    if (hostOf(address) !== this.#host) return undefined
    const peer = this.#table.ofPort(portOf(address))
    return peer !== undefined && peer.session === allocation.session && peer !== allocation ? peer : undefined
  }

  #virtual(allocation: Allocation): string {
    return this.#family === 4 ? `${this.#host}:${allocation.turnPort}` : `[${this.#host}]:${allocation.turnPort}`
  }

  /** An answer with a nonce, to an address that is not proven. It is at most twice as long as its question. */
  #challenge(now: Millis, from: string, message: StunMessage, code: 401 | 438, out: Uint8Array): number {
    if (!this.#gate.mayStun(now, from)) {
      this.#counts.limited++
      return 0
    }
    const cookie = this.#cookie(now, from)
    const writer = writeStunError(this.#begin(message, STUN_CLASS.error, out), code)
    writer.attribute(A.realm, REALM)
    writer.attribute(A.nonce, asciiOf(bytesToText(cookie)))
    const length = writer.end(message.hasFingerprint)
    if (length > 2 * message.length) return 0
    this.#counts.cookies++
    return length
  }

  #cookie(now: Millis, from: string): Uint8Array {
    const bucket = Math.floor(now / TURN_NONCE_MS)
    return makeCookie(this.#options.provider, this.#secret, bucket, from, NO_KEY).subarray(0, NONCE_BYTES)
  }

  #isNonce(now: Millis, from: string, nonce: Uint8Array): boolean {
    const cookie = nonce.length === NONCE_CHARS ? textToBytes(latin(nonce)) : undefined
    if (cookie === undefined) return false
    // The lowest bit of a cookie is that of its bucket, so one MAC is enough to check both buckets.
    const isNew = (cookie[0] & 1) === (Math.floor(now / TURN_NONCE_MS) & 1)
    return isEqualConstantTime(this.#cookie(isNew ? now : now - TURN_NONCE_MS, from), cookie)
  }

  /** An error without a MAC: the question had none, or no valid one. */
  #refuse(message: StunMessage, code: number, out: Uint8Array): number {
    this.#counts.malformed++
    return writeStunError(this.#begin(message, STUN_CLASS.error, out), code).end(message.hasFingerprint)
  }

  #fail(message: StunMessage, code: number, out: Uint8Array, unknown: number = -1): number {
    this.#counts.refused++
    return this.#end(message, writeStunError(this.#begin(message, STUN_CLASS.error, out), code, unknown))
  }

  #begin(message: StunMessage, messageClass: number, out: Uint8Array): StunWriter {
    return this.#writer.begin(out, message.method, messageClass, message.bytes, 8)
  }

  #end(message: StunMessage, writer: StunWriter): number {
    return writeTurnIntegrity(this.#key, writer).end(message.hasFingerprint)
  }
}

/** The binding of a channel; undefined when there is none. @hot */
function channelOf(allocation: Allocation, channel: number): Binding | undefined {
  const { bindings } = allocation
  for (let index = 0; index < bindings.length; index++)
    if (bindings[index].channel === channel) return bindings[index]
  return undefined
}

/** Binds a channel that the client chose. False when it has too many. */
function bind(allocation: Allocation, peer: Allocation, channel: number): boolean {
  const { bindings } = allocation
  // The same channel again, or that of a peer that is gone.
  const same = bindings.findIndex((binding) => binding.channel === channel)
  const free = same >= 0 ? same : bindings.findIndex((binding) => binding.peer.isGone)
  const index = free < 0 ? bindings.length : free
  if (index >= RELAY_SESSION_MEMBERS_MAX) return false
  allocation.setBinding(index, new Binding(peer, channel))
  return true
}

/** The first six bytes of a transaction, as a number. */
function transactionOf({ bytes }: StunMessage): number {
  let number = 0
  for (let at = 8; at < 14; at++) number = number * 256 + bytes[at]
  return number
}

function latin(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += String.fromCharCode(byte)
  return text
}

function asciiOf(text: string): Uint8Array {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
}
