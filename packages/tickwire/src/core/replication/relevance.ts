/**
 * What one client may know, and how much he needs it: the answer that replication asks for once a flush.
 *
 * Three parallel arrays, `count` long, ascending by object index. An object that is not listed does not exist for the
 * client; whoever was listed and is not any more has left his view. The field set says how much of the row he may hold.
 *
 * Invariant: an answer depends on nothing that the client may not see, so that two runs which differ only there are
 * the same to him, byte for byte.
 *
 * `AllRelevant` is the simple twin: everyone sees everything. `interest/` holds the one that looks.
 *
 * Who lives and who owns whom is counted once a tick for all clients of a world (`Census`); in most ticks it is as it was.
 */

import type { PeerId, Tick } from '../base/time.ts'
import { NO_TYPE } from '../world/object-table.ts'
import type { World } from '../world/world.ts'

/** Who a row is for, as a number: an index of `schema.masks`. */
export const FIELD_SET = { all: 0, team: 1, owner: 2 } as const

/** One client's view of a world. */
export interface Relevance {
  /** Refreshed: objects this client may know, ascending by index. Parallel arrays, `count` long. */
  readonly count: number
  /** Object indexes in `world.objects`. The array may be another one after a refresh. */
  readonly indexes: Uint32Array
  /** What to add to the accumulator now: base x distance x authority factor. */
  readonly weights: Float32Array
  /** Field sets: 0 all, 1 team, 2 owner. */
  readonly sets: Uint8Array
  /** Another number whenever a refresh changed `indexes` or `sets`: as long as it is the same, nobody looks at them again. */
  readonly version: number
  /** Looks at the world as it stands after a tick. Asking again for the same tick changes nothing. */
  refresh(tick: Tick): void
}

/** The team of a peer, as the game sees it. 0 is no team: nobody is the mate of whoever has none. */
export type TeamOf = (peer: PeerId) => number

const CAPACITY_FIRST = 64
const NO_TICK = -1

/** Who lives in a world and who owns whom: another version when any of that changed. */
class Census {
  version = 0
  readonly #world: World
  #tick: Tick = NO_TICK
  #highWater = 0
  /** Id and owner by index; an id of 0 where nobody lives. */
  #known: Uint32Array = new Uint32Array(CAPACITY_FIRST << 1)

  constructor(world: World) {
    this.#world = world
  }

  /** @hot */
  refresh(tick: Tick): void {
    if (tick === this.#tick) return
    this.#tick = tick
    const { words, highWater } = this.#world.objects
    let isSame = highWater === this.#highWater
    this.#highWater = highWater
    if (highWater << 1 > this.#known.length) this.#grow(words.length >>> 1)
    const known = this.#known
    for (let index = 0; index < highWater; index++) {
      const id = words[(index << 2) + 2] >>> 24 === NO_TYPE ? 0 : words[index << 2]
      const owner = words[(index << 2) + 1]
      if (known[index << 1] === id && known[index << 1 | 1] === owner) continue
      known[index << 1] = id
      known[index << 1 | 1] = owner
      isSame = false
    }
    if (!isSame) this.version++
  }

  #grow(length: number): void {
    this.#known = new Uint32Array(length)
  }
}

/** One for each world that somebody sees all of. */
const censuses = new WeakMap<World, Census>()

function censusOf(world: World): Census {
  const census = censuses.get(world) ?? new Census(world)
  censuses.set(world, census)
  return census
}

/** Everything in the world, all equally urgent. */
export class AllRelevant implements Relevance {
  count = 0
  indexes: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  weights: Float32Array = new Float32Array(CAPACITY_FIRST).fill(1)
  sets: Uint8Array = new Uint8Array(CAPACITY_FIRST)
  version = 0
  readonly #world: World
  readonly #peer: PeerId
  readonly #teamOf: TeamOf | undefined
  readonly #census: Census
  #tick: Tick = NO_TICK
  #censusVersion = NO_TICK

  constructor(world: World, peer: PeerId, teamOf?: TeamOf) {
    this.#world = world
    this.#peer = peer
    this.#teamOf = teamOf
    this.#census = censusOf(world)
  }

  /** @hot */
  refresh(tick: Tick): void {
    if (tick === this.#tick) return
    this.#tick = tick
    this.#census.refresh(tick)
    // Teams are the game's to change, and it does not say when.
    if (this.#census.version === this.#censusVersion && this.#teamOf === undefined) return
    this.#censusVersion = this.#census.version
    const { words, highWater } = this.#world.objects
    if (highWater > this.indexes.length) this.#grow(highWater)
    const team = this.#teamOf === undefined ? 0 : this.#teamOf(this.#peer)
    let isSame = true
    let count = 0
    for (let index = 0; index < highWater; index++) {
      if (words[(index << 2) + 2] >>> 24 === NO_TYPE) continue
      const set = this.#setOf(words[(index << 2) + 1], team)
      if (this.indexes[count] !== index || this.sets[count] !== set) isSame = false
      this.indexes[count] = index
      this.sets[count] = set
      count++
    }
    if (!isSame || count !== this.count) this.version++
    this.count = count
  }

  #setOf(owner: PeerId, team: number): number {
    if (owner === this.#peer) return FIELD_SET.owner
    if (this.#teamOf === undefined || team === 0 || owner === 0) return FIELD_SET.all
    return this.#teamOf(owner) === team ? FIELD_SET.team : FIELD_SET.all
  }

  #grow(need: number): void {
    let capacity = this.indexes.length
    while (capacity < need) capacity *= 2
    this.indexes = new Uint32Array(capacity)
    this.weights = new Float32Array(capacity).fill(1)
    this.sets = new Uint8Array(capacity)
  }
}
