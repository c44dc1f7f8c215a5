/**
 * The client's side of shared objects: sends the rows that this client writes, and tracks the owner of each object.
 */

import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { FrameSink, FrameSource } from '../packet/frame-source.ts'
import { SpokenRows } from '../replication/authority/spoken-rows.ts'
import { compareClaims } from '../replication/authority/claim.ts'
import type { SnapshotSink } from '../replication/snapshot-sink.ts'
import { wantedSink } from '../replication/receive/wanted-rows.ts'
import type { Shape } from '../schema/field.ts'
import { indexOf, NO_TYPE } from '../world/object-table.ts'
import { windowTicks } from '../world/timeline-window.ts'
import type { World } from '../world/world.ts'
import type { Game } from './define-game.ts'

/** Called when a shared object has a new owner, as far as this client knows. 0: the server. */
export type AuthorityListener = (object: ObjectId, owner: PeerId) => void

export class ClientAuthority {
  readonly #game: Game<Shape>
  readonly #listener: AuthorityListener | undefined
  readonly #claims = new Map<ObjectId, { owner: PeerId; tick: Tick }>()
  /** Undefined until `begin`: the connection is assembled before the client knows its peer id. */
  #spoken: SpokenRows | undefined = undefined
  #isOurs: (id: ObjectId) => boolean = () => false
  /** The newest server tick that this client has received anything for. */
  #receivedTick: () => Tick = () => 0

  constructor(game: Game<Shape>, listener: AuthorityListener | undefined) {
    this.#game = game
    this.#listener = listener
  }

  /**
   * Call when the peer id is known. Rows refer to the heap of the world `sharing`; `snapshots` has the authority
   * claims.
   */
  begin(
    peer: PeerId,
    sharing: World,
    snapshots: SnapshotSink,
    isOurs: (id: ObjectId) => boolean,
    receivedTick: () => Tick,
  ): void {
    const claims = { authorityTickAt: (index: number): Tick => snapshots.held.authorityTicks[index] }
    this.#spoken = new SpokenRows(this.#game, peer, sharing, claims, windowTicks(this.#game.tickRate))
    this.#isOurs = isOurs
    this.#receivedTick = receivedTick
  }

  /** The source of the rows that this client writes. It sends nothing before `begin`. */
  get source(): FrameSource {
    return {
      attach: () => {},
      begin: () => this.#spoken?.begin(),
      wantsAt: (now) => this.#spoken?.wantsAt(now) ?? Infinity,
      fill: (now, sequence, out) => this.#spoken?.fill(now, sequence, out) ?? false,
      onDelivered: (now, sequence) => this.#spoken?.onDelivered(now, sequence),
      onLost: (now, sequence) => this.#spoken?.onLost(now, sequence),
    }
  }

  /** The sink for the rows that the server asks to be sent again. */
  get wanted(): FrameSink {
    return wantedSink((id) => this.#spoken?.source.handleWanted(id))
  }

  /** A tick was stepped for the first time. */
  handleStepped(world: World): void {
    this.#dropUnclaimed(world)
    this.#spoken?.speak(world, this.#isOurs)
  }

  /**
   * Removes shared objects that were spawned here by prediction but never by the server. Digests do not cover shared
   * objects, so an age of one second decides.
   */
  #dropUnclaimed(world: World): void {
    const { objects, stores } = world
    const bornBefore = this.#receivedTick() - this.#game.tickRate
    for (let index = objects.provisionalFrom; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (
        type === NO_TYPE
        || !stores[type].isShared
        || this.#isOurs(objects.idAt(index))
        || objects.birthTickAt(index) >= bornBefore
      )
        continue
      const handle = objects.handles[index]
      if (handle !== undefined) world.unseat(handle)
    }
  }

  /** A row of a shared object was received. */
  handleReceived(id: ObjectId, owner: PeerId, held: { readonly authorityTicks: Float64Array }): void {
    const tick = held.authorityTicks[indexOf(id)]
    const receivedTick = this.#claims.get(id)
    if (receivedTick !== undefined && compareClaims(tick, owner, receivedTick.tick, receivedTick.owner) <= 0) return
    this.#claims.set(id, { owner, tick })
    // The first owner that is received is not a change.
    if (receivedTick !== undefined && receivedTick.owner !== owner) this.#listener?.(id, owner)
  }

  handleGone(id: ObjectId): void {
    this.#claims.delete(id)
  }
}

/**
 * Passed to `connect` by games with shared objects. It is optional because the code that writes them is a third of the
 * size of replication, and most pages never use it.
 */
export const sharedAuthority: (game: Game<Shape>, listener: AuthorityListener | undefined) => ClientAuthority = (
  game,
  listener,
) => new ClientAuthority(game, listener)
