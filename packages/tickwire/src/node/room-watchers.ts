/**
 * Requests for the room list that wait until it differs from the one that the client has. So a lobby is up to date
 * within a quarter of a second, by plain HTTP, in a page and in Node.
 */

import type { ServerResponse } from 'node:http'
import { ROOM_WATCH_MS, ROOM_WATCHERS_MAX } from '../core/base/limits.ts'
import { hash64 } from '../core/base/hash.ts'
import type { RoomListing } from '../core/rooms/hosted-room.ts'

const CHECK_MS = 250

export class RoomWatchers {
  #count = 0

  /** Answers at once if the list is not that of `after`, else when it changes, or after 15 s with the same list. */
  answer(response: ServerResponse, after: string, list: () => readonly RoomListing[]): void {
    const startedAt = performance.now()
    const known = this.#count >= ROOM_WATCHERS_MAX ? '' : after
    const reply = (): boolean => {
      const rooms = list()
      const version = hash64(Buffer.from(JSON.stringify(rooms))).toString(16)
      const isDue = version !== known || performance.now() - startedAt >= ROOM_WATCH_MS
      if (isDue)
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ version, rooms }))
      return isDue
    }
    if (reply()) return
    this.#count++
    const timer = setInterval(() => { if (reply()) clearInterval(timer) }, CHECK_MS)
    timer.unref()
    response.once('close', () => {
      this.#count--
      clearInterval(timer)
    })
  }
}
