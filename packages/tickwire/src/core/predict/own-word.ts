/**
 * This client writes the shared objects that it owns, so its own rows are authoritative for them. Each row that is
 * stepped here for the first time is stored in `Truth`, where a later rollback finds it when it steps those ticks
 * again.
 *
 * The server's row counts once per ownership: the row with which the object passes to this client, under its claim.
 * Later rows from the server only repeat what this client sent earlier.
 */

import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import { indexOf } from '../world/object-table.ts'
import type { World } from '../world/world.ts'
import { createReceivedRow, type ReceivedRow, type Truth } from './truth.ts'

interface Stay {
  /** The first tick that this client writes: the claim. */
  readonly claimTick: Tick
  /** Rows up to this tick are stored. */
  saidTick: Tick
}

export class OwnWord {
  readonly #peer: PeerId
  readonly #world: World
  readonly #truth: Truth
  readonly #stays = new Map<ObjectId, Stay>()
  readonly #row: ReceivedRow = createReceivedRow()

  constructor(peer: PeerId, world: World, truth: Truth) {
    this.#peer = peer
    this.#world = world
    this.#truth = truth
  }

  /** Whether this client owns the object and has received the row that says so. */
  isOurs(id: ObjectId): boolean {
    return this.#stays.has(id)
  }

  /** Whether a received row of a shared object that this client owns is more than an echo of its own rows. */
  isNews({ tick, id, authorityTick }: Readonly<ReceivedRow>): boolean {
    const stay = this.#stays.get(id)
    if (stay?.claimTick === authorityTick && this.#world.objects.isAlive(id)) return false
    this.#stays.set(id, { claimTick: authorityTick, saidTick: tick })
    return true
  }

  forget(id: ObjectId): void {
    this.#stays.delete(id)
  }

  /** Stores the rows that are new in the tick that was stepped. They are authoritative from now on. @hot */
  say(): void {
    if (this.#stays.size === 0) return
    const { stores, objects, tick } = this.#world
    for (let type = 0; type < stores.length; type++) {
      const store = stores[type]
      if (!store.isShared) continue
      const handles = store.living()
      for (let at = 0; at < handles.length; at++) {
        const { id } = handles[at]
        const stay = this.#stays.get(id)
        if (stay === undefined || tick <= stay.saidTick || objects.ownerAt(indexOf(id)) !== this.#peer) continue
        stay.saidTick = tick
        this.#put(tick, type, id, store.rows, store.rowAt(handles[at]), stay.claimTick)
      }
    }
  }

  #put(tick: Tick, type: number, id: ObjectId, rows: Int32Array, at: number, authorityTick: Tick): void {
    const row = this.#row
    row.tick = tick
    row.type = type
    row.id = id
    row.owner = this.#peer
    row.rows = rows
    row.at = at
    row.authorityTick = authorityTick
    this.#truth.put(row)
  }
}
