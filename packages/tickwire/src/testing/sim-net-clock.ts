/**
 * A node's own clock relative to true time: slightly fast or slow, jumping ahead now and then, stopped while the
 * machine sleeps. It also says whether the node runs at all.
 *
 * ```
 * local ┤                     ╭────     rate: skew
 *       │             ╭──╮────╯         leap: jumps
 *       │      ╭──────╯                 flat: sleeps
 *       └──────┴─────────────────┤ true
 * ```
 *
 * Invariant: local time never goes backwards. At the true time that `trueAt` returns for a local deadline, the deadline
 * has come, or there is another reason to check again: a jump may bring it closer.
 */

import type { KeyedPrng } from '../core/base/keyed-prng.ts'
import type { Millis } from '../core/base/time.ts'
import { CONCERN } from './link-model.ts'
import type { NetWeather } from './weather.ts'
import { Episodes } from './weather-episodes.ts'

/** A nanosecond: more than the rounding error of any simulated time, and too little to matter. */
const NUDGE_MS = 1e-6
/** The shortest stall, unless the longest is shorter. */
const STALL_MS_MIN = 20

/** One node's view of time. */
export class SkewedClock {
  /** Number of jumps, sleeps, pauses and stalls so far. */
  readonly tally: { jumps: number; sleeps: number; pauses: number; stalls: number } = {
    jumps: 0,
    sleeps: 0,
    pauses: 0,
    stalls: 0,
  }
  #chance: KeyedPrng
  #key: number
  #weather: NetWeather = {}
  /** The latest true time that was passed in. */
  #now: Millis = -Infinity
  /** Local time is #localBase up to #trueBase, and advances at #rate from there. */
  #trueBase: Millis = 0
  #localBase: Millis = 0
  #rate: number = 1
  #jumps: Episodes | undefined
  #sleeps: Episodes | undefined
  #pauses: Episodes | undefined
  #stalls: Episodes | undefined
  /** The end of the sleep that the clock has already accounted for. */
  #sleptUntil: Millis = -Infinity
  /** Pauses and stalls of earlier weather. */
  #pausesBefore: number = 0
  #stallsBefore: number = 0

  /** Local time starts equal to true time. `key` is the first of `CONCERNS` keys. */
  constructor(chance: KeyedPrng, key: number) {
    this.#chance = chance
    this.#key = key
  }

  /** Sets the weather from now on. Local time continues. */
  setWeather(now: Millis, weather: NetWeather): void {
    const before = this.#weather
    const { skew, jumps, sleeps, pauses, stalls } = weather
    // A sleep that was removed from the weather ends here.
    this.#moveBase(this.localAt(now), sleeps === before.sleeps ? Math.max(now, this.#trueBase) : now)
    this.#rate =
      skew === undefined ? 1 : 1 + skew.ppm * 1e-6 * (2 * this.#chance.at(0, this.#key + CONCERN.skew).nextFloat() - 1)
    if (jumps !== before.jumps)
      this.#jumps = jumps && new Episodes(this.#chance, this.#key + CONCERN.jumps, { ...jumps, lastsMs: 0 }, now)
    if (sleeps !== before.sleeps)
      this.#sleeps = sleeps && new Episodes(this.#chance, this.#key + CONCERN.sleeps, sleeps, now)
    if (pauses !== before.pauses) {
      this.#pausesBefore = this.tally.pauses
      this.#pauses = pauses && new Episodes(this.#chance, this.#key + CONCERN.pauses, pauses, now)
    }
    if (stalls !== before.stalls) {
      this.#stallsBefore = this.tally.stalls
      this.#stalls =
        stalls
        && new Episodes(
          this.#chance,
          this.#key + CONCERN.stalls,
          { ...stalls, leastMs: Math.min(STALL_MS_MIN, stalls.lastsMs) },
          now,
        )
    }
    this.#weather = weather
  }

  /** The node's local time. `now`, true time, never goes backwards. */
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

  /** Whether the node runs: it does not sleep, pause or stall. */
  isAwake(now: Millis): boolean {
    this.localAt(now)
    const isPaused = this.#pauses?.isOn(now) === true
    if (this.#pauses !== undefined) this.tally.pauses = this.#pausesBefore + this.#pauses.count + (isPaused ? 1 : 0)
    const isStalled = this.#stalls?.isOn(now) === true
    if (this.#stalls !== undefined) this.tally.stalls = this.#stallsBefore + this.#stalls.count + (isStalled ? 1 : 0)
    return !isPaused && !isStalled && this.#sleeps?.isOn(now) !== true
  }

  /** The true time at which the local clock shows `local`, or an earlier time at which to check again. */
  trueAt(local: Millis): Millis {
    if (local === Infinity || local === -Infinity) return local
    let at = this.#trueBase + (local - this.#localBase) / this.#rate
    while (this.#read(at) < local) at += NUDGE_MS + Math.abs(at) * 2 ** -51
    const leapAt = this.#jumps?.start ?? Infinity
    return Math.min(at, leapAt)
  }

  /** When a timer set for `at`, true time, fires: at the next multiple of the timer resolution, when the node runs. */
  timerAt(at: Millis): Millis {
    const grainMs = this.#weather.timers?.ms ?? 0
    if (grainMs === 0 || at === -Infinity || at === Infinity) return this.wakeAt(at)
    // Rounding may put the multiple slightly before `at`, and a timer never fires early.
    return this.wakeAt(Math.max(at, Math.ceil(at / grainMs) * grainMs))
  }

  /** When the node can act on an event at `at`, as known now. Considers only the next stall, pause and sleep. */
  wakeAt(at: Millis): Millis {
    const arrivesAt = Math.max(at, this.#now)
    const goesOnAt = this.#stalls === undefined ? arrivesAt : afterEpisode(this.#stalls, arrivesAt)
    const unpausedAt = this.#pauses === undefined ? goesOnAt : afterEpisode(this.#pauses, goesOnAt)
    return this.#sleeps === undefined ? unpausedAt : afterEpisode(this.#sleeps, unpausedAt)
  }

  #read(at: Millis): Millis {
    return this.#localBase + Math.max(0, at - this.#trueBase) * this.#rate
  }

  #jump(at: Millis): void {
    const size =
      (this.#weather.jumps?.ms ?? 0)
      * this.#chance.at(1 + (this.#jumps?.count ?? 0), this.#key + CONCERN.skew).nextFloat()
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
