/**
 * Which matches this page is in: where tools that were imported find what to look at, whoever joined it.
 *
 * Nothing here knows a tool; a page without one keeps a set of one room.
 */

import type { Room } from './room.ts'

const rooms = new Set<Room>()
const listeners = new Set<(room: Room) => void>()

/** Calls `listener` for every room of this page, those that are open and those to come. */
export function onRoomOpened(listener: (room: Room) => void): void {
  listeners.add(listener)
  for (const room of rooms) listener(room)
}

/** A page has joined. */
export function noteOpened(room: Room): void {
  rooms.add(room)
  for (const listener of listeners) listener(room)
}

/** It is over. */
export function noteClosed(room: Room): void {
  rooms.delete(room)
}
