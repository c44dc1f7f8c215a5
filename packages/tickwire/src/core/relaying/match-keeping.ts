/**
 * Keeps the recording of a match: asks players for key images, their hashes and their seals, and gives everything to a
 * recorder. The last image is for a referee too.
 *
 *   every 900 ticks   image of the nearest player, digests of all others ──▶ more than half agree ──▶ recorder
 *
 * Only players that were asked have a vote, and each has one: the donor's is its image. Players that are away count as
 * players that do not agree: otherwise the last one that is connected could give any image.
 *
 * The recorder is made by the host (`RelayRoomType.record`): a relay has no world, and this folder no recordings.
 */

import { KEY_IMAGE_TICKS } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { LockstepCard } from '../order/lockstep-card.ts'
import type { Sha256 } from '../order/seed-share.ts'
import { splitSnapshot, type Root, type SyncMessage } from '../order/sync-messages.ts'
import type { TickLog } from '../order/tick-log.ts'
import type { Takeover } from '../order-relay/handover-desk.ts'

/** Records a match. `MatchRecorder` is one. */
export interface RelayRecorder {
  /** Ticks were added to the log. */
  handleTicks(now: Millis): void
  /** A player reports the hash of a tick. */
  handleRoot(player: PeerId, tick: Tick, root: Root): void
  /** A player signed its orders so far. */
  handlePlayerSeal(seal: {
    readonly player: PeerId; readonly tick: Tick; readonly orders: number
    readonly publicKey: Uint8Array; readonly signature: Uint8Array
  }): void
  /** A key image, and how many other players have the same. */
  handleImage(tick: Tick, image: Uint8Array, witnesses: number): boolean
  /** The match is over. */
  close(now: Millis): void
}

/** The match that a recorder is made for. */
export interface RecordedMatch {
  /** The id of the room. */
  readonly id: string
  /** The seed of the room. 0: the players agree on it in the first ticks. */
  readonly seed: number
  /** The game. */
  readonly game: LockstepCard
  /** Its ticks, which are added while it is played. */
  readonly log: TickLog
  /** The match was taken over from a relay that is lost. Undefined: it began here. */
  readonly takeover?: Takeover
}

/** A state that more than half of the players had, and both of two. */
export interface AgreedState {
  /** The tick after which it is. */
  readonly tick: Tick
  /** The players and the image of the world, as clients send them. */
  readonly snapshot: Uint8Array
}

/** A player that may give an image. */
interface Candidate {
  readonly peer: PeerId
  readonly rttMs: number
  readonly executed: Tick
}

/** An image that is on its way. */
interface Ask {
  readonly tick: Tick
  readonly donor: PeerId
  /** The players that were asked for a digest. Empty: no other player is connected. */
  readonly witnesses: readonly PeerId[]
  /** How many players the match has, also counting those that are away. */
  readonly seats: number
  image: Uint8Array | undefined
  readonly digests: Map<PeerId, Uint8Array>
  deadline: Tick
}

/** What the recording needs of its match. */
export interface KeepingParts {
  readonly log: TickLog
  readonly sha256: Sha256
  /** The players that are connected. */
  players(): readonly Candidate[]
  /** How many players have a seat, connected or away. */
  seats(): number
  /** Whether a referee needs the last state on which the players agreed. */
  readonly hasReferee: boolean
}

/** Ticks from the request to the tick of the image. */
const LEAD_TICKS = 3
/** An image that has not arrived after this many ticks is given up: five seconds. */
const WAIT_TICKS = 150
const NEAR_TICKS = 15

/** The recording of one match. */
export class MatchKeeping {
  /** The last state on which the players agreed. Undefined: there is none yet. */
  agreed: AgreedState | undefined = undefined
  readonly #recorder: RelayRecorder | undefined
  readonly #parts: KeepingParts
  #ask: Ask | undefined
  #out: { readonly to: PeerId; readonly message: SyncMessage }[] = []

  constructor(recorder: RelayRecorder | undefined, parts: KeepingParts) {
    this.#recorder = recorder
    this.#parts = parts
  }

  /** Whether a player was asked for an image. */
  isDonor(peer: PeerId): boolean {
    return this.#ask?.donor === peer
  }

  /** A client has connected: it learns that its seals are wanted. */
  greet(peer: PeerId): void {
    const { newest: tick } = this.#parts.log
    if (this.#recorder !== undefined) this.#out.push({ to: peer, message: { kind: 'sealing', tick } })
  }

  /** Messages to send. */
  take(): readonly { readonly to: PeerId; readonly message: SyncMessage }[] {
    const out = this.#out
    if (out.length > 0) this.#out = []
    return out
  }

  /** Ticks were closed. */
  tick(now: Millis, closed: number): void {
    if (!this.#isWanted || closed === 0) return
    this.#recorder?.handleTicks(now)
    const { newest } = this.#parts.log
    if (this.#ask !== undefined && newest > this.#ask.deadline) this.#settle(this.#ask)
    if (this.#ask === undefined && newest % KEY_IMAGE_TICKS < closed && newest >= KEY_IMAGE_TICKS) this.#want()
  }

  handleMessage(peer: PeerId, message: SyncMessage): void {
    const recorder = this.#recorder
    if (!this.#isWanted) return
    const ask = this.#ask
    if (message.kind === 'root') recorder?.handleRoot(peer, message.tick, message.root)
    else if (message.kind === 'seal') recorder?.handlePlayerSeal({ ...message, player: peer })
    else if (ask === undefined || !('bytes' in message) || !('tick' in message) || message.tick !== ask.tick) return
    else if (message.kind === 'image' && peer === ask.donor) ask.image = message.bytes
    else if (message.kind === 'digest' && ask.witnesses.includes(peer)) ask.digests.set(peer, message.bytes)
    if (ask?.image !== undefined && ask.digests.size === ask.witnesses.length) this.#settle(ask)
  }

  get #isWanted(): boolean {
    return this.#recorder !== undefined || this.#parts.hasReferee
  }

  /** The match is over. */
  close(now: Millis): void {
    this.#recorder?.close(now)
  }

  #want(): void {
    const { newest } = this.#parts.log
    const players = this.#parts.players()
    const [donor] = players.filter(({ executed }) => executed + NEAR_TICKS >= newest)
      .toSorted((a, b) => a.rttMs - b.rttMs || a.peer - b.peer)
    if (donor === undefined) return
    // Players that are behind count too: without them a diverged player could be the only one.
    const witnesses = players.map(({ peer }) => peer).filter((peer) => peer !== donor.peer)
    const tick = newest + LEAD_TICKS
    this.#ask = {
      tick, donor: donor.peer, witnesses, seats: this.#parts.seats(), image: undefined, digests: new Map(),
      deadline: tick + WAIT_TICKS,
    }
    this.#out.push({ to: donor.peer, message: { kind: 'wanted', tick, isWhole: true } })
    for (const to of witnesses) this.#out.push({ to, message: { kind: 'wanted', tick, isWhole: false } })
  }

  /** Records the image if the donor and those that agree with it are more than half of all players. */
  #settle({ tick, image, digests, seats }: Ask): void {
    this.#ask = undefined
    if (image === undefined) return
    const digest = this.#parts.sha256(image)
    const parts = splitSnapshot(image)
    let witnesses = 0
    for (const other of digests.values()) if (other.every((byte, at) => byte === digest[at])) witnesses++
    if (parts === undefined || 2 * (witnesses + 1) <= seats) return
    this.agreed = { tick, snapshot: image }
    this.#recorder?.handleImage(tick, parts.image, witnesses)
  }
}
