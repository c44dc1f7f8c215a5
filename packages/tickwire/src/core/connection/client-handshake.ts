/**
 * The client side of a handshake: its ephemeral key, the server's challenge, and the keys derived from both.
 *
 * ```
 * Request ─────▶                    again every 200 to 250 ms
 *         ◀───── Challenge          a server key, its signature and a cookie
 * Response ────▶                    again, the same bytes
 *         ◀───── Accepted, Refused  open only under keys of both; Accepted is signed by the server's identity
 * ```
 *
 * A cookie is valid for 4 to 8 s. So when a challenge is 2 s old, a new one is requested alongside the repeated
 * Response.
 *
 * A client that knows the server's identity key checks the signature of a challenge before it agrees on keys and seals
 * anything. A challenge with a wrong signature is dropped, and the client waits for a genuine one: a forged packet does
 * not end the attempt. A client that knows no identity key accepts any server, and its connection reports that.
 *
 * Invariants: one sealed message for each challenge, whose bytes are kept and repeated, so no nonce is used twice.
 * Nothing is sealed for a key that the expected server has not signed. At most `CHALLENGE_CHECKS_PER_REQUEST`
 * signatures are checked for each request.
 *
 * This class has no timers and sends nothing: `opening.ts` asks it for bytes.
 */

import { CHALLENGE_CHECKS_PER_REQUEST, CHALLENGE_FRESH_MS } from '../base/limits.ts'
import type { Entropy } from '../base/entropy.ts'
import type { Millis } from '../base/time.ts'
import { isEqualConstantTime, wipe } from '../crypto/constant-time.ts'
import type { KeyRing, RekeyPolicy } from '../crypto/key-ring.ts'
import { SealingKey } from '../crypto/packet-key.ts'
import { CRYPTO_BYTES, type AgreementKey, type CryptoProvider, type VerifyingKey } from '../crypto/provider.ts'
import type { CryptoSuite } from '../crypto/suite.ts'
import { verifyChallengeKey, verifyTranscript } from '../crypto/transcript.ts'
import { type PacketHeader, readUint32 } from '../packet/header.ts'
import { type CloseReason, closeReasonFromByte } from './close-reason.ts'
import { REQUEST_BYTES, type HandshakeMessage, writeRequest, writeResponse } from './handshake.ts'
import { type Acceptance, type Hello, readAcceptance, writeHello } from './handshake-body.ts'
import { type HandshakeWords, type SessionKeys, deriveHello, deriveSession } from './session-keys.ts'

/** The inputs of a client handshake. */
export interface ClientHandshakeConfig {
  readonly provider: CryptoProvider
  readonly entropy: Entropy
  /** Best first. */
  readonly suites: readonly CryptoSuite[]
  readonly hello: Hello
  /** The identity key of the expected server, if the client knows it. */
  readonly server: Uint8Array | undefined
  readonly rekey: Partial<RekeyPolicy>
}

/** The result of an Accepted: keys, and the fields that were sealed under them. */
export interface ClientSession extends Acceptance {
  readonly ring: KeyRing
  readonly suite: CryptoSuite
  /** Both signatures were made by the identity key that the client expected. */
  readonly isVerified: boolean
}

interface Challenged {
  readonly words: HandshakeWords
  readonly shared: Uint8Array
  readonly response: Uint8Array
  /** When the server last sent it. */
  at: Millis
}

/** Identifies a challenge. It is not encrypted, so either field may have been modified on the path. */
type ChallengeWords = Pick<HandshakeWords, 'cookie' | 'serverKey'>

/** One attempt of a client to connect to a server. */
export class ClientHandshake {
  readonly saltLo: number
  readonly saltHi: number
  /** A challenge or an acceptance arrived that the expected server has not signed. */
  hasMetImpostor: boolean = false
  /** A Request must be sent in addition to the Response just written. */
  isRequestDue: boolean = false
  #config: ClientHandshakeConfig
  #key: AgreementKey
  #offered: Uint8Array
  /** The identity key of the expected server. */
  #identity: VerifyingKey | undefined
  /** The server key whose signature was verified last: challenges with this key need no second check. */
  #provenKey: Uint8Array = new Uint8Array(0)
  /** Signatures that may be checked before the next request. */
  #checksLeft: number = 0
  #challenged: Challenged | undefined = undefined
  /** The challenge before the current one: late copies of it must not replace the current one. */
  #past: ChallengeWords = { cookie: new Uint8Array(0), serverKey: new Uint8Array(0) }

  constructor(config: ClientHandshakeConfig) {
    this.#config = config
    this.#offered = Uint8Array.from(config.suites, ({ id }) => id)
    this.#identity = config.server === undefined ? undefined : config.provider.importVerifying(config.server)
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

  /** Whether there is a challenge that is not about to expire. */
  isFresh(now: Millis): boolean {
    return this.#challenged !== undefined && now < this.#challenged.at + CHALLENGE_FRESH_MS
  }

  /** Writes the next packet to send; returns its length. */
  write(now: Millis, out: Uint8Array): number {
    if (this.#challenged === undefined || this.isRequestDue) {
      this.isRequestDue = false
      return this.#writeRequest(out)
    }
    // A challenge expires. While it is valid the client answers it, and requests the next one in time.
    this.isRequestDue = !this.isFresh(now)
    out.set(this.#challenged.response)
    return REQUEST_BYTES
  }

  #writeRequest(out: Uint8Array): number {
    this.#checksLeft = CHALLENGE_CHECKS_PER_REQUEST
    return writeRequest(out, this.saltLo, this.saltHi, this.#key.publicKey, this.#offered)
  }

  /**
   * Accepts a challenge. False when its suite was not offered, it is the previous one, it is not signed by the expected
   * server, or the current challenge is still fresh.
   */
  handleChallenge(now: Millis, challenge: HandshakeMessage): boolean {
    const { suite: id, serverKey, cookie } = challenge
    const suite = this.#config.suites.find((offered) => offered.id === id)
    // A key agreement is the most expensive operation that an attacker can cause: one for each of our own requests.
    if (suite === undefined || this.isFresh(now) || isSame(this.#past, challenge)) return false
    if (this.#challenged !== undefined && isSame(this.#challenged.words, challenge)) {
      // The server repeats a challenge for a while. Sealing a second answer to it would use a nonce twice.
      this.#challenged.at = now
      return true
    }
    const shared = this.#isProven(challenge) ? this.#key.agree(serverKey) : undefined
    if (shared === undefined) return false
    const words: HandshakeWords = {
      suite,
      clientKey: this.#key.publicKey,
      cookie: Uint8Array.from(cookie),
      serverKey: Uint8Array.from(serverKey),
      offered: this.#offered,
    }
    this.#past = this.#challenged?.words ?? this.#past
    this.#forget()
    this.#challenged = { words, shared, response: this.#seal(words, shared), at: now }
    return true
  }

  /** Decrypts an Accepted in place. Undefined when it does not decrypt, or is not signed by the expected server. */
  handleAccepted(
    now: Millis, header: PacketHeader, message: HandshakeMessage, bytes: Uint8Array, length: number,
  ): ClientSession | undefined {
    const session = this.#open(now, header, message, bytes, length)
    if (session === undefined || this.#challenged === undefined) return undefined
    const acceptance = readAcceptance(bytes, message.sealedAt, length - CRYPTO_BYTES.tag)
    const isVerified = acceptance !== undefined && this.#verify(session.transcript, acceptance.signature)
    if (acceptance === undefined || (this.#identity !== undefined && !isVerified)) {
      this.hasMetImpostor ||= acceptance !== undefined
      session.ring.wipe()
      return undefined
    }
    const { suite } = this.#challenged.words
    this.wipe()
    return { ...acceptance, ring: session.ring, suite, isVerified }
  }

  /** Decrypts a Refused in place. Returns the reason, if it is one that a server may give. */
  handleRefused(
    now: Millis, header: PacketHeader, message: HandshakeMessage, bytes: Uint8Array, length: number,
  ): CloseReason | undefined {
    const session = this.#open(now, header, message, bytes, length)
    session?.ring.wipe()
    if (session === undefined || length !== message.sealedAt + 1 + CRYPTO_BYTES.tag) return undefined
    const reason = closeReasonFromByte(bytes[message.sealedAt])
    return reason?.by === 'protocol' ? reason : undefined
  }

  /** Wipes all keys: the handshake is over, or has become a connection. */
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
    return this.#identity !== undefined && verifyTranscript(this.#identity, transcript, signature)
  }

  /** Whether the expected server signed this challenge's key. Without an expected server every key is accepted. */
  #isProven({ serverKey, signature }: HandshakeMessage): boolean {
    if (this.#identity === undefined || isEqualConstantTime(this.#provenKey, serverKey)) return true
    if (this.#checksLeft === 0) return false
    this.#checksLeft--
    const isProven = verifyChallengeKey(this.#identity, serverKey, signature)
    if (isProven) this.#provenKey = serverKey.slice()
    else this.hasMetImpostor = true
    return isProven
  }

  #seal(words: HandshakeWords, shared: Uint8Array): Uint8Array {
    const { provider, hello } = this.#config
    const response = new Uint8Array(REQUEST_BYTES)
    const at = writeResponse(
      response,
      this.saltLo,
      this.saltHi,
      words.suite.id,
      words.clientKey,
      words.cookie,
      words.offered,
    )
    writeHello(response, at, hello)
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
