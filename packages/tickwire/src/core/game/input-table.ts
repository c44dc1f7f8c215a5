/**
 * The inputs of all players in the current tick, as `step` reads them: a read-only object per player, loaded from the
 * player's input row. Also the messages that players sent to the authority since the previous tick.
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

/** The source of a player's input in the current tick. */
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

/** A message that waits for `step`. */
export interface Waiting extends Said<Shape> {
  readonly message: Message
}

const NOTHING: readonly never[] = []

/** One entity per input shape, so that all hosts in a process share one class for reading inputs. */
const entities = new WeakMap<Shape, Entity>()

function entityOf<I extends Shape>(input: I): Entity<I> {
  const known = entities.get(input) ?? new Entity(input, { name: 'input' }) as unknown as Entity
  entities.set(input, known)
  return known as unknown as Entity<I>
}

/** Implemented as a separate world with one object per player, which reuses the code for object views. */
export class InputTable<I extends Shape> implements Inputs<I> {
  readonly #entity: Entity<I>
  readonly #world: World
  readonly #held = new Map<PeerId, Seat>()
  readonly #idle: Handle
  /** Messages for the next step. The input log keeps the list of a logged step, so each step gets a new list. */
  said: Waiting[] = []

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
    return this.said.filter(
      (said) => said.message === (message as unknown as Message),
    ) as readonly unknown[] as readonly Said<S>[]
  }

  add(peer: PeerId): void {
    if (!this.#held.has(peer))
      this.#held.set(peer, { handle: this.#spawn(), isHeld: false, viewTick: new Float64Array(1).fill(-1) })
  }

  remove(peer: PeerId): void {
    const seat = this.#held.get(peer)
    if (!seat) return
    this.#held.delete(peer)
    this.#world.despawn(seat.handle)
    this.#world.endTick()
  }

  /** Sets the current input of a player. @hot */
  load(peer: PeerId, input: HeldInput): void {
    const seat = this.#held.get(peer)
    if (!seat) return
    seat.handle.$store.load(seat.handle, input.current, 0)
    seat.isHeld = input.isHeld
    seat.viewTick[0] = input.viewTick
  }

  /** Adds a message for the next step. */
  post(from: PeerId, message: Message, values: Record<string, unknown>): void {
    this.said.push({ from, message, values: values as ViewOf<Shape> })
  }

  /** All messages of this step have arrived: sorts them by player, then by arrival. */
  sortMessages(): void {
    if (this.said.length > 1) this.said.sort((a, b) => a.from - b.from)
  }

  /** Call after the step. */
  forgetMessages(): void {
    if (this.said.length > 0) this.said = []
  }

  /** Keeps the texts and lists of this heap alive while buffered inputs refer to them. */
  keepValuesOf(inputs: ValueKeeper): void {
    this.#world.keepValuesOf(inputs)
  }

  /** Reverts `keepValuesOf` when the player is gone. */
  dropValuesOf(inputs: ValueKeeper): void {
    this.#world.dropValuesOf(inputs)
  }

  /** Frees unused values when due. Without this, a player could fill the heap by sending new values forever. */
  collectValues(): void {
    this.#world.collectValues()
  }

  #spawn(): Handle {
    return this.#world.spawn(this.#entity, {}) as unknown as Handle
  }
}
