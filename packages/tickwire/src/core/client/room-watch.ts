/**
 * Follows the public room list of a server: asks, and asks again for the next change. The list is up to date within a
 * quarter of a second. Core has no requests, so the platform's is handed in.
 */

import type { RoomListing } from '../rooms/hosted-room.ts'
import type { RoomFilter } from '../rooms/room-directory.ts'
import type { ClientPlatform } from './platform.ts'
import { parseServerUrl, type ParsedUrl } from './server-url.ts'

/** Relative to the address of the server. */
const ROOMS_PATH = 'tickwire/rooms'

/** The part of `globalThis` that requests a list, in a page and in Node. */
export interface WebGlobals {
  readonly URL: new (text: string, base?: string) => WebUrl
  readonly URLSearchParams: new (query: Record<string, string>) => object
  fetch(url: string): Promise<{ readonly ok: boolean; readonly status: number; json(): Promise<unknown> }>
}

interface WebUrl extends ParsedUrl {
  readonly href: string
  search: string
}

/** Follows the rooms of the server at `url`: calls `listener` with the list, and again after every change. */
export function watchRoomsAt(
  url: string,
  listener: (rooms: readonly RoomListing[]) => void,
  filter: RoomFilter,
  web: WebGlobals,
  platform: ClientPlatform,
): () => void {
  const base = parseServerUrl(url, (text) => new web.URL(text), ['http', 'https'])
  const ask = async (after: string): Promise<VersionedList> => {
    const target = new web.URL(ROOMS_PATH, base.href)
    target.search = String(new web.URLSearchParams(queryOf(filter, after)))
    const response = await web.fetch(target.href)
    if (!response.ok) throw new Error(`the room list is refused: ${response.status}`)
    return await response.json() as VersionedList
  }
  return watchList(ask, listener, platform)
}

/** A list, and its version. The next request repeats the version. */
interface VersionedList {
  readonly version: string
  readonly rooms: readonly RoomListing[]
}

const PAUSE_MS_MIN = 500
const PAUSE_MS_MAX = 10_000

/** The query of a request for the first list (`after` is empty), or for the one after it. */
function queryOf({ type, metadata = {} }: RoomFilter, after: string): Record<string, string> {
  return { ...metadata, ...(type !== undefined && { type }), after }
}

/**
 * Calls `listener` with the list, and again after every change. While the server does not answer, it asks again with
 * increasing pauses. The returned function ends it.
 */
function watchList(
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
