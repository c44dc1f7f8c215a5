/**
 * A node's own clock against true time: a little fast or slow, leaping ahead now and then, standing still while the
 * machine sleeps. And whether the node runs at all.
 *
 * ```
 * local ┤                     ╭────     rate: skew
 *       │             ╭──╮────╯         leap: jumps
 *       │      ╭──────╯                 flat: sleeps
 *       └──────┴─────────────────┤ true
 * ```
 *
 * Invariant: local time never goes back, and at the true time that `trueAt` names for a local deadline, the deadline
 * has come (or there is another reason to look again: a leap may bring it closer).
 */

import type { KeyedPrng } from '../core/base/keyed-prng.ts'
import type { Millis } from '../core/base/time.ts'
import { CONCERN } from './link-model.ts'
import type { NetWeather } from './weather.ts'
import { Episodes } from './weather-episodes.ts'

/** A nanosecond: more than the rounding of any simulated time, less than anyone can tell. */
const NUDGE_MS = 1e-6

/** One node's view of time. */
export class SkewedClock {
  /** What happened: leaps, sleeps and pauses so far. */
  readonly tally: { jumps: number; sleeps: number; pauses: number } = { jumps: 0, sleeps: 0, pauses: 0 }
  #chance: KeyedPrng
  #key: number
  #weather: NetWeather = {}
  /** The latest true time anyone asked for. */
  #now: Millis = -Infinity
  /** Local time is #localBase up to #trueBase, and goes on at #rate from there. */
  #trueBase: Millis = 0
  #localBase: Millis = 0
  #rate: number = 1
  #jumps: Episodes | undefined
  #sleeps: Episodes | undefined
  #pauses: Episodes | undefined
  /** The end of the sleep that the clock already stood still for. */
  #sleptUntil: Millis = -Infinity
  /** Pauses of weather that is over. */
  #pausesBefore: number = 0

  /** Local time starts as true time does. `key` leaves room for `CONCERNS`. */
  constructor(chance: KeyedPrng, key: number) {
    this.#chance = chance
    this.#key = key
  }

  /** From now on; local time goes on from where it is. */
  setWeather(now: Millis, weather: NetWeather): void {
    const before = this.#weather
    const { skew, jumps, sleeps, pauses } = weather
    // A sleep that is no longer in the weather ends here.
    this.#moveBase(this.localAt(now), sleeps === before.sleeps ? Math.max(now, this.#trueBase) : now)
    this.#rate = skew === undefined ? 1 : 1 + skew.ppm * 1e-6 * (2 * this.#chance.at(0, this.#key + CONCERN.skew).nextFloat() - 1)
    if (jumps !== before.jumps) this.#jumps = jumps && new Episodes(this.#chance, this.#key + CONCERN.jumps, { ...jumps, lastsMs: 0 }, now)
    if (sleeps !== before.sleeps) this.#sleeps = sleeps && new Episodes(this.#chance, this.#key + CONCERN.sleeps, sleeps, now)
    if (pauses !== before.pauses) {
      this.#pausesBefore = this.tally.pauses
      this.#pauses = pauses && new Episodes(this.#chance, this.#key + CONCERN.pauses, pauses, now)
    }
    this.#weather = weather
  }

  /** What the node's clock shows. `now`, true time, never goes back. */
  localAt(now: Millis): Millis {
    this.#now = now
    for (;;) {
      const sleeps = this.#sleeps
      const isSlept = sleeps !== undefined && sleeps.end === this.#sleptUntil
      if (isSlept && now >= sleeps.end) {
        sleeps.next()
        continue
      }
      const jumpAt = this.#jumps?.start ?? Infinity
      const sleepAt = sleeps === undefined || isSlept ? Infinity : sleeps.start
      if (Math.min(jumpAt, sleepAt) > now) return this.#read(now)
      if (jumpAt <= sleepAt) this.#jump(jumpAt)
      else this.#sleep(sleepAt)
    }
  }

  /** Whether the node runs: it neither sleeps nor pauses. */
  isAwake(now: Millis): boolean {
    this.localAt(now)
    const isPaused = this.#pauses?.isOn(now) === true
    if (this.#pauses !== undefined) this.tally.pauses = this.#pausesBefore + this.#pauses.count + (isPaused ? 1 : 0)
    return !isPaused && this.#sleeps?.isOn(now) !== true
  }

  /** True time at which the local clock shows `local`, or at which to look again; at the earliest. */
  trueAt(local: Millis): Millis {
    if (local === Infinity || local === -Infinity) return local
    let at = this.#trueBase + (local - this.#localBase) / this.#rate
    while (this.#read(at) < local) at += NUDGE_MS + Math.abs(at) * 2 ** -51
    const leapAt = this.#jumps?.start ?? Infinity
    return Math.min(at, leapAt)
  }

  /** When a timer set for `at`, true time, fires: at the next multiple of the grain, and not while the node is out. */
  timerAt(at: Millis): Millis {
    const grainMs = this.#weather.timers?.ms ?? 0
    if (grainMs === 0 || at === -Infinity || at === Infinity) return this.wakeAt(at)
    // Rounding may put the multiple a hair before the time itself, and a timer never fires early.
    return this.wakeAt(Math.max(at, Math.ceil(at / grainMs) * grainMs))
  }

  /** When the node can act on something that happens at `at`, seen from now. Looks no further than the next pause and sleep. */
  wakeAt(at: Millis): Millis {
    const heardAt = Math.max(at, this.#now)
    const unpausedAt = this.#pauses === undefined ? heardAt : afterEpisode(this.#pauses, heardAt)
    return this.#sleeps === undefined ? unpausedAt : afterEpisode(this.#sleeps, unpausedAt)
  }

  #read(at: Millis): Millis {
    return this.#localBase + Math.max(0, at - this.#trueBase) * this.#rate
  }

  #jump(at: Millis): void {
    const size = (this.#weather.jumps?.ms ?? 0) * this.#chance.at(1 + (this.#jumps?.count ?? 0), this.#key + CONCERN.skew).nextFloat()
    this.tally.jumps++
    this.#jumps?.next()
    this.#moveBase(this.#read(at) + size, Math.max(at, this.#trueBase))
  }

  #sleep(at: Millis): void {
    const end = this.#sleeps?.end ?? at
    this.tally.sleeps++
    this.#sleptUntil = end
    this.#moveBase(this.#read(at), Math.max(end, this.#trueBase))
  }

  #moveBase(local: Millis, at: Millis): void {
    this.#localBase = local
    this.#trueBase = at
  }
}

function afterEpisode(episodes: Episodes, at: Millis): Millis {
  return at >= episodes.start && at < episodes.end ? episodes.end : at
}
