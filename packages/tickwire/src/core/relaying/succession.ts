/**
 * The part of a lockstep match that outlives its relay: it certifies the seats of clients and signs the ticks, so that
 * another relay can go on, and takes over a match whose relay is lost.
 *
 *   at the first relay   relays ──▶ bind ──▶ certificate, then a checkpoint every 32 ticks
 *   at the next relay    claim ──▶ handover desk ──▶ continued, then as at the first
 */

import type { Entropy } from '../base/entropy.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import { HANDOVER_TICKS } from '../base/limits.ts'
import {
  certificateMessage, checkpointMessage, encodeCertificate, encodeCheckpoint, joined, MATCH_BYTES, TickChain,
  type SeatCertificate, type VerifyKey,
} from '../order/handover.ts'
import type { NextRelay } from '../order/handover-messages.ts'
import type { Sha256 } from '../order/seed-share.ts'
import type { SyncMessage } from '../order/sync-messages.ts'
import type { SealSigner } from '../order/tick-sealer.ts'
import type { OrderRelay } from '../order-relay/order-relay.ts'
import { HandoverDesk } from '../order-relay/handover-desk.ts'

/** What a host gives all of its matches. */
export interface SuccessionParts {
  /** The key of this relay. */
  readonly signer: SealSigner
  readonly verify: VerifyKey
  readonly sha256: Sha256
  /** Where a match of this relay goes on, in this order. */
  readonly relays: readonly NextRelay[]
  /** The keys whose certificates count: the own one, and those of the group. */
  readonly keys: readonly Uint8Array[]
}

/** The match that outlives its relay. */
export interface SucceededMatch {
  readonly relay: OrderRelay
  /** Its id, 16 bytes. */
  readonly match: Uint8Array
  readonly seed: number
  readonly fingerprint: Uint8Array
  /** Whether it may go on at another relay. */
  readonly mayContinue: boolean
}

/** Certifies one match, or takes it over. */
export class Succession {
  /** Takes over a match of another relay. Undefined: the match began here. */
  readonly desk: HandoverDesk | undefined
  readonly #parts: SuccessionParts
  readonly #match: SucceededMatch
  readonly #chain: TickChain
  readonly #clients = new Map<PeerId, { readonly isObserver: boolean; isCertified: boolean }>()
  /** The certificates with which clients claim their seats here. */
  readonly #claims = new Map<PeerId, SeatCertificate>()
  /** Whether the match is played here: it began here, or was taken over. */
  #isOwn: boolean
  #mayContinue: boolean
  #signed: Tick = 0
  #checkpoint: Uint8Array = new Uint8Array(0)
  #out: { readonly to: PeerId; readonly message: SyncMessage }[] = []

  constructor(parts: SuccessionParts, match: SucceededMatch, isClaimed: boolean) {
    this.#parts = parts
    this.#match = match
    this.#chain = new TickChain(match.match, parts.sha256)
    this.#isOwn = !isClaimed
    this.#mayContinue = match.mayContinue
    this.desk = isClaimed
      ? new HandoverDesk({ match: match.match, sha256: parts.sha256, verify: parts.verify }) : undefined
  }

  /** Whether the match goes on: the rules here and all claims say that it may. */
  get mayContinue(): boolean {
    return this.#mayContinue
  }

  /** Whether a client is to say which ticks it holds. */
  isClaimant(peer: PeerId): boolean {
    return this.desk !== undefined && this.#claims.has(peer)
  }

  /** A client claims its seat with a certificate that was verified. */
  noteClaim(certificate: SeatCertificate): void {
    this.#claims.set(certificate.peer, certificate)
    this.#mayContinue &&= certificate.mayContinue
  }

  /** A client is connected. */
  attach(now: Millis, peer: PeerId, isObserver: boolean): void {
    const claim = this.#claims.get(peer)
    if (claim !== undefined) this.desk?.join(now, peer, isObserver, claim.relayKey)
    this.#clients.set(peer, { isObserver, isCertified: false })
    if (this.#isOwn) this.#greet(peer)
  }

  detach(peer: PeerId): void {
    this.#clients.delete(peer)
    this.desk?.handleGone(peer)
  }

  handleMessage(now: Millis, peer: PeerId, message: SyncMessage): void {
    if (message.kind === 'bind') this.#certify(peer, message.publicKey)
    else if (message.kind === 'claim' || message.kind === 'ticks') this.desk?.handleMessage(now, peer, message)
  }

  /** The match was taken over, and goes on here. */
  begin(): void {
    this.#isOwn = true
    this.#sign(this.#match.relay.log.newest)
    for (const peer of this.#clients.keys()) this.#greet(peer)
  }

  /** Ticks were closed. */
  handleTicks(): void {
    const { newest } = this.#match.relay.log
    const tick = newest - (newest % HANDOVER_TICKS)
    if (!this.#isOwn || tick <= this.#signed || this.#parts.relays.length === 0) return
    this.#sign(tick)
    for (const [to, { isCertified }] of this.#clients) if (isCertified) this.#sendCheckpoint(to)
  }

  /** Whether the client can claim its seat at another relay. */
  isCertified(peer: PeerId): boolean {
    return this.#clients.get(peer)?.isCertified === true
  }

  /** No tick follows here: the newest one is signed. False: the match cannot go on at another relay. */
  signLast(): boolean {
    const { newest } = this.#match.relay.log
    // The seed is agreed on in the first two ticks, before the match begins.
    if (!this.#isOwn || !this.mayContinue || this.#parts.relays.length === 0 || newest < 2) return false
    const certified = [...this.#clients.keys()].filter((peer) => this.isCertified(peer))
    if (newest > this.#signed) this.#sign(newest)
    for (const peer of certified) this.#sendCheckpoint(peer)
    return certified.length > 0
  }

  /** Messages to send. */
  take(): readonly { readonly to: PeerId; readonly message: SyncMessage }[] {
    const out = this.#out
    if (out.length > 0) this.#out = []
    if (this.desk === undefined) return out
    const decided = this.desk.take()
    for (const { to, message: { kind } } of decided) if (kind === 'continued') this.#claims.delete(to)
    return [...decided, ...out]
  }

  #greet(to: PeerId): void {
    const { relays } = this.#parts
    const { match } = this.#match
    if (relays.length === 0) return
    this.#out.push({ to, message: { kind: 'relays', mayContinue: this.mayContinue, match, relays } })
  }

  /** The first key counts: a later one could be that of a client that has the connection, and not the seat. */
  #certify(peer: PeerId, clientKey: Uint8Array): void {
    const client = this.#clients.get(peer)
    if (client === undefined || client.isCertified || !this.#isOwn) return
    client.isCertified = true
    const { signer } = this.#parts
    const { match, seed, fingerprint } = this.#match
    const body = encodeCertificate({
      match, peer, isSpectator: client.isObserver, mayContinue: this.mayContinue, seed, fingerprint, clientKey,
      relayKey: signer.publicKey,
    })
    const bytes = joined(body, signer.sign(certificateMessage(body)))
    this.#out.push({ to: peer, message: { kind: 'certificate', player: peer, bytes } })
    this.#sendCheckpoint(peer)
  }

  #sendCheckpoint(to: PeerId): void {
    if (this.#signed === 0) return
    this.#out.push({ to, message: { kind: 'checkpoint', tick: this.#signed, bytes: this.#checkpoint } })
  }

  #sign(tick: Tick): void {
    const { relay: { log, state }, match } = this.#match
    this.#signed = tick
    const chain = this.#chain.at(log, tick)
    const body = encodeCheckpoint({ tick, offset: log.endOf(tick), chain, present: state.present() })
    this.#checkpoint = joined(body, this.#parts.signer.sign(checkpointMessage(match, body)))
  }
}

/** Draws the id of a match. */
export function drawMatch(entropy: Entropy): Uint8Array {
  const match = new Uint8Array(MATCH_BYTES)
  entropy.fill(match)
  return match
}

/** The name of a match: the id of its room at a relay that takes it over. */
export function matchName(match: Uint8Array): string {
  return Array.from(match, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The id of a match by its name. Undefined when it is none. */
export function matchOf(name: string): Uint8Array | undefined {
  if (!/^[0-9a-f]+$/.test(name) || name.length !== 2 * MATCH_BYTES) return undefined
  return Uint8Array.from({ length: MATCH_BYTES }, (_, at) => Number.parseInt(name.slice(2 * at, 2 * at + 2), 16))
}
