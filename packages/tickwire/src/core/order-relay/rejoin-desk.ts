/**
 * Helps clients that are far behind: new processes in an old seat, players that join a running match, late observers.
 * One player, the donor, gives the image of a tick; another, the witness, gives the digest of its own. If they agree,
 * the image is passed on, and the client goes on from there instead of stepping the whole match. If they do not, all
 * other players are witnesses of the next donor, and the majority decides.
 *
 *   wanted ──▶ wanted ──▶ image of the donor, digest of the witness ──▶ equal: image to all that wait
 *                                                               └──▶ not equal, or late: the next donor
 *
 * An image is only a shortcut. A client that waits for one is sent an empty state of tick 0 when there is none, and
 * steps the ticks that it receives. The ticks before an image follow when the client asks for them, a piece at a time.
 */

import { IMAGE_WAIT_MS, PAST_PIECE_BYTES, REJOIN_AGAIN_MS, REJOIN_MS_MAX } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { Sha256 } from '../order/seed-share.ts'
import type { SyncMessage } from '../order/sync-messages.ts'
import type { TickLog } from '../order/tick-log.ts'

/** A player that may be a donor. */
export interface DonorCandidate {
  readonly peer: PeerId
  /** Its round trip, in ms. */
  readonly rttMs: number
  /** The newest tick that it has stepped. */
  readonly executed: Tick
}

/** What the desk needs of its match. */
export interface DeskParts {
  readonly log: TickLog
  readonly sha256: Sha256
  /** The players that are connected. */
  players(): readonly DonorCandidate[]
  /** The newest tick that a client may receive. */
  newestFor(peer: PeerId): Tick
  /** Bytes of messages that have not arrived at a client. */
  waitingBytes(peer: PeerId): number
  /** How many of the first ticks every client needs: those in which players agree on the seed. */
  readonly firstTicks: number
}

/** An image that is on its way to the relay. */
interface Ask {
  readonly tick: Tick
  readonly donor: PeerId
  /** Empty: there is no other player. */
  readonly witnesses: readonly PeerId[]
  readonly deadline: Millis
  image: Uint8Array | undefined
  readonly digests: Map<PeerId, Uint8Array>
}

/** Donors step at most this many ticks behind the newest. */
const NEAR_TICKS = 15
/** Ticks from the request to the tick of the image: it arrives before the tick is stepped, or soon after. */
const LEAD_TICKS = 2
const NO_BYTES = new Uint8Array(0)
const NO_PEERS: readonly PeerId[] = []

/** Images for clients that are far behind. */
export class RejoinDesk {
  /** Images that were passed on, and images that were not those of the witness or did not come. */
  readonly counts: { passed: number; refused: number } = { passed: 0, refused: 0 }
  readonly #parts: DeskParts
  readonly #waiting = new Set<PeerId>()
  /** When a client got its last image. */
  readonly #servedAt = new Map<PeerId, Millis>()
  /** Donors that gave no image, or a wrong one, for the clients that wait. */
  readonly #failed = new Set<PeerId>()
  /** Since when a player wants to return, until it steps the newest ticks. */
  readonly #since = new Map<PeerId, Millis>()
  #ask: Ask | undefined
  /** Images for observers, which may not receive their ticks yet. */
  #late: { readonly tick: Tick; readonly bytes: Uint8Array; readonly to: Set<PeerId> }[] = []
  #out: { readonly to: PeerId; readonly message: SyncMessage }[] = []

  constructor(parts: DeskParts) {
    this.#parts = parts
  }

  /** Whether a player was asked for an image: it may send one. */
  isDonor(peer: PeerId): boolean {
    return this.#ask?.donor === peer
  }

  handleMessage(now: Millis, peer: PeerId, message: SyncMessage): void {
    if (message.kind === 'wanted') this.#need(now, peer)
    if (message.kind === 'past') this.#givePast(peer, message.position)
    const ask = this.#ask
    const isImage = message.kind === 'image' || message.kind === 'digest'
    if (ask === undefined || !isImage || message.tick !== ask.tick) return
    if (message.kind === 'image' && peer === ask.donor) ask.image = message.bytes
    if (message.kind === 'digest' && ask.witnesses.includes(peer)) ask.digests.set(peer, message.bytes)
    if (ask.image !== undefined) this.#judge(now, ask, ask.image)
  }

  /** A client has left. */
  handleGone(now: Millis, peer: PeerId): void {
    this.#waiting.delete(peer)
    for (const { to } of this.#late) to.delete(peer)
    this.#servedAt.delete(peer)
    this.#since.delete(peer)
    const ask = this.#ask
    if (ask !== undefined && (ask.donor === peer || ask.witnesses.includes(peer))) this.#fail(now, ask)
  }

  tick(now: Millis): void {
    if (this.#ask !== undefined && now >= this.#ask.deadline) this.#fail(now, this.#ask)
    for (const { tick, bytes, to } of this.#late) {
      for (const peer of to) {
        if (this.#parts.newestFor(peer) < tick) continue
        to.delete(peer)
        this.#give(peer, tick, bytes)
      }
    }
    if (this.#late.length > 0) this.#late = this.#late.filter(({ to }) => to.size > 0)
  }

  /** Players that did not return in time, each once. */
  takeDropped(now: Millis): readonly PeerId[] {
    if (this.#since.size === 0) return NO_PEERS
    const { newest } = this.#parts.log
    const executed = new Map(this.#parts.players().map((each) => [each.peer, each.executed]))
    const dropped: PeerId[] = []
    for (const [peer, since] of this.#since) {
      const tick = executed.get(peer)
      const isLate = now >= since + REJOIN_MS_MAX
      // Observers have no seat that others wait for.
      if (tick !== undefined && tick + NEAR_TICKS < newest && !isLate) continue
      this.#since.delete(peer)
      if (tick !== undefined && tick + NEAR_TICKS < newest) dropped.push(peer)
    }
    return dropped
  }

  /** When `tick` must be called at the latest. */
  nextAt(): Millis {
    return this.#ask?.deadline ?? Infinity
  }

  /** Messages to send. */
  take(): readonly { readonly to: PeerId; readonly message: SyncMessage }[] {
    const out = this.#out
    if (out.length > 0) this.#out = []
    return out
  }

  /** A client is far behind. */
  #need(now: Millis, peer: PeerId): void {
    if (this.#waiting.has(peer)) return
    if (!this.#since.has(peer)) this.#since.set(peer, now)
    if (now < (this.#servedAt.get(peer) ?? -Infinity) + REJOIN_AGAIN_MS) return this.#refuse(peer)
    this.#waiting.add(peer)
    if (this.#ask === undefined) this.#begin(now)
  }

  #begin(now: Millis): void {
    const { log } = this.#parts
    const candidates = this.#parts.players()
      .filter(({ peer, executed }) => !this.#waiting.has(peer) && executed + NEAR_TICKS >= log.newest)
      .toSorted((a, b) => a.rttMs - b.rttMs || a.peer - b.peer)
    const donor = candidates.find(({ peer }) => !this.#failed.has(peer))
    if (donor === undefined || this.#waiting.size === 0) {
      for (const peer of this.#waiting) {
        // Where no donor was asked, one may be there soon: at a relay that has just taken over.
        if (this.#failed.size > 0) this.#servedAt.set(peer, now)
        this.#refuse(peer)
      }
      this.#waiting.clear()
      this.#failed.clear()
      return
    }
    const others = candidates.map(({ peer }) => peer).filter((peer) => peer !== donor.peer)
    const witnesses = this.#failed.size === 0 ? others.slice(0, 1) : others
    const tick = log.newest + LEAD_TICKS
    this.#ask = {
      tick, donor: donor.peer, witnesses, deadline: now + IMAGE_WAIT_MS, image: undefined, digests: new Map(),
    }
    this.#out.push({ to: donor.peer, message: { kind: 'wanted', tick, isWhole: true } })
    for (const to of witnesses) this.#out.push({ to, message: { kind: 'wanted', tick, isWhole: false } })
  }

  /**
   * Passes the image on if the donor and the witnesses that agree with it are a majority. A witness that does not
   * answer keeps no image back that a majority agrees on.
   */
  #judge(now: Millis, ask: Ask, image: Uint8Array): void {
    const all = ask.witnesses.length + 1
    if (2 * (ask.digests.size + 1) <= all) return
    const digest = this.#parts.sha256(image)
    let agreeing = 1
    for (const other of ask.digests.values()) if (isEqual(other, digest)) agreeing++
    if (2 * agreeing > all) this.#pass(now, ask.tick, image)
    else if (ask.digests.size + 1 === all) this.#fail(now, ask)
  }

  #pass(now: Millis, tick: Tick, bytes: Uint8Array): void {
    this.#ask = undefined
    this.#failed.clear()
    const late = new Set<PeerId>()
    for (const peer of this.#waiting) {
      this.counts.passed++
      this.#servedAt.set(peer, now)
      if (this.#parts.newestFor(peer) < tick) late.add(peer)
      else this.#give(peer, tick, bytes)
    }
    this.#waiting.clear()
    if (late.size > 0) this.#late.push({ tick, bytes, to: late })
  }

  /** There is no state: the client steps what it receives. */
  #refuse(to: PeerId): void {
    this.#out.push({ to, message: { kind: 'state', tick: 0, position: 0, ticks: NO_BYTES, snapshot: NO_BYTES } })
  }

  #give(to: PeerId, tick: Tick, snapshot: Uint8Array): void {
    const { log, firstTicks } = this.#parts
    const ticks = log.bytes.slice(0, log.endOf(firstTicks))
    this.#out.push({ to, message: { kind: 'state', tick, position: log.endOf(tick), ticks, snapshot } })
  }

  /** A client wants old ticks. While much else waits for it, it asks again. */
  #givePast(to: PeerId, position: number): void {
    const { log } = this.#parts
    const end = Math.min(position + PAST_PIECE_BYTES, log.endOf(this.#parts.newestFor(to)))
    if (position >= end || this.#parts.waitingBytes(to) > PAST_PIECE_BYTES) return
    this.#out.push({ to, message: { kind: 'past', position, bytes: log.bytes.slice(position, end) } })
  }

  #fail(now: Millis, { donor }: Ask): void {
    this.counts.refused++
    this.#failed.add(donor)
    this.#ask = undefined
    this.#begin(now)
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}
