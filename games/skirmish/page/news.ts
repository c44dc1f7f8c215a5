/** What all players should know at once: seats that are out, and the storm. */

import type { World } from 'tickwire'
import { Building, Seat, type SeatObject } from '../definitions.ts'
import { columnOf, rowOf } from '../map-cells.ts'
import { SEAT_NAMES } from './palette.ts'

const STORM = 'The storm begins: it wears all headquarters down, and the guns of buildings are silent.'
/** So near to an own building, it is the base that is under attack. */
const BASE_CELLS = 10

/** What the page says when something of a seat is shot at. */
export function alarmOf(world: World, own: number, x: number, y: number): string {
  const isBase = [...world.each(Building)]
    .some(({ seat, at }) => seat === own && Math.hypot(columnOf(at) - x, rowOf(at) - y) < BASE_CELLS)
  return `Your ${isBase ? 'base is' : 'units are'} under attack. Space: look there.`
}

export class News {
  /** Seats that were out before, as bits. Undefined: no look was taken yet. */
  #out: number | undefined
  #wasStorm = false

  /** What is new since the last call, during a match. Empty: nothing is. */
  next(world: World, own: number, isStorm: boolean): string {
    const seats = [...world.each(Seat)]
    const out = seats.reduce((bits, { isOut, number }) => (isOut ? bits | 1 << number : bits), 0)
    const isFirst = this.#out === undefined
    const fallen = isFirst ? [] : seats.filter(({ number }) => (out & ~this.#out! & 1 << number) !== 0)
    const isNewStorm = isStorm && !this.#wasStorm && !isFirst
    this.#out = out
    this.#wasStorm = isStorm
    const text = fallenText(fallen.filter(({ number }) => number !== own), seats)
    return isNewStorm ? `${STORM} ${text}`.trim() : text
  }
}

function fallenText(fallen: readonly SeatObject[], seats: readonly SeatObject[]): string {
  if (fallen.length === 0) return ''
  const names = fallen.map(({ name, number }) => name || SEAT_NAMES[number]!).join(' and ')
  const left = seats.filter(({ isOut }) => !isOut).length
  return `${names} ${fallen.length === 1 ? 'is' : 'are'} out. ${left} of ${seats.length} seats are left.`
}
