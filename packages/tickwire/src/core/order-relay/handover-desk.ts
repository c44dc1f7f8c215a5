/**
 * Takes over the ticks of a match whose relay is lost, from what its clients hold.
 *
 *   claims ──▶ all players, or 3 s ──▶ more than half of them? ──▶ old ticks from one holder ──▶ the vote ──▶ done
 *                                            └──▶ failed: the others may still be at the old relay
 *
 * Ticks up to the newest checkpoint are as the old relay signed them. After it, a tick counts if two players hold the
 * same bytes. Of several chains the one with more holders goes on; if two have as many, neither does.
 *
 * Invariant: what is held for a claim is bounded: one checkpoint, its tail, and for one holder the signed length.
 */

import {
  HANDOVER_MS_MAX, HANDOVER_PIECE_BYTES, HANDOVER_STALL_MS, HANDOVER_TAIL_BYTES_MAX, HANDOVER_TAIL_TICKS_MAX,
  HANDOVER_WAIT_MS, TICK_LOG_BYTES_MAX,
} from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import {
  decodeCheckpoint, isAtCheckpoint, isCheckpointSigned, TickChain, type Checkpoint, type VerifyKey,
} from '../order/handover.ts'
import type { HandoverMessage } from '../order/handover-messages.ts'
import type { Sha256 } from '../order/seed-share.ts'
import { TickLog } from '../order/tick-log.ts'
import { standingOf } from './match-standing.ts'

/** What the desk needs. */
export interface HandoverParts {
  /** The id of the match. */
  readonly match: Uint8Array
  readonly sha256: Sha256
  readonly verify: VerifyKey
}

/** The ticks with which the match goes on. */
export interface Takeover {
  /** The id of the match, 16 bytes. */
  readonly match: Uint8Array
  readonly log: TickLog
  /** The newest tick. */
  readonly tick: Tick
  /** The newest tick of each client that is in the match. */
  readonly keeps: ReadonlyMap<PeerId, Tick>
  /** The newest checkpoint of the old relay. Undefined: it signed none. */
  readonly checkpoint: Uint8Array | undefined
  /** The key of the old relay. */
  readonly relayKey: Uint8Array
  /** How many players hold the newest tick. */
  readonly holders: number
}

/** A client that claims its seat. */
interface Claimant {
  readonly peer: PeerId
  readonly isObserver: boolean
  readonly relayKey: Uint8Array
  claim: Evidence | undefined
}

/** What a client holds. */
interface Evidence {
  readonly tick: Tick
  readonly isWhole: boolean
  /** Undefined: the tail begins with the first tick, or there is none. */
  readonly checkpoint: Checkpoint | undefined
  readonly bytes: Uint8Array
  /** The ticks after the checkpoint. Undefined: the client joined after it, and can show nothing. */
  readonly tail: TickLog | undefined
}

/** Old ticks that are on their way from one holder. */
interface Fetch {
  readonly peer: PeerId
  readonly bytes: Uint8Array
  length: number
  lastAt: Millis
}

/** The handover of one match. */
export class HandoverDesk {
  stage: 'gathering' | 'fetching' | 'done' | 'failed' = 'gathering'
  /** Set when it is done. */
  result: Takeover | undefined = undefined
  readonly #parts: HandoverParts
  readonly #claimants = new Map<PeerId, Claimant>()
  readonly #failed = new Set<PeerId>()
  /** Clients whose claims are invalid. */
  #refused: PeerId[] = []
  #beganAt: Millis = Infinity
  #fetch: Fetch | undefined
  #out: { readonly to: PeerId; readonly message: HandoverMessage }[] = []

  constructor(parts: HandoverParts) {
    this.#parts = parts
  }

  /** A client with a certificate of the relay with this key is connected. */
  join(now: Millis, peer: PeerId, isObserver: boolean, relayKey: Uint8Array): void {
    if (this.#beganAt === Infinity) this.#beganAt = now
    this.#claimants.set(peer, { peer, isObserver, relayKey, claim: undefined })
  }

  handleGone(peer: PeerId): void {
    this.#claimants.delete(peer)
    if (this.#fetch?.peer === peer) this.#fetch = undefined
  }

  handleMessage(now: Millis, peer: PeerId, message: HandoverMessage): void {
    const claimant = this.#claimants.get(peer)
    if (claimant === undefined || this.stage === 'failed') return
    if (this.result !== undefined) return this.#welcome(claimant, message, this.result)
    if (message.kind === 'claim' && claimant.claim === undefined) {
      claimant.claim = this.#evidence(claimant, message)
      if (claimant.claim === undefined) this.#refuse(peer)
    } else if (message.kind === 'ticks' && this.#fetch?.peer === peer) this.#receive(now, this.#fetch, message)
    this.tick(now)
  }

  tick(now: Millis): void {
    if (this.stage === 'gathering') this.#gather(now)
    if (this.stage === 'gathering' || this.stage === 'fetching') this.#fetchMore(now)
    if (this.stage === 'fetching') this.#settle()
    if (this.#beganAt + HANDOVER_MS_MAX <= now && this.stage !== 'done') this.stage = 'failed'
  }

  /** When `tick` must be called at the latest. */
  nextAt(): Millis {
    if (this.stage === 'done' || this.stage === 'failed' || this.#beganAt === Infinity) return Infinity
    const stall = (this.#fetch?.lastAt ?? Infinity) + HANDOVER_STALL_MS
    return Math.min(stall, this.#beganAt + (this.stage === 'gathering' ? HANDOVER_WAIT_MS : HANDOVER_MS_MAX))
  }

  /** Messages to send. */
  take(): readonly { readonly to: PeerId; readonly message: HandoverMessage }[] {
    const out = this.#out
    if (out.length > 0) this.#out = []
    return out
  }

  /** Clients whose claims are invalid, since the last call. */
  takeRefused(): readonly PeerId[] {
    const refused = this.#refused
    if (refused.length > 0) this.#refused = []
    return refused
  }

  /** What a claim shows. Undefined when it is invalid. */
  #evidence(
    { relayKey }: Pick<Claimant, 'relayKey'>,
    { tick, isWhole, checkpoint: bytes, tail }: Extract<HandoverMessage, { kind: 'claim' }>,
  ): Evidence | undefined {
    const { match, verify } = this.#parts
    const checkpoint = bytes.length === 0 ? undefined : decodeCheckpoint(bytes)
    const isSigned = bytes.length === 0
      || (checkpoint !== undefined && isCheckpointSigned(bytes, match, relayKey, verify))
    const count = tick - (checkpoint?.tick ?? 0)
    if (!isSigned || count < 0 || (checkpoint?.offset ?? 0) > TICK_LOG_BYTES_MAX) return undefined
    // A client that joined late, and has no checkpoint yet, can show nothing.
    if (checkpoint === undefined && !isWhole) return { tick, isWhole, checkpoint, bytes, tail: undefined }
    if (count > HANDOVER_TAIL_TICKS_MAX || tail.length > HANDOVER_TAIL_BYTES_MAX) return undefined
    const log = new TickLog()
    return log.receive(tail, 0, tail.length, count) === 'ok' && log.endOf(count) === tail.length
      ? { tick, isWhole, checkpoint, bytes, tail: log } : undefined
  }

  /** A client claims its seat after the match has gone on. */
  #welcome({ peer, relayKey }: Claimant, message: HandoverMessage, { log, tick }: Takeover): void {
    if (message.kind !== 'claim') return
    const claim = this.#evidence({ relayKey }, message)
    if (claim === undefined) return this.#refuse(peer)
    this.#out.push({ to: peer, message: { kind: 'continued', tick, keep: Math.min(tick, agreement(log, claim)) } })
  }

  #refuse(peer: PeerId): void {
    this.#claimants.delete(peer)
    this.#refused.push(peer)
  }

  /** Players with claims, by player. */
  #claims(): (Claimant & { readonly claim: Evidence })[] {
    const claims = [...this.#claimants.values()].filter((each): each is Claimant & { readonly claim: Evidence } =>
      each.claim !== undefined && !each.isObserver)
    return claims.toSorted((a, b) => a.peer - b.peer)
  }

  /** The newest checkpoint. */
  #newest(): Evidence | undefined {
    let newest: Evidence | undefined
    for (const { claim } of this.#claims())
      if (claim.tail !== undefined && (newest === undefined || tickOf(claim) > tickOf(newest))) newest = claim
    return newest
  }

  /** The players that were connected to the old relay, as far as it is known. */
  #present(newest: Evidence | undefined): readonly PeerId[] {
    if (newest?.checkpoint !== undefined) return newest.checkpoint.present
    // Nothing is signed yet: the first ticks say who joined.
    const logs = this.#claims().flatMap(({ claim: { tail } }) => tail ?? [])
    const [longest] = logs.toSorted((a, b) => b.newest - a.newest)
    return longest === undefined ? [] : [...standingOf(longest).players.keys()]
  }

  #gather(now: Millis): void {
    const claims = this.#claims()
    const present = this.#present(this.#newest())
    // A player that has just gone on from an image may have come, and can show nothing.
    const there = claims.filter(({ peer }) => present.includes(peer)).length
    const isComplete = present.length > 0 && there === present.length && claims.length === this.#playerCount()
    if (!isComplete && now < this.#beganAt + HANDOVER_WAIT_MS) return
    // Without more than half of the players, the others may be in the match at another relay.
    this.stage = 2 * there > present.length ? 'fetching' : 'failed'
  }

  #playerCount(): number {
    let count = 0
    for (const { isObserver } of this.#claimants.values()) if (!isObserver) count++
    return count
  }

  /** Asks a holder for the ticks up to the checkpoint, or the next one if it is silent. */
  #fetchMore(now: Millis): void {
    const newest = this.#newest()
    const size = newest?.checkpoint?.offset ?? 0
    if (size === 0) return
    const fetch = this.#fetch
    const isDue = fetch !== undefined && fetch.bytes.length >= size
    if (isDue && (fetch.length >= size || now < fetch.lastAt + HANDOVER_STALL_MS)) return
    if (isDue) this.#failed.add(fetch.peer)
    const holders = this.#claims().filter(({ claim }) =>
      claim.isWhole && newest !== undefined && claim.tick >= tickOf(newest))
    const holder = holders.find(({ peer }) => peer === fetch?.peer && !isDue)
      ?? holders.find(({ peer }) => !this.#failed.has(peer))
    if (holder === undefined) {
      if (this.stage === 'fetching' && isDue) this.stage = 'failed'
      return
    }
    const isSame = holder.peer === fetch?.peer
    const bytes = new Uint8Array(size)
    const known = isSame ? fetch.length : 0
    if (isSame) bytes.set(fetch.bytes.subarray(0, known))
    this.#fetch = { peer: holder.peer, bytes, length: known, lastAt: now }
    // A holder that is asked for more sends the rest after what it was asked for before.
    this.#out.push({ to: holder.peer, message: { kind: 'fetch', from: isSame ? fetch.bytes.length : 0, to: size } })
  }

  #receive(now: Millis, fetch: Fetch, { offset, bytes }: Extract<HandoverMessage, { kind: 'ticks' }>): void {
    if (offset !== fetch.length || bytes.length > HANDOVER_PIECE_BYTES) return
    if (fetch.length + bytes.length > fetch.bytes.length) return
    fetch.bytes.set(bytes, fetch.length)
    fetch.length += bytes.length
    fetch.lastAt = now
  }

  /** Decides, when the old ticks are there. */
  #settle(): void {
    const newest = this.#newest()
    if (newest === undefined) {
      this.stage = 'failed'
      return
    }
    const { checkpoint } = newest
    const log = new TickLog()
    if (checkpoint !== undefined) {
      const fetch = this.#fetch
      if (fetch === undefined || fetch.length < checkpoint.offset) return
      const isRight = log.receive(fetch.bytes, 0, checkpoint.offset, checkpoint.tick) === 'ok'
        && isAtCheckpoint(log, checkpoint, new TickChain(this.#parts.match, this.#parts.sha256))
      if (!isRight) {
        this.#failed.add(fetch.peer)
        this.#fetch = undefined
        return
      }
    }
    this.#vote(log, newest)
  }

  #vote(log: TickLog, newest: Evidence): void {
    const present = this.#present(newest)
    const need = Math.min(2, present.length)
    let voters = this.#claims().filter(({ peer, claim }) =>
      present.includes(peer) && agreement(log, claim) === log.newest)
    let holders = voters.length
    for (;;) {
      const tick = log.newest + 1
      const [most, next] = groups(voters, tick)
      if (most === undefined || most.length < need || most.length === next?.length) break
      const body = bodyOf(most[0].claim, tick)
      if (body === undefined || !log.append(body, body.length)) break
      voters = most
      holders = most.length
    }
    // The seed is agreed on in the first two ticks, before the match begins.
    if (log.newest < 2) {
      this.stage = 'failed'
      return
    }
    const keeps = new Map<PeerId, Tick>()
    let relayKey = new Uint8Array(0)
    for (const { peer, claim, relayKey: key } of this.#claimants.values()) {
      if (claim === undefined) continue
      keeps.set(peer, agreement(log, claim))
      if (claim === newest) relayKey = Uint8Array.from(key)
    }
    const checkpoint = newest.checkpoint === undefined ? undefined : newest.bytes
    this.result = { match: this.#parts.match, log, tick: log.newest, keeps, checkpoint, relayKey, holders }
    this.stage = 'done'
    for (const [to, keep] of keeps) this.#out.push({ to, message: { kind: 'continued', tick: log.newest, keep } })
    this.#fetch = undefined
  }
}

function tickOf({ checkpoint }: Evidence): Tick {
  return checkpoint?.tick ?? 0
}

/** The bytes of a tick, as a client holds them. */
function bodyOf(claim: Evidence, tick: Tick): Uint8Array | undefined {
  const { tail } = claim
  const at = tick - tickOf(claim)
  if (tail === undefined || at < 1 || at > tail.newest) return undefined
  return tail.bytes.subarray(tail.startOf(at), tail.endOf(at))
}

/** The claims that hold a tick, by its bytes; the largest group first. */
function groups<C extends { readonly claim: Evidence }>(claims: readonly C[], tick: Tick): C[][] {
  const found: { readonly body: Uint8Array; readonly claims: C[] }[] = []
  for (const each of claims) {
    const body = bodyOf(each.claim, tick)
    if (body === undefined) continue
    const known = found.find((group) => isEqual(group.body, body))
    if (known === undefined) found.push({ body, claims: [each] })
    else known.claims.push(each)
  }
  return found.map((group) => group.claims).toSorted((a, b) => b.length - a.length)
}

/** The newest tick up to which a client has the ticks of the log. */
function agreement(log: TickLog, claim: Evidence): Tick {
  const last = Math.min(claim.tick, log.newest)
  if (claim.tail === undefined) return last
  for (let tick = tickOf(claim) + 1; tick <= last; tick++) {
    const body = bodyOf(claim, tick)
    if (body === undefined || !isEqual(body, log.bytes.subarray(log.startOf(tick), log.endOf(tick)))) return tick - 1
  }
  return last
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}
