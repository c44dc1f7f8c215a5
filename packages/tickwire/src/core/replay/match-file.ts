/**
 * A recorded lockstep match, read: its ticks in order, key images, seals, gaps, seals of players, and its handover.
 *
 * A file is not trusted: what does not fit is a problem with a text, and nothing throws.
 */

import { FLAG_KEY, CHUNK, type ChunkEntry } from './chunk.ts'
import type { Tick } from '../base/time.ts'
import type { Seal } from '../order/seal.ts'
import { TickLog } from '../order/tick-log.ts'
import { decodeHandover, type StoredHandover } from './handover-chunk.ts'
import { entitiesOfText, KeyImages } from './key-images.ts'
import { decodeGap, decodePlayerSeals, decodeTicks, readSealChunk, type PlayerSeal } from './match-chunks.ts'
import type { Recording } from './recording.ts'

/** A seal of the file, with its bytes. */
export interface StoredSeal {
  readonly seal: Seal
  readonly encoded: Uint8Array
  readonly signature: Uint8Array
  readonly body: Uint8Array
}

/** Ticks of the file that follow each other. */
export interface Stretch {
  /** The first tick. */
  readonly first: Tick
  /** The ticks: tick `first` is tick 1 of the log. */
  readonly log: TickLog
}

/** Ticks that the recorder lost. */
export interface Gap {
  readonly first: Tick
  /** SHA-256 of each lost tick. */
  readonly digests: readonly Uint8Array[]
}

/** A recorded match. */
export class MatchFile {
  readonly recording: Recording
  /** The seed of the match. 0: the players agree on it in the first ticks. */
  readonly seed: number
  readonly stretches: readonly Stretch[]
  readonly gaps: readonly Gap[]
  readonly seals: readonly StoredSeal[]
  readonly playerSeals: readonly PlayerSeal[]
  /** From which relay the match was taken over. Undefined: it began at the relay that recorded it. */
  readonly handover: StoredHandover | undefined
  /** What is wrong with the file. */
  readonly problems: readonly string[]
  readonly #images: readonly ChunkEntry[]

  constructor(recording: Recording) {
    this.recording = recording
    const [stretches, gaps, seals, playerSeals, problems]: [Stretch[], Gap[], StoredSeal[], PlayerSeal[], string[]] =
      [[], [], [], [], []]
    let seed = -1
    let handover: StoredHandover | undefined
    for (const chunk of recording.chunks) {
      if (chunk.type === CHUNK.handover) {
        const isSecond = handover !== undefined
        handover ??= decodeHandover(recording.load(chunk) ?? new Uint8Array(0))
        if (isSecond || handover === undefined) problems.push(`tick ${chunk.tick}: a damaged or second handover`)
      }
      if (chunk.type < CHUNK.ticks || chunk.type > CHUNK.playerSeals || chunk.type === CHUNK.image) continue
      const body = recording.load(chunk)
      const isRead = body !== undefined && this.#read(chunk, body, { stretches, gaps, seals, playerSeals }, (found) => {
        if (seed >= 0 && found !== seed) problems.push(`tick ${chunk.tick}: another seed`)
        seed = found
      })
      if (!isRead) problems.push(`tick ${chunk.tick}: a damaged chunk`)
    }
    if (recording.damagedCount > 0 && problems.length === 0)
      problems.push(`${recording.damagedCount} damaged chunks`)
    this.seed = Math.max(0, seed)
    this.stretches = stretches
    this.gaps = gaps
    this.seals = seals
    this.playerSeals = playerSeals
    this.handover = handover
    this.problems = problems
    this.#images = recording.chunks.filter(({ type }) => type === CHUNK.image)
  }

  /** The last tick of the file. */
  get last(): Tick {
    const end = this.stretches.at(-1)
    const gap = this.gaps.at(-1)
    const lastLost = gap === undefined ? 0 : gap.first + gap.digests.length - 1
    return Math.max(end === undefined ? 0 : end.first + end.log.newest - 1, lastLost)
  }

  /** The ticks of key images. */
  get imageTicks(): readonly Tick[] {
    return this.#images.map(({ tick }) => tick)
  }

  /** The bytes of the image chunk of a tick. */
  imageChunk(tick: Tick): Uint8Array | undefined {
    const chunk = this.#images.find((each) => each.tick === tick)
    return chunk && this.recording.load(chunk)
  }

  /** The newest image at or before a tick, whole. Undefined: there is none. */
  imageBefore(tick: Tick): { readonly tick: Tick; readonly image: Uint8Array } | undefined {
    const until = this.#images.findLastIndex((each) => each.tick <= tick)
    const from = this.#images.findLastIndex(({ flags }, at) => at <= until && (flags & FLAG_KEY) !== 0)
    if (until < 0 || from < 0) return undefined
    const keys = this.#keys()
    let found: { tick: Tick; image: Uint8Array } | undefined
    for (let at = from; at <= until && keys !== undefined; at++) {
      const chunk = this.#images[at]
      const body = this.recording.load(chunk)
      const image = body && keys.decode(body, (chunk.flags & FLAG_KEY) !== 0)
      if (image === undefined) break
      found = { tick: chunk.tick, image }
    }
    return found
  }

  /** The bytes of a tick. Undefined: it is in a gap, or not in the file. */
  tickBytes(tick: Tick): Uint8Array | undefined {
    const stretch = this.stretches.find(({ first, log }) => tick >= first && tick < first + log.newest)
    if (stretch === undefined) return undefined
    const { log, first } = stretch
    return log.bytes.subarray(log.startOf(tick - first + 1), log.endOf(tick - first + 1))
  }

  #keys(): KeyImages | undefined {
    try {
      return new KeyImages(entitiesOfText(this.recording.head.text, this.recording.head.names))
    } catch {
      // reason: the text of the file may be anything
      return undefined
    }
  }

  #read(
    { type, tick }: ChunkEntry, body: Uint8Array,
    to: { stretches: Stretch[]; gaps: Gap[]; seals: StoredSeal[]; playerSeals: PlayerSeal[] },
    onSeed: (seed: number) => void,
  ): boolean {
    switch (type) {
      case CHUNK.ticks: {
        const ticks = decodeTicks(body)
        if (ticks === undefined) return false
        onSeed(ticks.seed)
        return addTicks(to.stretches, tick, ticks.bytes, ticks.count)
      }
      case CHUNK.gap: {
        const gap = decodeGap(body)
        if (gap !== undefined) to.gaps.push(gap)
        return gap !== undefined
      }
      case CHUNK.seal: {
        const seal = readSealChunk(body)
        if (seal !== undefined) to.seals.push({ ...seal, body })
        return seal !== undefined
      }
      default: {
        const seals = decodePlayerSeals(body)
        if (seals !== undefined) to.playerSeals.push(...seals)
        return seals !== undefined
      }
    }
  }
}

/** Adds ticks behind the last stretch, or begins a new one. */
function addTicks(stretches: Stretch[], tick: Tick, bytes: Uint8Array, count: number): boolean {
  const last = stretches.at(-1)
  if (last !== undefined && last.first + last.log.newest === tick)
    return last.log.receive(bytes, 0, bytes.length, last.log.newest + count) === 'ok'
  if (last !== undefined && tick < last.first + last.log.newest) return false
  const log = new TickLog()
  if (log.receive(bytes, 0, bytes.length, count) !== 'ok') return false
  stretches.push({ first: tick, log })
  return true
}
