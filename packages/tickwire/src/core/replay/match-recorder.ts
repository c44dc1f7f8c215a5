/**
 * Records a lockstep match: its ticks, key images, seals of the relay and seals of the players, as chunks 10 to 14 of a
 * recording.
 *
 * The sink may refuse a chunk because the disk is slow. Its ticks are offered again, for at least 5 ms; then they are a
 * gap, which is counted, and stored with the digests of the lost ticks as soon as the sink takes chunks again. So the
 * seals of all other ticks still verify.
 */

import { REPLAY_CHUNK_TICKS } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import { BodyDigests, type SealedMatch } from '../order/seal.ts'
import type { Sha256 } from '../order/seed-share.ts'
import type { Root } from '../order/sync-messages.ts'
import type { TickLog } from '../order/tick-log.ts'
import { TickSealer, type SealSigner } from '../order/tick-sealer.ts'
import { CHUNK, chunkBytes, CHUNK_HEAD_BYTES, FLAG_KEY, sealChunk } from './chunk.ts'
import { encodeHandover, type RecordedHandover } from './handover-chunk.ts'
import { entitiesOfText, KeyImages } from './key-images.ts'
import { encodeGap, encodePlayerSeals, encodeTicks, type PlayerSeal } from './match-chunks.ts'
import type { RecordingHead } from './recording-head.ts'
import { RecordingWriter, type RecordingSink } from './recording-writer.ts'

/** How a match is recorded. */
export interface MatchRecorderOptions {
  /** The ticks of the match. */
  readonly log: TickLog
  /** The game and the seed. */
  readonly match: SealedMatch
  /** The head of the recording (`matchHead`). */
  readonly head: RecordingHead
  /** Where it is written. */
  readonly sink: RecordingSink
  /** SHA-256 of a byte string. */
  readonly sha256: Sha256
  /** Signs seals. Undefined: the recording has no seals. */
  readonly signer?: SealSigner
  /** The match was taken over from another relay. Stored with a signature, so only with a signer. */
  readonly handover?: RecordedHandover
  /** The latest time at which a tick may wait for the sink, in ms. Default: 5. */
  readonly waitMs?: number
}

const WAIT_MS = 5
/** Seals of players are stored once for this many seals of the relay: each covers all orders before it. */
const PLAYER_SEALS_EVERY = 16
/** An index is written after this many chunks. */
const INDEX_CHUNKS = 64

/** Records one match. */
export class MatchRecorder {
  /** Ticks that were lost because the sink refused them. */
  lostTicks = 0
  readonly #options: MatchRecorderOptions
  readonly #writer: RecordingWriter
  readonly #sealer: TickSealer | undefined
  readonly #images: KeyImages
  /** Ticks up to here are written or lost. */
  #done: Tick = 0
  #refusedAt: Millis = Infinity
  /** Lost ticks that are not stored yet. */
  #gap: { readonly first: Tick; readonly digests: Uint8Array[] } | undefined
  /** Seals that the sink has refused so far, in their order: each one names the one before it. */
  readonly #waiting: { readonly bytes: Uint8Array; readonly last: Tick }[] = []
  readonly #players = new Map<PeerId, PlayerSeal>()
  #seals = 0
  /** The body of the handover chunk, until it is stored. */
  #handover: Uint8Array | undefined
  #chunks = 0
  #isClosed = false

  constructor(options: MatchRecorderOptions) {
    this.#options = options
    const { head, sink, log, match, sha256, signer, handover } = options
    this.#writer = new RecordingWriter(head, sink)
    this.#sealer = signer && new TickSealer(log, match, sha256, signer)
    this.#handover = handover && signer && encodeHandover(handover, match, signer)
    this.#images = new KeyImages(entitiesOfText(head.text, head.names))
  }

  /** Bytes that the sink took. */
  get size(): number {
    return this.#writer.size
  }

  /** Ticks were added to the log. Writes a chunk of them when there are enough. */
  handleTicks(now: Millis): void {
    if (this.#options.log.newest - this.#done >= REPLAY_CHUNK_TICKS) this.flush(now)
    for (let made = this.#sealer?.poll(false); made !== undefined; made = this.#sealer?.poll(false)) {
      this.flush(now)
      this.#storeSeal(made.bytes, made.seal.last)
    }
    this.#storeWaiting()
  }

  /** A player reports the hash of a tick. */
  handleRoot(player: PeerId, tick: Tick, root: Root): void {
    this.#sealer?.handleRoot(player, tick, root)
  }

  /** A player signed its orders so far. The newest of each player is stored. */
  handlePlayerSeal(seal: PlayerSeal): void {
    const known = this.#players.get(seal.player)
    if (known === undefined || seal.tick > known.tick) this.#players.set(seal.player, seal)
  }

  /** A key image: the world after a tick. `witnesses`: how many other players have the same. */
  handleImage(tick: Tick, image: Uint8Array, witnesses: number): boolean {
    const stored = this.#images.encode(image)
    const flags = stored?.isWhole === true ? FLAG_KEY : 0
    if (stored === undefined || !this.#write(CHUNK.image, flags, tick, stored.bytes)) return false
    const { sha256 } = this.#options
    this.#sealer?.handleImage({
      tick, witnesses, chunkDigest: sha256(stored.bytes), imageDigest: sha256(image),
    })
    return true
  }

  /** Writes all ticks so far. */
  flush(now: Millis): void {
    const { log, match: { seed }, waitMs = WAIT_MS } = this.#options
    const first = this.#done + 1
    const last = log.newest
    if (!this.#storeHandover() || !this.#storeGap() || last < first) return
    if (this.#write(CHUNK.ticks, 0, first, encodeTicks(log, first, last, seed))) {
      this.#done = last
      this.#refusedAt = Infinity
      return this.#storeWaiting()
    }
    this.#refusedAt = Math.min(this.#refusedAt, now)
    if (now - this.#refusedAt >= waitMs) this.#lose(first, last)
  }

  /** Ends the recording: the rest of the ticks, the last seal, the seals of the players, the index. */
  close(now: Millis): void {
    if (this.#isClosed) return
    this.flush(now)
    for (let made = this.#sealer?.poll(true); made !== undefined; made = this.#sealer?.poll(true))
      this.#storeSeal(made.bytes, made.seal.last)
    if (this.#seals % PLAYER_SEALS_EVERY !== 0 || this.#sealer === undefined) this.#storePlayers()
    this.#writer.close(this.#options.log.newest)
    this.#isClosed = true
  }

  #storeSeal(bytes: Uint8Array, last: Tick): void {
    this.#waiting.push({ bytes, last })
    this.#storeWaiting()
    if (++this.#seals % PLAYER_SEALS_EVERY === 0) this.#storePlayers()
  }

  /** Stores the seals that wait, as many as the sink takes. */
  #storeWaiting(): void {
    let stored = 0
    for (const { bytes, last } of this.#waiting) {
      if (!this.#write(CHUNK.seal, 0, last, bytes)) break
      stored++
    }
    this.#waiting.splice(0, stored)
  }

  #storePlayers(): void {
    const seals = [...this.#players.values()].sort((a, b) => a.player - b.player)
    if (seals.length > 0) this.#write(CHUNK.playerSeals, 0, this.#options.log.newest, encodePlayerSeals(seals))
  }

  /** Ticks are lost. Their digests are kept. */
  #lose(first: Tick, last: Tick): void {
    const { log, sha256 } = this.#options
    const gap = this.#gap ?? { first, digests: [] }
    const digests = new BodyDigests(sha256)
    for (let tick = first; tick <= last; tick++)
      gap.digests.push(digests.of(log.bytes, log.startOf(tick), log.endOf(tick)))
    this.#gap = gap
    this.#done = last
    this.lostTicks += last - first + 1
    this.#refusedAt = Infinity
  }

  #storeHandover(): boolean {
    const body = this.#handover
    if (body === undefined) return true
    if (!this.#write(CHUNK.handover, 0, this.#options.handover?.tick ?? 0, body)) return false
    this.#handover = undefined
    return true
  }

  #storeGap(): boolean {
    const gap = this.#gap
    if (gap === undefined) return true
    if (!this.#write(CHUNK.gap, 0, gap.first, encodeGap(gap.first, gap.digests))) return false
    this.#gap = undefined
    return true
  }

  #write(type: number, flags: number, tick: Tick, body: Uint8Array): boolean {
    const bytes = new Uint8Array(chunkBytes(body.length))
    bytes.set(body, CHUNK_HEAD_BYTES)
    sealChunk(bytes, type, flags, tick, body.length)
    if (!this.#writer.write(bytes)) return false
    if (++this.#chunks % INDEX_CHUNKS === 0) this.#writer.writeIndex()
    return true
  }
}
