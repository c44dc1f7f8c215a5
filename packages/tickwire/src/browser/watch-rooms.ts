/** The room list of a server, for a lobby: up to date within a quarter of a second. */

import { roomsQuery, watchList, type VersionedList } from '../core/client/room-watch.ts'
import { parseServerUrl } from '../core/client/server-url.ts'
import type { RoomListing } from '../core/rooms/hosted-room.ts'
import type { RoomFilter } from '../core/rooms/room-directory.ts'
import { pagePlatform } from './page-platform.ts'

/** Relative to the address of the server. */
const ROOMS_PATH = 'tickwire/rooms'

/**
 * Calls `listener` with the public rooms of the server at `url`, and again whenever they change: players, metadata,
 * locks. The returned function ends it. `filter`: by default all rooms.
 */
export function watchRooms(
  url: string | URL,
  listener: (rooms: readonly RoomListing[]) => void,
  filter: RoomFilter = {},
): () => void {
  const base = parseServerUrl(String(url), (text) => new URL(text), ['http', 'https'])
  const ask = async (after: string): Promise<VersionedList> => {
    const target = new URL(ROOMS_PATH, base)
    target.search = new URLSearchParams(roomsQuery(filter, after)).toString()
    const response = await fetch(target)
    if (!response.ok) throw new Error(`the room list is refused: ${response.status}`)
    return await response.json() as VersionedList
  }
  return watchList(ask, listener, pagePlatform)
}
