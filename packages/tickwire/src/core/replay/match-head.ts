/** The head of the recording of a lockstep match. */

import type { LockstepCard } from '../order/lockstep-card.ts'
import { CODEC, type RecordingHead } from './recording-head.ts'

/** The head for a game. `startedAt`: seconds since 1970. */
export function matchHead({ fingerprint, tickRate, text }: LockstepCard, startedAt: number = 0): RecordingHead {
  return { codec: CODEC.packed, fields: 'everything', tickRate, fingerprint, startedAt, text, names: [] }
}
