/**
 * Listeners for events that `step` emits, on both sides.
 *
 * On the authority, each event is delivered at once and passed on to the clients. On a client, events of predicted
 * objects are delivered in the tick that predicts them, and all others when they arrive. No event is delivered twice.
 */

import type { ObjectId, Tick } from '../base/time.ts'
import { Listeners, type UserCode } from '../base/user-code.ts'
import { Once } from '../predict/once.ts'
import type { Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import type { ViewOf } from '../schema/value-types.ts'
import { indexOf } from '../world/object-table.ts'
import type { StepListener, World } from '../world/world.ts'
import type { StepEvent } from './event-codec.ts'

/** Called with the values of the event, its tick, and its object. */
export type EventListener<S extends Shape> = (values: ViewOf<S>, tick: Tick, object: ObjectId) => void

/** Ticks for which delivered events are remembered, to detect duplicates: as long as any of them can still arrive. */
const REMEMBERED_TICKS = 1024

export class StepEvents implements StepListener {
  readonly #messages: readonly Message[]
  readonly #world: () => World | undefined
  readonly #once = new Once(REMEMBERED_TICKS)
  readonly #code: UserCode
  readonly #listeners = new Map<Message, Listeners<[values: never, tick: Tick, object: ObjectId]>>()
  /** Sends an event to the clients. */
  readonly #send: (event: StepEvent) => void
  /** Set while the sync test steps a tick again: its events are not delivered. */
  isMuted = false

  constructor(
    messages: readonly Message[],
    world: () => World | undefined,
    code: UserCode,
    send: (event: StepEvent) => void = () => {},
  ) {
    this.#code = code
    this.#messages = messages
    this.#world = world
    this.#send = send
  }

  /** The returned function removes the listener. */
  on<S extends Shape>(message: Message<S>, listener: EventListener<S>): () => void {
    const listeners =
      this.#listeners.get(message as unknown as Message) ?? new Listeners(this.#code, `onEvent(${message.schema.name})`)
    this.#listeners.set(message as unknown as Message, listeners)
    return listeners.add(listener)
  }

  /** A tick is about to be stepped. */
  begin(): void {
    this.#once.begin()
  }

  handleEmit(object: { readonly id: ObjectId }, message: Message, values: Record<string, unknown>): void {
    const type = this.#messages.indexOf(message)
    if (type < 0)
      throw new RangeError(`${message.schema.name}: not a message of this game. Add it to \`messages\` in defineGame.`)
    const tick = this.#world()?.tick ?? 0
    const birth = this.#birthOf(object)
    const key = keyOf(type, object.id, birth)
    const event = { tick, object: object.id, ordinal: this.#once.ordinal(key), birth, message, values }
    if (this.isMuted || !this.#once.isNews(tick, key, event.ordinal)) return
    this.#notify(event)
    this.#send(event)
  }

  /** An event from the authority has arrived. */
  handleReceived(event: StepEvent): void {
    const key = keyOf(this.#messages.indexOf(event.message), event.object, event.birth)
    if (this.#once.isNews(event.tick, key, event.ordinal)) this.#notify(event)
  }

  #notify({ message, values, tick, object }: StepEvent): void {
    this.#listeners.get(message)?.call(0, values as never, tick, object)
  }

  #birthOf(object: { readonly id: ObjectId; readonly $store?: { readonly type: number } }): StepEvent['birth'] {
    const world = this.#world()
    const index = indexOf(object.id)
    // An object that has just been despawned has birth data until the tick ends.
    if (world === undefined || index >= world.objects.highWater || world.objects.idAt(index) !== object.id)
      return [0, 0, 0, 0]
    const { objects } = world
    return [object.$store?.type ?? 0, objects.ownerAt(index), objects.birthTickAt(index), objects.birthOrdinalAt(index)]
  }
}

/** By birth if it is known, because the id of a predicted spawn changes. */
function keyOf(type: number, id: ObjectId, birth: StepEvent['birth']): string {
  return birth[2] === 0 ? `${type} ${id}` : `${type} of ${birth.join(' ')}`
}
