/**
 * The matches that this page has joined. Imported tools find the rooms to inspect here, whichever code joined them.
 *
 * This module depends on no tool. A page without one keeps a set of one room.
 */

import type { Room } from '../core/client/room.ts'

const rooms = new Set<Room>()
const listeners = new Set<(room: Room) => void>()

/** Calls `listener` for every room of this page: the open ones, and each that opens later. */
export function onRoomOpened(listener: (room: Room) => void): void {
  listeners.add(listener)
  for (const room of rooms) listener(room)
}

/** Adds a room that the page has joined. */
export function noteOpened(room: Room): void {
  rooms.add(room)
  for (const listener of listeners) listener(room)
}

/** Removes a room that has ended. */
export function noteClosed(room: Room): void {
  rooms.delete(room)
}
