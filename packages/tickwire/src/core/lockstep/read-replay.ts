/** Opens the file of a replay, to be watched: `connect(game, replay(readReplay(bytes)))`. */

import { ConfigError } from '../base/assert.ts'
import { sourceOf } from '../replay/byte-source.ts'
import { MatchFile } from '../replay/match-file.ts'
import { openRecording } from '../replay/recording.ts'
import type { PlayedMatch } from './replay-feed.ts'

/** The match in the bytes of a recording, up to its first gap. Throws a ConfigError if there is none. */
export function readReplay(bytes: Uint8Array): PlayedMatch {
  const recording = openRecording(sourceOf(bytes))
  if (typeof recording === 'string')
    throw new ConfigError('replay', `not a recording (${recording})`, 'give the bytes of a .twr file.')
  const file = new MatchFile(recording)
  const [stretch] = file.stretches
  if (stretch === undefined || stretch.first !== 1)
    throw new ConfigError('replay', 'no ticks of a lockstep match', 'give a recording of a relay.')
  const { log } = stretch
  return {
    tickRate: recording.head.tickRate, seed: file.seed, bytes: log.bytes.slice(0, log.endOf(log.newest)),
    ticks: log.newest, imageBefore: (tick) => file.imageBefore(tick),
  }
}
