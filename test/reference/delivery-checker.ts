/**
 * Reads frames of channels, pieces of large messages and padding by docs/wire/DELIVERY.md alone: slow, clear, and
 * independent of the engine. Returns what bytes mean, or throws the reason why they are invalid.
 */

/** What a frame of channels means. Messages are hexadecimal. */
export interface FrameMeaning {
  readonly channel: number
  readonly promise: string
  readonly firstId?: number
  readonly messages: readonly string[]
}

/** What a message of a channel for large messages means. */
export type PieceMeaning =
  | { readonly whole: string }
  | { readonly group: number; readonly index: number; readonly last: number; readonly data: string }

const PROMISES = ['unreliable', 'sequenced', 'unordered', 'ordered']

/** The body of a frame of channels. */
export function readChannelFrame(body: Uint8Array): FrameMeaning {
  need(body.length > 0, 'a frame names its channel')
  const bits = body[0]!.toString(2).padStart(8, '0')
  need(bits.slice(6) === '00', 'two bits are kept')
  const channel = Number.parseInt(bits.slice(0, 4), 2)
  const promise = PROMISES[Number.parseInt(bits.slice(4, 6), 2)]!
  const hasIds = promise === 'unordered' || promise === 'ordered'
  let at = 1
  if (hasIds) {
    need(body.length >= 3, 'a first id has two bytes')
    at = 3
  }
  const messages: string[] = []
  do {
    const { value: length, end } = varint(body, at)
    need(length <= 1024 && end + length <= body.length, 'a message that does not fit')
    messages.push(hex(body.subarray(end, end + length)))
    at = end + length
  } while (at < body.length)
  return { channel, promise, ...(hasIds ? { firstId: body[1]! * 256 + body[2]! } : {}), messages }
}

/** A message of a channel for large messages. */
export function readPiece(bytes: Uint8Array): PieceMeaning {
  need(bytes.length > 0, 'a piece has bytes')
  need(bytes.length <= 1024, 'longer than a message of a channel')
  if (bytes[0] === 0) return { whole: hex(bytes.subarray(1)) }
  need(bytes[0] === 1, 'an unknown first byte')
  need(bytes.length > 5, 'a fragment has data')
  const [index, last, size] = [bytes[3]!, bytes[4]!, bytes.length - 5]
  need(last >= 1 && index <= last, 'an index up to the last, which is 1 or more')
  need(index === last || size === 1019, 'all but the last are full')
  need(last > 1 || index === 0 || 1019 + size >= 1024, 'cut, though it fits whole')
  return { group: bytes[1]! * 256 + bytes[2]!, index, last, data: hex(bytes.subarray(5)) }
}

/** The body of a padding frame: how many zeros. */
export function readPadding(body: Uint8Array): number {
  need(body[0] === 4, 'padding begins with 4')
  need(body.subarray(1).every((byte) => byte === 0), 'and goes on with zeros')
  return body.length - 1
}

function varint(bytes: Uint8Array, at: number): { value: number; end: number } {
  let value = 0
  for (let index = 0; index < 8; index++) {
    const byte = bytes[at + index]
    need(byte !== undefined, 'ends inside a number')
    value += (byte % 128) * 128 ** index
    if (byte >= 128) continue
    need(!(byte === 0 && index > 0), 'a number encoded too long')
    return { value, end: at + index + 1 }
  }
  throw new Error('a number of more than 8 bytes')
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function need(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Error(why)
}
