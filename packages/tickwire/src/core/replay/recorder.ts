/**
 * Records a match as it is played: rows of the world, inputs, packets and notes, into one container.
 *
 *   const recorder = new Recorder(game, world, { sink })
 *   recorder.tick()                 after every tick of the world
 *   recorder.close()                at the end
 *
 * Recorded data waits for at most `flushMs` of ticks and is then written, each kind as a chunk of its own. A crash
 * loses only the data that was waiting. Every `keyMs` a key, from which a reader can begin, and an index are written.
 *
 * A tick costs what changed in it; memory is allocated only at a flush. The recorder never throws on its input and
 * never delays the match: a sink that refuses, or a tick that is too large, causes a gap until the next key, and is
 * counted.
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

/** What a recorder needs to know of a game: a `Game` has it. */
export interface RecordableGame extends RecordedGame {
  /** Ticks per second. */
  readonly tickRate: number
  /** Everything that two builds must agree on, as text. */
  readonly text: string
  readonly fingerprint: Uint8Array
  /** The fields of an input. */
  readonly inputSchema: Schema
}

/** Where a match is recorded to, and how. */
export interface RecorderOptions {
  /** Receives the bytes. */
  readonly sink: RecordingSink
  /**
   * The world's dense Timeline, if the host samples one before `tick`. Rows are recorded as that Timeline has them,
   * with rate-limited fields held back. Without it the recorder uses a small Timeline of its own, with rows as they
   * are.
   */
  readonly timeline?: Timeline
  /** Which fields: `everything` to simulate the match again, fewer to show it to people. Default: everything. */
  readonly fields?: RecordedFields
  /**
   * The encoding of rows: `packed`, by rules that fit on a page; or `entropy`, in about half the bytes and twice the
   * time, with tables that its readers must have. Default: packed.
   */
  readonly codec?: RecordingCodec
  /** How long recorded data may wait before it is written. Default: 500. */
  readonly flushMs?: Millis
  /** The time between two keys, the ticks at which playback can begin. Default: 1000. */
  readonly keyMs?: Millis
  /** The time of the recording in seconds since 1970, for display. Default: 0, not known. */
  readonly startedAt?: number
  /** The clock of `packet`, in ms. Default: that of the ticks. */
  readonly now?: () => Millis
}

const NO_TICK = -1

/** Records a match tick by tick. */
export class Recorder {
  /** Ticks in the recording. */
  tickCount = 0
  /** Ticks that are missing because they were too large or the sink refused them. */
  lostTicks = 0
  /** Whether `close` was called. */
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
  readonly #now: () => Millis
  readonly #flushTicks: number
  readonly #keyTicks: number
  #lastTick: Tick = NO_TICK
  #keyTick: Tick = NO_TICK
  #flushedTick: Tick = NO_TICK

  constructor(game: RecordableGame, world: World, options: RecorderOptions) {
    const {
      sink,
      timeline,
      fields = 'everything',
      codec = 'packed',
      flushMs = RECORDING_FLUSH_MS,
      keyMs = RECORDING_KEY_MS,
      startedAt = 0,
      now = () => (world.tick * 1000) / game.tickRate,
    } = options
    this.#flushTicks = ticksOf('flushMs', flushMs, game.tickRate)
    this.#keyTicks = ticksOf('keyMs', keyMs, game.tickRate)
    if (!Number.isSafeInteger(startedAt) || startedAt < 0)
      throw new ConfigError(
        'startedAt',
        `invalid time (expected whole seconds since 1970, got ${startedAt})`,
        'give whole seconds, or leave it out.',
      )
    this.#world = world
    this.#now = now
    this.#ring = sink instanceof RecordingRing ? sink : undefined
    this.#timeline = timeline ?? new Timeline(world, timelineTicksFor(codec))
    this.#isOwnTimeline = timeline === undefined
    this.#rows = new RowsWriter(world, this.#timeline, fields, game.tickRate, codec)
    this.#inputs = new InputsWriter(game.inputSchema)
    const names = game.entities.map(({ schema, options: { name } }, type) => name ?? `${schema.name} ${type}`)
    this.#writer = new RecordingWriter(
      {
        codec: CODEC[codec],
        fields,
        tickRate: game.tickRate,
        fingerprint: game.fingerprint,
        startedAt,
        text: game.text,
        names,
      },
      sink,
    )
  }

  /** The ring's content as the bytes of a recording, when recording into a ring; otherwise undefined. */
  save(): Uint8Array | undefined {
    this.flush()
    return this.#ring?.save()
  }

  /** Bytes written. */
  get sizeBytes(): number {
    return this.#writer.size
  }

  /** Chunks that the sink refused. */
  get refusedCount(): number {
    return this.#writer.refusedCount
  }

  /** The input of a player for the current tick. A player without a call before `tick` has no input in it. @hot */
  input(peer: PeerId, rows: Int32Array, at: number, heap: ValueStore, isMissing: boolean): void {
    this.#inputs.hold(peer, rows, at, heap, isMissing)
  }

  /** A datagram that was sent or received. */
  packet(way: PacketWay, peer: PeerId, bytes: Uint8Array, length: number): void {
    this.#packets.add(this.#world.tick, this.#now(), way, peer, bytes, length)
  }

  /** An event: a player joined, left and why, a message, a mark of your own. */
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

  /** Writes all waiting data. */
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

  /** Ends the recording. The caller closes the sink. */
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
  if (!(ms > 0 && ms <= 60_000))
    throw new ConfigError(
      path,
      `invalid time (expected above 0 and at most 60,000 ms, got ${ms})`,
      'give a time in this range.',
    )
  return Math.max(1, Math.round((ms * tickRate) / 1000))
}
