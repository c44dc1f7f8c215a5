/**
 * The messages of the sync stream with which a match goes on at another relay.
 *
 * ```
 * byte  message      from      followed by
 * 10    bind         client    player varint │ public key 32 bytes          the seat is to be certified for this key
 * 11    claim        client    tick, whole, size: varints │ a checkpoint of that size │ ticks after it
 * 12    ticks        client    offset varint │ bytes of the log             the answer to 26
 * 23    relays       relay     mode, count: varints │ match 16 bytes │ n varint, address of n bytes, key 32 bytes, each
 * 24    certificate  relay     player varint │ certificate
 * 25    checkpoint   relay     tick varint │ checkpoint
 * 26    fetch        relay     from, to: varints                            offsets in the log
 * 27    continued    relay     tick, keep: varints
 * ```
 *
 * A certificate and a checkpoint are as in `handover.ts`.
 */

import { HANDOVER_RELAYS_MAX, HANDOVER_URL_BYTES_MAX } from '../base/limits.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { readVarint, writeVarint } from '../bits/varint.ts'
import { readUtf8, utf8Size, writeUtf8 } from '../bits/utf8.ts'
import { MATCH_BYTES } from './handover.ts'

/** A relay at which the match may go on. */
export interface NextRelay {
  /** Its address, as `relay` takes it. */
  readonly url: string
  /** Its public key. */
  readonly key: Uint8Array
}

/** A message about handovers. */
export type HandoverMessage =
  | { readonly kind: 'bind'; readonly player: number; readonly publicKey: Uint8Array }
  | {
    readonly kind: 'claim'
    /** The newest tick that the client has. */
    readonly tick: number
    /** Whether it has all ticks up to there. */
    readonly isWhole: boolean
    /** The newest one that the client has; empty: none. */
    readonly checkpoint: Uint8Array
    /** The ticks after the checkpoint. */
    readonly tail: Uint8Array
  }
  | { readonly kind: 'ticks'; readonly offset: number; readonly bytes: Uint8Array }
  | {
    readonly kind: 'relays'
    /** Whether the match goes on. False: it is void without its relay. */
    readonly mayContinue: boolean
    readonly match: Uint8Array
    readonly relays: readonly NextRelay[]
  }
  | { readonly kind: 'certificate'; readonly player: number; readonly bytes: Uint8Array }
  | { readonly kind: 'checkpoint'; readonly tick: number; readonly bytes: Uint8Array }
  | { readonly kind: 'fetch'; readonly from: number; readonly to: number }
  | {
    readonly kind: 'continued'; readonly tick: number
    /** The newest tick of the client that is in the match. Later ones are not. */
    readonly keep: number
  }

/** The first bytes of the messages. */
export const HANDOVER_KIND = {
  bind: 10, claim: 11, ticks: 12, relays: 23, certificate: 24, checkpoint: 25, fetch: 26, continued: 27,
} as const

const KEY_BYTES = 32

/** Writes the numbers of a message. */
export function writeHandover(out: BitWriter, message: HandoverMessage): void {
  switch (message.kind) {
    case 'bind':
    case 'certificate':
      writeVarint(out, message.player)
      break
    case 'claim':
      writeVarint(out, message.tick)
      writeVarint(out, message.isWhole ? 1 : 0)
      writeVarint(out, message.checkpoint.length)
      break
    case 'ticks':
      writeVarint(out, message.offset)
      break
    case 'relays':
      writeVarint(out, message.mayContinue ? 1 : 0)
      writeVarint(out, message.relays.length)
      break
    case 'checkpoint':
      writeVarint(out, message.tick)
      break
    case 'fetch':
      writeVarint(out, message.from)
      writeVarint(out, message.to)
      break
    case 'continued':
      writeVarint(out, message.tick)
      writeVarint(out, message.keep)
      break
  }
}

/** The bytes that follow the numbers of a message. */
export function handoverTail(message: HandoverMessage): readonly Uint8Array[] {
  switch (message.kind) {
    case 'bind': return [message.publicKey]
    case 'claim': return [message.checkpoint, message.tail]
    case 'relays': return [message.match, ...message.relays.flatMap(({ url, key }) => [encodeUrl(url), key])]
    case 'ticks':
    case 'certificate':
    case 'checkpoint': return [message.bytes]
    default: return []
  }
}

/** Reads a message whose first number is `first`. Undefined: it is none of these, or invalid. */
export function readHandover(reader: BitReader, kind: number, first: number): HandoverMessage | undefined {
  switch (kind) {
    case HANDOVER_KIND.bind: return { kind: 'bind', player: first, publicKey: some(reader, KEY_BYTES) }
    case HANDOVER_KIND.claim: {
      const whole = readVarint(reader)
      const checkpoint = some(reader, readVarint(reader))
      const tail = rest(reader)
      return whole > 1 ? undefined : { kind: 'claim', tick: first, isWhole: whole === 1, checkpoint, tail }
    }
    case HANDOVER_KIND.ticks: return { kind: 'ticks', offset: first, bytes: rest(reader) }
    case HANDOVER_KIND.relays: return readRelays(reader, first)
    case HANDOVER_KIND.certificate: return { kind: 'certificate', player: first, bytes: rest(reader) }
    case HANDOVER_KIND.checkpoint: return { kind: 'checkpoint', tick: first, bytes: rest(reader) }
    case HANDOVER_KIND.fetch: return { kind: 'fetch', from: first, to: readVarint(reader) }
    case HANDOVER_KIND.continued: return { kind: 'continued', tick: first, keep: readVarint(reader) }
    default: return undefined
  }
}

function readRelays(reader: BitReader, mode: number): HandoverMessage | undefined {
  const count = readVarint(reader)
  const match = some(reader, MATCH_BYTES)
  if (mode > 1 || count > HANDOVER_RELAYS_MAX) return undefined
  const relays: NextRelay[] = []
  for (let each = 0; each < count && !reader.failed; each++) {
    const size = readVarint(reader)
    if (size > HANDOVER_URL_BYTES_MAX) return undefined
    const url = readUtf8(reader, size)
    relays.push({ url, key: some(reader, KEY_BYTES) })
  }
  return { kind: 'relays', mayContinue: mode === 1, match, relays }
}

/** The length and the bytes of an address. */
function encodeUrl(url: string): Uint8Array {
  const bytes = new Uint8Array(2 + utf8Size(url))
  const out = new BitWriter(bytes)
  writeVarint(out, utf8Size(url))
  writeUtf8(out, url)
  return bytes.slice(0, out.finish())
}

/** All bytes that are left. */
export function rest(reader: BitReader): Uint8Array {
  return some(reader, reader.bitsLeft >>> 3)
}

/** So many bytes. Fails the reader when there are not as many. */
export function some(reader: BitReader, count: number): Uint8Array {
  if (count * 8 > reader.bitsLeft) reader.fail()
  const bytes = new Uint8Array(reader.failed ? 0 : count)
  reader.readBytes(bytes, 0, bytes.length)
  return bytes
}
