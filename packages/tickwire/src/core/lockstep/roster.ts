/** The players of a lockstep match and which of them are away, by the events of the tick stream. */

import { LOCKSTEP_PLAYERS_MAX } from '../base/limits.ts'
import type { PeerId, Tick } from '../base/time.ts'
import { putVarint, VarintReader } from '../order/leb128.ts'
import type { TickEvent } from '../order/tick-event.ts'
import { RECENT_TICKS } from './check-schedule.ts'

const PAUSED = 1
const HASH_FULL = 2
/** Above these bits of the flags is the number of handovers, at most 255. */
const FLAG_BITS = 2
const FLAGS_MAX = 0x3ff
const MICROS = 1000
/** Numbers before the players, and bytes of a number at most. */
const HEAD_NUMBERS = 6
const NUMBER_BYTES = 8

/** The mode of a `hash` event that asks for one whole hash, in its tick. */
const HASH_ONCE = 2

/** The players of a match, as the last tick left them. The same on every peer. */
export class Roster {
  #players: readonly PeerId[] = []
  readonly #away = new Set<PeerId>()
  /** Whether the match is paused. */
  isPaused = false
  /** Percent of the game's tick rate in real time. */
  speedPercent = 100
  /** The deadline of the relay, in ms; 0: unknown, or there is no relay. */
  deadlineMs = 0
  /** Whether every tick is hashed whole (`hash` events). */
  isHashFull = true
  /** The last tick for which the relay asked for a whole hash. */
  checkTick: Tick = 0
  /** How often the match went on at another relay. */
  handovers = 0
  /** Until this tick, whole hashes are sent more often: a player has joined or returned. */
  checkUntil: Tick = 0

  /** A copy, with which later ticks are stepped again. */
  copy(): Roster {
    const copy = new Roster()
    copy.restore(this)
    return copy
  }

  /** Becomes equal to another roster. */
  restore(other: Roster): void {
    this.#players = other.#players
    this.#away.clear()
    for (const player of other.#away) this.#away.add(player)
    this.isPaused = other.isPaused
    this.speedPercent = other.speedPercent
    this.deadlineMs = other.deadlineMs
    this.isHashFull = other.isHashFull
    this.checkUntil = other.checkUntil
    this.checkTick = other.checkTick
    this.handovers = other.handovers
  }

  /** The roster as bytes: equal rosters have equal bytes. docs/wire/DESYNC.md has them. */
  encode(): Uint8Array {
    const bytes = new Uint8Array(NUMBER_BYTES * (HEAD_NUMBERS + this.#players.length))
    const flags = (this.isPaused ? PAUSED : 0) | (this.isHashFull ? HASH_FULL : 0) | (this.handovers << FLAG_BITS)
    const head = [
      flags, this.speedPercent, Math.round(this.deadlineMs * MICROS), this.checkTick, this.checkUntil,
      this.#players.length,
    ]
    let at = 0
    for (const number of head) at = putVarint(bytes, at, number)
    for (const player of this.#players) at = putVarint(bytes, at, 2 * player + (this.isAway(player) ? 1 : 0))
    return bytes.slice(0, at)
  }

  /** Undefined when the bytes are not a roster. */
  static decode(bytes: Uint8Array): Roster | undefined {
    const reader = new VarintReader()
    const next = (): number => reader.end < 0 ? 0 : reader.read(bytes, reader.end, bytes.length)
    const [flags, speed, deadlineUs, checkTick, checkUntil, count] = Array.from({ length: HEAD_NUMBERS }, next)
    if (flags > FLAGS_MAX || count > LOCKSTEP_PLAYERS_MAX) return undefined
    const roster = new Roster()
    const entries = Array.from({ length: count }, next)
    roster.#players = entries.map((entry) => Math.floor(entry / 2))
    for (const entry of entries) if (entry % 2 === 1) roster.#away.add(Math.floor(entry / 2))
    roster.isPaused = (flags & PAUSED) !== 0
    roster.isHashFull = (flags & HASH_FULL) !== 0
    roster.handovers = flags >>> FLAG_BITS
    roster.speedPercent = speed
    roster.deadlineMs = deadlineUs / MICROS
    roster.checkTick = checkTick
    roster.checkUntil = checkUntil
    const isOnce = new Set(roster.#players).size === roster.#players.length && !roster.has(0)
    return reader.end === bytes.length && isOnce && speed > 0 ? roster : undefined
  }

  /** In the order of joining. */
  get players(): readonly PeerId[] {
    return this.#players
  }

  /** Whether a player is in the match. */
  has(player: PeerId): boolean {
    return this.#players.includes(player)
  }

  /** Whether a player's connection is lost. */
  isAway(player: PeerId): boolean {
    return this.#away.has(player)
  }

  /** Applies an event of the tick stream. */
  apply({ name, player, value }: TickEvent, tick: Tick = 0): void {
    if (name === 'join' || name === 'back') this.checkUntil = tick + RECENT_TICKS
    switch (name) {
      case 'join':
        if (!this.has(player)) this.#players = [...this.#players, player]
        break
      case 'leave':
        this.#players = this.#players.filter((each) => each !== player)
        this.#away.delete(player)
        break
      case 'away':
        this.#away.add(player)
        break
      case 'back':
        this.#away.delete(player)
        break
      case 'pause':
        this.isPaused = true
        break
      case 'resume':
        this.isPaused = false
        break
      case 'speed':
        this.speedPercent = value
        break
      case 'deadline':
        this.deadlineMs = value / 1000
        break
      case 'hash':
        if (value === HASH_ONCE) this.checkTick = tick
        else this.isHashFull = value === 1
        break
      case 'handover':
        this.handovers = Math.min(value, FLAGS_MAX >>> FLAG_BITS)
        break
      case 'end':
        break
    }
  }
}
