/**
 * The engine's own reading and writing of packets, in the words of `packet-checker.ts`, so that the two can be held
 * against each other and against the vectors.
 */

import type { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import type { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { closeReasonFromByte, closeReasonToByte } from '../../packages/tickwire/src/core/connection/close-reason.ts'
import type { CloseReason } from '../../packages/tickwire/src/core/connection/close-reason.ts'
import {
  HandshakeMessage, readHandshake, writeAccepted, writeRejected, writeRequest,
} from '../../packages/tickwire/src/core/connection/handshake.ts'
import { AckBlock } from '../../packages/tickwire/src/core/packet/ack-block.ts'
import type { FrameSink, FrameSource } from '../../packages/tickwire/src/core/packet/frame-source.ts'
import { PACKET_TYPE, PROTOCOL_VERSION, PacketHeader, readHeader, writeHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import { PacketBuilder } from '../../packages/tickwire/src/core/packet/packet-builder.ts'
import { PacketReader } from '../../packages/tickwire/src/core/packet/packet-reader.ts'
import type { Meaning } from './packet-checker.ts'

/** What the engine takes `bytes` for; undefined when it refuses them. */
export function engineReads(bytes: Uint8Array): Meaning | undefined {
  const header = new PacketHeader()
  if (readHeader(bytes, bytes.length, header) !== 'ok') return undefined
  const { version, epoch, sequence, byteLength: at } = header
  const head = { version, connection: hex64(header.idLo, header.idHi), epoch, sequence }
  const isOurs = version === PROTOCOL_VERSION
  if (header.type === PACKET_TYPE.handshake) {
    const message = new HandshakeMessage()
    const kind = readHandshake(header, bytes, bytes.length, message)
    if (kind === 'malformed' || (kind === 'request' && !isOurs)) return undefined
    const salt = hex64(message.saltLo, message.saltHi)
    if (kind === 'request') return { is: kind, ...head, salt, fingerprint: hex(message.fingerprint), user: hex(message.bytes) }
    if (kind === 'accepted') return { is: kind, ...head, salt, welcome: hex(message.bytes) }
    const reason = closeReasonFromByte(message.reason)
    return reason === undefined ? undefined : { is: kind, ...head, salt, reason: reason.code }
  }
  if (!isOurs || header.type > PACKET_TYPE.disconnect) return undefined
  if (header.type === PACKET_TYPE.disconnect) {
    const reason = bytes.length === at + 1 ? closeReasonFromByte(bytes[at]!) : undefined
    return reason === undefined ? undefined : { is: 'disconnect', ...head, reason: reason.code }
  }
  return readBody(bytes, header, head)
}

/** The bytes the engine writes for `meaning`. */
export function engineWrites(meaning: Meaning): Uint8Array {
  const out = new Uint8Array(1500)
  const [idLo, idHi] = split(meaning.connection)
  const header = Object.assign(new PacketHeader(), {
    version: meaning.version, idLo, idHi, epoch: meaning.epoch, sequence: meaning.sequence,
  })
  switch (meaning.is) {
    case 'request': return out.slice(0, writeRequest(out, ...split(meaning.salt), unhex(meaning.fingerprint), unhex(meaning.user)))
    case 'accepted': return out.slice(0, writeAccepted(out, idLo, idHi, ...split(meaning.salt), unhex(meaning.welcome)))
    case 'rejected': return out.slice(0, writeRejected(out, ...split(meaning.salt), byteOf(meaning.reason)))
    case 'disconnect': {
      header.type = PACKET_TYPE.disconnect
      const at = writeHeader(header, out)
      out[at] = byteOf(meaning.reason)
      return out.slice(0, at + 1)
    }
    default: {
      header.type = PACKET_TYPE[meaning.is]
      const builder = new PacketBuilder()
      builder.begin(out, writeHeader(header, out), out.length, ackBlockOf(meaning.acks))
      const sources = meaning.frames.map(({ body }) => sourceOf(unhex(body)))
      for (const [index, source] of sources.entries()) {
        // One call for each frame: a packet may have more frames than a connection has sources.
        builder.fill(0, meaning.sequence, [source], Uint8Array.of(meaning.frames[index]!.kind))
      }
      return out.slice(0, builder.finish())
    }
  }
}

type Acks = Extract<Meaning, { is: 'payload' | 'keepalive' }>['acks']

function readBody(bytes: Uint8Array, header: PacketHeader, head: Omit<Extract<Meaning, { is: 'disconnect' }>, 'is' | 'reason'>): Meaning | undefined {
  const frames: { kind: number; body: string }[] = []
  const sinks = Array.from({ length: 16 }, (_, kind): FrameSink => ({
    accept(_now: number, _sequence: number, frame: BitReader) {
      frames.push({ kind, body: hex(Uint8Array.from({ length: frame.bitsLeft / 8 }, () => frame.readBits(8))) })
      return 'ok'
    },
  }))
  const reader = new PacketReader()
  if (reader.read(bytes, header.byteLength, bytes.length, sinks) !== 'ok') return undefined
  const isPayload = header.type === PACKET_TYPE.payload
  if (isPayload !== reader.frameCount > 0) return undefined
  reader.deliver(0, header.sequence, sinks)
  const { latest, delayUnits, lo, hi } = reader.acks
  const missing: number[] = []
  for (let bit = 0; bit < 64; bit++) if ((((bit < 32 ? lo : hi) >>> (bit & 31)) & 1) === 0) missing.push(bit + 1)
  const delayUs = delayUnits === 0xffff ? 'unknown' as const : delayUnits * 32
  return { is: isPayload ? 'payload' : 'keepalive', ...head, acks: { latest, delayUs, missing }, frames }
}

function ackBlockOf({ latest, delayUs, missing }: Acks): AckBlock {
  const block = Object.assign(new AckBlock(), { latest, delayUnits: delayUs === 'unknown' ? 0xffff : delayUs / 32 })
  for (const behind of missing) {
    const bit = behind - 1
    if (bit < 32) block.lo = (block.lo & ~(1 << bit)) >>> 0
    else block.hi = (block.hi & ~(1 << (bit - 32))) >>> 0
  }
  return block
}

function sourceOf(body: Uint8Array): FrameSource {
  let isSaid = false
  return {
    begin() {},
    wantsAt: () => 0,
    fill(_now: number, _sequence: number, out: BitWriter) {
      if (isSaid) return false
      isSaid = true
      for (const byte of body) out.writeBits(byte, 8)
      return true
    },
    onDelivered() {},
    onLost() {},
  }
}

function byteOf(code: string): number {
  for (let byte = 1; byte < 256; byte++) if (closeReasonFromByte(byte)?.code === code) return byte
  // A code that is read and cannot be written is found by the vectors; a reason that cannot be read is a bug here.
  return closeReasonToByte({ by: 'network', code: 'timed-out' } satisfies CloseReason)
}

export function unhex(text: string): Uint8Array {
  return Uint8Array.from(text.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function hex64(lo: number, hi: number): string {
  return hi.toString(16).padStart(8, '0') + lo.toString(16).padStart(8, '0')
}

function split(number64: string): [lo: number, hi: number] {
  return [Number.parseInt(number64.slice(8), 16), Number.parseInt(number64.slice(0, 8), 16)]
}
