/**
 * What every player holds in this tick, as `step` reads it: a read-only object per player, loaded from his row; and what was
 * said to the authority since the tick before.
 */

import type { PeerId } from '../base/time.ts'
import { Entity, type Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import type { ValueHeap } from '../schema/value-heap.ts'
import type { ViewOf } from '../schema/value-types.ts'
import type { Handle } from '../world/handle.ts'
import type { ValueKeeper } from '../world/value-keeping.ts'
import { World } from '../world/world.ts'
import type { Inputs, Said } from './define-game.ts'

/** Where the input of a player in this tick comes from. */
export interface HeldInput {
  readonly current: Int32Array
  readonly isHeld: boolean
  readonly viewTick: number
}

interface Seat {
  readonly handle: Handle
  isHeld: boolean
  readonly viewTick: Float64Array
}

/** A message on its way to `step`. */
export interface Waiting extends Said<Shape> {
  readonly message: Message
}

const NOTHING: readonly never[] = []

/** One entity for every shape: `step` reads inputs by one class, however many hosts run in a process. */
const entities = new WeakMap<Shape, Entity>()

function entityOf<I extends Shape>(input: I): Entity<I> {
  const known = entities.get(input) ?? new Entity(input, { name: 'input' }) as unknown as Entity
  entities.set(input, known)
  return known as unknown as Entity<I>
}

/** A world of its own, with one object a player: the machinery of views, used once more. */
export class InputTable<I extends Shape> implements Inputs<I> {
  readonly #entity: Entity<I>
  readonly #world: World
  readonly #held = new Map<PeerId, Seat>()
  readonly #idle: Handle
  /** What is said to the coming step. */
  said: readonly Waiting[] = []

  constructor(input: I) {
    this.#entity = entityOf(input)
    this.#world = new World([this.#entity], { isReadOnly: true })
    this.#idle = this.#spawn()
  }

  get heap(): ValueHeap {
    return this.#world.heap
  }

  of(owner: PeerId): ViewOf<I> {
    return (this.#held.get(owner)?.handle ?? this.#idle) as unknown as ViewOf<I>
  }

  isHeld(owner: PeerId): boolean {
    return this.#held.get(owner)?.isHeld ?? false
  }

  viewTick(owner: PeerId): number {
    return this.#held.get(owner)?.viewTick[0] ?? -1
  }

  messages<S extends Shape>(message: Message<S>): readonly Said<S>[] {
    if (this.said.length === 0) return NOTHING
    return this.said.filter((said) => said.message === message as unknown as Message) as readonly unknown[] as readonly Said<S>[]
  }

  add(peer: PeerId): void {
    if (!this.#held.has(peer)) this.#held.set(peer, { handle: this.#spawn(), isHeld: false, viewTick: new Float64Array(1).fill(-1) })
  }

  remove(peer: PeerId): void {
    const seat = this.#held.get(peer)
    if (!seat) return
    this.#held.delete(peer)
    this.#world.despawn(seat.handle)
    this.#world.endTick()
  }

  /** Sets what a player holds from now on. @hot */
  load(peer: PeerId, input: HeldInput): void {
    const seat = this.#held.get(peer)
    if (!seat) return
    seat.handle.$store.load(seat.handle, input.current, 0)
    seat.isHeld = input.isHeld
    seat.viewTick[0] = input.viewTick
  }

  /** Says something to the coming step. */
  post(from: PeerId, message: Message, values: Record<string, unknown>): void {
    this.said = [...this.said, { from, message, values: values as ViewOf<Shape> }]
  }

  /** What is said to this step is complete: in the order of players, and of arrival. */
  sortMessages(): void {
    if (this.said.length > 1) this.said = [...this.said].sort((a, b) => a.from - b.from)
  }

  /** The step has heard it all. */
  forgetMessages(): void {
    if (this.said.length > 0) this.said = NOTHING
  }

  /** Inputs on their way hold texts and lists of this heap: from now on these stay in it. */
  keepValuesOf(inputs: ValueKeeper): void {
    this.#world.keepValuesOf(inputs)
  }

  /** The opposite, once he is gone. */
  dropValuesOf(inputs: ValueKeeper): void {
    this.#world.dropValuesOf(inputs)
  }

  /** Lets go of values nobody holds any more, if it is time: a player may send new ones for ever. */
  collectValues(): void {
    this.#world.collectValues()
  }

  #spawn(): Handle {
    return this.#world.spawn(this.#entity, {}) as unknown as Handle
  }
}
