/** Pauses: a player has a few, and each ends by itself. The relay holds both limits; this shows them. */

import type { PeerId, World } from 'tickwire'
import type { LockstepRoom, TickEvent } from 'tickwire/lockstep'
import { Seat } from '../definitions.ts'
import type { ORDERS } from '../orders.ts'
import { PAUSE_MS_MAX, PAUSES_MAX } from '../rules.ts'
import { SEAT_NAMES } from './palette.ts'

export class PauseNote {
  readonly #room: LockstepRoom<typeof ORDERS>
  /** Pauses so far, by player. */
  readonly #counts = new Map<PeerId, number>()
  #by: PeerId = 0
  #at = 0

  constructor(room: LockstepRoom<typeof ORDERS>) {
    this.#room = room
  }

  /** Asks for a pause, or to go on. */
  toggle(): void {
    if (this.#room.runner.roster.isPaused) this.#room.resume()
    else this.#room.pause()
  }

  note({ name, player }: TickEvent): void {
    if (name !== 'pause') return
    this.#counts.set(player, (this.#counts.get(player) ?? 0) + 1)
    this.#by = player
    this.#at = performance.now()
  }

  /** What the screen says during a pause. */
  text(world: World): string {
    if (this.#room.transport === 'none') return 'Paused. P: go on.'
    const seat = [...world.each(Seat)].find(({ player }) => player === this.#by && player !== 0)
    const name = seat === undefined ? '' : ` by ${seat.name || SEAT_NAMES[seat.number]!}`
    const left = Math.max(0, Math.ceil((PAUSE_MS_MAX - (performance.now() - this.#at)) / 1000))
    const pauses = PAUSES_MAX - (this.#counts.get(this.#by) ?? 0)
    return `Paused${name}. P: go on. Ends by itself in ${left} s; ${pauses} of ${PAUSES_MAX} pauses left.`
  }
}
