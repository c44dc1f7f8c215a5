/**
 * Admission: how a server answers clients that ask to connect.
 *
 * ```
 * Request     size, rate, in a flood: repeated, HMAC         answered by Challenge; nothing is stored
 * Response    size, one HMAC: the address is proven          all checks up to here cost no more than that
 *             rate, key agreement, decryption                the sender is the client that asked
 *             schema, seats, token, the host                 answered by Accepted or Refused, sealed
 * ```
 *
 * An accepted client is a guest: it has a place but no seat. It becomes a connection with its first packet that opens
 * under the keys, if a seat is free then. Otherwise it receives a sealed refusal. A repeated response gets the same
 * answer bytes. A guest that is silent for 5 s is discarded; when places run out, the guest silent longest is discarded
 * earlier. While the host decides, the client gets no answer and its request is kept, within the limits for guests. A
 * client is never blocked by its own older attempt.
 *
 * Invariants: an answer is never longer than its question; nothing is stored before a response has opened; guests never
 * keep a client from a seat; a token admits one client, once.
 */

import { assert } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import { ADDRESS_CHARS_MAX, GUESTS_MAX, GUEST_MS, WELCOME_BYTES_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { type RuleCode, closeReasonToByte } from '../connection/close-reason.ts'
import { Connection } from '../connection/connection.ts'
import {
  type HandshakeMessage, writeAccepted, writeChallenge, writeRefused, writeRejected, writeReset,
} from '../connection/handshake.ts'
import { writeAcceptance } from '../connection/handshake-body.ts'
import { type SessionKeys, deriveSession } from '../connection/session-keys.ts'
import type { Transmit } from '../connection/transmit.ts'
import { ChallengeKeys } from '../crypto/challenge-keys.ts'
import type { ConnectToken } from '../crypto/connect-token.ts'
import { isEqualConstantTime, wipe } from '../crypto/constant-time.ts'
import { SERVER_RANDOM_BYTES } from '../crypto/key-schedule.ts'
import type { SigningKey } from '../crypto/provider.ts'
import { signTranscript } from '../crypto/transcript.ts'
import { PACKET_TYPE, PacketHeader, writeHeader } from '../packet/header.ts'
import type { CompleteEndpointConfig, Verdict } from './endpoint-config.ts'
import { Knocks } from './knocks.ts'
import { chooseSuite, type OpenedResponse, openResponse } from './open-response.ts'
import { OriginGuard } from './origin-limits.ts'
import { Replies } from './replies.ts'
import { Resets } from './resets.ts'
import type { Guest, Routes } from './routes.ts'
import { TokenGate } from './token-gate.ts'

/** Counts of requests and responses that failed, by reason. */
export interface AdmissionDrops {
  /** Answers that were dropped because the reply queue was full. */
  replies: number
  /** Refused because `admit` returned more than 256 bytes: an error of the host. */
  oversizedWelcomes: number
  /** Responses whose cookie is invalid, expired, or belongs to a different address. */
  cookie: number
  /** Responses that do not decrypt. */
  forged: number
  /** The origin exceeded its limits. */
  limited: number
  /** Requests during a flood that were not repeated, or repeated too soon. */
  flooded: number
  /** Tokens that were rejected, for any reason. */
  tokens: number
}

/** A client that waits for the decision of the host. */
interface Waiting {
  asked: OpenedResponse
  receivedAt: Millis
  readonly token: ConnectToken | undefined
}

/** Answers requests and responses. */
export class Admission {
  readonly drops: AdmissionDrops = {
    replies: 0,
    oversizedWelcomes: 0,
    cookie: 0,
    forged: 0,
    limited: 0,
    flooded: 0,
    tokens: 0,
  }
  /** The server is closing: every client is refused with `full`. */
  isClosed: boolean = false
  #config: CompleteEndpointConfig
  #entropy: Entropy
  #identity: SigningKey
  #tokens: TokenGate
  #routes: Routes
  #takeHandle: () => number
  #replies: Replies = new Replies()
  #challenges: ChallengeKeys
  #origins: OriginGuard
  #knocks: Knocks
  #resets: Resets
  /** Indexed by the handle that the connection will have. */
  #waiting: Map<number, Waiting> = new Map()
  /** Header of the only packet that a guest is ever sent. */
  #header: PacketHeader = Object.assign(new PacketHeader(), { type: PACKET_TYPE.disconnect, sequence: 1 })

  constructor(config: CompleteEndpointConfig, routes: Routes, takeHandle: () => number) {
    this.#config = config
    this.#entropy = config.entropy
    this.#routes = routes
    this.#takeHandle = takeHandle
    const { provider, identity, tokens, resetKey } = config.security
    assert(identity !== undefined, 'a server has an identity')
    this.#identity = identity
    this.#tokens = new TokenGate(tokens, this.drops)
    this.#challenges = new ChallengeKeys(provider, config.entropy, identity)
    this.#origins = new OriginGuard(config.limits, config.entropy)
    this.#knocks = new Knocks(config.entropy)
    this.#resets = new Resets(provider, resetKey)
  }

  get hasReplies(): boolean {
    return this.#replies.count > 0
  }

  /** Writes the next answer, if any. */
  pollReply(out: Transmit): boolean {
    return this.#replies.poll(out)
  }

  handleRequest(now: Millis, from: string, request: HandshakeMessage, isOurVersion: boolean): void {
    const { saltLo, saltHi, clientKey } = request
    if (from.length > ADDRESS_CHARS_MAX || !this.#origins.mayChallenge(now, from)) {
      this.drops.limited++
      return
    }
    const out = this.#reserve()
    if (out === undefined) return
    if (!this.#knocks.take(now, from)) return void this.drops.flooded++
    const suite = isOurVersion ? chooseSuite(this.#config.security, request) : 0
    if (suite === 0) {
      this.#replies.commit(from, writeRejected(out, saltLo, saltHi, byteOf('version')))
      this.#config.onRefused(from, 'version')
      return
    }
    const { serverKey, cookie, signature } = this.#challenges.challenge(now, from, clientKey)
    this.#replies.commit(from, writeChallenge(out, saltLo, saltHi, suite, serverKey, cookie, signature))
  }

  /** Handles a response. A valid one is decrypted in place. */
  handleResponse(now: Millis, from: string, message: HandshakeMessage, bytes: Uint8Array, length: number): void {
    const { clientKey, cookie } = message
    // Check for reply space before any cost and before a token is spent: there must be room for an answer.
    if (this.#reserve() === undefined) return
    const era = from.length > ADDRESS_CHARS_MAX ? undefined : this.#challenges.recognise(now, from, clientKey, cookie)
    if (era === undefined) {
      this.drops.cookie++
      return
    }
    const known = this.#routes.findAsking(from, clientKey, now)
    // The client has used its keys already: this is a late copy of its response.
    if (known instanceof Connection) return
    const waiting = known === undefined ? this.#findWaiting(now, from, clientKey) : undefined
    if (known !== undefined && isEqualConstantTime(known.cookie, cookie)) {
      known.receivedAt = now
      this.#say(from, known.accepted)
    } else if (waiting !== undefined && isEqualConstantTime(waiting.asked.words.cookie, cookie))
      waiting.receivedAt = now
    else if (!this.#origins.mayShakeHands(now, from)) this.drops.limited++
    // Not answered: the client repeats its response, and by then older guests will have expired.
    else if (known === undefined && waiting === undefined && !this.#mayBeGuest(now, from, era.bucket))
      this.drops.limited++
    else {
      const asked = openResponse(this.#config.security, from, message, era, bytes, length)
      if (asked === undefined) this.drops.forged++
      else if (waiting === undefined) this.#decide(now, asked, known)
      else {
        // The client has answered a newer challenge in the meantime: that response will be answered.
        wipe(waiting.asked.shared)
        waiting.asked = asked
        waiting.receivedAt = now
      }
    }
  }

  /** The host has decided about a waiting client. False when the client no longer waits. */
  settle(now: Millis, handle: number, verdict: Verdict): boolean {
    const waiting = this.#waiting.get(handle)
    if (waiting === undefined || isSilent(waiting, now)) return false
    this.#waiting.delete(handle)
    const { asked, token } = waiting
    if (this.isClosed || !this.#routes.hasSeat()) this.#refuse(now, asked, 'full')
    else this.#answer(now, asked, undefined, handle, token, verdict)
    return true
  }

  /** A packet of an unknown connection: answered with a reset if the reset is shorter and within the rate. */
  handleStray(now: Millis, from: string, idLo: number, idHi: number, length: number): void {
    if (!this.#resets.take(now, length)) return
    const out = this.#reserve()
    if (out !== undefined) this.#replies.commit(from, writeReset(out, idLo, idHi, this.#resets.tokenOf(idLo, idHi)))
  }

  /** A guest has become a connection: its token admits no client any more. */
  handleSettled({ tokenId }: Guest): void {
    this.#tokens.finish(tokenId)
  }

  /** A guest has used its keys, but all seats are taken: it receives a sealed Disconnect and is discarded. */
  turnAway(guest: Guest): void {
    const out = this.#reserve()
    if (out !== undefined) {
      const header = this.#header
      header.idLo = guest.idLo
      header.idHi = guest.idHi
      header.epoch = guest.keys.sealingEpoch
      const at = writeHeader(header, out)
      out[at] = byteOf('full')
      this.#replies.commit(guest.address, guest.keys.seal(header.sequence, out, at, 1))
    }
    this.#routes.forgetGuest(guest)
  }

  /** The client has proven its address and its key. Only now is the content of its hello evaluated. */
  #decide(now: Millis, asked: OpenedResponse, known: Guest | undefined): void {
    const { from, hello, words } = asked
    const { fingerprint, fingerprints } = this.#config
    const isOurs = (other: Uint8Array): boolean => isEqualConstantTime(hello.fingerprint, other)
    if (!isOurs(fingerprint) && !fingerprints.some(isOurs)) {
      this.#refuse(now, asked, 'schema')
      return
    }
    const token = this.#tokens.check(hello.token, words.clientKey)
    if (token === 'bad') {
      this.#refuse(now, asked, 'token')
      return
    }
    const hasSeat = !this.isClosed && this.#routes.hasSeat()
    if (hasSeat && known === undefined) this.#makeRoom(now, asked)
    if (!hasSeat || (known === undefined && this.#origins.isCrowded(from, this.#routes.addresses(now)))) {
      this.#refuse(now, asked, 'full')
      return
    }
    const handle = known?.handle ?? this.#takeHandle()
    const verdict = this.#config.admit({
      connection: handle,
      from,
      fingerprint: hello.fingerprint,
      user: hello.user,
      data: hello.data,
      token,
    })
    if (verdict !== 'later') this.#answer(now, asked, known, handle, token, verdict)
    else if (known === undefined) this.#wait(now, asked, handle, token)
    else wipe(asked.shared)
  }

  /** Whether the client's origin may have one more guest, or has an older guest at the client's own address. */
  #mayBeGuest(now: Millis, from: string, bucket: number): boolean {
    return (
      !this.#origins.hasManyGuests(from, this.#awaited(now))
      || this.#routes.findOlderGuest(from, bucket, now) !== undefined
    )
  }

  /**
   * When the origin is at its limit, an older guest at the same address is discarded: an attempt that its client gave
   * up, kept alive by late copies of its response. Only a newer challenge discards an older one, so a late copy cannot
   * discard a later attempt, and two attempts cannot discard each other in turn. Only at the same address, which is one
   * socket, so other clients of the origin keep their places. A spent token stays spent.
   */
  #makeRoom(now: Millis, { from, bucket }: OpenedResponse): void {
    const older = this.#routes.findOlderGuest(from, bucket, now)
    if (older === undefined) return
    const isThronged = this.#origins.hasManyGuests(from, this.#awaited(now))
    if (isThronged || this.#origins.isCrowded(from, this.#routes.addresses(now))) this.#routes.forgetGuest(older)
  }

  #answer(
    now: Millis,
    asked: OpenedResponse,
    known: Guest | undefined,
    handle: number,
    token: ConnectToken | undefined,
    verdict: Verdict,
  ): void {
    if (typeof verdict === 'string') {
      this.#refuse(now, asked, verdict)
      return
    }
    const welcome = verdict
    // A welcome may contain bytes from the client, so the client may control its length: it must not throw.
    const isTooLong = welcome !== undefined && welcome.length > WELCOME_BYTES_MAX
    if (isTooLong) this.drops.oversizedWelcomes++
    const { clientKey } = asked.words
    const spent = welcome === undefined || isTooLong ? 'refused' : this.#tokens.spend(token, clientKey)
    if (spent !== 'good' || welcome === undefined) this.#refuse(now, asked, spent === 'good' ? 'refused' : spent)
    else {
      // One token has one guest: the same client at a different address replaces its older attempt.
      const older = token === undefined || known !== undefined ? undefined : this.#routes.findGuestOf(clientKey)
      if (older !== undefined) this.#routes.forgetGuest(older)
      this.#accept(now, asked, known, handle, token, welcome.slice())
    }
  }

  #wait(now: Millis, asked: OpenedResponse, handle: number, token: ConnectToken | undefined): void {
    for (const [other, waiting] of this.#waiting)
      if (isSilent(waiting, now) && this.#waiting.delete(other)) wipe(waiting.asked.shared)
    if (this.#waiting.size < GUESTS_MAX) this.#waiting.set(handle, { asked, token, receivedAt: now })
    else {
      this.drops.limited++
      wipe(asked.shared)
    }
  }

  #findWaiting(now: Millis, from: string, clientKey: Uint8Array): Waiting | undefined {
    for (const waiting of this.#waiting.values()) {
      const { from: address, words } = waiting.asked
      if (address === from && isEqualConstantTime(words.clientKey, clientKey) && !isSilent(waiting, now)) return waiting
    }
    return undefined
  }

  *#awaited(now: Millis): Generator<string> {
    yield* this.#routes.guestAddresses(now)
    for (const waiting of this.#waiting.values()) if (!isSilent(waiting, now)) yield waiting.asked.from
  }

  #accept(
    now: Millis,
    asked: OpenedResponse,
    known: Guest | undefined,
    handle: number,
    token: ConnectToken | undefined,
    welcome: Uint8Array,
  ): void {
    const { from, saltLo, saltHi, words, hello } = asked
    const out = this.#reserve()
    if (out === undefined) return wipe(asked.shared)
    const place = known === undefined ? this.#routes.freePlace(now) : this.#routes.placeOf(known)
    const [idLo, idHi] = this.#routes.drawId(place)
    const { random, session } = this.#derive(now, asked, idLo, idHi)
    const at = writeAccepted(out, idLo, idHi, saltLo, saltHi, random)
    const size = writeAcceptance(out, at, {
      resetToken: this.#resets.tokenOf(idLo, idHi),
      signature: signTranscript(this.#identity, session.transcript),
      datagramBytesMax: this.#config.maxDatagramBytes,
      welcome,
    })
    const length = session.ring.seal(0, out, at, size)
    this.#replies.commit(from, length)
    this.#routes.holdGuest({
      address: from, idLo, idHi, clientKey: words.clientKey, cookie: words.cookie, user: hello.user, welcome, handle,
      keys: session.ring, suite: words.suite.name, accepted: out.slice(0, length), receivedAt: now,
      bucket: Math.max(asked.bucket, known?.bucket ?? 0), tokenId: token?.id,
    })
  }

  #refuse(now: Millis, asked: OpenedResponse, code: RuleCode): void {
    const { saltLo, saltHi } = asked
    const out = this.#reserve()
    if (out === undefined) return wipe(asked.shared)
    const { random, session } = this.#derive(now, asked, 0, 0)
    const at = writeRefused(out, saltLo, saltHi, random)
    out[at] = byteOf(code)
    this.#replies.commit(asked.from, session.ring.seal(0, out, at, 1))
    session.ring.wipe()
    this.#config.onRefused(asked.from, code)
  }

  #derive(
    now: Millis, asked: OpenedResponse, idLo: number, idHi: number,
  ): { random: Uint8Array; session: SessionKeys } {
    const { provider, rekey } = this.#config.security
    const random = new Uint8Array(SERVER_RANDOM_BYTES)
    this.#entropy.fill(random)
    const { words, shared, hello } = asked
    const session = deriveSession(now, provider, 'server', words, shared, hello, { random, idLo, idHi }, rekey)
    wipe(asked.shared)
    return { random, session }
  }

  #say(to: string, bytes: Uint8Array): void {
    const out = this.#reserve()
    if (out === undefined) return
    out.set(bytes)
    this.#replies.commit(to, bytes.length)
  }

  #reserve(): Uint8Array | undefined {
    const out = this.#replies.reserve()
    if (out === undefined) this.drops.replies++
    return out
  }
}

function isSilent({ receivedAt }: Waiting, now: Millis): boolean {
  return now >= receivedAt + GUEST_MS
}

function byteOf(code: RuleCode): number {
  return closeReasonToByte({ by: 'protocol', code })
}
