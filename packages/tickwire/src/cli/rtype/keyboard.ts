/**
 * Keys of a terminal as the input of a player. Terminals report presses and repeats, not releases, so a key counts as
 * held for a short time after each report.
 */

import { RTYPE } from '../../core/rtype/values.ts'

const HELD_MS = 180
const { INPUT } = RTYPE

/** Bits by the text that a terminal sends for a key. */
const KEYS: ReadonlyMap<string, number> = new Map([
  ['\u001b[A', INPUT.MOVE_UP], ['\u001b[B', INPUT.MOVE_DOWN], ['\u001b[C', INPUT.MOVE_RIGHT],
  ['\u001b[D', INPUT.MOVE_LEFT], ['w', INPUT.MOVE_UP], ['s', INPUT.MOVE_DOWN], ['d', INPUT.MOVE_RIGHT],
  ['a', INPUT.MOVE_LEFT], [' ', INPUT.FIRE_PRIMARY], ['x', INPUT.FIRE_SECONDARY], ['c', INPUT.ACTION_SPECIAL],
])

/** The keys that are held. */
export class Keyboard {
  /** Whether the player asked to leave: q, Escape or Ctrl-C. */
  wantsToLeave: boolean = false
  readonly #until: Map<number, number> = new Map()
  #isFiring: boolean = false

  /** Handles the text of one key at a time in ms. Fire stays on until it is pressed again. */
  press(text: string, now: number): void {
    if (text === 'q' || text === '\u0003' || text === '\u001b') this.wantsToLeave = true
    const bit = KEYS.get(text)
    if (bit === INPUT.FIRE_PRIMARY) this.#isFiring = !this.#isFiring
    else if (bit !== undefined) this.#until.set(bit, now + HELD_MS)
  }

  /** The bits of `RTYPE.INPUT` at a time in ms. */
  bits(now: number): number {
    let bits: number = this.#isFiring ? INPUT.FIRE_PRIMARY : 0
    for (const [bit, until] of this.#until) if (now < until) bits |= bit
    return bits
  }
}
