/** Wrecks far behind the field. They touch nothing. Their places follow from the tick, so pages are sent nothing. */

import { HEIGHT, TICK_RATE, WIDTH } from './definitions.ts'

/** One wreck. */
export interface Wreck {
  /** Unique among wrecks that are visible at the same time. */
  readonly number: number
  readonly kind: number
  readonly x: number
  readonly y: number
}

const ROUTES = [{ y: 0.22, pace: 22, from: 0 }, { y: 0.55, pace: 34, from: 410 }, { y: 0.8, pace: 27, from: 760 }]
const MARGIN = 90
const SPAN = WIDTH + 2 * MARGIN
export const WRECK_KINDS = 3

/** The wrecks at a tick. */
export function wrecksAt(tick: number): Wreck[] {
  return ROUTES.map(({ y, pace, from }, route) => {
    const way = from + (tick * pace) / TICK_RATE
    const turn = Math.floor(way / SPAN)
    const number = turn * ROUTES.length + route
    const sway = ((number * 37) % 60) - 30
    return { number, kind: number % WRECK_KINDS, x: WIDTH + MARGIN - (way - turn * SPAN), y: y * HEIGHT + sway }
  })
}
