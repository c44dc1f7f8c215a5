/**
 * Who may know what, as far as it is the same for everyone: one for each world of an authority.
 *
 * Once a tick it looks at what came, went, moved or changed hands, and keeps by object index what all clients ask for:
 * position, owner, team, entity. Objects that rest cost one comparison. `ClientInterest` does the rest for one client.
 *
 * It reads the world as it stands after a tick and writes nothing to it.
 */

import { ConfigError } from '../../base/assert.ts'
import type { ObjectId, PeerId, Tick } from '../../base/time.ts'
import type { Entity } from '../../schema/definition.ts'
import { handleClassOf, move, type Handle } from '../../world/handle.ts'
import { NO_TYPE, SLOT_MASK } from '../../world/object-table.ts'
import type { World } from '../../world/world.ts'
import type { TeamOf } from '../relevance.ts'
import { IndexSet } from './index-set.ts'
import { Octree } from './octree.ts'
import type { Partition, Positions } from './partition.ts'
import { compilePolicies, type LayerPolicy, type TypePolicy } from './policy.ts'
import { UniformGrid } from './uniform-grid.ts'
import type { ViewpointList } from './viewpoints.ts'

/** What a host may say of interest. */
export interface InterestOptions {
  /** How objects are found by place: `grid` for the most part, `octree` for large and sparse space. Both find the same. */
  readonly partition?: 'grid' | 'octree'
  /** Side of a grid's cells. Default: the distance at which objects leave the view. */
  readonly cellSize?: number
  /** Who is with whom. Without it nobody is anybody's mate. */
  readonly teamOf?: TeamOf
  /** Where a peer looks from. When it adds nothing, and without it: from every object of his that has a position. */
  readonly viewpoint?: (peer: PeerId, points: ViewpointList) => void
}

/** A partition and the rules of those who are in it. */
export interface Layer extends LayerPolicy {
  readonly partition: Partition
}

const CAPACITY_FIRST = 64
const NO_TICK = -1
const NO_SAMPLE = -1
const NONE = -1
/** Places in the table of owners: peers are numbered in a row, so that few share one. */
const OWNER_PLACES = 512

export class Interest implements Positions {
  readonly world: World
  readonly options: InterestOptions
  readonly types: readonly TypePolicy[]
  /** By type, flat: what weights are made of. */
  readonly priorities: Float64Array
  readonly slopes: Float64Array
  readonly layers: readonly Layer[]
  /** How often it was refreshed; the first is 1. */
  round = 0
  /** By object index: who lives there, what it is (255: nobody), whose, of which team, where, since which round. */
  ids: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  kinds: Uint8Array = new Uint8Array(CAPACITY_FIRST).fill(NO_TYPE)
  owners: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  teams: Float64Array = new Float64Array(CAPACITY_FIRST)
  xyz: Float64Array = new Float64Array(3 * CAPACITY_FIRST)
  since: Float64Array = new Float64Array(CAPACITY_FIRST)
  /** By object index: the next of an owner whose place in the table is the same. */
  nextOwned: Int32Array = new Int32Array(CAPACITY_FIRST)
  readonly #firstOwned = new Int32Array(OWNER_PLACES)
  /** Whom everyone knows, whom teams know, whom predicates decide. */
  readonly everyone: IndexSet = new IndexSet()
  teamList: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  teamCount = 0
  whereList: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  whereCount = 0
  /** What a client collects; empty between two of them. */
  readonly collected: IndexSet = new IndexSet()
  readonly #seen: (Handle | undefined)[] = []
  #tick: Tick = NO_TICK
  #sample = NO_SAMPLE
  #high = 0

  constructor(world: World, entities: readonly Entity[], options: InterestOptions = {}) {
    const { partition = 'grid', cellSize } = options
    if (partition !== 'grid' && partition !== 'octree') throw new ConfigError('interest.partition', `"${String(partition)}"`, "Give 'grid' or 'octree'.")
    if (cellSize !== undefined && !(cellSize > 0 && cellSize < Infinity)) throw new ConfigError('interest.cellSize', `${cellSize}`, 'Give a size above 0, in units of positions, or leave it out.')
    const { types, layers } = compilePolicies(entities)
    this.world = world
    this.options = options
    this.types = types
    this.priorities = Float64Array.from(types, ({ priority }) => priority)
    this.slopes = Float64Array.from(types, ({ slope }) => slope)
    this.everyone.reserve(CAPACITY_FIRST)
    this.collected.reserve(CAPACITY_FIRST)
    this.layers = layers.map((layer) => ({
      ...layer,
      partition: partition === 'octree' ? new Octree(this, layer.reach) : new UniformGrid(this, layer.dimensions, layer.reach, cellSize),
    }))
  }

  /** Looks at the world as it stands after a tick; once for all clients. @hot */
  refresh(tick: Tick): void {
    if (tick === this.#tick) return
    this.#tick = tick
    this.round++
    const { objects, stores, samples } = this.world
    const { words, highWater } = objects
    if (highWater > this.ids.length) this.#grow(highWater)
    let isChanged = this.round === 1
    for (let index = 0; index < highWater; index++) {
      const place = words[(index << 2) + 2]
      const type = place >>> 24
      if (type === NO_TYPE) {
        if (this.kinds[index] !== NO_TYPE) isChanged = this.#leave(index)
        continue
      }
      const store = stores[type]
      const slot = place & SLOT_MASK
      const isNew = this.ids[index] !== words[index << 2] || this.kinds[index] !== type
      if (!isNew && store.stamps[slot] <= this.#sample) continue
      this.#locate(index, type, store.cells, slot * store.schema.cellCount)
      if (isNew) isChanged = this.#enter(index, words[index << 2], type)
      else this.#moved(index, type)
      if (this.owners[index] !== words[(index << 2) + 1]) isChanged = true
      this.owners[index] = words[(index << 2) + 1]
    }
    for (let index = highWater; index < this.#high; index++) if (this.kinds[index] !== NO_TYPE) isChanged = this.#leave(index)
    this.#high = highWater
    this.#sample = samples
    if (isChanged) this.#list()
    if (this.options.teamOf !== undefined) this.#askTeams(this.options.teamOf)
  }

  /** The first object of an owner, or of one who shares his place; go on by `nextOwned` and look at `owners`. -1: none. @hot */
  firstOwned(owner: PeerId): number {
    return this.round === 0 ? NONE : this.#firstOwned[owner & (OWNER_PLACES - 1)]
  }

  /** An object for a predicate: a handle that cannot be written. */
  seen(index: number): Handle | undefined {
    const handle = this.world.objects.handles[index]
    if (handle === undefined) return undefined
    let seen = this.#seen[index]
    if (seen === undefined || seen.id !== handle.id || seen.$store !== handle.$store) {
      const ReadOnly = handleClassOf(handle.$store.schema, true)
      this.#seen[index] = seen = new ReadOnly(handle.$store, handle.id, handle.$cells)
    }
    if (seen.$cells !== handle.$cells) move(seen, handle.$cells)
    return seen
  }

  /** Puts the position of who lives at an index into `xyz`. */
  #locate(index: number, type: number, cells: Float64Array, at: number): void {
    const position = this.types[type].cells
    for (let axis = 0; axis < position.length; axis++) this.xyz[3 * index + axis] = cells[at + position[axis]]
    for (let axis = position.length; axis < 3; axis++) this.xyz[3 * index + axis] = 0
  }

  #moved(index: number, type: number): void {
    const own = this.types[type].layers
    for (let at = 0; at < own.length; at++) this.layers[own[at]].partition.move(index)
  }

  /** Somebody new lives at an index, where nobody did or somebody else. */
  #enter(index: number, id: ObjectId, type: number): true {
    if (this.kinds[index] !== NO_TYPE) this.#leave(index)
    this.ids[index] = id
    this.kinds[index] = type
    this.since[index] = this.round
    const own = this.types[type].layers
    for (let at = 0; at < own.length; at++) this.layers[own[at]].partition.insert(index)
    return true
  }

  #leave(index: number): true {
    const own = this.types[this.kinds[index]].layers
    for (let at = 0; at < own.length; at++) this.layers[own[at]].partition.remove(index)
    this.ids[index] = 0
    this.kinds[index] = NO_TYPE
    return true
  }

  /** Lists anew whose everyone is and who is known how. */
  #list(): void {
    this.#firstOwned.fill(NONE)
    this.everyone.clear()
    this.teamCount = 0
    this.whereCount = 0
    // From the last down, so that lists by owner go up.
    for (let index = this.#high - 1; index >= 0; index--) {
      const type = this.kinds[index]
      if (type === NO_TYPE) continue
      const policy = this.types[type]
      if (policy.isAlways) this.everyone.add(index)
      if (policy.isTeam) this.teamList[this.teamCount++] = index
      if (policy.where.length > 0) this.whereList[this.whereCount++] = index
      this.teams[index] = 0
      const owner = this.owners[index]
      if (owner === 0) continue
      const place = owner & (OWNER_PLACES - 1)
      this.nextOwned[index] = this.#firstOwned[place]
      this.#firstOwned[place] = index
    }
  }

  /** Asks once for every owner in a row; teams may change without anybody moving. */
  #askTeams(teamOf: TeamOf): void {
    for (let place = 0; place < OWNER_PLACES; place++) {
      let asked = 0
      let team = 0
      for (let index = this.#firstOwned[place]; index !== NONE; index = this.nextOwned[index]) {
        if (this.owners[index] !== asked) team = teamOf(asked = this.owners[index])
        this.teams[index] = team
      }
    }
  }

  #grow(need: number): void {
    let capacity = this.ids.length
    while (capacity < need) capacity *= 2
    this.ids = widen(this.ids, new Uint32Array(capacity))
    this.kinds = widen(this.kinds, new Uint8Array(capacity).fill(NO_TYPE))
    this.owners = widen(this.owners, new Uint32Array(capacity))
    this.teams = widen(this.teams, new Float64Array(capacity))
    this.xyz = widen(this.xyz, new Float64Array(3 * capacity))
    this.since = widen(this.since, new Float64Array(capacity))
    this.nextOwned = widen(this.nextOwned, new Int32Array(capacity))
    this.teamList = widen(this.teamList, new Uint32Array(capacity))
    this.whereList = widen(this.whereList, new Uint32Array(capacity))
    this.everyone.reserve(capacity)
    this.collected.reserve(capacity)
  }
}

function widen<T extends Uint8Array | Uint32Array | Int32Array | Float64Array>(from: T, to: T): T {
  to.set(from)
  return to
}
