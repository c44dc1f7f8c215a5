/**
 * A peer's side of one relay: it allocates, refreshes, binds other allocations, and wraps data for them.
 *
 * It has no socket: `pollTransmit` has the control messages to send to `relay`, `wrap` makes channel data. The messages
 * are repeated every RELAY_RETRY_MS until they are answered. While `isWatched`, the relay is pinged, so that `isSilent`
 * distinguishes a dead relay from an idle one.
 *
 * States: `asking` (no allocation yet), `ready`, `moving` (the relay closes soon: use another), `refused`. A refused
 * client asks again after RELAY_AGAIN_MS, unless its token is invalid: the relay was full or about to close.
 */

import type { Entropy } from '../base/entropy.ts'
import {
  PATH_SILENCE_MS, PATH_WATCH_MS, RELAY_AGAIN_MS, RELAY_REFRESH_MS, RELAY_RETRY_MS,
} from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { Transmit } from '../connection/transmit.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import { readUint32, writeUint32 } from '../packet/header.ts'
import {
  COOKIE_BYTES, PING_NONCE_BYTES, RELAY_KIND, RelayMessage, type RelayError, isMacValid, isRelayControl, readRelay,
  relayErrorOf, sealRelay,
} from './relay-wire.ts'
import { isStun, readBindingResponse, readUint16Be, writeBindingRequest, writeUint16Be } from './stun.ts'

/** Bytes before the data of a channel. */
export const CHANNEL_HEAD_BYTES = 4

const NO_COOKIE = new Uint8Array(COOKIE_BYTES)
const NO_KEY = new Uint8Array(16)

/** Configuration of a peer's side of a relay. */
export interface RelayClientConfig {
  /** The crypto library. */
  readonly provider: CryptoProvider
  /** The source of random bytes. */
  readonly entropy: Entropy
  /** The address of the relay, in the transport's format. */
  readonly relay: string
  /** A relay token. */
  readonly token: Uint8Array
}

/** An allocation of another peer that this one wants to reach. */
export class RelayPeer {
  /** The other allocation: 16 hexadecimal digits. */
  readonly allocation: string
  /** Its low half. */
  readonly idLo: number
  /** Its high half. */
  readonly idHi: number
  /** 0 until the relay has answered. */
  channel: number = 0
  /** A tag of the peer's origin, the same for peers of one household: hexadecimal. '' until the relay has answered. */
  originTag: string = ''
  /** The connection whose packets are to pass, low half; 0: none yet. */
  connectionLo: number = 0
  /** Its high half. */
  connectionHi: number = 0
  /** Bind must be sent (again) at this time. */
  askAt: Millis = -Infinity
  /** The transaction of the last Bind. */
  transaction: number = 0

  constructor(allocation: string) {
    this.allocation = allocation
    this.idHi = Number.parseInt(allocation.slice(0, 8), 16) >>> 0
    this.idLo = Number.parseInt(allocation.slice(8), 16) >>> 0
  }
}

/** One relay, from a peer's side. */
export class RelayClient {
  /** The address of the relay. */
  readonly relay: string
  /** Whether there is an allocation. */
  state: 'asking' | 'ready' | 'moving' | 'refused' = 'asking'
  /** Why it was refused. */
  refusal: RelayError | undefined = undefined
  /** This peer's allocation: 16 hexadecimal digits; '' until there is one. */
  allocation: string = ''
  /** The public address of the relay, by its own account: the same for peers by UDP and by WebSocket. '' until then. */
  relayed: string = ''
  /** This peer's address as the relay sees it; '' until there is one. */
  seen: string = ''
  /** Whether the relay is pinged. */
  isWatched: boolean = false
  /** The round trip to the relay in ms; Infinity before the first answer. */
  rttMs: number = Infinity
  /** The peers that this side has bound, by allocation. */
  readonly peers: Map<string, RelayPeer> = new Map()
  #config: RelayClientConfig
  #message: RelayMessage = new RelayMessage()
  #answer: RelayMessage = new RelayMessage()
  #cookie: Uint8Array = NO_COOKIE
  /** Zeros of the size of the token, so that the first question is not shorter than its answer. */
  #noToken: Uint8Array
  #key: Uint8Array = NO_KEY
  #idLo: number = 0
  #idHi: number = 0
  /** Counts up from a random number: an answer must name it, which a stranger cannot. */
  #transaction: number
  #asked: number = 0
  #askAt: Millis = -Infinity
  #refreshAt: Millis = Infinity
  #refreshed: number = 0
  #pingAt: Millis = -Infinity
  #pingSentAt: Millis = 0
  #pinged: number = 0
  #nonce: Uint8Array = new Uint8Array(PING_NONCE_BYTES)
  #receivedAt: Millis = -Infinity
  #watchedAt: Millis = Infinity
  #isReleased: boolean = false
  /** The transaction of the STUN request. */
  #stun: Uint8Array = new Uint8Array(12)
  #isStunDue: boolean

  constructor(config: RelayClientConfig) {
    this.#config = config
    this.relay = config.relay
    this.#noToken = new Uint8Array(config.token.length)
    const drawn = new Uint8Array(8)
    config.entropy.fill(drawn)
    config.entropy.fill(this.#stun)
    this.#isStunDue = !config.relay.startsWith('ws')
    this.#transaction = readUint32(drawn, 0) + (drawn[4] << 8) * 2 ** 32
  }

  /** Whether there is an allocation, even on a relay that closes soon. */
  get isReady(): boolean {
    return this.state === 'ready' || this.state === 'moving'
  }

  /** Whether the relay has not answered for PATH_SILENCE_MS. */
  isSilent(now: Millis): boolean {
    return this.isReady && now - Math.max(this.#receivedAt, this.#watchedAt) >= PATH_SILENCE_MS
  }

  /** Asks for a channel to another allocation. `connection`: whose packets are to pass, low and high half. */
  bind(allocation: string, connectionLo: number = 0, connectionHi: number = 0): RelayPeer {
    const known = this.peers.get(allocation)
    const peer = known ?? new RelayPeer(allocation)
    this.peers.set(allocation, peer)
    const isNews = (connectionLo | connectionHi) !== 0
      && (connectionLo !== peer.connectionLo || connectionHi !== peer.connectionHi)
    if (isNews) {
      peer.connectionLo = connectionLo
      peer.connectionHi = connectionHi
    }
    if (isNews || known === undefined) peer.askAt = -Infinity
    return peer
  }

  /** Proves the peer's new address to the relay at once: the network changed. */
  handleNetworkChange(now: Millis): void {
    if (this.isReady) this.#refreshAt = now
    else if (this.refusal !== 'token') this.#askAt = now
    this.#cookie = NO_COOKIE
  }

  /** Frees the allocation. */
  release(): void {
    this.#isReleased = true
    this.#refreshAt = -Infinity
  }

  /** A datagram from the relay. True when it is channel data: `channelOf` and CHANNEL_HEAD_BYTES say the rest. */
  handleDatagram(now: Millis, bytes: Uint8Array, length: number): boolean {
    if (isStun(bytes, length)) {
      const seen = this.isReady ? undefined : readBindingResponse(bytes, length, this.#stun)
      if (seen !== undefined) this.seen = seen
      return false
    }
    if (isRelayControl(bytes, length)) {
      if (readRelay(bytes, length, this.#answer)) this.#handleControl(now, bytes, length)
      return false
    }
    const isData = length >= CHANNEL_HEAD_BYTES && bytes[0] >= 0x40 && bytes[0] < 0x80
      && readUint16Be(bytes, 2) === length - CHANNEL_HEAD_BYTES
    if (isData) this.#receivedAt = now
    return isData
  }

  /** The peer that a channel leads to; undefined when there is none. */
  peerOf(channel: number): RelayPeer | undefined {
    for (const peer of this.peers.values()) if (peer.channel === channel) return peer
    return undefined
  }

  /** Writes channel data for a peer. Returns its length; 0 while the peer has no channel or the data is too long. */
  wrap(peer: RelayPeer, bytes: Uint8Array, length: number, out: Uint8Array): number {
    if (peer.channel === 0 || length + CHANNEL_HEAD_BYTES > out.length) return 0
    writeUint16Be(out, 0, peer.channel)
    writeUint16Be(out, 2, length)
    for (let at = 0; at < length; at++) out[CHANNEL_HEAD_BYTES + at] = bytes[at]
    return length + CHANNEL_HEAD_BYTES
  }

  /** The next control message to send to the relay. */
  pollTransmit(now: Millis, out: Transmit): boolean {
    const message = this.#message
    if (this.#isStunDue) return this.#askStun(out)
    // The relay is dead, or this peer's address changed: a Refresh finds out.
    if (this.isSilent(now) && this.#refreshAt > now + RELAY_RETRY_MS) this.#refreshAt = now
    if (this.state === 'refused' && now >= this.#askAt) this.state = 'asking'
    if (this.state === 'refused' || !this.#choose(now, message)) return false
    message.idLo = this.#idLo
    message.idHi = this.#idHi
    out.to = this.relay
    out.length = sealRelay(this.#config.provider, this.#key, message, out.bytes)
    return true
  }

  /** When `pollTransmit` must be called next. */
  pollTimeout(now: Millis): Millis {
    if (!this.isReady) return Math.max(now, this.#askAt)
    let next = this.#refreshAt
    if (this.isWatched) next = Math.min(next, this.#pingAt)
    for (const peer of this.peers.values()) next = Math.min(next, peer.askAt)
    return Math.max(now, next)
  }

  /**
   * STUN gives the outer address of this peer a round trip earlier than an allocation. A WebSocket has no such address.
   */
  #askStun(out: Transmit): boolean {
    this.#isStunDue = false
    out.to = this.relay
    out.length = writeBindingRequest(out.bytes, this.#stun)
    return true
  }

  /** Fills `message` with the request that is due. */
  #choose(now: Millis, message: RelayMessage): boolean {
    if (!this.isReady) {
      if (now < this.#askAt) return false
      this.#askAt = now + RELAY_RETRY_MS
      message.kind = RELAY_KIND.allocate
      message.cookie = this.#cookie
      // An observer that saw the token before the relay did could spend it first: until there is a cookie, zeros.
      message.token = this.#cookie === NO_COOKIE ? this.#noToken : this.#config.token
      message.transaction = this.#asked = this.#next()
      return true
    }
    if (now >= this.#refreshAt) {
      this.#refreshAt = this.#isReleased ? Infinity : now + RELAY_RETRY_MS
      message.kind = RELAY_KIND.refresh
      message.cookie = this.#cookie
      message.lifeSeconds = this.#isReleased ? 0 : RELAY_REFRESH_MS / 1000
      message.transaction = this.#refreshed = this.#next()
      return true
    }
    for (const peer of this.peers.values()) {
      if (now < peer.askAt) continue
      peer.askAt = now + RELAY_RETRY_MS
      message.kind = RELAY_KIND.bind
      message.peerLo = peer.idLo
      message.peerHi = peer.idHi
      message.connectionLo = peer.connectionLo
      message.connectionHi = peer.connectionHi
      message.transaction = peer.transaction = this.#next()
      return true
    }
    return this.isWatched && now >= this.#pingAt && this.#choosePing(now, message)
  }

  #choosePing(now: Millis, message: RelayMessage): boolean {
    if (this.#watchedAt === Infinity) this.#watchedAt = now
    this.#pingAt = now + PATH_WATCH_MS
    this.#pingSentAt = now
    message.kind = RELAY_KIND.ping
    message.transaction = this.#pinged = this.#next()
    writeUint32(this.#nonce, 0, message.transaction)
    message.nonce = this.#nonce
    return true
  }

  #handleControl(now: Millis, bytes: Uint8Array, length: number): void {
    const answer = this.#answer
    switch (answer.kind) {
      case RELAY_KIND.cookie:
        if (answer.transaction !== this.#asked && answer.transaction !== this.#refreshed) return
        this.#cookie = answer.cookie.slice()
        if (this.isReady) this.#refreshAt = now
        else this.#askAt = now
        return
      case RELAY_KIND.allocateOk: return this.#handleAllocateOk(now)
      case RELAY_KIND.pong:
        if (readUint32(answer.nonce, 0) !== readUint32(this.#nonce, 0)) return
        this.#receivedAt = now
        this.rttMs = now - this.#pingSentAt
        // The network of this machine changed, or its router restarted.
        if (answer.seen !== '') this.seen = answer.seen
        return
      case RELAY_KIND.error: return this.#handleError(now)
      default: break
    }
    const isOurs = answer.idLo === this.#idLo && answer.idHi === this.#idHi && this.isReady
    if (!isOurs || !isMacValid(this.#config.provider, this.#key, bytes, length)) return
    this.#receivedAt = now
    if (answer.kind === RELAY_KIND.moving) this.state = 'moving'
    else if (answer.kind === RELAY_KIND.bindOk) this.#handleBindOk()
    else if (answer.kind === RELAY_KIND.refreshOk && answer.transaction === this.#refreshed) {
      this.#cookie = NO_COOKIE
      this.#refreshAt = this.#isReleased ? Infinity : now + RELAY_REFRESH_MS
    }
  }

  #handleAllocateOk(now: Millis): void {
    const answer = this.#answer
    if (this.state !== 'asking' || answer.transaction !== this.#asked) return
    this.state = 'ready'
    this.refusal = undefined
    this.#idLo = answer.idLo
    this.#idHi = answer.idHi
    this.#key = answer.key.slice()
    this.#cookie = NO_COOKIE
    this.allocation = hex8(answer.idHi) + hex8(answer.idLo)
    this.relayed = answer.relayed
    this.seen = answer.seen
    this.#receivedAt = now
    this.#refreshAt = now + RELAY_REFRESH_MS
  }

  #handleBindOk(): void {
    for (const peer of this.peers.values()) {
      if (peer.transaction !== this.#answer.transaction) continue
      peer.channel = this.#answer.channel
      peer.originTag = Array.from(this.#answer.originTag, (byte) => byte.toString(16).padStart(2, '0')).join('')
      peer.askAt = Infinity
    }
  }

  /** An error is not authenticated: one about an allocation that exists only makes this side ask again. */
  #handleError(now: Millis): void {
    const { transaction, reason } = this.#answer
    const error = relayErrorOf(reason)
    if (this.state === 'asking' && transaction === this.#asked) {
      this.refusal = error
      this.state = 'refused'
      this.#askAt = error === 'token' ? Infinity : now + RELAY_AGAIN_MS
    } else if (transaction === this.#refreshed && error === 'unknown') this.#begin(now)
    // The relay knows this peer by another address.
    else if (transaction === this.#pinged && error === 'unknown' && this.#refreshAt > now + RELAY_RETRY_MS)
      this.#refreshAt = now
  }

  /** The relay has forgotten the allocation: it restarted, or the peer was away for too long. */
  #begin(now: Millis): void {
    this.state = 'asking'
    this.#askAt = now
    this.#idLo = 0
    this.#idHi = 0
    this.allocation = ''
    for (const peer of this.peers.values()) {
      peer.channel = 0
      peer.askAt = -Infinity
    }
  }

  #next(): number {
    return ++this.#transaction
  }
}

/** The channel of channel data. */
export function channelOf(bytes: Uint8Array): number {
  return readUint16Be(bytes, 0)
}

function hex8(word: number): string {
  return word.toString(16).padStart(8, '0')
}
