/**
 * Tick events: what the relay adds to a tick. They are orders of player 0, first in their tick, so they happen in the
 * same tick on every peer.
 *
 * ```
 * type      values, varints
 * C0 join      player
 * C1 leave     player, reason
 * C2 away      player         the connection is lost, the seat is held
 * C3 back      player
 * C4 pause     player         0: the relay
 * C5 resume    player
 * C6 speed     percent        of the game's tick rate in real time
 * C7 deadline  microseconds   from the start of a window to its close
 * C8 end       reason
 * CB hash      mode           1: every tick is hashed whole, 0: only some, 2: this one, and nothing else changes
 * CC handover  number         the match goes on at another relay, for the first, second, … time
 * ```
 *
 * A player asks for a pause, a resume or a speed with an order of the same type, and the relay decides.
 */

import type { Tick } from '../base/time.ts'
import { putVarint, VarintReader } from './leb128.ts'
import { TickBodyReader } from './tick-body.ts'
import type { TickLog } from './tick-log.ts'

/** The types of tick events on the wire. */
export const TICK_EVENT = {
  join: 0xc0, leave: 0xc1, away: 0xc2, back: 0xc3, pause: 0xc4, resume: 0xc5, speed: 0xc6, deadline: 0xc7, end: 0xc8,
  hash: 0xcb, handover: 0xcc,
} as const

/** The name of a tick event. */
export type TickEventName = keyof typeof TICK_EVENT

/** A tick event: its name and its numbers. */
export interface TickEvent {
  /** What happened. */
  readonly name: TickEventName
  /** The player that it is about. 0: the relay, or no player. */
  readonly player: number
  /**
   * The reason of a leave or an end, percent of a speed, microseconds of a deadline, mode of a hash, number of a
   * handover; otherwise 0.
   */
  readonly value: number
}

const NAMES = new Map<number, TickEventName>(
  Object.entries(TICK_EVENT).map(([name, type]) => [type, name as TickEventName]),
)

/** Reasons of `leave` and `end`, by their number on the wire. */
export const END_REASONS = [
  'left', 'timed-out', 'kicked', 'lagging', 'desynced', 'ended', 'log-full', 'void', 'relay-lost',
] as const

/** Why a player left, or a match ended. */
export type EndReason = (typeof END_REASONS)[number]

/** Whether the event is about a player. */
function hasPlayer(name: TickEventName): boolean {
  return name !== 'speed' && name !== 'deadline' && name !== 'end' && name !== 'hash' && name !== 'handover'
}

/** Whether the event has a number of its own. */
function hasValue(name: TickEventName): boolean {
  return name === 'leave' || !hasPlayer(name)
}

/** Writes the values of an event at `at` and returns the end. */
export function putTickEvent(bytes: Uint8Array, at: number, { name, player, value }: TickEvent): number {
  const end = hasPlayer(name) ? putVarint(bytes, at, player) : at
  return hasValue(name) ? putVarint(bytes, end, value) : end
}

const varint = new VarintReader()
const reader = new TickBodyReader()

/** The events of a tick. */
export function eventsOf(log: TickLog, tick: Tick): TickEvent[] {
  const events: TickEvent[] = []
  reader.open(log.bytes, log.startOf(tick), log.endOf(tick))
  // Events come first in a tick.
  while (reader.next() && reader.player === 0) {
    const event = readTickEvent(reader.type, log.bytes, reader.dataAt, reader.dataLength)
    if (event !== undefined) events.push(event)
  }
  return events
}

/** Reads an event. Undefined when the type is unknown or the bytes are invalid. */
export function readTickEvent(type: number, bytes: Uint8Array, at: number, length: number): TickEvent | undefined {
  const name = NAMES.get(type)
  if (name === undefined) return undefined
  let [player, value, from] = [0, 0, at]
  if (hasPlayer(name)) {
    player = varint.read(bytes, from, at + length)
    from = varint.end
  }
  if (from >= 0 && hasValue(name)) {
    value = varint.read(bytes, from, at + length)
    from = varint.end
  }
  return from === at + length ? { name, player, value } : undefined
}
