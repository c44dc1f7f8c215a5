/** The shares of an agreed seed, as the ticks of a match have them: for pages that show how the seed came to be. */

import type { PeerId } from '../base/time.ts'
import { readSeedEvent, SEED_EVENT } from '../order/seed-share.ts'
import { TickBodyReader } from '../order/tick-body.ts'
import type { TickLog } from '../order/tick-log.ts'

/** One side's part of an agreed seed. */
export interface SharedSeed {
  /** The player; 0: the relay. */
  readonly player: PeerId
  /** The value that it sent first: the SHA-256 of `reveal`. */
  readonly commit: Uint8Array
  /** The value that it sent when all commits were known: its share of 32 bytes, and a nonce of 16. */
  readonly reveal: Uint8Array
}

/** All commits are in the first tick, and all reveals in the second. */
const TICKS = 2

/** The shares of the seed that a match agreed on (`seed: 'agreed'`). Empty: it has another seed, or none yet. */
export function seedSharesOf(log: TickLog): readonly SharedSeed[] {
  const commits = new Map<PeerId, Uint8Array>()
  const shares: SharedSeed[] = []
  const reader = new TickBodyReader()
  for (let tick = 1; tick <= Math.min(TICKS, log.newest); tick++) {
    if (!log.has(tick)) return []
    reader.open(log.bytes, log.startOf(tick), log.endOf(tick))
    while (reader.next()) {
      const event = readSeedEvent(reader.type, log.bytes, reader.dataAt, reader.dataLength)
      if (event === undefined || reader.player !== 0) continue
      const { type, player, bytes } = event
      const commit = commits.get(player)
      if (type === SEED_EVENT.commit) commits.set(player, bytes)
      else if (commit !== undefined) shares.push({ player, commit, reveal: bytes })
    }
  }
  return shares
}
