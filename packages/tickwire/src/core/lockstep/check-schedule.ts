/**
 * When a whole hash is sent: every 30 ticks in the first minute and after a player has joined or returned, every 120
 * ticks later, and every 300 late in a match with many objects. The same ticks on every peer.
 */

import type { Tick } from '../base/time.ts'
import type { World } from '../world/world.ts'
import type { Roster } from './roster.ts'

const EARLY_TICKS = 1800
const LATE_TICKS = 18_000
const MANY_OBJECTS = 1000
const OFTEN = 30
const NORMAL = 120
const SELDOM = 300
/** For this many ticks after a player has joined or returned, hashes are sent often. */
export const RECENT_TICKS = 300

/** Ticks from one whole hash to the next, at a tick. */
export function checkInterval(tick: Tick, world: World, { checkUntil }: Roster): number {
  if (tick <= EARLY_TICKS || tick <= checkUntil) return OFTEN
  const objects = world.stores.reduce((sum, { count }) => sum + count, 0)
  return tick > LATE_TICKS && objects > MANY_OBJECTS ? SELDOM : NORMAL
}

/** Whether a whole hash is sent after a tick. */
export function isCheckTick(tick: Tick, world: World, roster: Roster): boolean {
  return tick % checkInterval(tick, world, roster) === 0 || tick === roster.checkTick
}
