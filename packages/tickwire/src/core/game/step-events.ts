/**
 * Who listens to what `step` says has happened, on either side.
 *
 * On the authority everything is heard as it happens and sent to everyone. On a client what his own objects did is heard in the
 * tick it is predicted in, and everything else when the authority's word comes; nothing is heard twice.
 */

import type { ObjectId, Tick } from '../base/time.ts'
import { Once } from '../predict/once.ts'
import type { Message } from '../schema/definition.ts'
import type { Shape } from '../schema/field.ts'
import type { ViewOf } from '../schema/value-types.ts'
import { indexOf } from '../world/object-table.ts'
import type { StepListener, World } from '../world/world.ts'
import type { StepEvent } from './event-codec.ts'

/** Called with what happened, in which tick, and to whom. */
export type EventListener<S extends Shape> = (values: ViewOf<S>, tick: Tick, object: ObjectId) => void

/** What is remembered of a tick, to tell it once: as long as anything of it can still arrive. */
const REMEMBERED_TICKS = 1024

export class StepEvents implements StepListener {
  readonly #messages: readonly Message[]
  readonly #world: () => World | undefined
  readonly #once = new Once(REMEMBERED_TICKS)
  readonly #listeners = new Map<Message, (values: never, tick: Tick, object: ObjectId) => void>()
  /** Sends it to whoever is elsewhere. */
  readonly #send: (event: StepEvent) => void
  /** What is stepped only to see whether it comes out the same is not heard. */
  isMuted = false

  constructor(messages: readonly Message[], world: () => World | undefined, send: (event: StepEvent) => void = () => {}) {
    this.#messages = messages
    this.#world = world
    this.#send = send
  }

  on<S extends Shape>(message: Message<S>, listener: EventListener<S>): void {
    this.#listeners.set(message as unknown as Message, listener)
  }

  /** A tick is about to be stepped. */
  begin(): void {
    this.#once.begin()
  }

  handleEmit(object: { readonly id: ObjectId }, message: Message, values: Record<string, unknown>): void {
    const type = this.#messages.indexOf(message)
    if (type < 0) throw new RangeError(`${message.schema.name}: not a message of this game. Add it to \`messages\` in defineGame.`)
    const tick = this.#world()?.tick ?? 0
    const birth = this.#birthOf(object)
    const key = keyOf(type, object.id, birth)
    const event = { tick, object: object.id, ordinal: this.#once.ordinal(key), birth, message, values }
    if (this.isMuted || !this.#once.isNews(tick, key, event.ordinal)) return
    this.#tell(event)
    this.#send(event)
  }

  /** The authority says that something happened. */
  handleTold(event: StepEvent): void {
    const key = keyOf(this.#messages.indexOf(event.message), event.object, event.birth)
    if (this.#once.isNews(event.tick, key, event.ordinal)) this.#tell(event)
  }

  #tell({ message, values, tick, object }: StepEvent): void {
    this.#listeners.get(message)?.(values as never, tick, object)
  }

  #birthOf(object: { readonly id: ObjectId; readonly $store?: { readonly type: number } }): StepEvent['birth'] {
    const world = this.#world()
    const index = indexOf(object.id)
    // Who has just died has a birth until the tick ends.
    if (world === undefined || index >= world.objects.highWater || world.objects.idAt(index) !== object.id) return [0, 0, 0, 0]
    const { objects } = world
    return [object.$store?.type ?? 0, objects.ownerAt(index), objects.birthTickAt(index), objects.birthOrdinalAt(index)]
  }
}

/** By birth where that is known, for ids of what is born on a client change. */
function keyOf(type: number, id: ObjectId, birth: StepEvent['birth']): string {
  return birth[2] === 0 ? `${type} ${id}` : `${type} of ${birth.join(' ')}`
}
