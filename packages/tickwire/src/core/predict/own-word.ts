/**
 * Of shared objects that we own our own word is the truth: every row that was stepped here for the first time is put among what
 * was told, and whoever goes back and steps those ticks again finds it there.
 *
 * The server is heard once for each stay: the row with which an object comes to us, under its token. What it tells after that
 * is what we said ourselves, some time ago.
 */

import type { ObjectId, PeerId, Tick } from '../base/time.ts'
import { indexOf } from '../world/object-table.ts'
import type { World } from '../world/world.ts'
import type { ToldRow, Truth } from './truth.ts'

interface Stay {
  /** The first tick that we write: the token. */
  readonly tokenTick: Tick
  /** Rows up to this tick were said. */
  saidTick: Tick
}

export class OwnWord {
  readonly #peer: PeerId
  readonly #world: World
  readonly #told: Truth
  readonly #stays = new Map<ObjectId, Stay>()
  readonly #row: ToldRow = { tick: 0, type: 0, id: 0, owner: 0, rows: new Int32Array(0), at: 0, birthTick: 0, birthOrdinal: 0, authorityTick: 0 }

  constructor(peer: PeerId, world: World, told: Truth) {
    this.#peer = peer
    this.#world = world
    this.#told = told
  }

  /** Whether an object is ours to write, and we know it. */
  isOurs(id: ObjectId): boolean {
    return this.#stays.has(id)
  }

  /** A row of a shared object of ours was told: whether it says anything that we did not say ourselves. */
  isNews({ tick, id, authorityTick }: Readonly<ToldRow>): boolean {
    const stay = this.#stays.get(id)
    if (stay?.tokenTick === authorityTick && this.#world.objects.isAlive(id)) return false
    this.#stays.set(id, { tokenTick: authorityTick, saidTick: tick })
    return true
  }

  forget(id: ObjectId): void {
    this.#stays.delete(id)
  }

  /** A tick was stepped: what is new in it is true from now on. @hot */
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
        this.#put(tick, type, id, store.rows, store.rowAt(handles[at]), stay.tokenTick)
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
    this.#told.put(row)
  }
}
