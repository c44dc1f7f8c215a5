/**
 * Who looks on at a match: no player to the game, owner of nothing, with somebody else's eyes.
 *
 * He is told what the player whom he follows may know by its rules of interest, in the fields that everybody may hold. What is for
 * an owner or his team alone is not for him, unless the host says so (`fields: 'followed'`). He sends no inputs, writes
 * nothing and calls nothing but whom to follow; what he sends of that is refused and counted.
 *
 * He follows the first player as he comes, another when that one leaves, and whom he asks for (`client.spectate`) or the host
 * says (`host.follow`).
 */

import type { Millis, PeerId } from '../base/time.ts'
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
  /** `all`: fields that everybody may hold. `followed`: what the player whom he follows may hold. Default: `all`. */
  readonly fields?: 'all' | 'followed'
  /** They see the match as it was so long ago. Default: as it is. */
  readonly delayMs?: Millis
}

/** What a spectator sent that he may not. Counted, never thrown. */
export class SpectatorRefusals {
  /** Frames of inputs. */
  inputs = 0
}

interface Spectator {
  readonly interest: ClientInterest
  readonly calls: RpcLine<Peer>
  readonly refusals: SpectatorRefusals
  /** The host has said that he looks with his own eyes. */
  isFree: boolean
}

export class Spectators implements TickPosition {
  /** Undefined when they see what players see. */
  readonly feed: DelayedFeed | undefined
  /** Who answers them: they may say whom to follow, and nothing else. */
  readonly handlers: RpcHandlers<Peer>
  readonly #authority: Pick<Authority<Shape>, 'peers' | 'players' | 'game'>
  readonly #isPrivy: boolean
  readonly #spectators = new Map<PeerId, Spectator>()

  constructor(
    authority: Pick<Authority<Shape>, 'peers' | 'players' | 'game'>, watch: HostWatch, { fields = 'all', delayMs = 0 }: SpectatorOptions,
    interest: InterestOptions | undefined, onFault: (error: unknown) => void,
  ) {
    this.#authority = authority
    this.#isPrivy = fields === 'followed'
    this.feed = delayMs === 0 ? undefined : new DelayedFeed(authority.game, watch, delayMs, interest)
    this.handlers = new RpcHandlers(onFault)
    this.handlers.on(Spectate, ({ whom, step }, { from }) => ({ whom: this.#choose(from.id, whom, step) }))
  }

  /** As a position in time: that of the delayed feed. */
  get tick(): number {
    return Math.max(this.feed?.tick ?? 0, 0)
  }

  alpha(): number {
    return 0
  }

  /** What spectators are told from, and by which rules: those of the match, or of the match as it was. */
  sourcesOf(replicator: Replicator, interest: Interest): { readonly replicator: Replicator; readonly interest: Interest } {
    return this.feed ?? { replicator, interest }
  }

  /** Somebody looks on from now. Returns where his inputs go: nowhere. */
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

  remove(peer: PeerId): void {
    this.#spectators.delete(peer)
  }

  has(peer: PeerId): boolean {
    return this.#spectators.has(peer)
  }

  /** What a spectator sent that he may not; undefined when he is not here. */
  refusals(peer: PeerId): Readonly<SpectatorRefusals> | undefined {
    return this.#spectators.get(peer)?.refusals
  }

  /** Whom somebody follows; himself when nobody, 0 when he is no spectator. */
  followed(peer: PeerId): PeerId {
    return this.#spectators.get(peer)?.interest.viewer ?? 0
  }

  /** The host says with whose eyes somebody looks. */
  follow(peer: PeerId, whom: PeerId): void {
    const spectator = this.#spectators.get(peer)
    if (spectator === undefined) return
    spectator.interest.viewer = whom
    spectator.isFree = whom === peer
  }

  /** After a tick: the feed goes on, requests are answered, and nobody goes on following who has left. */
  update(now: number): void {
    this.feed?.advance(now)
    for (const [peer, { interest, calls, isFree }] of this.#spectators) {
      calls.deliver(Infinity)
      if (isFree || (interest.viewer !== peer && this.#isThere(interest.viewer))) continue
      interest.viewer = this.#authority.peers[0]?.id ?? peer
    }
  }

  /** What spectators hear now of what happens in `step`: at once, or when the feed gets there. */
  eventsOf(event: StepEvent): readonly StepEvent[] {
    if (this.feed === undefined) return [event]
    this.feed.keep(event)
    return []
  }

  /** Whether a player can be followed: he is here, or where they look he has not left yet. */
  #isThere(player: PeerId): boolean {
    if (this.#authority.players.has(player)) return true
    if (this.feed === undefined) return false
    const { owners, nextOwned } = this.feed.interest
    for (let index = this.feed.interest.firstOwned(player); index >= 0; index = nextOwned[index]) if (owners[index] === player) return true
    return false
  }

  #choose(peer: PeerId, whom: PeerId, step: number): PeerId {
    const spectator = this.#spectators.get(peer)
    const players = this.#authority.peers
    if (spectator === undefined || players.length === 0) return 0
    const from = players.findIndex(({ id }) => id === (whom === 0 ? spectator.interest.viewer : whom))
    // Whom there is not he cannot follow: he stays where he is.
    if (from < 0 && step === 0) return players.some(({ id }) => id === spectator.interest.viewer) ? spectator.interest.viewer : 0
    const chosen = players[(Math.max(from, 0) + step + players.length) % players.length]
    spectator.interest.viewer = chosen.id
    spectator.isFree = false
    return chosen.id
  }
}
