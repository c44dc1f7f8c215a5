/** The told rows of a client's recording as a recording of their own: what `Playback` plays is then what the client was told. */

import { CHUNK } from '../replay/chunk.ts'
import type { ChunkList } from '../replay/recording.ts'

/** The same list, with told rows in the place of rows. */
export function toldOf(list: ChunkList): ChunkList {
  const origins = new Map(list.chunks.filter(({ type }) => type === CHUNK.toldRows).map((chunk) => [{ ...chunk, type: CHUNK.rows }, chunk] as const))
  return {
    head: list.head,
    chunks: [...origins.keys()],
    load: (chunk) => {
      const origin = [...origins].find(([shown]) => shown === chunk)?.[1]
      return origin && list.load(origin)
    },
  }
}
