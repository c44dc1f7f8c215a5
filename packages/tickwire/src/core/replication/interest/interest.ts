/**
 * The part of interest management that is the same for every client: one instance per world of an authority.
 *
 * Once a tick it finds the objects that spawned, despawned, moved or changed owner, and stores by object index what all
 * clients need: position, owner, team, entity. An object at rest costs one comparison. `ClientInterest` does the rest
 * for one client.
 *
 * It reads the world as it is after a tick and writes nothing to it.
 */

import { ConfigError } from '../../base/assert.ts'
import type { ObjectId, PeerId, Tick } from '../../base/time.ts'
import { widen } from '../../base/widen.ts'
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

/** Options of a host. */
export interface InterestOptions {
  /**
   * How objects are found by position: `grid` for most games, `octree` for large, sparse space. Both find the same
   * objects. Default: `grid`.
   */
  readonly partition?: 'grid' | 'octree'
  /** Side of a grid's squares. Default: the distance at which objects leave the view. */
  readonly squareSize?: number
  /** The team of each peer. Without it no peer has teammates. */
  readonly teamOf?: TeamOf
  /** The viewpoints of a peer. If it adds none, or is absent: every object of the peer that has a position. */
  readonly viewpoint?: (peer: PeerId, points: ViewpointList) => void
}

/** A partition and the rules of the objects in it. */
export interface Layer extends LayerPolicy {
  readonly partition: Partition
}

const CAPACITY_FIRST = 64
const NO_TICK = -1
const NO_SAMPLE = -1
const NONE = -1
/** Slots in the table of owners. Peers are numbered consecutively, so few share a slot. */
const OWNER_PLACES = 512

/** What all clients of a match share: objects by position, by team and by rule. */
export class Interest implements Positions {
  /** The world that it observes. */
  readonly world: World
  /** The options of the host. */
  readonly options: InterestOptions
  /** The rules of each entity. Indexed by type. */
  readonly types: readonly TypePolicy[]
  /** Indexed by type: the inputs of weights. */
  readonly priorities: Float64Array
  /** How fast the weight falls with the distance. Indexed by type. */
  readonly slopes: Float64Array
  /** The partitions. Entities with the same distance of `near` share one. */
  readonly layers: readonly Layer[]
  /**
   * Whether a view changes only when objects spawn, despawn or change owner: no rule and no weight depends on a
   * distance, a team or a predicate.
   */
  readonly isByOwner: boolean
  /** How often it was refreshed; the first refresh is 1. */
  round = 0
  /** The last round in which an object spawned, despawned or changed owner. */
  changedRound = 0
  /** The id. Indexed by object index. */
  ids: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  /** The type; 255: no object. Indexed by object index. */
  kinds: Uint8Array = new Uint8Array(CAPACITY_FIRST).fill(NO_TYPE)
  /** The owner. Indexed by object index. */
  owners: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  /** The team of the owner. Indexed by object index. */
  teams: Float64Array = new Float64Array(CAPACITY_FIRST)
  /** The position: three numbers each. Indexed by object index. */
  xyz: Float64Array = new Float64Array(3 * CAPACITY_FIRST)
  /** The round of its spawn. Indexed by object index. */
  since: Float64Array = new Float64Array(CAPACITY_FIRST)
  /** Indexed by object index: the next object whose owner has the same slot in the table of owners. */
  nextOwned: Int32Array = new Int32Array(CAPACITY_FIRST)
  readonly #firstOwned = new Int32Array(OWNER_PLACES)
  /** Objects that every client knows. */
  readonly everyone: IndexSet = new IndexSet()
  /** Indexes of objects that teams know. */
  teamList: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  /** How many indexes `teamList` has. */
  teamCount = 0
  /** Indexes of objects that predicates decide. */
  whereList: Uint32Array = new Uint32Array(CAPACITY_FIRST)
  /** How many indexes `whereList` has. */
  whereCount = 0
  /** The set that a client fills during its refresh; empty between clients. */
  readonly collected: IndexSet = new IndexSet()
  readonly #seen: (Handle | undefined)[] = []
  #tick: Tick = NO_TICK
  #sample = NO_SAMPLE
  #high = 0

  constructor(world: World, entities: readonly Entity[], options: InterestOptions = {}) {
    const { partition = 'grid', squareSize } = options
    if (partition !== 'grid' && partition !== 'octree')
      throw new ConfigError(
        'interest.partition',
        `unknown partition "${String(partition)}" (expected 'grid' or 'octree')`,
        "give 'grid' or 'octree'.",
      )
    if (squareSize !== undefined && !(squareSize > 0 && squareSize < Infinity))
      throw new ConfigError(
        'interest.squareSize',
        `invalid size (expected above 0, got ${squareSize})`,
        'give a size in the unit of positions, or leave it out.',
      )
    const { types, layers } = compilePolicies(entities)
    this.world = world
    this.options = options
    this.types = types
    this.priorities = Float64Array.from(types, ({ priority }) => priority)
    this.slopes = Float64Array.from(types, ({ slope }) => slope)
    this.isByOwner =
      options.teamOf === undefined
      && types.every(({ where, layers, slope }) => where.length + layers.length === 0 && slope === 0)
    this.everyone.reserve(CAPACITY_FIRST)
    this.collected.reserve(CAPACITY_FIRST)
    this.layers = layers.map((layer) => ({
      ...layer,
      partition:
        partition === 'octree'
          ? new Octree(this, layer.reach)
          : new UniformGrid(this, layer.dimensions, layer.reach, squareSize),
    }))
  }

  /** Reads the world as it is after a tick; once for all clients. @hot */
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
    for (let index = highWater; index < this.#high; index++)
      if (this.kinds[index] !== NO_TYPE) isChanged = this.#leave(index)
    this.#high = highWater
    this.#sample = samples
    if (isChanged) {
      this.changedRound = this.round
      this.#list()
    }
    if (this.options.teamOf !== undefined) this.#askTeams(this.options.teamOf)
  }

  /**
   * The first object of an owner, or of an owner with the same slot. Continue by `nextOwned` and check `owners`. -1:
   * none. @hot
   */
  firstOwned(owner: PeerId): number {
    return this.round === 0 ? NONE : this.#firstOwned[owner & (OWNER_PLACES - 1)]
  }

  /** An object as a predicate sees it: a read-only handle. */
  seen(index: number): Handle | undefined {
    const handle = this.world.objects.handles[index]
    if (handle === undefined) return undefined
    let seen = this.#seen[index]
    if (seen === undefined || seen.id !== handle.id || seen.$store !== handle.$store) {
      const ReadOnly = handleClassOf(handle.$store.schema, 'read-only')
      this.#seen[index] = seen = new ReadOnly(handle.$store, handle.id, handle.$cells)
    }
    if (seen.$cells !== handle.$cells) move(seen, handle.$cells)
    return seen
  }

  /** Copies the position of the object at an index into `xyz`. */
  #locate(index: number, type: number, cells: Float64Array, at: number): void {
    const position = this.types[type].cells
    for (let axis = 0; axis < position.length; axis++) this.xyz[3 * index + axis] = cells[at + position[axis]]
    for (let axis = position.length; axis < 3; axis++) this.xyz[3 * index + axis] = 0
  }

  #moved(index: number, type: number): void {
    const own = this.types[type].layers
    for (let at = 0; at < own.length; at++) this.layers[own[at]].partition.move(index)
  }

  /** A new object is at an index, which was free or had a different object. */
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

  /** Rebuilds the lists by owner and by rule. */
  #list(): void {
    this.#firstOwned.fill(NONE)
    this.everyone.clear()
    this.teamCount = 0
    this.whereCount = 0
    // From the last index down, so that the lists by owner ascend.
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

  /** Calls `teamOf` once per run of objects with the same owner; teams may change although no object does. */
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
