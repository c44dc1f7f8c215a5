/**
 * The spectators of a match. A spectator is not a player to the game, owns nothing, and sees what a followed player
 * sees.
 *
 * It receives what the followed player may know by its interest rules, but only the fields that are public. Fields for
 * an owner or a team are left out unless the host sets `fields: 'followed'`. A spectator sends no inputs, writes
 * nothing and can only call `Spectate`; anything else it sends is refused and counted.
 *
 * It follows the first player at the start, another player when that player leaves, and then the player that it asks
 * for (`client.spectate`) or the host selects (`host.follow`).
 */

import type { Millis, PeerId } from '../base/time.ts'
import type { UserCode } from '../base/user-code.ts'
import type { FrameSink, FrameVerdict } from '../packet/frame-source.ts'
import type { ClientInterest } from '../replication/interest/client-interest.ts'
import type { Interest, InterestOptions } from '../replication/interest/interest.ts'
import type { Replicator } from '../replication/replicator.ts'
import { RpcHandlers } from '../rpc/rpc-handlers.ts'
import type { RpcLine } from '../rpc/rpc-line.ts'
import type { Shape } from '../schema/field.ts'
import type { TickPosition } from '../time/timing-frame.ts'
import type { Authority } from './authority.ts'
import { DelayedFeed } from './delayed-feed.ts'
import type { Peer } from './define-game.ts'
import type { StepEvent } from './event-codec.ts'
import type { HostWatch } from './host-watch.ts'
import { Spectate } from './match-calls.ts'

/** How spectators are treated. */
export interface SpectatorOptions {
  /** `all`: public fields only. `followed`: the fields that the followed player may hold. Default: `all`. */
  readonly fields?: 'all' | 'followed'
  /** The delay of what spectators see. Default: none. */
  readonly delayMs?: Millis
}

/** Counts of what a spectator sent without permission. Counted, never thrown. */
export class SpectatorRefusals {
  /** Input frames. */
  inputs = 0
}

interface Spectator {
  readonly interest: ClientInterest
  readonly calls: RpcLine<Peer>
  readonly refusals: SpectatorRefusals
  /** The host has set this spectator to follow no player. */
  isFree: boolean
}

/** The spectators of a match. */
export class Spectators implements TickPosition {
  /** Undefined without a delay. */
  readonly feed: DelayedFeed | undefined
  /** The RPC handlers for spectators. They can only choose the player to follow. */
  readonly handlers: RpcHandlers<Peer>
  readonly #authority: Pick<Authority<Shape>, 'peers' | 'players' | 'game'>
  readonly #isPrivy: boolean
  readonly #spectators = new Map<PeerId, Spectator>()

  constructor(
    authority: Pick<Authority<Shape>, 'peers' | 'players' | 'game'>,
    watch: HostWatch,
    { fields = 'all', delayMs = 0 }: SpectatorOptions,
    interest: InterestOptions | undefined,
    code: UserCode,
  ) {
    this.#authority = authority
    this.#isPrivy = fields === 'followed'
    this.feed = delayMs === 0 ? undefined : new DelayedFeed(authority.game, watch, delayMs, interest)
    this.handlers = new RpcHandlers(code)
    this.handlers.on(Spectate, ({ whom, step }, { from }) => ({ whom: this.#choose(from.id, whom, step) }))
  }

  /** For `TickPosition`: the tick of the delayed feed. */
  get tick(): number {
    return Math.max(this.feed?.tick ?? 0, 0)
  }

  alpha(): number {
    return 0
  }

  /** The replicator and interest rules for spectators: those of the match, or of the delayed feed. */
  sourcesOf(
    replicator: Replicator,
    interest: Interest,
  ): { readonly replicator: Replicator; readonly interest: Interest } {
    return this.feed ?? { replicator, interest }
  }

  /** Adds a spectator. Returns the sink for its inputs, which only counts them. */
  add(peer: PeerId, interest: ClientInterest, calls: RpcLine<Peer>): FrameSink {
    const refusals = new SpectatorRefusals()
    interest.isPrivy = this.#isPrivy
    this.#spectators.set(peer, { interest, calls, refusals, isFree: false })
    return {
      accept(): FrameVerdict {
        refusals.inputs++
        return 'ok'
      },
    }
  }

  /** A spectator has left. */
  remove(peer: PeerId): void {
    this.#spectators.delete(peer)
  }

  /** Whether a peer is a spectator. */
  has(peer: PeerId): boolean {
    return this.#spectators.has(peer)
  }

  /** Counts of what a spectator sent without permission. Undefined if it is not connected. */
  refusals(peer: PeerId): Readonly<SpectatorRefusals> | undefined {
    return this.#spectators.get(peer)?.refusals
  }

  /** The player that a spectator follows. Its own id when it follows none, and 0 when it is not a spectator. */
  followed(peer: PeerId): PeerId {
    return this.#spectators.get(peer)?.interest.viewer ?? 0
  }

  /** Sets the player that a spectator follows, by order of the host. */
  follow(peer: PeerId, whom: PeerId): void {
    const spectator = this.#spectators.get(peer)
    if (spectator === undefined) return
    spectator.interest.viewer = whom
    spectator.isFree = whom === peer
  }

  /** After a tick: advances the feed, answers requests, and moves spectators away from players that have left. */
  update(now: number): void {
    this.feed?.advance(now)
    for (const [peer, { interest, calls, isFree }] of this.#spectators) {
      calls.deliver(Infinity)
      if (isFree || (interest.viewer !== peer && this.#isThere(interest.viewer))) continue
      interest.viewer = this.#authority.peers[0]?.id ?? peer
    }
  }

  /** The events to send to spectators now: the event itself, or none if the delayed feed stores it. */
  eventsOf(event: StepEvent): readonly StepEvent[] {
    if (this.feed === undefined) return [event]
    this.feed.keep(event)
    return []
  }

  /** Whether a player can be followed: it is in the match, or in the delayed feed it has not left yet. */
  #isThere(player: PeerId): boolean {
    if (this.#authority.players.has(player)) return true
    if (this.feed === undefined) return false
    const { owners, nextOwned } = this.feed.interest
    for (let index = this.feed.interest.firstOwned(player); index >= 0; index = nextOwned[index])
      if (owners[index] === player) return true
    return false
  }

  #choose(peer: PeerId, whom: PeerId, step: number): PeerId {
    const spectator = this.#spectators.get(peer)
    const players = this.#authority.peers
    if (spectator === undefined || players.length === 0) return 0
    const from = players.findIndex(({ id }) => id === (whom === 0 ? spectator.interest.viewer : whom))
    // The requested player does not exist: the spectator keeps its current player.
    if (from < 0 && step === 0)
      return players.some(({ id }) => id === spectator.interest.viewer) ? spectator.interest.viewer : 0
    const chosen = players[(Math.max(from, 0) + step + players.length) % players.length]
    spectator.interest.viewer = chosen.id
    spectator.isFree = false
    return chosen.id
  }
}
