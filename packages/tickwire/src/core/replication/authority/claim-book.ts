/**
 * The arbiter's record of which peer writes each shared object, now and in the ticks before.
 *
 * It reads the world once a tick, after `step`. The owner at that time writes the object from the next tick on, until
 * the tick before the next owner starts. So every tick of every object has one writer, and a transfer falls between two
 * ticks:
 *
 *   ticks     ... 99 | 100  101 | 102 ...          claim of B: (B, 100), of C: (C, 102)
 *   writer        A  |  B    B  |  C
 *
 * Invariant: the ticks of an object's claims rise strictly. The cause of a transfer (`spawn`, `setOwner`, a granted
 * request, a client that left) makes no difference.
 */

import type { ObjectId, PeerId, Tick } from '../../base/time.ts'
import { indexOf } from '../../world/object-table.ts'
import type { World } from '../../world/world.ts'
import type { Claims } from './claim.ts'

/**
 * Claims stored per object. More transfers than this within the time that a packet may take mean that peers compete.
 */
const REMEMBERED = 8
const INDEXES_FIRST = 64
const NONE = -1

export class ClaimBook implements Claims {
  /** Transfers so far, of all objects. */
  transfers = 0
  readonly #world: World
  #ids = new Uint32Array(INDEXES_FIRST)
  /** Indexed by object index: how many claims it has had; the newest is at (count - 1) % REMEMBERED. */
  #counts = new Uint32Array(INDEXES_FIRST)
  #owners = new Uint32Array(INDEXES_FIRST * REMEMBERED)
  #ticks = new Float64Array(INDEXES_FIRST * REMEMBERED)

  constructor(world: World) {
    this.#world = world
  }

  /** The owner of an object at the end of a tick writes it from the next tick on. @hot */
  update(): void {
    const { objects, stores, tick } = this.#world
    for (let type = 0; type < stores.length; type++) {
      const store = stores[type]
      if (!store.isShared) continue
      const handles = store.living()
      for (let at = 0; at < handles.length; at++) {
        const { id } = handles[at]
        const index = indexOf(id)
        this.#reserve(index + 1)
        const owner = objects.ownerAt(index)
        if (this.#ids[index] !== id) {
          this.#ids[index] = id
          this.#counts[index] = 0
          // Before this tick the object belonged to the server, which created it.
          this.#add(index, 0, 0)
          this.#add(index, owner, tick + 1)
        } else if (this.#owners[this.#newest(index)] !== owner) {
          this.transfers++
          this.#add(index, owner, tick + 1)
        }
      }
    }
  }

  /** @hot */
  authorityTickAt(index: number): Tick {
    return index < this.#ids.length && this.#counts[index] > 0 ? this.#ticks[this.#newest(index)] : 0
  }

  /** The first tick of the owner that an object has at the end of `tick`; 0 when it is no longer in the book. @hot */
  authorityTickAfter(id: ObjectId, tick: Tick): Tick {
    return Math.max(0, this.claimTickAt(id, tick + 1))
  }

  /** The peer that writes an object in a tick; -1 when it is not in the book, or too many transfers ago. @hot */
  writerAt(id: ObjectId, tick: Tick): PeerId {
    const place = this.#placeAt(id, tick)
    return place < 0 ? NONE : this.#owners[place]
  }

  /** The first tick of the claim that is valid in a tick; -1 as in `writerAt`. @hot */
  claimTickAt(id: ObjectId, tick: Tick): Tick {
    const place = this.#placeAt(id, tick)
    return place < 0 ? NONE : this.#ticks[place]
  }

  /** The owner of the claim `back` places before the newest; -1 when there is none. */
  ownerBack(id: ObjectId, back: number): PeerId {
    const index = indexOf(id)
    if (!this.#has(index, id) || back >= Math.min(this.#counts[index], REMEMBERED)) return NONE
    return this.#owners[this.#place(index, back)]
  }

  /** The first tick of that claim. */
  tickBack(id: ObjectId, back: number): Tick {
    return this.#ticks[this.#place(indexOf(id), back)]
  }

  #has(index: number, id: ObjectId): boolean {
    return index < this.#ids.length && this.#ids[index] === id
  }

  #placeAt(id: ObjectId, tick: Tick): number {
    const index = indexOf(id)
    if (!this.#has(index, id)) return NONE
    const count = Math.min(this.#counts[index], REMEMBERED)
    for (let back = 0; back < count; back++) {
      const place = this.#place(index, back)
      if (this.#ticks[place] <= tick) return place
    }
    return NONE
  }

  #place(index: number, back: number): number {
    return index * REMEMBERED + (this.#counts[index] - 1 - back) % REMEMBERED
  }

  #newest(index: number): number {
    return this.#place(index, 0)
  }

  #add(index: number, owner: PeerId, tick: Tick): void {
    const place = index * REMEMBERED + this.#counts[index]++ % REMEMBERED
    this.#owners[place] = owner
    this.#ticks[place] = tick
  }

  #reserve(need: number): void {
    let capacity = this.#ids.length
    if (need <= capacity) return
    while (capacity < need) capacity *= 2
    const [ids, counts, owners, ticks] = [this.#ids, this.#counts, this.#owners, this.#ticks]
    this.#ids = new Uint32Array(capacity)
    this.#ids.set(ids)
    this.#counts = new Uint32Array(capacity)
    this.#counts.set(counts)
    this.#owners = new Uint32Array(capacity * REMEMBERED)
    this.#owners.set(owners)
    this.#ticks = new Float64Array(capacity * REMEMBERED)
    this.#ticks.set(ticks)
  }
}
