/**
 * Moves rooms between hosts of one fleet: a room freezes into an image here, thaws on another host, and is released
 * here.
 *
 *   running ──freeze──▶ frozen ──release──▶ gone: its clients are closed with `moved`, and resume there
 *      ▲                   │
 *      └─────unfreeze──────┘     no other host took it
 *
 * A frozen room has no ticks, and no client is seated, so that the image stays true. Tickets of its players are valid
 * on the other host, because their key travels with the image.
 */

import { ROOMS_MOVED_MAX } from '../base/limits-fleet.ts'
import type { Millis } from '../base/time.ts'
import type { HostedRoom } from './hosted-room.ts'
import type { TicketMint } from './resume-ticket.ts'
import type { RoomImage } from './room-image.ts'
import type { RoomLifecycle } from './room-lifecycle.ts'

/** A room on its way to another host. It has a secret: the key of its tickets. */
export interface FrozenRoom {
  /** Its state. */
  readonly image: RoomImage
  /** The key of the tickets of its players, 32 bytes. */
  readonly ticketKey: Uint8Array
}

export class RoomMover<R extends HostedRoom> {
  readonly #lifecycle: RoomLifecycle<R>
  readonly #mint: TicketMint
  /** Numbers of rooms that were released, oldest first. */
  readonly #moved = new Set<number>()

  constructor(lifecycle: RoomLifecycle<R>, mint: TicketMint) {
    this.#lifecycle = lifecycle
    this.#mint = mint
  }

  /** Whether the room with this number has moved away. */
  hasMoved(number: number): boolean {
    return this.#moved.has(number)
  }

  /** Undefined when the room cannot be saved; it runs on then. */
  freeze(room: R): FrozenRoom | undefined {
    if (room.ending !== undefined || room.isFrozen) return undefined
    room.isFrozen = true
    const image = room.guard.run('external.encode', 0, () => room.image())
    if (image === undefined) room.isFrozen = false
    return image && { image, ticketKey: this.#mint.keyOf(room.number) }
  }

  release(room: R): void {
    this.#moved.add(room.number)
    const [oldest] = this.#moved
    if (this.#moved.size > ROOMS_MOVED_MAX && oldest !== undefined) this.#moved.delete(oldest)
    this.#lifecycle.end(room, 'moved')
    room.isFrozen = false
  }

  /** The room, or why it was refused. */
  thaw({ image, ticketKey }: FrozenRoom, holdMs: Millis): R | string {
    const room = this.#lifecycle.restore(image, holdMs)
    if (typeof room === 'string') return room
    this.#moved.delete(image.number)
    this.#mint.adopt(image.number, ticketKey)
    return room
  }
}
