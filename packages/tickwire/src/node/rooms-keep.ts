/**
 * Keeps rooms over a restart, for development: they are written to a file when the process receives a signal to end,
 * and read when the next one starts.
 *
 * The file contains the server's identity and its ticket key, because players could not reconnect without them. So it
 * is readable by its owner only, read once and removed, and ignored after a minute. It is not for production, where a
 * process drains before it ends.
 */

import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { RoomHost } from '../core/rooms/room-host.ts'
import type { RoomImage } from '../core/rooms/room-image.ts'
import type { FrozenRoom } from '../core/rooms/room-mover.ts'

/** What the previous process left. */
export interface KeptRooms {
  readonly identity: Uint8Array
  readonly ticketKey: Uint8Array
  readonly rooms: readonly RoomImage[]
}

/** A room on its way to another process. */
export interface MovingRoom extends FrozenRoom {
  /** The id of the move: one process claims it. */
  readonly move: string
}

const AGE_MS_MAX = 60_000
const BYTES = '~bytes'

/** Writes the current state of all rooms of a host. */
export function writeKeptRooms(path: string, host: RoomHost, identity: Uint8Array): void {
  writeFileSync(path, keptRoomsText(host, identity), { mode: 0o600 })
}

/** The content of the file. It has secrets. */
export function keptRoomsText(host: RoomHost, identity: Uint8Array): string {
  return JSON.stringify({ ...host.images(), identity }, replace)
}

/** The image of a room as text, for a file or a database. It contains no keys. */
export function roomImageToText(image: RoomImage): string {
  return JSON.stringify(image, replace)
}

/** The image of a room from text. Throws SyntaxError when it is not JSON. */
export function roomImageFromText(text: string): RoomImage {
  return JSON.parse(text, revive) as RoomImage
}

/** A room on its way to another process, as text. It contains the key of its tickets. */
export function movingRoomToText(moving: MovingRoom): string {
  return JSON.stringify(moving, replace)
}

/** The reverse of it. Throws SyntaxError when it is not JSON. */
export function movingRoomFromText(text: string): MovingRoom {
  return JSON.parse(text, revive) as MovingRoom
}

function replace(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { [BYTES]: Buffer.from(value).toString('base64') } : value
}

/** Reads what was written within the last minute, and removes it, unless `isLeft`. */
export function takeKeptRooms(path: string, isLeft = false): KeptRooms | undefined {
  try {
    const isFresh = Date.now() - statSync(path).mtimeMs < AGE_MS_MAX
    const text = readFileSync(path, 'utf8')
    if (!isLeft) rmSync(path)
    return isFresh ? JSON.parse(text, revive) as KeptRooms : undefined
  } catch {
    // reason: no file, or half of one: then the server begins with no rooms
    return undefined
  }
}

function revive(_key: string, value: unknown): unknown {
  const isBytes = typeof value === 'object' && value !== null && BYTES in value
  return isBytes ? Uint8Array.from(Buffer.from(String(value[BYTES]), 'base64')) : value
}
