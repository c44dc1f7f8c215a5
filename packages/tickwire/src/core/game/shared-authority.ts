/**
 * Shared objects in a match, with the server as arbiter.
 *
 *   a tick    rows received from owners | players, inputs, calls | step | the book | the Timeline samples
 *
 * A connected client simulates the shared objects that it owns; on the server, these can only be read (`world.seen`).
 * The server simulates the others, and those of disconnected players.
 *
 * A player can get an object that it sees if the game allows it (`onAuthorityRequest`). Without that function, the
 * object must belong to the server. The owner keeps the object until it gives it back or leaves, or the server assigns
 * a new owner (`world.setOwner`).
 */

import { INPUT_AHEAD_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import { refusePromise } from '../base/user-code.ts'
import { AcceptedWrites } from '../replication/authority/accepted-writes.ts'
import { ClaimBook } from '../replication/authority/claim-book.ts'
import { WrittenRows, type WriteRefusals } from '../replication/authority/written-rows.ts'
import type { Shape } from '../schema/field.ts'
import { indexOf } from '../world/object-table.ts'
import { windowTicks } from '../world/timeline-window.ts'
import type { World } from '../world/world.ts'
import type { CallDesk } from './call-desk.ts'
import type { Game, Peer } from './define-game.ts'
import { AskAuthority } from './match-calls.ts'

/** The outcome of a request for an object. */
export interface AuthorityGrant {
  /** Whether the player got the object. */
  readonly isGranted: boolean
  /** If granted, the first tick in which the object belongs to the player. */
  readonly tick: Tick
}

const REFUSED: AuthorityGrant = { isGranted: false, tick: 0 }

/** The shared objects of a match, and which peer writes each. */
export class SharedAuthority {
  /** Which peer writes which object, since which tick. */
  readonly book: ClaimBook
  /** The rows that clients wrote for their objects. */
  readonly writes: AcceptedWrites
  readonly #game: Game<Shape>
  readonly #world: World

  constructor(game: Game<Shape>, world: World) {
    this.#game = game
    this.#world = world
    this.book = new ClaimBook(world)
    this.writes = new AcceptedWrites(world, this.book)
    const isElsewhere = (owner: PeerId): boolean => this.writes.of(owner) !== undefined
    for (const store of world.stores) if (store.isShared) store.isElsewhere = isElsewhere
  }

  /** Accepts rows of a connected player. Returns the sink for them. */
  attach(peer: PeerId): WrittenRows {
    this.detach(peer)
    const written = new WrittenRows(peer, this.#world, this.book, {
      windowTicks: windowTicks(this.#game.tickRate), aheadTicks: INPUT_AHEAD_MAX, coders: this.#game.coders,
    })
    this.writes.add(written)
    return written
  }

  /** The connection is lost: the server simulates the player's objects. */
  detach(peer: PeerId): void {
    this.writes.remove(peer)
  }

  /** Counts of refused writes of a player. Undefined if the player is not connected. */
  refusals(peer: PeerId): Readonly<WriteRefusals> | undefined {
    return this.writes.of(peer)?.refusals
  }

  /** Decides about an object whose owner has left the match. Returns whether it stays. */
  inherit(id: ObjectId): boolean {
    const entity = this.#game.entities[this.#world.objects.typeAt(indexOf(id))]
    if (!entity.isShared || entity.options.onOwnerLeave === 'despawn') return false
    this.#world.setOwner({ id })
    return true
  }

  /** Registers the handler for requests and releases. `sees`: whether an object is in a player's view. */
  answer(calls: CallDesk<Peer>, sees: (peer: PeerId, id: ObjectId) => boolean): void {
    calls.handlers.on(AskAuthority, ({ isWanted }, { from, object }) =>
      isWanted ? this.#grant(from, object, sees) : this.#release(from, object),
    )
  }

  #grant(peer: Peer, id: ObjectId, sees: (peer: PeerId, id: ObjectId) => boolean): AuthorityGrant {
    const { objects, tick } = this.#world
    const handle = this.#isShared(id) ? objects.handles[indexOf(id)] : undefined
    if (handle === undefined || this.writes.of(peer.id) === undefined || !sees(peer.id, id)) return REFUSED
    if (handle.owner === peer.id) return { isGranted: true, tick: this.book.authorityTickAt(indexOf(id)) }
    const isGranted = this.#game.onAuthorityRequest?.(this.#world, peer, handle) ?? handle.owner === 0
    refusePromise('onAuthorityRequest', isGranted)
    if (!isGranted) return REFUSED
    this.#world.setOwner(handle, peer)
    return { isGranted: true, tick: tick + 1 }
  }

  #release({ id: peer }: Peer, id: ObjectId): AuthorityGrant {
    if (this.#isShared(id) && this.#world.objects.ownerAt(indexOf(id)) === peer) this.#world.setOwner({ id })
    return REFUSED
  }

  #isShared(id: ObjectId): boolean {
    const { objects, stores } = this.#world
    return objects.isAlive(id) && stores[objects.typeAt(indexOf(id))].isShared
  }
}
