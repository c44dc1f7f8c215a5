/**
 * The received rows of a client's recording, as a recording of their own: `Playback` then plays what the client
 * received.
 */

import { CHUNK } from '../replay/chunk.ts'
import type { ChunkList } from '../replay/recording.ts'

/** The same chunk list, with the received rows in the place of the predicted rows. */
export function receivedOf(list: ChunkList): ChunkList {
  const origins = new Map(
    list.chunks
      .filter(({ type }) => type === CHUNK.receivedRows)
      .map((chunk) => [{ ...chunk, type: CHUNK.rows }, chunk] as const),
  )
  return {
    head: list.head,
    chunks: [...origins.keys()],
    load: (chunk) => {
      const origin = [...origins].find(([shown]) => shown === chunk)?.[1]
      return origin && list.load(origin)
    },
  }
}
