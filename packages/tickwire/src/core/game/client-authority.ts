/**
 * A player's side of shared objects: says what he writes, hears who writes what.
 */

import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { Connection } from '../connection/connection.ts'
import { SpokenRows } from '../replication/authority/spoken-rows.ts'
import { compareTokens } from '../replication/authority/token.ts'
import type { SnapshotSink } from '../replication/snapshot-sink.ts'
import { WantedSink } from '../replication/wanted-rows.ts'
import type { Shape } from '../schema/field.ts'
import { indexOf, NO_TYPE } from '../world/object-table.ts'
import { windowTicks } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import type { Game } from './define-game.ts'
import { FRAME_KIND } from './frame-kinds.ts'

/** Told that an object has another writer, as far as is known here. 0: the server. */
export type AuthorityListener = (object: ObjectId, owner: PeerId) => void

export class ClientAuthority {
  readonly #game: Game<Shape>
  readonly #listener: AuthorityListener | undefined
  readonly #tokens = new Map<ObjectId, { owner: PeerId; tick: Tick }>()
  /** The connection comes before we know who we are, and what is spoken after. */
  #spoken: SpokenRows | undefined = undefined
  #isOurs: (id: ObjectId) => boolean = () => false
  /** The newest tick of the server that anything was heard of. */
  #heard: () => Tick = () => 0

  constructor(game: Game<Shape>, listener: AuthorityListener | undefined) {
    this.#game = game
    this.#listener = listener
  }

  /** We know who we are: `sharing` is the world whose heap rows refer to, and `snapshots` knows the tokens. */
  begin(peer: PeerId, sharing: World, snapshots: SnapshotSink, isOurs: (id: ObjectId) => boolean, heard: () => Tick): void {
    const tokens = { authorityTickAt: (index: number): Tick => snapshots.held.authorityTicks[index] }
    this.#spoken = new SpokenRows(this.#game, peer, sharing, tokens, windowTicks(this.#game.tickRate))
    this.#isOurs = isOurs
    this.#heard = heard
  }

  /** Writes by a connection, once there is anything to write. */
  attach(connection: Connection): void {
    connection.addSource(FRAME_KIND.snapshot, {
      attach: () => {},
      begin: () => this.#spoken?.begin(),
      wantsAt: (now) => this.#spoken?.wantsAt(now) ?? Infinity,
      fill: (now, sequence, out) => this.#spoken?.fill(now, sequence, out) ?? false,
      onDelivered: (now, sequence) => this.#spoken?.onDelivered(now, sequence),
      onLost: (now, sequence) => this.#spoken?.onLost(now, sequence),
    })
    connection.addSink(FRAME_KIND.wantedRows, new WantedSink((id) => this.#spoken?.source.handleWanted(id)))
  }

  /** A tick was stepped for the first time. */
  handleStepped(world: World): void {
    this.#dropUnclaimed(world)
    this.#spoken?.speak(world, this.#isOurs)
  }

  /** What was spawned here ahead of time, and the server did not spawn: no digest speaks of what is shared, so time does. */
  #dropUnclaimed(world: World): void {
    const { objects, stores } = world
    const bornBefore = this.#heard() - this.#game.tickRate
    for (let index = objects.provisionalFrom; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE || !stores[type].isShared || this.#isOurs(objects.idAt(index)) || objects.birthTickAt(index) >= bornBefore) continue
      const handle = objects.handles[index]
      if (handle !== undefined) world.unseat(handle)
    }
  }

  /** The server told of a shared object. */
  handleTold(id: ObjectId, owner: PeerId, held: { readonly authorityTicks: Float64Array }): void {
    const tick = held.authorityTicks[indexOf(id)]
    const heard = this.#tokens.get(id)
    if (heard !== undefined && compareTokens(tick, owner, heard.tick, heard.owner) <= 0) return
    this.#tokens.set(id, { owner, tick })
    // Whose it is from the start is nothing that changed.
    if (heard !== undefined && heard.owner !== owner) this.#listener?.(id, owner)
  }

  handleGone(id: ObjectId): void {
    this.#tokens.delete(id)
  }
}

/** What `connect` is given for a game with shared objects: writing them is a third of what replication weighs, and most pages never do. */
export const sharedAuthority: (game: Game<Shape>, listener: AuthorityListener | undefined) => ClientAuthority = (game, listener) => new ClientAuthority(game, listener)
