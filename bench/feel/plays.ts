/** What scripted players do, by tick. */

import type { Tick } from '../../packages/tickwire/src/core/base/time.ts'
import { TICK_RATE } from './course.ts'

export interface Held { isRunning: boolean; course: number; aim?: number; fire?: boolean }
export type Play = (tick: Tick) => Held

export type Motion = 'straight' | 'curved' | 'stop-and-go'

const NORTH = Math.PI / 2
/** Ticks of a straight path that is run in one direction. */
const LANE_TICKS = 240

/** How a target moves. On straight paths it turns round every four seconds. */
export function motionOf(motion: Motion): Play {
  if (motion === 'straight')
    return (tick) => ({ isRunning: true, course: tick % (2 * LANE_TICKS) < LANE_TICKS ? NORTH : -NORTH })
  if (motion === 'curved') return (tick) => ({ isRunning: true, course: ((tick / TICK_RATE) * 2) % (2 * Math.PI) })
  return (tick) => ({ isRunning: tick % 48 < 28, course: tick % 192 < 96 ? NORTH : -NORTH })
}

/** A player with random actions: runs, stands, turns, about every third of a second. */
export function restless(seed: number): Play {
  return (tick) => {
    const mood = Math.imul(Math.floor(tick / 20) + seed * 977, 0x9e37_79b1) >>> 8
    return { isRunning: mood % 4 !== 0, course: mood % 628 / 100 }
  }
}
