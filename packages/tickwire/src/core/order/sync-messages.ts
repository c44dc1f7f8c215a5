/**
 * The messages of the sync stream.
 *
 * ```
 * byte  message       from      followed by
 * 1     report        client    case, tick, held: varints │ root 64 │ generator 4 x 32 │ machine: text, to the end
 * 2     ask           diverged  case varint │ question          the relay passes it to the donor
 * 3     answer        donor     case varint │ answer            the relay passes it to the diverged client
 * 4     finding       diverged  case varint │ JSON
 * 5     done          diverged  case, outcome, tick: varints    outcome 0 named, 1 healed, 2 refused
 * 6     root          client    tick varint │ root 64
 * 7     player seal   client    tick, orders: varints │ public key 32 bytes │ signature 64 bytes
 * 8     image         client    tick varint │ snapshot
 * 9     image digest  client    tick varint │ SHA-256 of the snapshot, 32 bytes
 * 16    request       relay     case, tick, level: varints
 * 17    verdict       relay     case, tick, role, mayHeal: varints │ root 64      role 0 witness, 1 donor, 2 diverged
 * 18    summary       relay     case varint │ JSON
 * 19    image wanted  both      tick, whole: varints            whole 1: send the image; 0: send its digest.
 *                                                               From a client, tick 0: a state to go on from
 * 20    state         relay     tick, position, length: varints │ that many bytes of the first ticks │ snapshot
 *                                                               tick 0: there is none
 * 21    sealing       relay     tick varint                     the newest one. The match is recorded: players sign
 * 22    past          both      position varint │ bytes of ticks from there on. From a client, no bytes: it wants them
 * 10-12, 23-27          handovers, `handover-messages.ts`
 * ```
 *
 * A snapshot is the players after a tick and the image of the world: length varint │ roster │ image.
 * A root is the low half, then the high half of a hash, 32 bits each, high byte first. Question and answer are for the
 * two clients (`lockstep/desync/descent-wire.ts`): a relay without the game cannot read them.
 */

import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import { putVarint, varintBytes, VarintReader } from './leb128.ts'
import { readUtf8, utf8Size, writeUtf8 } from '../bits/utf8.ts'
import { joined } from './handover.ts'
import {
  HANDOVER_KIND, handoverTail, readHandover, rest, some, writeHandover, type HandoverMessage,
} from './handover-messages.ts'

/** A 64-bit hash of a world. */
export interface Root {
  /** The low 32 bits. */
  readonly low: number
  /** The high 32 bits. */
  readonly high: number
}

const KIND = {
  report: 1, ask: 2, answer: 3, finding: 4, done: 5, root: 6, seal: 7, image: 8, digest: 9,
  request: 16, verdict: 17, summary: 18, wanted: 19, state: 20, sealing: 21, past: 22, ...HANDOVER_KIND,
} as const

/** The role of a client in a desync. */
export const ROLES = ['witness', 'donor', 'diverged'] as const
/** The outcome for a diverged client. */
export const OUTCOMES = ['named', 'healed', 'refused'] as const

/** A message of the sync stream. */
export type SyncMessage =
  | {
    readonly kind: 'report'; readonly case: number; readonly tick: number
    /** The tick of the world that the client keeps for the case; 0: none. */
    readonly held: number
    readonly root: Root; readonly generator: readonly number[]; readonly machine: string
  }
  | { readonly kind: 'ask' | 'answer'; readonly case: number; readonly bytes: Uint8Array }
  | { readonly kind: 'finding' | 'summary'; readonly case: number; readonly text: string }
  | { readonly kind: 'done'; readonly case: number; readonly outcome: (typeof OUTCOMES)[number]; readonly tick: number }
  | { readonly kind: 'root'; readonly tick: number; readonly root: Root }
  | {
    readonly kind: 'seal'; readonly tick: number; readonly orders: number
    readonly publicKey: Uint8Array; readonly signature: Uint8Array
  }
  | { readonly kind: 'image' | 'digest'; readonly tick: number; readonly bytes: Uint8Array }
  | { readonly kind: 'request'; readonly case: number; readonly tick: number; readonly level: number }
  | {
    readonly kind: 'verdict'; readonly case: number; readonly tick: number
    readonly role: (typeof ROLES)[number]; readonly mayHeal: boolean; readonly root: Root
  }
  | { readonly kind: 'wanted'; readonly tick: number; readonly isWhole: boolean }
  | {
    readonly kind: 'state'; readonly tick: number
    /** Where the tick ends in the log. */
    readonly position: number
    /** The bytes of the first ticks, if players agree on the seed there. */
    readonly ticks: Uint8Array
    readonly snapshot: Uint8Array
  }
  | { readonly kind: 'past'; readonly position: number; readonly bytes: Uint8Array }
  | { readonly kind: 'sealing'; readonly tick: number }
  | HandoverMessage

const HEAD_BYTES_MAX = 192
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64
const DIGEST_BYTES = 32
const GENERATOR_WORDS = 4

/** The bytes of a message. */
export function encodeSync(message: SyncMessage): Uint8Array {
  const tail = tailOf(message)
  const bytes = new Uint8Array(HEAD_BYTES_MAX + tail.length)
  const out = new BitWriter(bytes)
  out.writeBits(KIND[message.kind], 8)
  switch (message.kind) {
    case 'report':
      writeVarint(out, message.case)
      writeVarint(out, message.tick)
      writeVarint(out, message.held)
      writeRoot(out, message.root)
      for (const word of message.generator) out.writeBits(word, 32)
      break
    case 'done':
      writeVarint(out, message.case)
      writeVarint(out, OUTCOMES.indexOf(message.outcome))
      writeVarint(out, message.tick)
      break
    case 'root':
      writeVarint(out, message.tick)
      writeRoot(out, message.root)
      break
    case 'seal':
      writeVarint(out, message.tick)
      writeVarint(out, message.orders)
      break
    case 'request':
      writeVarint(out, message.case)
      writeVarint(out, message.tick)
      writeVarint(out, message.level)
      break
    case 'verdict':
      writeVarint(out, message.case)
      writeVarint(out, message.tick)
      writeVarint(out, ROLES.indexOf(message.role))
      writeVarint(out, message.mayHeal ? 1 : 0)
      writeRoot(out, message.root)
      break
    case 'state':
      writeVarint(out, message.tick)
      writeVarint(out, message.position)
      writeVarint(out, message.ticks.length)
      break
    case 'wanted':
      writeVarint(out, message.tick)
      writeVarint(out, message.isWhole ? 1 : 0)
      break
    case 'past':
      writeVarint(out, message.position)
      break
    case 'ask':
    case 'answer':
    case 'finding':
    case 'summary':
      writeVarint(out, message.case)
      break
    case 'image':
    case 'digest':
    case 'sealing':
      writeVarint(out, message.tick)
      break
    default:
      writeHandover(out, message)
  }
  out.copyBits(tail, 0, 8 * tail.length)
  return bytes.slice(0, out.finish())
}

/** Undefined when the bytes are invalid. It never throws. */
export function decodeSync(bytes: Uint8Array): SyncMessage | undefined {
  const reader = new BitReader(bytes)
  const message = read(reader, reader.readBits(8))
  return message !== undefined && !reader.failed && reader.bitsLeft === 0 ? message : undefined
}

function read(reader: BitReader, kind: number): SyncMessage | undefined {
  // Every message begins with a number: a case, a tick or a position.
  const first = readVarint(reader)
  switch (kind) {
    case KIND.report: return readReport(reader, first)
    case KIND.ask: return { kind: 'ask', case: first, bytes: rest(reader) }
    case KIND.answer: return { kind: 'answer', case: first, bytes: rest(reader) }
    case KIND.finding: return readText(reader, 'finding', first)
    case KIND.summary: return readText(reader, 'summary', first)
    case KIND.done: {
      const outcome = OUTCOMES[readVarint(reader)]
      const tick = readVarint(reader)
      return outcome === undefined ? undefined : { kind: 'done', case: first, outcome, tick }
    }
    case KIND.root: return { kind: 'root', tick: first, root: readRoot(reader) }
    case KIND.seal: {
      const orders = readVarint(reader)
      const publicKey = some(reader, KEY_BYTES)
      return { kind: 'seal', tick: first, orders, publicKey, signature: some(reader, SIGNATURE_BYTES) }
    }
    case KIND.image: return { kind: 'image', tick: first, bytes: rest(reader) }
    case KIND.digest: return { kind: 'digest', tick: first, bytes: some(reader, DIGEST_BYTES) }
    case KIND.request: {
      const tick = readVarint(reader)
      return { kind: 'request', case: first, tick, level: readVarint(reader) }
    }
    case KIND.verdict: {
      const tick = readVarint(reader)
      const role = ROLES[readVarint(reader)]
      const mayHeal = readVarint(reader)
      const root = readRoot(reader)
      if (role === undefined || mayHeal > 1) return undefined
      return { kind: 'verdict', case: first, tick, role, mayHeal: mayHeal === 1, root }
    }
    case KIND.state: {
      const position = readVarint(reader)
      const ticks = some(reader, readVarint(reader))
      return { kind: 'state', tick: first, position, ticks, snapshot: rest(reader) }
    }
    case KIND.wanted: {
      const whole = readVarint(reader)
      return whole > 1 ? undefined : { kind: 'wanted', tick: first, isWhole: whole === 1 }
    }
    case KIND.sealing: return { kind: 'sealing', tick: first }
    case KIND.past: return { kind: 'past', position: first, bytes: rest(reader) }
    default: return readHandover(reader, kind, first)
  }
}

function readReport(reader: BitReader, first: number): SyncMessage {
  const tick = readVarint(reader)
  const held = readVarint(reader)
  const root = readRoot(reader)
  const generator = Array.from({ length: GENERATOR_WORDS }, () => reader.readBits(32) >>> 0)
  const machine = readUtf8(reader, reader.bitsLeft >>> 3)
  return { kind: 'report', case: first, tick, held, root, generator, machine }
}

function readText(reader: BitReader, kind: 'finding' | 'summary', first: number): SyncMessage {
  return { kind, case: first, text: readUtf8(reader, reader.bitsLeft >>> 3) }
}

/** What follows the numbers of a message. */
function tailOf(message: SyncMessage): Uint8Array {
  switch (message.kind) {
    case 'report': return encodeUtf8(message.machine)
    case 'finding':
    case 'summary': return encodeUtf8(message.text)
    case 'state': return joined(message.ticks, message.snapshot)
    case 'seal': return Uint8Array.of(...message.publicKey, ...message.signature)
    case 'ask':
    case 'answer':
    case 'image':
    case 'past':
    case 'digest': return message.bytes
    case 'done':
    case 'root':
    case 'request':
    case 'verdict':
    case 'wanted':
    case 'sealing': return NO_BYTES
    default: return joined(...handoverTail(message))
  }
}

const NO_BYTES = new Uint8Array(0)

function encodeUtf8(text: string): Uint8Array {
  const bytes = new Uint8Array(utf8Size(text))
  const out = new BitWriter(bytes)
  writeUtf8(out, text)
  out.finish()
  return bytes
}

/** A snapshot of the players and the world after a tick. */
export function joinSnapshot(roster: Uint8Array, image: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(varintBytes(roster.length) + roster.length + image.length)
  const at = putVarint(bytes, 0, roster.length)
  bytes.set(roster, at)
  bytes.set(image, at + roster.length)
  return bytes
}

/** The parts of a snapshot. Undefined when the bytes are too short. */
export function splitSnapshot(bytes: Uint8Array): { roster: Uint8Array; image: Uint8Array } | undefined {
  const reader = new VarintReader()
  const length = reader.read(bytes, 0, bytes.length)
  const from = reader.end
  if (from < 0 || from + length > bytes.length) return undefined
  return { roster: bytes.slice(from, from + length), image: bytes.slice(from + length) }
}

function writeRoot(out: BitWriter, { low, high }: Root): void {
  out.writeBits(low, 32)
  out.writeBits(high, 32)
}

function readRoot(reader: BitReader): Root {
  const low = reader.readBits(32) >>> 0
  return { low, high: reader.readBits(32) >>> 0 }
}
