/**
 * Datagrams that were sent and received, as the body of a packets chunk. All of it is whole bytes.
 *
 *   body     first time, microseconds, varint | packet | packet | …
 *   packet   microseconds since the packet before, varint | peer x 2 + way, varint | length varint | bytes
 *
 * Way is 0 for sent, 1 for received. Times are those of the recorder's clock. The bytes are those of the transport:
 * sealed, on every network.
 */

import { RECORDING_ENTRY_BYTES_MAX } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { readBytes } from '../bits/blob.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import { CHUNK } from './chunk.ts'
import { ChunkBuffer } from './chunk-buffer.ts'

/** The direction of a recorded packet, seen from the recording process. */
export type PacketWay = 'sent' | 'received'

/** A packet of a recording. */
export interface RecordedPacket {
  /** When it was sent or received, in ms of the recording process's clock. */
  readonly timeMs: Millis
  /** Its direction. */
  readonly way: PacketWay
  /** The player at the other end. */
  readonly peer: PeerId
  /** The packet. */
  readonly bytes: Uint8Array
}

const MICROS = 1000

export class PacketsWriter {
  readonly chunk: ChunkBuffer
  /** Packets that did not fit. */
  lostCount = 0
  #lastMicros = 0

  /** `type` of its chunks: sealed datagrams, or decrypted packets. */
  constructor(type: number = CHUNK.packets) {
    this.chunk = new ChunkBuffer(type)
  }

  add(tick: Tick, now: Millis, way: PacketWay, peer: PeerId, bytes: Uint8Array, length: number): void {
    const { chunk } = this
    const micros = Math.max(0, Math.round(now * MICROS))
    const isFirst = chunk.isEmpty
    if (isFirst) chunk.tick = tick
    if (length > RECORDING_ENTRY_BYTES_MAX) {
      this.lostCount++
      return
    }
    let said: ReturnType<ChunkBuffer['keep']>
    do {
      chunk.mark()
      const { writer } = chunk
      if (isFirst) writeVarint(writer, micros)
      // If the clock goes back, the difference is recorded as 0.
      writeVarint(writer, isFirst ? 0 : Math.max(0, micros - this.#lastMicros))
      writeVarint(writer, peer * 2 + (way === 'sent' ? 0 : 1))
      writeVarint(writer, length)
      writer.copyBits(bytes, 0, length * 8)
      said = chunk.keep()
    } while (said === 'again')
    if (said === 'kept') this.#lastMicros = isFirst ? micros : Math.max(micros, this.#lastMicros)
    else this.lostCount++
  }
}

/** The packets of a body, or undefined when it is invalid. */
export function readPackets(body: Uint8Array): RecordedPacket[] | undefined {
  const reader = new BitReader(body)
  const packets: RecordedPacket[] = []
  let micros = readVarint(reader)
  while (reader.bitsLeft > 0) {
    micros += readVarint(reader)
    const who = readVarint(reader)
    const bytes = readBytes(reader, RECORDING_ENTRY_BYTES_MAX)
    packets.push({
      timeMs: micros / MICROS,
      way: who % 2 === 0 ? 'sent' : 'received',
      peer: Math.floor(who / 2),
      bytes,
    })
  }
  return reader.failed ? undefined : packets
}
