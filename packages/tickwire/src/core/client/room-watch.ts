/** Follows the public room list of a server: asks, and asks again for the next change. */

import type { RoomListing } from '../rooms/hosted-room.ts'
import type { RoomFilter } from '../rooms/room-directory.ts'
import type { ClientPlatform } from './platform.ts'

/** A list, and its version. The next request repeats the version. */
export interface VersionedList {
  readonly version: string
  readonly rooms: readonly RoomListing[]
}

const PAUSE_MS_MIN = 500
const PAUSE_MS_MAX = 10_000

/** The query of a request for the first list (`after` is empty), or for the one after it. */
export function roomsQuery({ type, metadata = {} }: RoomFilter, after: string): Record<string, string> {
  return { ...metadata, ...(type !== undefined && { type }), after }
}

/**
 * Calls `listener` with the list, and again after every change. While the server does not answer, it asks again with
 * increasing pauses. The returned function ends it.
 */
export function watchList(
  ask: (after: string) => Promise<VersionedList>,
  listener: (rooms: readonly RoomListing[]) => void,
  { later, reportFault }: ClientPlatform,
): () => void {
  let isOver = false
  let cancel = (): void => {}
  let version = ''
  let pauseMs = PAUSE_MS_MIN
  const next = async (): Promise<void> => {
    try {
      const list = await ask(version)
      if (isOver) return
      pauseMs = PAUSE_MS_MIN
      const isNew = list.version !== version
      version = list.version
      if (isNew) call(list.rooms)
      cancel = later(0, () => void next())
    } catch {
      if (isOver) return
      cancel = later(pauseMs, () => void next())
      pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)
    }
  }
  const call = (rooms: readonly RoomListing[]): void => {
    try {
      listener(rooms)
    } catch (error) {
      reportFault({ callback: 'watchRooms', error, peer: 0, count: 1, isFatal: false })
    }
  }
  void next()
  return () => {
    isOver = true
    cancel()
  }
}
