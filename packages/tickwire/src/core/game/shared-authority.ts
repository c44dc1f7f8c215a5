/**
 * Shared objects in a match: the server as their arbiter.
 *
 *   a tick    rows that their writers have sent | players, inputs, calls | step | the book | the Timeline samples
 *
 * Whoever is connected simulates what he owns, and here it is only seen (`world.seen`); the server simulates the rest, and what
 * belongs to a player whose line is gone.
 *
 * Who may have an object: a player who sees it, if the game says so (`onAuthorityRequest`), and where it says nothing, if it
 * is the server's. Whoever has it keeps it until he gives it back, goes, or the server gives it to another (`world.setOwner`).
 */

import { INPUT_AHEAD_MAX } from '../base/limits.ts'
import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import type { Connection } from '../connection/connection.ts'
import { AcceptedWrites } from '../replication/authority/accepted-writes.ts'
import { TokenBook } from '../replication/authority/token-book.ts'
import { WrittenRows, type WriteRefusals } from '../replication/authority/written-rows.ts'
import type { Shape } from '../schema/field.ts'
import { indexOf } from '../world/object-table.ts'
import { windowTicks } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import type { CallDesk } from './call-desk.ts'
import type { Game, Peer } from './define-game.ts'
import { FRAME_KIND } from './frame-kinds.ts'
import { AskAuthority } from './match-calls.ts'

/** How a request for an object ended. */
export interface AuthorityGrant {
  readonly isGranted: boolean
  /** The first tick that is his, if it was granted. */
  readonly tick: Tick
}

const REFUSED: AuthorityGrant = { isGranted: false, tick: 0 }

export class SharedAuthority {
  readonly book: TokenBook
  readonly writes: AcceptedWrites
  readonly #game: Game<Shape>
  readonly #world: World

  constructor(game: Game<Shape>, world: World) {
    this.#game = game
    this.#world = world
    this.book = new TokenBook(world)
    this.writes = new AcceptedWrites(world, this.book)
    const isElsewhere = (owner: PeerId): boolean => this.writes.of(owner) !== undefined
    for (const store of world.stores) if (store.isShared) store.isElsewhere = isElsewhere
  }

  /** Takes rows from a player by his connection, from now on. */
  attach(connection: Connection, peer: PeerId): void {
    this.detach(peer)
    const written = new WrittenRows(peer, this.#world, this.book, {
      windowTicks: windowTicks(this.#game.tickRate), aheadTicks: INPUT_AHEAD_MAX, coders: this.#game.coders,
    })
    this.writes.add(written)
    connection.addSink(FRAME_KIND.snapshot, written)
    connection.addSource(FRAME_KIND.wantedRows, written.sink.wanted)
  }

  /** His line is gone: what he owns is simulated here. */
  detach(peer: PeerId): void {
    this.writes.remove(peer)
  }

  /** What a player wrote without the right to; undefined when he is not here. */
  refusals(peer: PeerId): Readonly<WriteRefusals> | undefined {
    return this.writes.of(peer)?.refusals
  }

  /** What becomes of an object whose owner has left the match: whether it stays. */
  inherit(id: ObjectId): boolean {
    const entity = this.#game.entities[this.#world.objects.typeAt(indexOf(id))]
    if (!entity.isShared || entity.options.onOwnerLeave === 'despawn') return false
    this.#world.setOwner({ id })
    return true
  }

  /** Lets players ask for objects and give them back. `sees` says whether an object is in a player's view. */
  answer(calls: CallDesk<Peer>, sees: (peer: PeerId, id: ObjectId) => boolean): void {
    calls.handlers.on(AskAuthority, ({ isWanted }, { from, object }) => isWanted ? this.#grant(from, object, sees) : this.#release(from, object))
  }

  #grant(peer: Peer, id: ObjectId, sees: (peer: PeerId, id: ObjectId) => boolean): AuthorityGrant {
    const { objects, tick } = this.#world
    const handle = this.#isShared(id) ? objects.handles[indexOf(id)] : undefined
    if (handle === undefined || this.writes.of(peer.id) === undefined || !sees(peer.id, id)) return REFUSED
    if (handle.owner === peer.id) return { isGranted: true, tick: this.book.authorityTickAt(indexOf(id)) }
    const isGranted = this.#game.onAuthorityRequest?.(this.#world, peer, handle) ?? handle.owner === 0
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
