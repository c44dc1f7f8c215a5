/**
 * The asking side of a handshake: a key of its own, the challenge it was given, and what follows from both.
 *
 * ```
 * Request ─────▶                    again every 200 to 250 ms
 *         ◀───── Challenge          a server key and a cookie: now there are keys, but nobody is proven
 * Response ────▶                    again, the same bytes
 *         ◀───── Accepted, Refused  open only under keys of both; Accepted is signed by the server's identity
 * ```
 *
 * A cookie is good for 4 to 8 s, so a challenge that is 2 s old is asked for anew beside what is said under it. Which
 * server it is, is checked when we know whom to expect; otherwise anybody will do, and the connection says so.
 *
 * Invariant: one sealed message for each challenge, its bytes kept and repeated: no nonce is used twice.
 *
 * It keeps no time and sends nothing: `connection.ts` asks it for bytes.
 */

import { CHALLENGE_FRESH_MS } from '../base/limits.ts'
import type { Entropy } from '../base/entropy.ts'
import type { Millis } from '../base/time.ts'
import { isEqualConstantTime, wipe } from '../crypto/constant-time.ts'
import type { KeyRing, RekeyPolicy } from '../crypto/key-ring.ts'
import { SealingKey } from '../crypto/packet-key.ts'
import { CRYPTO_BYTES, type AgreementKey, type CryptoProvider } from '../crypto/provider.ts'
import type { CryptoSuite } from '../crypto/suite.ts'
import { verifyTranscript } from '../crypto/transcript.ts'
import { type PacketHeader, readUint32 } from '../packet/header.ts'
import { type CloseReason, closeReasonFromByte } from './close-reason.ts'
import { REQUEST_BYTES, type HandshakeMessage, writeRequest, writeResponse } from './handshake.ts'
import { type Acceptance, type Hello, readAcceptance } from './handshake-body.ts'
import { type HandshakeWords, type SessionKeys, deriveHello, deriveSession } from './session-keys.ts'

/** What a client brings. */
export interface ClientHandshakeConfig {
  readonly provider: CryptoProvider
  readonly entropy: Entropy
  /** Best first. */
  readonly suites: readonly CryptoSuite[]
  readonly hello: Hello
  /** Empty in play without tokens. */
  readonly token: Uint8Array
  /** The identity key of the server we mean to meet, if we know it. */
  readonly server: Uint8Array | undefined
  readonly rekey: Partial<RekeyPolicy>
}

/** What an acceptance brings: keys, and what was said under them. */
export interface ClientSession extends Acceptance {
  readonly ring: KeyRing
  readonly suite: CryptoSuite
  /** Its signature is that of the server we meant to meet. */
  readonly isVerified: boolean
}

interface Challenged {
  readonly words: HandshakeWords
  readonly shared: Uint8Array
  readonly response: Uint8Array
  /** When the server last gave it. */
  at: Millis
}

/** What makes one challenge another: it travels in the clear, and either may have been touched on the way. */
type ChallengeWords = Pick<HandshakeWords, 'cookie' | 'serverKey'>

/** One client's knocking at one door. */
export class ClientHandshake {
  readonly saltLo: number
  readonly saltHi: number
  /** Someone answered under good keys who is not the server we meant to meet. */
  hasMetImpostor: boolean = false
  /** Beside what was just written a request must go. */
  isRequestDue: boolean = false
  #config: ClientHandshakeConfig
  #key: AgreementKey
  #challenged: Challenged | undefined = undefined
  /** The one before it: late copies of it must not take its place. */
  #past: ChallengeWords = { cookie: new Uint8Array(0), serverKey: new Uint8Array(0) }

  constructor(config: ClientHandshakeConfig) {
    this.#config = config
    const drawn = new Uint8Array(8 + CRYPTO_BYTES.key)
    config.entropy.fill(drawn)
    this.saltLo = readUint32(drawn, 0)
    this.saltHi = readUint32(drawn, 4)
    this.#key = config.provider.importAgreement(drawn.subarray(8))
    wipe(drawn)
  }

  get clientKey(): Uint8Array {
    return this.#key.publicKey
  }

  /** A challenge is here and not about to expire. */
  isFresh(now: Millis): boolean {
    return this.#challenged !== undefined && now < this.#challenged.at + CHALLENGE_FRESH_MS
  }

  /** Writes what is to be said now; returns its length. */
  write(now: Millis, out: Uint8Array): number {
    if (this.#challenged === undefined || this.isRequestDue) {
      this.isRequestDue = false
      return this.#writeRequest(out)
    }
    // A challenge does not last for ever: while it is good we answer it, and ask for the next in time.
    this.isRequestDue = !this.isFresh(now)
    out.set(this.#challenged.response)
    return REQUEST_BYTES
  }

  #writeRequest(out: Uint8Array): number {
    return writeRequest(out, this.saltLo, this.saltHi, this.#key.publicKey, this.#config.suites.map(({ id }) => id))
  }

  /** Takes a challenge up. False when it is none of ours, one of the past, or while the last is still fresh. */
  handleChallenge(now: Millis, challenge: HandshakeMessage): boolean {
    const { suite: id, serverKey, cookie } = challenge
    const suite = this.#config.suites.find((offered) => offered.id === id)
    // An agreement is the dearest thing a stranger can ask of us: one for each time we ask ourselves.
    if (suite === undefined || this.isFresh(now) || isSame(this.#past, challenge)) return false
    if (this.#challenged !== undefined && isSame(this.#challenged.words, challenge)) {
      // The server gives the same one for a while, and to seal another answer to it would use a nonce twice.
      this.#challenged.at = now
      return true
    }
    const shared = this.#key.agree(serverKey)
    if (shared === undefined) return false
    const words: HandshakeWords = {
      suite, clientKey: this.#key.publicKey, cookie: Uint8Array.from(cookie), serverKey: Uint8Array.from(serverKey), token: this.#config.token,
    }
    this.#past = this.#challenged?.words ?? this.#past
    this.#forget()
    this.#challenged = { words, shared, response: this.#seal(words, shared), at: now }
    return true
  }

  /** Opens an acceptance, in place. Undefined when it was sealed by nobody we spoke to, or not by whom we meant. */
  handleAccepted(
    now: Millis, header: PacketHeader, message: HandshakeMessage, bytes: Uint8Array, length: number,
  ): ClientSession | undefined {
    const session = this.#open(now, header, message, bytes, length)
    if (session === undefined || this.#challenged === undefined) return undefined
    const acceptance = readAcceptance(bytes, message.sealedAt, length - CRYPTO_BYTES.tag)
    const isVerified = acceptance !== undefined && this.#verify(session.transcript, acceptance.signature)
    if (acceptance === undefined || (this.#config.server !== undefined && !isVerified)) {
      this.hasMetImpostor ||= acceptance !== undefined
      session.ring.wipe()
      return undefined
    }
    const { suite } = this.#challenged.words
    this.wipe()
    return { ...acceptance, ring: session.ring, suite, isVerified }
  }

  /** Opens a refusal, in place: the reason, if it is one that the server we spoke to may give. */
  handleRefused(
    now: Millis, header: PacketHeader, message: HandshakeMessage, bytes: Uint8Array, length: number,
  ): CloseReason | undefined {
    const session = this.#open(now, header, message, bytes, length)
    session?.ring.wipe()
    if (session === undefined || length !== message.sealedAt + 1 + CRYPTO_BYTES.tag) return undefined
    const reason = closeReasonFromByte(bytes[message.sealedAt])
    return reason?.by === 'protocol' ? reason : undefined
  }

  /** Forgets all keys: it is over, or has become a connection. */
  wipe(): void {
    this.#forget()
    this.#key.wipe()
  }

  #open(
    now: Millis, header: PacketHeader, message: HandshakeMessage, bytes: Uint8Array, length: number,
  ): SessionKeys | undefined {
    if (this.#challenged === undefined) return undefined
    const { provider, hello, rekey } = this.#config
    const { words, shared } = this.#challenged
    const server = { random: message.random, idLo: header.idLo, idHi: header.idHi }
    const session = deriveSession(now, provider, 'client', words, shared, hello, server, rekey)
    if (session.ring.openAcceptance(bytes, message.sealedAt, length)) return session
    session.ring.wipe()
    return undefined
  }

  #verify(transcript: Uint8Array, signature: Uint8Array): boolean {
    const { provider, server } = this.#config
    return server !== undefined && verifyTranscript(provider.importVerifying(server), transcript, signature)
  }

  #seal(words: HandshakeWords, shared: Uint8Array): Uint8Array {
    const { provider, hello, token } = this.#config
    const response = new Uint8Array(REQUEST_BYTES)
    const at = writeResponse(
      response, this.saltLo, this.saltHi, words.suite.id, words.clientKey, words.cookie, token, hello.fingerprint, hello.user,
    )
    const material = deriveHello(provider, words, shared)
    const key = new SealingKey(words.suite, 0, material)
    wipe(material)
    key.seal(0, response, at, REQUEST_BYTES - CRYPTO_BYTES.tag - at)
    key.wipe()
    return response
  }

  #forget(): void {
    if (this.#challenged !== undefined) wipe(this.#challenged.shared)
    this.#challenged = undefined
  }
}

function isSame(known: ChallengeWords, { cookie, serverKey }: ChallengeWords): boolean {
  return isEqualConstantTime(known.cookie, cookie) && isEqualConstantTime(known.serverKey, serverKey)
}
