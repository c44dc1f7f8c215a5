/**
 * Rooms over a restart, for development: written to a file when the process is told to end, and read when the next one begins.
 *
 * The file has the server's identity and the key of its tickets in it, for without them players could not come back: it is made for its owner
 * only, read once and removed, and worth nothing after a minute. Not for production, where a process that ends drains.
 */

import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import type { RoomHost } from '../core/index.ts'
import type { RoomImage } from '../core/game/rooms/room-image.ts'

/** What the process before left. */
export interface KeptRooms {
  readonly identity: Uint8Array
  readonly ticketKey: Uint8Array
  readonly rooms: readonly RoomImage[]
}

const AGE_MS_MAX = 60_000
const BYTES = '~bytes'

/** Writes all rooms of a host as they stand. */
export function writeKeptRooms(path: string, host: RoomHost, identity: Uint8Array): void {
  const text = JSON.stringify({ ...host.images(), identity }, (_key, value: unknown) => (
    value instanceof Uint8Array ? { [BYTES]: Buffer.from(value).toString('base64') } : value
  ))
  writeFileSync(path, text, { mode: 0o600 })
}

/** Reads what was written within the last minute, and removes it. */
export function takeKeptRooms(path: string): KeptRooms | undefined {
  try {
    const isFresh = Date.now() - statSync(path).mtimeMs < AGE_MS_MAX
    const text = readFileSync(path, 'utf8')
    rmSync(path)
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
