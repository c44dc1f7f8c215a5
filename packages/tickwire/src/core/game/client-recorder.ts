/**
 * Records what a client saw: its predictions, what it was told, what its player held, its packets in the clear, and every
 * misprediction. Into the container of all recordings, so that the same tools read it.
 *
 *   const ring = new RecordingRing()
 *   const recorder = new ClientRecorder(host, ring)      from now on, until recorder.close()
 *   ring.save()                                          the last minute, as a file
 *
 *   rows            the world as it was first predicted, tick by tick: only what is simulated here
 *   told rows       the world as it was told, each tick written once later ones have come and its stragglers had time to
 *   inputs          what the player held, by tick
 *   opened packets  header and body of every packet, both ways, without its seal
 *   notes           mispredictions, as JSON
 *
 * It is an onlooker: the client does not know of it.
 */

import { RECORDING_FLUSH_MS, RECORDING_KEY_MS } from '../base/limits.ts'
import type { Millis, ObjectId, Tick } from '../base/time.ts'
import type { PacketHeader } from '../packet/header.ts'
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
import { describeMistake } from './mistake-text.ts'
import type { Onlooker } from './onlookers.ts'
import { ToldWorld } from './told-world.ts'

/** Rows of a tick are written when so much more has been heard: late packets have had their time. */
const STRAGGLERS_MS = 250
const NO_TICK = -1

/** Rows of one world, tick after tick. */
class RowsTrack {
  readonly rows: RowsWriter
  lastTick: Tick = NO_TICK
  /** The next tick is a key: the other track has just written one, and who forgets up to there needs both. */
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

  /** Takes in the tick that the world is at. `flush` writes what waits: a key begins a chunk. True when it was one. */
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

export class ClientRecorder implements Onlooker {
  isClosed = false
  readonly #host: ClientHost<Shape>
  readonly #writer: RecordingWriter
  readonly #toldWorld: ToldWorld
  readonly #told: RowsTrack
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
    this.#writer = new RecordingWriter({
      codec: CODEC[codec], fields: 'everything', tickRate: game.tickRate, fingerprint: game.fingerprint, startedAt, text: game.text, names,
    }, sink)
    this.#toldWorld = new ToldWorld(host)
    this.#told = new RowsTrack(this.#toldWorld.world, game.tickRate, this.#keyTicks, codec, CHUNK.toldRows)
    this.#stop = host.look(this)
    // Who rests may be told of no more: he is seated while his last row is still at hand.
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
    if (this.#predicted.add(() => this.flush())) this.#told.isKeyDue = true
    this.#inputs.endTick(world.tick)
    if (world.tick - this.#flushedTick >= this.#flushTicks) this.flush()
  }

  handleMistake(
    tick: Tick, type: number, id: ObjectId, predictedRows: Int32Array, predictedAt: number, toldRows: Int32Array, toldAt: number,
  ): void {
    const mistake = describeMistake(this.#host, tick, type, id, predictedRows, predictedAt, toldRows, toldAt)
    if (mistake !== undefined) this.#notes.add(this.#tick(), 'mispredicted', this.#host.peer, JSON.stringify(mistake, plain))
  }

  /** Writes what waits. */
  flush(): void {
    this.#flushRows(this.#told.rows)
    if (this.#predicted !== undefined) this.#flushRows(this.#predicted.rows)
    if (this.#inputs.count > 0) this.#writer.write(this.#inputs.seal())
    this.#inputs.clear()
    this.#write(this.#packets.chunk)
    this.#write(this.#notes.chunk)
    this.#flushedTick = this.#tick()
  }

  /** Ends the recording. Whoever gave the sink closes it. */
  close(): void {
    if (this.isClosed) return
    this.#catchUp(this.#host.serverTick)
    this.flush()
    this.isClosed = true
    this.#stop()
    this.#writer.close(Math.max(this.#tick(), 0))
    this.#told.drop()
    this.#predicted?.drop()
  }

  /** Which tick things are noted under: that of the prediction, or what was heard. */
  #tick(): Tick {
    return Math.max(this.#predicted?.lastTick ?? this.#host.serverTick, 0)
  }

  #catchUp(last: Tick): void {
    if (last < 0) return
    // Of a tick that is heard of without rows nothing changed; what lies further back than the Timeline remembers cannot be told.
    const { confirmed } = this.#host
    const from = Math.max(this.#told.lastTick + 1, this.#told.lastTick < 0 ? last : confirmed.newest - confirmed.windowTicks + 1)
    for (let tick = from; tick <= last; tick++) {
      this.#toldWorld.bringTo(tick)
      this.#told.add(() => this.flush())
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

/** What JSON has no form for. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  return value instanceof Uint8Array ? [...value] : value
}
