/**
 * The relevance of a client that sees everything, all equally urgent.
 *
 * The live objects and their owners are checked once a tick for all clients of a world (`Census`); in most ticks
 * nothing changed.
 */

import type { PeerId, Tick } from '../../base/time.ts'
import { NO_TYPE } from '../../world/object-table.ts'
import type { World } from '../../world/world.ts'
import { FIELD_SET, type Relevance, type TeamOf } from '../relevance.ts'

const CAPACITY_FIRST = 64
const NO_TICK = -1

/** Which objects exist in a world and which peers own them. The version changes when any of that changes. */
class Census {
  version = 0
  readonly #world: World
  #tick: Tick = NO_TICK
  #highWater = 0
  /** Id and owner, indexed by object index << 1; an id of 0 where there is no object. */
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

/** One census per world, shared by all clients that see all of it. */
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
    // The game may change teams at any time, without notice.
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
