/**
 * The relay's part in agreeing on a seed (`order/seed-share.ts`): it collects the commits of all players, shows them in
 * the first tick, collects the reveals, and shows them in the second tick. It has a share of its own, committed with
 * the others: players that work together cannot fix the seed, and neither can the relay.
 *
 * A player that is silent for too long, copies a commit, or reveals something else is left out of the match.
 */

import { SEED_WAIT_MS } from '../base/limits.ts'
import type { Millis, PeerId } from '../base/time.ts'
import {
  COMMIT_BYTES, isSameBytes, putSeedEvent, REVEAL_BYTES, SEED_EVENT, type SeedShare, type Sha256,
} from '../order/seed-share.ts'
import type { TickBodyWriter } from '../order/tick-body.ts'
import type { RelayEvents } from './relay-events.ts'

/** The relay's share and its hash function. */
export interface RelaySeedOptions {
  /** The share of the relay. Secret until the reveals. */
  readonly share: SeedShare
  /** SHA-256. */
  readonly sha256: Sha256
}

/** What one player has sent. */
interface Part {
  /** Until then the player has to send what is missing. */
  until: Millis
  commit: Uint8Array | undefined
  reveal: Uint8Array | undefined
}

export class RelaySeed {
  /** `done`: the seed is in the log, and ticks are stepped. */
  stage: 'waiting' | 'commits' | 'reveals' | 'done' = 'waiting'
  readonly #options: RelaySeedOptions
  /** In the order of joining. After the commits, no player is added. */
  readonly #parts = new Map<PeerId, Part>()
  readonly #bytes = new Uint8Array(8 + REVEAL_BYTES)

  constructor(options: RelaySeedOptions) {
    this.#options = options
  }

  /** The match has enough players: they have to commit now. */
  begin(now: Millis): void {
    if (this.stage !== 'waiting') return
    this.stage = 'commits'
    this.#wait(now)
  }

  /** A player joins. One that joins after the commits has no share. */
  join(now: Millis, peer: PeerId): void {
    if (this.stage === 'waiting' || this.stage === 'commits')
      this.#parts.set(peer, { until: now + SEED_WAIT_MS, commit: undefined, reveal: undefined })
  }

  /** The player has left. */
  forget(peer: PeerId): void {
    if (this.stage !== 'done') this.#parts.delete(peer)
  }

  /** A commit or reveal of a player. False when it is wrong: the player is to leave. */
  handle(peer: PeerId, type: number, data: Uint8Array, length: number): boolean {
    const part = this.#parts.get(peer)
    if (part === undefined || this.stage === 'done') return true
    const bytes = data.slice(0, length)
    if (type === SEED_EVENT.commit) {
      // A player that restarts its program commits again. It can reveal only what was shown.
      if (this.stage === 'reveals') return true
      if (length !== COMMIT_BYTES || this.#isCopy(bytes)) return false
      part.commit = bytes
      return true
    }
    // A reveal before all commits are shown could be used by others.
    if (this.stage !== 'reveals' || length !== REVEAL_BYTES || part.commit === undefined) return false
    if (part.reveal !== undefined || !isSameBytes(this.#options.sha256(bytes), part.commit)) return false
    part.reveal = bytes
    return true
  }

  /** When `poll` has to be called at the latest. */
  nextAt(): Millis {
    if (this.stage !== 'commits' && this.stage !== 'reveals') return Infinity
    let earliest = Infinity
    for (const part of this.#parts.values()) if (!this.#isComplete(part)) earliest = Math.min(earliest, part.until)
    return this.#isReady() ? -Infinity : earliest
  }

  /** Players that were silent for too long. They are to leave. */
  late(now: Millis): readonly PeerId[] {
    if (this.stage !== 'commits' && this.stage !== 'reveals') return []
    return [...this.#parts].filter(([, part]) => !this.#isComplete(part) && now >= part.until).map(([peer]) => peer)
  }

  /** Closes the ticks that are complete: commits, reveals. Returns how many. */
  close(now: Millis, body: TickBodyWriter, events: RelayEvents, append: (body: TickBodyWriter) => void): number {
    let closed = 0
    for (; (this.stage === 'commits' || this.stage === 'reveals') && this.#isReady(); closed++) {
      body.begin()
      this.#write(body)
      this.stage = this.stage === 'commits' ? 'reveals' : 'done'
      // A player without a share joins in a later tick, so that every client can check that its own share was used.
      if (this.stage === 'done') events.write(body, ({ player }) => player === 0 || this.#parts.has(player))
      append(body)
      this.#wait(now)
    }
    return closed
  }

  #write(body: TickBodyWriter): void {
    const { share } = this.#options
    const [type, own] = this.stage === 'commits' ? [SEED_EVENT.commit, share.commit] : [SEED_EVENT.reveal, share.reveal]
    this.#add(body, type, 0, own)
    for (const [peer, { commit, reveal }] of this.#parts) {
      const bytes = type === SEED_EVENT.commit ? commit : reveal
      if (bytes !== undefined) this.#add(body, type, peer, bytes)
    }
  }

  #add(body: TickBodyWriter, type: number, peer: PeerId, bytes: Uint8Array): void {
    body.add(0, 0, type, this.#bytes, 0, putSeedEvent(this.#bytes, 0, peer, bytes))
  }

  #wait(now: Millis): void {
    for (const part of this.#parts.values()) part.until = now + SEED_WAIT_MS
  }

  #isComplete({ commit, reveal }: Part): boolean {
    return (this.stage === 'reveals' ? reveal : commit) !== undefined
  }

  /** Without a player there is no match to begin. */
  #isReady(): boolean {
    for (const part of this.#parts.values()) if (!this.#isComplete(part)) return false
    return this.#parts.size > 0 || this.stage === 'reveals'
  }

  #isCopy(commit: Uint8Array): boolean {
    if (isSameBytes(commit, this.#options.share.commit)) return true
    for (const part of this.#parts.values())
      if (part.commit !== undefined && isSameBytes(part.commit, commit)) return true
    return false
  }
}
