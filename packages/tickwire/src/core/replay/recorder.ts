/**
 * Records a match as it is played: rows of the world, inputs, packets and notes, into one container.
 *
 *   const recorder = new Recorder(game, world, { sink })
 *   recorder.tick()                 after every tick of the world
 *   recorder.close()                at the end
 *
 * What was recorded waits for at most `flushMs` of ticks and is then written, each kind as a chunk of its own. A crash
 * takes what was waiting and no more. Every `keyMs` a key is written, from which a reader can begin, and an index.
 *
 * A tick costs what changed in it; nothing is allocated but at a flush. It never throws at what it is fed, and never holds
 * the match up: a sink that refuses, or a tick too large, costs a gap until the next key, and is counted.
 */

import { ConfigError } from '../base/assert.ts'
import { RECORDING_FLUSH_MS, RECORDING_KEY_MS } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueStore } from '../schema/values.ts'
import { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import type { ChunkBuffer } from './chunk-buffer.ts'
import { InputsWriter } from './inputs-track.ts'
import { NotesWriter, type NoteKind } from './notes-track.ts'
import { PacketsWriter, type PacketWay } from './packets-track.ts'
import { CODEC, type RecordedFields, type RecordingCodec } from './recording-head.ts'
import { RecordingRing } from './recording-ring.ts'
import { RecordingWriter, type RecordingSink } from './recording-writer.ts'
import type { RecordedGame } from './playback.ts'
import { RowsWriter, timelineTicksFor } from './rows-writer.ts'

/** What a recorder must know of a game: a `Game` is one. */
export interface RecordableGame extends RecordedGame {
  readonly tickRate: number
  readonly text: string
  readonly fingerprint: Uint8Array
  readonly inputSchema: Schema
}

export interface RecorderOptions {
  readonly sink: RecordingSink
  /**
   * The world's dense Timeline, where somebody samples one before `tick`: rows are recorded as it has them, fields with a
   * rate held back. Without it the recorder has a small one of its own, with rows as they are.
   */
  readonly timeline?: Timeline
  /** Which fields: `everything` to play the match again, less to show it to people. Default: everything. */
  readonly fields?: RecordedFields
  /**
   * How rows are written: `packed`, by rules that fit on a page, or `entropy`, in about half the bytes and twice the time, by tables that
   * its readers must have.
   * Default: packed.
   */
  readonly codec?: RecordingCodec
  /** How long what was recorded may wait. */
  readonly flushMs?: Millis
  /** How far apart the ticks are that playback can begin at. */
  readonly keyMs?: Millis
  /** Seconds since 1970: when it was, for people. */
  readonly startedAt?: number
}

const NO_TICK = -1

export class Recorder {
  /** Ticks that are in the recording. */
  tickCount = 0
  /** Ticks that are not, because they were too large or nobody took them. */
  lostTicks = 0
  isClosed = false
  readonly #world: World
  readonly #timeline: Timeline
  readonly #isOwnTimeline: boolean
  readonly #writer: RecordingWriter
  readonly #ring: RecordingRing | undefined
  readonly #rows: RowsWriter
  readonly #inputs: InputsWriter
  readonly #packets = new PacketsWriter()
  readonly #notes = new NotesWriter()
  readonly #flushTicks: number
  readonly #keyTicks: number
  #lastTick: Tick = NO_TICK
  #keyTick: Tick = NO_TICK
  #flushedTick: Tick = NO_TICK

  constructor(game: RecordableGame, world: World, options: RecorderOptions) {
    const { sink, timeline, fields = 'everything', codec = 'packed', flushMs = RECORDING_FLUSH_MS, keyMs = RECORDING_KEY_MS, startedAt = 0 } = options
    this.#flushTicks = ticksOf('flushMs', flushMs, game.tickRate)
    this.#keyTicks = ticksOf('keyMs', keyMs, game.tickRate)
    if (!Number.isSafeInteger(startedAt) || startedAt < 0) throw new ConfigError('startedAt', `${startedAt}`, 'Give whole seconds since 1970, or leave it out.')
    this.#world = world
    this.#ring = sink instanceof RecordingRing ? sink : undefined
    this.#timeline = timeline ?? new Timeline(world, timelineTicksFor(codec))
    this.#isOwnTimeline = timeline === undefined
    this.#rows = new RowsWriter(world, this.#timeline, fields, game.tickRate, codec)
    this.#inputs = new InputsWriter(game.inputSchema)
    const names = game.entities.map(({ schema, options: { name } }, type) => name ?? `${schema.name} ${type}`)
    this.#writer = new RecordingWriter(
      { codec: CODEC[codec], fields, tickRate: game.tickRate, fingerprint: game.fingerprint, startedAt, text: game.text, names }, sink)
  }

  /** What is remembered, as the bytes of a recording, where it is recorded into a ring; undefined elsewhere. */
  save(): Uint8Array | undefined {
    this.flush()
    return this.#ring?.save()
  }

  /** Bytes written. */
  get sizeBytes(): number {
    return this.#writer.size
  }

  /** Chunks that the sink would not take. */
  get refusedCount(): number {
    return this.#writer.refusedCount
  }

  /** What a player holds in the tick that is being stepped. Who is not named before `tick` holds nothing in it. @hot */
  input(peer: PeerId, rows: Int32Array, at: number, heap: ValueStore, isMissing: boolean): void {
    this.#inputs.hold(peer, rows, at, heap, isMissing)
  }

  /** A datagram that came or went. */
  packet(now: Millis, way: PacketWay, peer: PeerId, bytes: Uint8Array, length: number): void {
    this.#packets.add(this.#world.tick, now, way, peer, bytes, length)
  }

  /** Something that happened: who came, who went and why, what was said, a mark of your own. */
  note(kind: NoteKind, peer: PeerId, said: string | Uint8Array = ''): void {
    this.#notes.add(this.#world.tick, kind, peer, said)
  }

  /** Records the tick that has ended. */
  tick(): void {
    const { tick } = this.#world
    if (this.isClosed || tick <= this.#lastTick) return
    const isGap = tick !== this.#lastTick + 1 || this.#keyTick === NO_TICK
    if (isGap) this.flush()
    this.#sample(isGap)
    const isKey = isGap || tick >= this.#keyTick + this.#keyTicks
    if (isKey && !isGap) this.flush()
    this.#lastTick = tick
    if (isKey) this.#writer.writeIndex()
    if (this.#rows.append(isKey)) {
      if (isKey) this.#keyTick = tick
    } else {
      this.lostTicks++
      this.#keyTick = NO_TICK
    }
    this.#inputs.endTick(tick)
    if (tick - this.#flushedTick >= this.#flushTicks || this.#rows.isFull) this.flush()
  }

  /** Writes what waits. */
  flush(): void {
    const { count } = this.#rows
    if (count > 0) {
      if (this.#writer.write(this.#rows.seal())) {
        this.tickCount += count
      } else {
        this.lostTicks += count
        this.#keyTick = NO_TICK
      }
      this.#rows.clear()
    }
    if (this.#inputs.count > 0) this.#writer.write(this.#inputs.seal())
    this.#inputs.clear()
    this.#write(this.#packets.chunk)
    this.#write(this.#notes.chunk)
    this.#flushedTick = this.#lastTick
  }

  /** Ends the recording. Whoever gave the sink closes it. */
  close(): void {
    if (this.isClosed) return
    this.flush()
    this.isClosed = true
    this.#writer.close(Math.max(this.#lastTick, 0))
    if (this.#isOwnTimeline) this.#world.dropValuesOf(this.#timeline)
  }

  #sample(isGap: boolean): void {
    if (!this.#isOwnTimeline) return
    if (isGap) this.#timeline.truncate(NO_TICK)
    this.#timeline.sample()
  }

  #write(chunk: ChunkBuffer): void {
    if (chunk.isEmpty) return
    this.#writer.write(chunk.seal())
    chunk.clear()
  }
}

function ticksOf(path: string, ms: Millis, tickRate: number): number {
  if (!(ms > 0 && ms <= 60_000)) throw new ConfigError(path, `${ms} ms`, 'Give more than 0 and at most 60,000.')
  return Math.max(1, Math.round((ms * tickRate) / 1000))
}
