/**
 * The engine's own reading and writing of packets, in the types of `packet-checker.ts`, so that the two can be compared
 * with each other and with the vectors.
 */

import type { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import type { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { closeReasonFromByte, closeReasonToByte } from '../../packages/tickwire/src/core/connection/close-reason.ts'
import type { CloseReason } from '../../packages/tickwire/src/core/connection/close-reason.ts'
import {
  HandshakeMessage, readHandshake, writeAccepted, writeChallenge, writeRefused, writeRejected, writeRequest, writeReset,
  writeResponse,
} from '../../packages/tickwire/src/core/connection/handshake.ts'
import {
  readAcceptance, readHello, writeAcceptance, writeHello,
} from '../../packages/tickwire/src/core/connection/handshake-body.ts'
import { OpeningKey, SealingKey } from '../../packages/tickwire/src/core/crypto/packet-key.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { createSuite } from '../../packages/tickwire/src/core/crypto/suite.ts'
import { AckBlock } from '../../packages/tickwire/src/core/packet/ack-block.ts'
import type { FrameSink, FrameSource } from '../../packages/tickwire/src/core/packet/frame-source.ts'
import {
  PACKET_TYPE, PROTOCOL_VERSION, PacketHeader, readHeader, writeHeader,
} from '../../packages/tickwire/src/core/packet/header.ts'
import { PacketBuilder } from '../../packages/tickwire/src/core/packet/packet-builder.ts'
import { PacketReader } from '../../packages/tickwire/src/core/packet/packet-reader.ts'
import type { Meaning, PacketKey } from './packet-checker.ts'

/** What the engine reads from `sealed`; undefined when it refuses the bytes. */
export function engineReads(sealed: Uint8Array, key?: PacketKey): Meaning | undefined {
  const bytes = sealed.slice()
  const header = new PacketHeader()
  if (readHeader(bytes, bytes.length, header) !== 'ok') return undefined
  const { version, epoch, sequence, byteLength: at } = header
  const head = { version, connection: hex64(header.idLo, header.idHi), epoch, sequence }
  const isOurs = version === PROTOCOL_VERSION
  if (header.type === PACKET_TYPE.handshake || header.type === PACKET_TYPE.challengeResponse)
    return readKnocking(bytes, header, head, key)
  if (!isOurs || header.type > PACKET_TYPE.disconnect || !opens(bytes, header, at, key)) return undefined
  const end = bytes.length - 16
  if (header.type === PACKET_TYPE.disconnect) {
    const reason = end === at + 1 ? closeReasonFromByte(bytes[at]!) : undefined
    return reason === undefined ? undefined : { is: 'disconnect', ...head, reason: reason.code }
  }
  return readBody(bytes.slice(0, end), header, head)
}

type MeaningHead = Pick<Meaning, 'version' | 'connection' | 'epoch' | 'sequence'>

function readKnocking(
  bytes: Uint8Array,
  header: PacketHeader,
  head: MeaningHead,
  key: PacketKey | undefined,
): Meaning | undefined {
  const message = new HandshakeMessage()
  const kind = readHandshake(header, bytes, bytes.length, message)
  const salt = hex64(message.saltLo, message.saltHi)
  const end = bytes.length - 16
  switch (kind) {
    case 'malformed':
      return undefined
    case 'request':
      return head.version !== PROTOCOL_VERSION
        ? undefined
        : {
            is: kind,
            ...head,
            salt,
            clientKey: hex(message.clientKey),
            suites: [...message.suites].filter((suite) => suite !== 0),
          }
    case 'challenge':
      return {
        is: kind,
        ...head,
        salt,
        suite: message.suite,
        serverKey: hex(message.serverKey),
        cookie: hex(message.cookie),
        signature: hex(message.signature),
      }
    case 'rejected': {
      const reason = closeReasonFromByte(message.reason)
      return reason === undefined ? undefined : { is: kind, ...head, salt, reason: reason.code }
    }
    case 'reset': return { is: kind, ...head, resetToken: hex(message.resetToken) }
    default:
  }
  if (!opens(bytes, header, message.sealedAt, key)) return undefined
  const { suite, random, sealedAt } = message
  if (kind === 'response') {
    const hello = readHello(bytes, sealedAt, end)
    return hello === undefined
      ? undefined
      : {
          is: kind,
          ...head,
          salt,
          suite,
          clientKey: hex(message.clientKey),
          cookie: hex(message.cookie),
          suites: [...message.offered],
          token: hex(hello.token),
          fingerprint: hex(hello.fingerprint),
          user: hex(hello.user),
          data: hex(hello.data),
        }
  }
  if (kind === 'refused') {
    const reason = end === sealedAt + 1 ? closeReasonFromByte(bytes[sealedAt]!) : undefined
    return reason === undefined ? undefined : { is: kind, ...head, salt, random: hex(random), reason: reason.code }
  }
  const said = readAcceptance(bytes, sealedAt, end)
  return said === undefined ? undefined : {
    is: kind, ...head, salt, random: hex(random), resetToken: hex(said.resetToken), signature: hex(said.signature),
    datagramBytesMax: said.datagramBytesMax, welcome: hex(said.welcome),
  }
}

function opens(bytes: Uint8Array, { epoch, sequence }: PacketHeader, at: number, key: PacketKey | undefined): boolean {
  if (key === undefined) return false
  return new OpeningKey(createSuite(key.suite, pureProvider), epoch, unhex(key.material)).open(
    sequence,
    bytes,
    at,
    bytes.length,
  )
}

/** Seals what follows the first `at` bytes, as the engine would. */
export function engineSeals(
  bytes: Uint8Array,
  at: number,
  epoch: number,
  sequence: number,
  key: PacketKey | undefined,
): Uint8Array {
  if (key === undefined) throw new Error('a sealed packet needs a key')
  const out = Uint8Array.of(...bytes, ...new Uint8Array(16))
  new SealingKey(createSuite(key.suite, pureProvider), epoch, unhex(key.material)).seal(
    sequence,
    out,
    at,
    bytes.length - at,
  )
  return out
}

/** The bytes the engine writes for `meaning`. */
export function engineWrites(meaning: Meaning, key?: PacketKey): Uint8Array {
  const out = new Uint8Array(1500)
  const [idLo, idHi] = split(meaning.connection)
  const header = Object.assign(new PacketHeader(), {
    version: meaning.version, idLo, idHi, epoch: meaning.epoch, sequence: meaning.sequence,
  })
  const sealed = (at: number, end: number): Uint8Array =>
    engineSeals(out.slice(0, end), at, meaning.epoch, meaning.sequence, key)
  switch (meaning.is) {
    case 'request':
      return out.slice(0, writeRequest(out, ...split(meaning.salt), unhex(meaning.clientKey), meaning.suites))
    case 'challenge':
      return out.slice(
        0,
        writeChallenge(
          out,
          ...split(meaning.salt),
          meaning.suite,
          unhex(meaning.serverKey),
          unhex(meaning.cookie),
          unhex(meaning.signature),
        ),
      )
    case 'response': {
      const { salt, suite, clientKey, cookie, suites } = meaning
      const at = writeResponse(out, ...split(salt), suite, unhex(clientKey), unhex(cookie), Uint8Array.from(suites))
      writeHello(out, at, {
        fingerprint: unhex(meaning.fingerprint),
        token: unhex(meaning.token),
        user: unhex(meaning.user),
        data: unhex(meaning.data),
      })
      return sealed(at, 1184)
    }
    case 'accepted': {
      const at = writeAccepted(out, idLo, idHi, ...split(meaning.salt), unhex(meaning.random))
      return sealed(
        at,
        at
          + writeAcceptance(out, at, {
            resetToken: unhex(meaning.resetToken),
            signature: unhex(meaning.signature),
            datagramBytesMax: meaning.datagramBytesMax,
            welcome: unhex(meaning.welcome),
          }),
      )
    }
    case 'rejected': return out.slice(0, writeRejected(out, ...split(meaning.salt), byteOf(meaning.reason)))
    case 'refused': {
      const at = writeRefused(out, ...split(meaning.salt), unhex(meaning.random))
      out[at] = byteOf(meaning.reason)
      return sealed(at, at + 1)
    }
    case 'reset': return out.slice(0, writeReset(out, idLo, idHi, unhex(meaning.resetToken)))
    case 'disconnect': {
      header.type = PACKET_TYPE.disconnect
      const at = writeHeader(header, out)
      out[at] = byteOf(meaning.reason)
      return sealed(at, at + 1)
    }
    default: {
      header.type = PACKET_TYPE[meaning.is]
      const at = writeHeader(header, out)
      return sealed(at, writeBody(out, at, meaning))
    }
  }
}

/** Writes acks and frames behind the first `at` bytes; returns the end. */
function writeBody(
  out: Uint8Array,
  at: number,
  { acks, frames, sequence }: Extract<Meaning, { is: 'payload' | 'keepalive' }>,
): number {
  const builder = new PacketBuilder()
  builder.begin(out, at, out.length - 16, ackBlockOf(acks))
  for (const { kind, body } of frames) {
    // One call for each frame: a packet may have more frames than a connection has sources.
    builder.fill(0, sequence, [sourceOf(unhex(body))], Uint8Array.of(kind))
  }
  return builder.finish()
}

type Acks = Extract<Meaning, { is: 'payload' | 'keepalive' }>['acks']

function readBody(bytes: Uint8Array, header: PacketHeader, head: MeaningHead): Meaning | undefined {
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
