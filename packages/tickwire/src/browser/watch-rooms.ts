/** The room list of a server, for a lobby: `core/client/room-watch.ts` with the requests of this platform. */

import { watchRoomsAt } from '../core/client/room-watch.ts'
import type { RoomListing } from '../core/rooms/hosted-room.ts'
import type { RoomFilter } from '../core/rooms/room-directory.ts'
import { pagePlatform } from './page-platform.ts'

/**
 * Calls `listener` with the public rooms of the server at `url`, and again whenever they change: players, metadata,
 * locks. The returned function ends it. `filter`: by default all rooms.
 */
export function watchRooms(
  url: string | URL,
  listener: (rooms: readonly RoomListing[]) => void,
  filter: RoomFilter = {},
): () => void {
  return watchRoomsAt(String(url), listener, filter, globalThis, pagePlatform)
}
