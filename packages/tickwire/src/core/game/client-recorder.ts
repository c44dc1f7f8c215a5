/**
 * Records a client: its predictions, the rows it received, its player's inputs, its decrypted packets, and every
 * misprediction. The container is that of all recordings, so the same tools read it.
 *
 *   const ring = new RecordingRing()
 *   const recorder = new ClientRecorder(host, ring)      from now on, until recorder.close()
 *   ring.save()                                          the last minute, as a file
 *
 *   rows            the world as first predicted, tick by tick: only the objects simulated here
 *   received rows   the world as received; a tick is written after a delay, so that late packets are included
 *   inputs          the player's input, by tick
 *   opened packets  header and body of every packet, both directions, without the authentication tag
 *   notes           mispredictions, as JSON
 *
 * It is a passive observer (`ClientObserver`): the client does not depend on it.
 */

import { RECORDING_FLUSH_MS, RECORDING_KEY_MS } from '../base/limits.ts'
import type { Millis, Tick } from '../base/time.ts'
import type { PacketHeader } from '../packet/header.ts'
import type { MistakeListener } from '../predict/predictor-options.ts'
import { CHUNK } from '../replay/chunk.ts'
import type { ChunkBuffer } from '../replay/chunk-buffer.ts'
import { InputsWriter } from '../replay/inputs-track.ts'
import { NotesWriter } from '../replay/notes-track.ts'
import { PacketsWriter } from '../replay/packets-track.ts'
import { CODEC, type RecordingCodec } from '../replay/recording-head.ts'
import { RecordingWriter, type RecordingSink } from '../replay/recording-writer.ts'
import { RowsWriter, timelineTicksFor } from '../replay/rows-writer.ts'
import type { Shape } from '../schema/field.ts'
import { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'
import type { ClientHost } from './client-host.ts'
import { describeMistake, mistakeToJson } from './mistake-text.ts'
import type { ClientObserver } from './client-observers.ts'
import { ReceivedWorld } from './received-world.ts'

/** A tick is written when ticks this much newer have been received, so that late packets are included. */
const STRAGGLERS_MS = 250
const NO_TICK = -1

/** The rows of one world, tick by tick. */
class RowsTrack {
  readonly rows: RowsWriter
  lastTick: Tick = NO_TICK
  /**
   * The next tick must be a key frame, because the predicted track has just written one: a ring that discards older
   * chunks needs key frames in both tracks.
   */
  isKeyDue = false
  readonly #world: World
  readonly #timeline: Timeline
  readonly #keyTicks: number
  #keyTick: Tick = NO_TICK

  constructor(world: World, tickRate: number, keyTicks: number, codec: RecordingCodec, type: number) {
    this.#world = world
    this.#keyTicks = keyTicks
    this.#timeline = new Timeline(world, timelineTicksFor(codec))
    this.rows = new RowsWriter(world, this.#timeline, 'everything', tickRate, codec, type)
  }

  /**
   * Adds the world's current tick. Calls `flush` before a key frame, which starts a chunk. Returns whether it was a key
   * frame.
   */
  add(flush: () => void): boolean {
    const { tick } = this.#world
    if (tick <= this.lastTick) return false
    const isGap = tick !== this.lastTick + 1
    const isKey = isGap || this.isKeyDue || this.#keyTick === NO_TICK || tick >= this.#keyTick + this.#keyTicks
    this.isKeyDue = false
    if (isKey) flush()
    if (isGap) this.#timeline.truncate(NO_TICK)
    this.#timeline.sample()
    this.lastTick = tick
    const isIn = this.rows.append(isKey)
    if (!isIn) this.#keyTick = NO_TICK
    else if (isKey) this.#keyTick = tick
    return isKey
  }

  drop(): void {
    this.#world.dropValuesOf(this.#timeline)
  }
}

/** Records what a client received, predicted, sent and mispredicted. */
export class ClientRecorder implements ClientObserver {
  /** Whether `close` was called. */
  isClosed = false
  readonly #host: ClientHost<Shape>
  readonly #writer: RecordingWriter
  readonly #receivedWorld: ReceivedWorld
  readonly #received: RowsTrack
  #predicted: RowsTrack | undefined = undefined
  readonly #inputs: InputsWriter
  readonly #packets = new PacketsWriter(CHUNK.openedPackets)
  readonly #notes = new NotesWriter()
  readonly #stop: () => void
  readonly #flushTicks: number
  readonly #keyTicks: number
  readonly #stragglerTicks: number
  readonly #codec: RecordingCodec
  #flushedTick: Tick = NO_TICK

  constructor(host: ClientHost<Shape>, sink: RecordingSink, startedAt = 0, codec: RecordingCodec = 'packed') {
    const { game } = host
    this.#host = host
    this.#flushTicks = ticksOf(RECORDING_FLUSH_MS, game.tickRate)
    this.#keyTicks = ticksOf(RECORDING_KEY_MS, game.tickRate)
    this.#stragglerTicks = ticksOf(STRAGGLERS_MS, game.tickRate)
    this.#codec = codec
    this.#inputs = new InputsWriter(game.inputSchema)
    const names = game.entities.map(({ schema, options: { name } }, type) => name ?? `${schema.name} ${type}`)
    this.#writer = new RecordingWriter(
      {
        codec: CODEC[codec],
        fields: 'everything',
        tickRate: game.tickRate,
        fingerprint: game.fingerprint,
        startedAt,
        text: game.text,
        names,
      },
      sink,
    )
    this.#receivedWorld = new ReceivedWorld(host)
    this.#received = new RowsTrack(this.#receivedWorld.world, game.tickRate, this.#keyTicks, codec, CHUNK.receivedRows)
    this.#stop = host.look(this)
    // An unchanged object may never be sent again, so it is added now, while its last row is still available.
    this.#catchUp(host.serverTick - this.#stragglerTicks)
  }

  handleReceived(now: Millis, _header: PacketHeader, bytes: Uint8Array, length: number): void {
    this.#catchUp(this.#host.serverTick - this.#stragglerTicks)
    this.#packets.add(this.#tick(), now, 'received', this.#host.peer, bytes, length)
  }

  handleSent(now: Millis, _header: PacketHeader, bytes: Uint8Array, _bodyAt: number, length: number): void {
    this.#packets.add(this.#tick(), now, 'sent', this.#host.peer, bytes, length)
  }

  handleStepped(world: World): void {
    const { play } = this.#host.insides
    this.#predicted ??= new RowsTrack(world, this.#host.game.tickRate, this.#keyTicks, this.#codec, CHUNK.rows)
    const { ring } = play.inputs
    const held = ring.latest(world.tick)
    if (held >= 0) this.#inputs.hold(this.#host.peer, ring.rows, ring.at(held), play.table.heap, held !== world.tick)
    if (this.#predicted.add(() => this.flush())) this.#received.isKeyDue = true
    this.#inputs.endTick(world.tick)
    if (world.tick - this.#flushedTick >= this.#flushTicks) this.flush()
  }

  handleMistake(...facts: Parameters<MistakeListener>): void {
    const mistake = describeMistake(this.#host, ...facts)
    if (mistake !== undefined)
      this.#notes.add(this.#tick(), 'mispredicted', this.#host.peer, mistakeToJson(mistake))
  }

  /** Writes all buffered chunks. */
  flush(): void {
    this.#flushRows(this.#received.rows)
    if (this.#predicted !== undefined) this.#flushRows(this.#predicted.rows)
    if (this.#inputs.count > 0) this.#writer.write(this.#inputs.seal())
    this.#inputs.clear()
    this.#write(this.#packets.chunk)
    this.#write(this.#notes.chunk)
    this.#flushedTick = this.#tick()
  }

  /** Ends the recording. The caller that supplied the sink closes it. */
  close(): void {
    if (this.isClosed) return
    this.#catchUp(this.#host.serverTick)
    this.flush()
    this.isClosed = true
    this.#stop()
    this.#writer.close(Math.max(this.#tick(), 0))
    this.#received.drop()
    this.#predicted?.drop()
  }

  /** The tick that packets and notes are filed under: the predicted tick, or the newest server tick. */
  #tick(): Tick {
    return Math.max(this.#predicted?.lastTick ?? this.#host.serverTick, 0)
  }

  #catchUp(last: Tick): void {
    if (last < 0) return
    // A received tick without rows means that nothing changed. Ticks older than the Timeline's window cannot be
    // reconstructed.
    const { confirmed } = this.#host
    const from = Math.max(
      this.#received.lastTick + 1,
      this.#received.lastTick < 0 ? last : confirmed.newest - confirmed.windowTicks + 1,
    )
    for (let tick = from; tick <= last; tick++) {
      this.#receivedWorld.bringTo(tick)
      this.#received.add(() => this.flush())
    }
  }

  #flushRows(rows: RowsWriter): void {
    if (rows.count > 0) this.#writer.write(rows.seal())
    rows.clear()
  }

  #write(chunk: ChunkBuffer): void {
    if (chunk.isEmpty) return
    this.#writer.write(chunk.seal())
    chunk.clear()
  }
}

function ticksOf(ms: Millis, tickRate: number): number {
  return Math.max(1, Math.round((ms * tickRate) / 1000))
}
