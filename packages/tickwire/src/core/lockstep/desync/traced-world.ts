/** A world that reports everything that `step` does to it to a trace. Used to step one tick again, never in play. */

import { Prng } from '../../base/prng.ts'
import type { ObjectId } from '../../base/time.ts'
import type { Entity, Init } from '../../schema/definition.ts'
import { loadLeaf } from '../../schema/values.ts'
import type { EntityStore } from '../../world/entity-store.ts'
import type { ObjectOf, Place } from '../../world/handle.ts'
import { NO_TYPE } from '../../world/object-table.ts'
import { StepRandom, type DrawnFor } from '../../world/step-random.ts'
import { World, type Owner, type WorldOptions } from '../../world/world.ts'
import type { WriteTrace } from './write-trace.ts'

/** Calls between the game's code and `WriteTrace.note`. */
const DEPTH = { write: 3, world: 1, draw: 2 } as const

/** A world whose changes are traced. */
export class TracedWorld extends World {
  readonly #trace: WriteTrace
  /** Indexed by type and slot: the object index that was last found there. */
  readonly #indexes: number[][]

  constructor(entities: readonly Entity[], options: WorldOptions, trace: WriteTrace) {
    super(entities, { ...options, isTraced: true })
    this.#trace = trace
    this.#indexes = this.stores.map(() => [])
    for (const store of this.stores)
      store.onWrite = (place, first, end) => this.#handleWrite(store, place, first, end)
    const traced = this as { prng: Prng; random: StepRandom }
    traced.prng = new TracedPrng(this.seed, trace)
    traced.random = new TracedRandom(this, trace)
  }

  override spawn<E extends Entity>(entity: E, init: Init<E>, owner: Owner = 0): ObjectOf<E> {
    const made = super.spawn(entity, init, owner)
    const { id } = made as { id: ObjectId }
    const { type, schema: { name } } = this.storeOf(entity)
    this.#trace.note('spawn', id, 0, [type], DEPTH.world, () => [name, '', String(id)])
    return made
  }

  override despawn(object: { readonly id: ObjectId }): void {
    const isAlive = this.objects.isAlive(object.id)
    super.despawn(object)
    if (isAlive) this.#trace.note('despawn', object.id, 0, [], DEPTH.world, () => [this.#nameOf(object.id), '', ''])
  }

  override setOwner(object: { readonly id: ObjectId }, owner: Owner = 0): void {
    super.setOwner(object, owner)
    const peer = typeof owner === 'number' ? owner : owner.id
    this.#trace.note('owner', object.id, 0, [peer], DEPTH.world, () => [this.#nameOf(object.id), 'owner', String(peer)])
  }

  #nameOf(id: ObjectId): string {
    const type = this.objects.typeAt(id >>> 16)
    return this.stores[type]?.schema.name ?? ''
  }

  #handleWrite(store: EntityStore, place: Place, first: number, end: number): void {
    const trace = this.#trace
    const id = this.#idOf(store, place)
    for (let at = first; at < end; at++) {
      const leaf = store.schema.leaves[at]
      const words: number[] = []
      if (store.schema.heapLeaves.includes(leaf)) {
        const hash = new Uint32Array(2)
        store.heap.hash(leaf, place.$cells[leaf.cell], hash)
        words.push(hash[0], hash[1])
      } else {
        for (let cell = leaf.cell; cell < leaf.cell + leaf.cellCount; cell++)
          words.push(...trace.wordsOf(place.$cells[cell]))
      }
      trace.note('write', id, at, words, DEPTH.write, () => [
        store.schema.name, leaf.path.slice(store.schema.name.length + 1),
        textOf(loadLeaf(leaf, place.$cells, 0, store.heap)),
      ])
    }
  }

  /** The object in a slot. Slots seldom change, so the last answer is tried first. */
  #idOf(store: EntityStore, place: Place): ObjectId {
    const slot = place.$cells.byteOffset / (8 * store.schema.cellCount)
    const known = this.#indexes[store.type]
    const { objects } = this
    const isThere = (index: number): boolean =>
      index < objects.highWater && objects.typeAt(index) === store.type && objects.slotAt(index) === slot
    if (known[slot] !== undefined && isThere(known[slot])) return objects.idAt(known[slot])
    for (let index = 0; index < objects.highWater; index++) {
      if (objects.typeAt(index) === NO_TYPE || !isThere(index)) continue
      known[slot] = index
      return objects.idAt(index)
    }
    return 0
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value)
}

class TracedPrng extends Prng {
  readonly #trace: WriteTrace | undefined
  #isInside = false

  constructor(seed: number, trace: WriteTrace) {
    super(seed)
    this.#trace = trace
  }

  override nextU32(): number {
    // The constructor of the base draws before there is a trace.
    if (!(#trace in this) || this.#isInside) return super.nextU32()
    return this.#note('nextU32', super.nextU32())
  }

  override nextFloat(): number {
    return this.#note('nextFloat', this.#within(() => super.nextFloat()))
  }

  override nextInt(min: number, max: number): number {
    return this.#note('nextInt', this.#within(() => super.nextInt(min, max)))
  }

  override nextGaussian(): number {
    return this.#note('nextGaussian', this.#within(() => super.nextGaussian()))
  }

  #within(draw: () => number): number {
    this.#isInside = true
    try {
      return draw()
    } finally {
      this.#isInside = false
    }
  }

  #note(name: string, drawn: number): number {
    const describe = () => ['world', `prng.${name}`, String(drawn)] as const
    this.#trace?.note('draw', 0, 0, this.#trace.wordsOf(drawn), DEPTH.draw, describe)
    return drawn
  }
}

class TracedRandom extends StepRandom {
  readonly #trace: WriteTrace

  constructor(world: World, trace: WriteTrace) {
    super(world.seed, world)
    this.#trace = trace
  }

  override u32(of: DrawnFor): number {
    return this.#note('u32', of, super.u32(of))
  }

  override float(of: DrawnFor): number {
    return this.#note('float', of, super.float(of))
  }

  override int(of: DrawnFor, min: number, max: number): number {
    return this.#note('int', of, super.int(of, min, max))
  }

  override gaussian(of: DrawnFor): number {
    return this.#note('gaussian', of, super.gaussian(of))
  }

  #note(name: string, { id }: DrawnFor, drawn: number): number {
    this.#trace.note('draw', id, 1, this.#trace.wordsOf(drawn), DEPTH.draw, () => [
      'world', `random.${name}`, String(drawn),
    ])
    return drawn
  }
}

