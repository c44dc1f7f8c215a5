/**
 * The frame that the peers of a mesh send to each other: where the sender stands, what it has of the others, and
 * batches.
 *
 * ```
 * flags 8 │ position varint │ need varint │ executed varint │ pulse 16 │ peers │ runs
 *
 * flags     0
 * position  the window clock of the sender, in 1/1024 of a tick; 0: the match has not begun
 * need      how late batches arrive at the sender, in microseconds
 * executed  the newest tick that the sender has stepped; 0: none
 * pulse     16 bits of the state after that tick
 * peers     count 8 │ player 8 │ state 8 │ held varint │ if removed: reason 8 │ newest varint, each
 * runs      count 8 │ owner 8 │ last varint │ offset varint │ length varint │ bytes, each
 * ```
 *
 * `peers` are the players other than the sender, ascending. State: bit 0, the sender receives this player's frames. Bit
 * 1, the sender considers the player removed, and has its batches up to tick `newest`. `held`: how many bytes of the
 * player's log the sender has.
 *
 * A run is a piece of the log of its owner: one batch per tick, in the format of ticks (`tick-body.ts`). `last` is the
 * newest tick that ends within the piece or before it.
 */

import { LOCKSTEP_FRAME_BYTES_MAX, MESH_PLAYERS_MAX } from '../base/limits.ts'
import type { PeerId, Tick } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import { varintBytes } from './leb128.ts'
import { END_REASONS } from './tick-event.ts'
import type { TickLog } from './tick-log.ts'

/** Units of a position per tick. */
export const POSITION_UNITS = 1024

const HEARS = 1
const REMOVED = 2
const PULSE_BITS = 16

/** What a frame says about one player. */
export interface MeshPeerReport {
  player: PeerId
  isReceived: boolean
  /** Bytes of the player's log that the sender has. */
  held: number
  /** Whether the sender considers the player removed, why, and which batch of the player is the newest. */
  isRemoved: boolean
  reason: number
  newest: Tick
}

/** The part of a frame before the runs. Reused for every frame. */
export class MeshHead {
  position = 0
  needUs = 0
  executed: Tick = 0
  pulse = 0
  peerCount = 0
  readonly peers: readonly MeshPeerReport[] = Array.from({ length: MESH_PLAYERS_MAX - 1 }, () => ({
    player: 0, isReceived: false, held: 0, isRemoved: false, reason: 0, newest: 0,
  }))
  runCount = 0

  write(out: BitWriter): void {
    out.writeBits(0, 8)
    writeVarint(out, this.position)
    writeVarint(out, this.needUs)
    writeVarint(out, this.executed)
    out.writeBits(this.pulse, PULSE_BITS)
    out.writeBits(this.peerCount, 8)
    for (let each = 0; each < this.peerCount; each++) {
      const { player, isReceived, held, isRemoved, reason, newest } = this.peers[each]
      out.writeBits(player, 8)
      out.writeBits((isReceived ? HEARS : 0) | (isRemoved ? REMOVED : 0), 8)
      writeVarint(out, held)
      if (!isRemoved) continue
      out.writeBits(reason, 8)
      writeVarint(out, newest)
    }
    out.writeBits(this.runCount, 8)
  }

  /** On invalid input the reader has failed. */
  read(reader: BitReader): void {
    if (reader.readBits(8) !== 0) reader.fail()
    this.position = readVarint(reader)
    this.needUs = readVarint(reader)
    this.executed = readVarint(reader)
    this.pulse = reader.readBits(PULSE_BITS)
    this.peerCount = reader.readBits(8)
    if (this.peerCount > this.peers.length) reader.fail()
    let before = 0
    for (let each = 0; each < this.peerCount && !reader.failed; each++) {
      const report = this.peers[each]
      report.player = reader.readBits(8)
      const state = reader.readBits(8)
      report.isReceived = (state & HEARS) !== 0
      report.isRemoved = (state & REMOVED) !== 0
      report.held = readVarint(reader)
      report.reason = report.isRemoved ? reader.readBits(8) : 0
      report.newest = report.isRemoved ? readVarint(reader) : 0
      if (state > (HEARS | REMOVED) || report.player <= before || report.player > MESH_PLAYERS_MAX) reader.fail()
      if (report.reason >= END_REASONS.length) reader.fail()
      before = report.player
    }
    this.runCount = reader.readBits(8)
    if (this.runCount > MESH_PLAYERS_MAX) reader.fail()
    if (reader.failed) this.peerCount = this.runCount = 0
  }
}

/** A piece of a log. Reused for every run. */
export class MeshRun {
  owner: PeerId = 0
  last: Tick = 0
  offset = 0
  length = 0
  readonly bytes: Uint8Array = new Uint8Array(LOCKSTEP_FRAME_BYTES_MAX)

  /** Writes as much of a log from `from` on as `roomBytes` allow. Returns the end of the piece; `from`: none fits. */
  write(out: BitWriter, owner: PeerId, log: TickLog, from: number, roomBytes: number): number {
    const end = log.endOf(log.newest)
    const head = 1 + varintBytes(log.newest) + varintBytes(from) + 2
    const count = Math.min(end - from, roomBytes - head)
    if (count <= 0) return from
    out.writeBits(owner, 8)
    writeVarint(out, from + count === end ? log.newest : log.tickAt(from + count))
    writeVarint(out, from)
    writeVarint(out, count)
    out.copyBits(log.bytes, from * 8, count * 8)
    return from + count
  }

  /** On invalid input the reader has failed. */
  read(reader: BitReader): void {
    this.owner = reader.readBits(8)
    this.last = readVarint(reader)
    this.offset = readVarint(reader)
    this.length = readVarint(reader)
    const isFitting = this.length > 0 && this.length <= LOCKSTEP_FRAME_BYTES_MAX
    if (!isFitting || this.owner === 0 || this.owner > MESH_PLAYERS_MAX) reader.fail()
    if (reader.failed) this.length = 0
    else reader.readBytes(this.bytes, 0, this.length)
  }
}
