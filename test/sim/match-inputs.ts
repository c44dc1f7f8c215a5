/**
 * The inputs that a player sent, tick by tick: the authority must step with one of them, or with the one before.
 *
 * A client that joins again may send two inputs for one tick; then either is right.
 */

import type { Tick } from '../../packages/tickwire/src/core/base/time.ts'
import type { InputSource } from '../../packages/tickwire/src/core/time/input-source.ts'

/** The compared fields of an input. */
export interface Pressed {
  readonly right: boolean
  readonly up: boolean
  readonly fire: boolean
  readonly kick: boolean
  readonly aim: number
}

/** Half a step of `aim`, and a little more. */
const AIM_OFF = 0.006
const TICKS_KEPT = 1024

export class SaidInputs {
  readonly #said = new Map<Tick, Pressed[]>()

  #watched: InputSource | undefined
  #held: Pressed | undefined

  /** Returns what the player holds now, and records it when it is put into a source, under its tick. */
  sample<P extends Pressed>(inputs: InputSource, held: P): P {
    this.#held = held
    if (inputs === this.#watched) return held
    this.#watched = inputs
    const push = inputs.push.bind(inputs)
    inputs.push = (tick, viewTick) => {
      if (this.#held !== undefined) this.#note(tick, this.#held)
      push(tick, viewTick)
    }
    return held
  }

  #note(tick: Tick, pressed: Pressed): void {
    this.#said.set(tick, [...this.#said.get(tick) ?? [], pressed])
    if (this.#said.size <= TICKS_KEPT) return
    const [oldest] = this.#said.keys()
    if (oldest !== undefined) this.#said.delete(oldest)
  }

  /**
   * Whether this may be what the player sent for a tick. For a tick without a record, or one that is forgotten, nothing
   * is known.
   */
  isSaid(tick: Tick, { right, up, fire, kick, aim }: Pressed): boolean {
    const said = this.#said.get(tick)
    return (
      said === undefined
      || said.some(
        (each) =>
          each.right === right
          && each.up === up
          && each.fire === fire
          && each.kick === kick
          && Math.abs(each.aim - aim) < AIM_OFF,
      )
    )
  }
}
