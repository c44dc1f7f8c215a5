/**
 * Strangers at the door: who asks to be let in, and what he is told.
 *
 * ```
 * Request     size, rate, in a flood: asked before, HMAC   answered by Challenge; nothing is kept
 * Response    size, one HMAC: his address is proven          everything before this costs us no more than that
 *             rate, key agreement, open                      he is who asked
 *             schema, seats, token, the host                 answered by Accepted or Refused, sealed
 * ```
 *
 * Whoever was accepted is a guest: he has a place and no seat, and becomes a connection with his first packet that opens
 * under the keys, if a seat is free then; if not, he is told so, sealed. A response that is repeated gets the same bytes
 * again. A guest silent for 5 s is forgotten; when places run out, the one silent longest before that. While the host makes up its mind
 * nobody is answered, and what was asked is kept, within the bounds of guests. Nobody stands in the way of his own newer attempt.
 *
 * Invariants: an answer is never longer than its question; nothing is kept before a response has opened; guests keep
 * nobody from a seat; a token lets one client in, once.
 */

import type { Entropy } from '../base/entropy.ts'
import { ADDRESS_CHARS_MAX, GUESTS_MAX, GUEST_MS, WELCOME_BYTES_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { type RuleCode, closeReasonToByte } from '../connection/close-reason.ts'
import { Connection } from '../connection/connection.ts'
import {
  type HandshakeMessage, writeAccepted, writeChallenge, writeRefused, writeRejected, writeReset,
} from '../connection/handshake.ts'
import { type Hello, readHello, writeAcceptance } from '../connection/handshake-body.ts'
import { type HandshakeWords, type SessionKeys, deriveHello, deriveSession } from '../connection/session-keys.ts'
import type { Transmit } from '../connection/transmit.ts'
import { type ChallengeEra, ChallengeKeys } from '../crypto/challenge-keys.ts'
import { type ConnectToken, verifyToken } from '../crypto/connect-token.ts'
import { isEqualConstantTime, wipe } from '../crypto/constant-time.ts'
import { SERVER_RANDOM_BYTES } from '../crypto/key-schedule.ts'
import { OpeningKey } from '../crypto/packet-key.ts'
import { CRYPTO_BYTES } from '../crypto/provider.ts'
import { signTranscript } from '../crypto/transcript.ts'
import { PACKET_TYPE, PacketHeader, writeHeader } from '../packet/header.ts'
import type { CompleteEndpointConfig, Verdict } from './endpoint-config.ts'
import { Knocks } from './knocks.ts'
import { OriginGuard } from './origin-limits.ts'
import { Replies } from './replies.ts'
import { Resets } from './resets.ts'
import type { Guest, Routes } from './routes.ts'

/** Where admission fell short. */
export interface AdmissionDrops {
  /** Answers that had no room to wait. */
  replies: number
  /** Refused because `admit` returned more than 256 bytes: a mistake of the host. */
  oversizedWelcomes: number
  /** Responses whose cookie is not ours, too old, or another address's. */
  cookie: number
  /** Responses that do not open. */
  forged: number
  /** More from one origin than it may ask. */
  limited: number
  /** Requests in a flood that nobody repeated, or repeated too soon. */
  flooded: number
  /** Tokens that were not good, whatever the reason. */
  tokens: number
}

/** A response that has opened. */
interface Asked {
  readonly from: string
  readonly saltLo: number
  readonly saltHi: number
  readonly bucket: number
  readonly words: HandshakeWords
  readonly shared: Uint8Array
  readonly hello: Hello
}

/** Who has asked, while the host makes up its mind. */
interface Waiting {
  asked: Asked
  heardAt: Millis
  readonly token: ConnectToken | undefined
}

/** Answers requests. */
export class Admission {
  readonly drops: AdmissionDrops = { replies: 0, oversizedWelcomes: 0, cookie: 0, forged: 0, limited: 0, flooded: 0, tokens: 0 }
  /** The house is closing: everyone is told that it is full. */
  isClosed: boolean = false
  #config: CompleteEndpointConfig
  #entropy: Entropy
  #routes: Routes
  #takeHandle: () => number
  #replies: Replies = new Replies()
  #challenges: ChallengeKeys
  #origins: OriginGuard
  #knocks: Knocks
  #resets: Resets
  /** By the handle each will have. */
  #waiting: Map<number, Waiting> = new Map()
  /** Of the only packet a guest is ever sent. */
  #header: PacketHeader = Object.assign(new PacketHeader(), { type: PACKET_TYPE.disconnect, sequence: 1 })

  constructor(config: CompleteEndpointConfig, routes: Routes, takeHandle: () => number) {
    this.#config = config
    this.#entropy = config.entropy
    this.#routes = routes
    this.#takeHandle = takeHandle
    this.#challenges = new ChallengeKeys(config.security.provider, config.entropy)
    this.#origins = new OriginGuard(config.limits, config.entropy)
    this.#knocks = new Knocks(config.entropy)
    this.#resets = new Resets(config.security.provider, config.security.resetKey)
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
    if (!this.#knocks.take(now, from)) {
      this.drops.flooded++
      return
    }
    const suite = isOurVersion ? this.#chooseSuite(request) : 0
    if (suite === 0) {
      this.#replies.commit(from, writeRejected(out, saltLo, saltHi, byteOf('version')))
      return
    }
    const { serverKey, cookie } = this.#challenges.challenge(now, from, clientKey)
    this.#replies.commit(from, writeChallenge(out, saltLo, saltHi, suite, serverKey, cookie))
  }

  /** A response, in place: opened when it returns, if it was good. */
  handleResponse(now: Millis, from: string, message: HandshakeMessage, bytes: Uint8Array, length: number): void {
    const { clientKey, cookie } = message
    // Before it costs anything, and before a token is spent: an answer must be able to go.
    if (this.#reserve() === undefined) return
    const era = from.length > ADDRESS_CHARS_MAX ? undefined : this.#challenges.recognise(now, from, clientKey, cookie)
    if (era === undefined) {
      this.drops.cookie++
      return
    }
    const known = this.#routes.findAsking(from, clientKey, now)
    // He has used his keys already: what we hear is an echo of his knocking.
    if (known instanceof Connection) return
    const waiting = known === undefined ? this.#findWaiting(now, from, clientKey) : undefined
    if (known !== undefined && isEqualConstantTime(known.cookie, cookie)) {
      known.heardAt = now
      this.#say(from, known.accepted)
    } else if (waiting !== undefined && isEqualConstantTime(waiting.asked.words.cookie, cookie)) waiting.heardAt = now
    else if (!this.#origins.mayShakeHands(now, from)) this.drops.limited++
    // Not answered: those before him will be gone when he asks again.
    else if (known === undefined && waiting === undefined && !this.#mayBeGuest(now, from, era.bucket)) this.drops.limited++
    else {
      const asked = this.#open(from, message, era, bytes, length)
      if (asked === undefined) this.drops.forged++
      else if (waiting === undefined) this.#decide(now, asked, known)
      else {
        // He has answered a newer challenge meanwhile: that is what he will be answered.
        wipe(waiting.asked.shared)
        waiting.asked = asked
        waiting.heardAt = now
      }
    }
  }

  /** The host has decided about who waits. False when he does not wait any more. */
  settle(now: Millis, handle: number, verdict: Verdict): boolean {
    const waiting = this.#waiting.get(handle)
    if (waiting === undefined || isSilent(waiting, now)) return false
    this.#waiting.delete(handle)
    const { asked, token } = waiting
    if (this.isClosed || !this.#routes.hasSeat()) this.#refuse(now, asked, 'full')
    else this.#answer(now, asked, undefined, handle, token, verdict)
    return true
  }

  /** Someone speaks on a connection that is not here: he is told, if that costs us less than it cost him. */
  handleStray(now: Millis, from: string, idLo: number, idHi: number, length: number): void {
    if (!this.#resets.take(now, length)) return
    const out = this.#reserve()
    if (out !== undefined) this.#replies.commit(from, writeReset(out, idLo, idHi, this.#resets.tokenOf(idLo, idHi)))
  }

  /** A guest has used his keys, and all seats are taken by now: he is told as a member would be, and forgotten. */
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

  #chooseSuite({ suites }: HandshakeMessage): number {
    return suites.find((id) => this.#config.security.suites.some((suite) => suite.id === id)) ?? 0
  }

  #open(
    from: string, message: HandshakeMessage, { bucket, key }: ChallengeEra, bytes: Uint8Array, length: number,
  ): Asked | undefined {
    const { provider, suites } = this.#config.security
    const suite = suites.find(({ id }) => id === message.suite)
    const shared = suite === undefined ? undefined : key.agree(message.clientKey)
    if (suite === undefined || shared === undefined) return undefined
    const words: HandshakeWords = {
      suite, clientKey: message.clientKey.slice(), cookie: message.cookie.slice(), serverKey: key.publicKey, token: message.token,
    }
    const material = deriveHello(provider, words, shared)
    const opening = new OpeningKey(suite, 0, material)
    wipe(material)
    const isOpen = opening.open(0, bytes, message.sealedAt, length)
    opening.wipe()
    const hello = isOpen ? readHello(bytes, message.sealedAt, length - CRYPTO_BYTES.tag) : undefined
    return hello === undefined ? undefined : { from, saltLo: message.saltLo, saltHi: message.saltHi, bucket, words, shared, hello }
  }

  /** He is where he says and holds his key: now, and not before, it matters what he wants. */
  #decide(now: Millis, asked: Asked, known: Guest | undefined): void {
    const { from, hello, words } = asked
    const { fingerprint, fingerprints } = this.#config
    const isOurs = (other: Uint8Array): boolean => isEqualConstantTime(hello.fingerprint, other)
    if (!isOurs(fingerprint) && !fingerprints.some(isOurs)) {
      this.#refuse(now, asked, 'schema')
      return
    }
    const token = this.#checkToken(words, known !== undefined)
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
    const verdict = this.#config.admit({ connection: handle, from, fingerprint: hello.fingerprint, user: hello.user, token })
    if (verdict !== 'later') this.#answer(now, asked, known, handle, token, verdict)
    else if (known === undefined) this.#wait(now, asked, handle, token)
  }

  /** Whether his origin may have one more guest, or has an older one at his own address. */
  #mayBeGuest(now: Millis, from: string, bucket: number): boolean {
    return !this.#origins.hasManyGuests(from, this.#awaited(now)) || this.#routes.findOlderGuest(from, bucket, now) !== undefined
  }

  /**
   * Where his origin has no room for him, an older guest at the very same address gives way: an attempt that its client gave up,
   * kept here by late copies of its response. Only to a newer challenge: no late copy pushes out who came after it, and no two
   * push out each other in turn. Only at one address, which is one socket: neighbours stay. A token spent remains spent.
   */
  #makeRoom(now: Millis, { from, bucket }: Asked): void {
    const older = this.#routes.findOlderGuest(from, bucket, now)
    if (older === undefined) return
    const isThronged = this.#origins.hasManyGuests(from, this.#awaited(now))
    if (isThronged || this.#origins.isCrowded(from, this.#routes.addresses(now))) this.#routes.forgetGuest(older)
  }

  #answer(
    now: Millis, asked: Asked, known: Guest | undefined, handle: number, token: ConnectToken | undefined, verdict: Verdict,
  ): void {
    if (typeof verdict === 'string') {
      this.#refuse(now, asked, verdict)
      return
    }
    const welcome = verdict
    // A welcome may quote what the stranger said, so its length may be his doing: it must not throw.
    const isTooLong = welcome !== undefined && welcome.length > WELCOME_BYTES_MAX
    if (isTooLong) this.drops.oversizedWelcomes++
    const refusal = welcome === undefined || isTooLong ? 'refused' : this.#spend(token, asked, known !== undefined)
    if (refusal !== undefined || welcome === undefined) this.#refuse(now, asked, refusal ?? 'refused')
    else this.#accept(now, asked, known, handle, welcome.slice())
  }

  #wait(now: Millis, asked: Asked, handle: number, token: ConnectToken | undefined): void {
    for (const [other, waiting] of this.#waiting) if (isSilent(waiting, now)) this.#waiting.delete(other)
    if (this.#waiting.size < GUESTS_MAX) this.#waiting.set(handle, { asked, token, heardAt: now })
    else this.drops.limited++
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

  /** What the token says. One that was spent is bad before anybody keeps a seat for it: else it would keep seats for ever. */
  #checkToken({ token: bytes, clientKey }: Asked['words'], isKnown: boolean): ConnectToken | undefined | 'bad' {
    const { tokens } = this.#config.security
    if (tokens === undefined) return undefined
    const token = verifyToken(tokens.check, bytes, tokens.wallSeconds())
    if (typeof token === 'object' && !tokens.spent.isSpent(token.id, clientKey, !isKnown)) return token
    this.drops.tokens++
    return 'bad'
  }

  /** Why a token that is good all the same lets nobody in. The last question: what is spent is spent. */
  #spend(token: ConnectToken | undefined, { words }: Asked, isKnown: boolean): RuleCode | undefined {
    const { tokens } = this.#config.security
    if (tokens === undefined || token === undefined) return undefined
    switch (tokens.spent.spend(tokens.wallSeconds(), token.id, words.clientKey, token.expiresAt)) {
      case 'fresh': return undefined
      // The same client, answering a newer challenge. Once he is no guest any more it would be a second connection.
      case 'repeated': if (isKnown) return undefined
        break
      case 'full': case 'unwritten': return 'full'
      case 'spent': case 'expired': break
    }
    this.drops.tokens++
    return 'token'
  }

  #accept(now: Millis, asked: Asked, known: Guest | undefined, handle: number, welcome: Uint8Array): void {
    const { from, saltLo, saltHi, words, hello } = asked
    const { identity } = this.#config.security
    const out = this.#reserve()
    if (out === undefined || identity === undefined) return
    const place = known === undefined ? this.#routes.freePlace(now) : this.#routes.placeOf(known)
    const [idLo, idHi] = this.#routes.drawId(place)
    const { random, session } = this.#derive(now, asked, idLo, idHi)
    const at = writeAccepted(out, idLo, idHi, saltLo, saltHi, random)
    const size = writeAcceptance(out, at, {
      resetToken: this.#resets.tokenOf(idLo, idHi),
      signature: signTranscript(identity, session.transcript),
      datagramBytesMax: this.#config.maxDatagramBytes,
      welcome,
    })
    const length = session.ring.seal(0, out, at, size)
    this.#replies.commit(from, length)
    this.#routes.holdGuest({
      address: from, idLo, idHi, clientKey: words.clientKey, cookie: words.cookie, user: hello.user, welcome, handle,
      keys: session.ring, suite: words.suite.name, accepted: out.slice(0, length), heardAt: now,
      bucket: Math.max(asked.bucket, known?.bucket ?? 0),
    })
  }

  #refuse(now: Millis, asked: Asked, code: RuleCode): void {
    const { saltLo, saltHi } = asked
    const out = this.#reserve()
    if (out === undefined) return
    const { random, session } = this.#derive(now, asked, 0, 0)
    const at = writeRefused(out, saltLo, saltHi, random)
    out[at] = byteOf(code)
    this.#replies.commit(asked.from, session.ring.seal(0, out, at, 1))
    session.ring.wipe()
  }

  #derive(now: Millis, asked: Asked, idLo: number, idHi: number): { random: Uint8Array; session: SessionKeys } {
    const { provider, rekey } = this.#config.security
    const random = new Uint8Array(SERVER_RANDOM_BYTES)
    this.#entropy.fill(random)
    const session = deriveSession(now, provider, 'server', asked.words, asked.shared, asked.hello, { random, idLo, idHi }, rekey)
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

function isSilent({ heardAt }: Waiting, now: Millis): boolean {
  return now >= heardAt + GUEST_MS
}

function byteOf(code: RuleCode): number {
  return closeReasonToByte({ by: 'protocol', code })
}
