/** What made a recording: it decides what is in the file. */

import { CHUNK } from '../../replay/chunk.ts'
import type { ChunkList } from '../../replay/recording.ts'

/**
 * `player`: a client, with its packets, the rows that it received and its mispredictions. `server`: worlds, inputs and
 * events. `match`: the ticks of a lockstep match, as its relay recorded them.
 */
export type RecordingKind = 'player' | 'server' | 'match'

/** The kind of a recording, from its chunks. */
export function recordingKind({ chunks }: Pick<ChunkList, 'chunks'>): RecordingKind {
  let kind: RecordingKind = 'server'
  for (const { type } of chunks) {
    if (type === CHUNK.ticks) return 'match'
    if (type === CHUNK.receivedRows || type === CHUNK.openedPackets) kind = 'player'
  }
  return kind
}
