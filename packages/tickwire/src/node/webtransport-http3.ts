/**
 * The part of HTTP/3 (RFC 9114) that WebTransport datagrams need: settings, one extended CONNECT, and its end.
 *
 * ```
 * our control stream       00, SETTINGS                          streams 3, 7 and 11 are ours: control, two for QPACK
 * their request, stream 4n  HEADERS :method CONNECT, :protocol webtransport, :authority, :path, origin
 * our answer               HEADERS :status                       the stream stays open as long as the session
 * datagrams                n (quarter stream id), bytes          QUIC DATAGRAM frames, RFC 9297
 * ```
 *
 * Stream bytes go in by method calls and out through `StreamSink`; it owns no socket and no QUIC. Invariants: no input
 * makes it throw; it buffers at most 4 KiB of a stream and 16 streams; one session per connection. Streams of
 * WebTransport itself are not supported: their data is skipped.
 */

import { HTTP3_STREAM_BYTES_MAX, HTTP3_STREAMS_MAX } from '../core/base/limits.ts'
import { type Status, decodeFields, encodeStatus } from './webtransport-qpack.ts'

/** Receives the stream bytes to send. */
export interface StreamSink {
  sendStream(id: number, bytes: Uint8Array, isLast: boolean): void
  /** Closes the whole connection with an HTTP/3 error code. */
  abort(code: number): void
}

/** Which sessions are accepted. */
export interface SessionRules {
  readonly path: string
  isAllowedOrigin(origin: string | undefined, authority: string): boolean
}

/** Error codes of HTTP/3. */
export const H3 = {
  noError: 0x100,
  excessiveLoad: 0x107,
  frameError: 0x106,
  settingsError: 0x109,
  messageError: 0x10e,
} as const

const FRAME = { data: 0x00, headers: 0x01, settings: 0x04 } as const
const STREAM_TYPE = { control: 0x00 } as const
/** No QPACK table; CONNECT with :protocol; datagrams (RFC 9297 and its draft); WebTransport by its three settings. */
const SETTINGS: readonly (readonly [number, number])[] = [
  [0x01, 0], [0x07, 0], [0x08, 1], [0x33, 1], [0xffd277, 1], [0x2b60_3742, 1], [0xc671_706a, 1], [0x14e9_cd29, 1],
]
const H3_DATAGRAM = [0x33, 0xffd277]

/** The HTTP/3 side of one QUIC connection. */
export class Http3Session {
  /** The stream of the session; -1 until there is one. */
  streamId = -1
  readonly #out: StreamSink
  readonly #rules: SessionRules
  /** Unread bytes of each stream; undefined when the rest of the stream is ignored. Indexed by stream id. */
  readonly #pending: Map<number, Uint8Array | undefined> = new Map()
  #onOpened: () => void
  #onEnded: () => void
  #hasDatagrams = false
  /** A request that arrived before the peer's settings, which say whether it supports datagrams. */
  #waiting: { readonly id: number; readonly block: Uint8Array } | undefined

  constructor(out: StreamSink, rules: SessionRules, onOpened: () => void, onEnded: () => void) {
    this.#out = out
    this.#rules = rules
    this.#onOpened = onOpened
    this.#onEnded = onEnded
  }

  /** Sends our settings. Called once, when the connection is established. */
  start(): void {
    const settings = concat(...SETTINGS.map(([id, value]) => concat(varint(id), varint(value))))
    this.#out.sendStream(3, concat(varint(STREAM_TYPE.control), frame(FRAME.settings, settings)), false)
    this.#out.sendStream(7, varint(2), false)
    this.#out.sendStream(11, varint(3), false)
  }

  /** Bytes of a peer's stream, in order. */
  handleStream(id: number, bytes: Uint8Array, isLast: boolean): void {
    const isKnown = this.#pending.has(id)
    if (!isKnown && this.#pending.size >= HTTP3_STREAMS_MAX) {
      this.#out.abort(H3.excessiveLoad)
      return
    }
    if (isKnown ? this.#pending.get(id) !== undefined : true)
      this.#read(id, concat(this.#pending.get(id) ?? NONE, bytes))
    if (isLast) this.handleEnd(id)
  }

  /** A peer's stream has ended or was reset. */
  handleEnd(id: number): void {
    this.#pending.delete(id)
    if (id === this.streamId) this.#onEnded()
  }

  #read(id: number, bytes: Uint8Array): void {
    const isRequest = id % 4 === 0
    const rest = isRequest ? this.#readRequest(id, bytes) : this.#readOneWay(bytes)
    if (rest !== undefined && rest.length > HTTP3_STREAM_BYTES_MAX) this.#out.abort(H3.excessiveLoad)
    this.#pending.set(id, rest)
  }

  /** Returns the unread rest; undefined when the stream needs no more reading. */
  #readRequest(id: number, bytes: Uint8Array): Uint8Array | undefined {
    for (let at = 0; ;) {
      const head = frameAt(bytes, at)
      if (head === undefined) return bytes.slice(at)
      if (head.end - at > HTTP3_STREAM_BYTES_MAX) {
        this.#out.abort(H3.excessiveLoad)
        return undefined
      }
      if (head.end > bytes.length) return bytes.slice(at)
      if (head.type === FRAME.headers) {
        this.#handleRequest(id, bytes.slice(head.start, head.end))
        return undefined
      }
      // Skip reserved frame types, which exist to test receivers (RFC 9114, 7.2.8). No other type may come first.
      if ((head.type - 0x21) % 0x1f !== 0) return undefined
      at = head.end
    }
  }

  #readOneWay(bytes: Uint8Array): Uint8Array | undefined {
    const type = varintAt(bytes, 0)
    if (type === undefined) return bytes
    if (type.value !== STREAM_TYPE.control) return undefined
    const head = frameAt(bytes, type.end)
    if (head === undefined || head.end > bytes.length) return bytes
    if (head.type !== FRAME.settings || !this.#handleSettings(bytes.subarray(head.start, head.end)))
      this.#out.abort(H3.settingsError)
    return undefined
  }

  #handleSettings(bytes: Uint8Array): boolean {
    for (let at = 0; at < bytes.length;) {
      const id = varintAt(bytes, at)
      const value = id && varintAt(bytes, id.end)
      if (id === undefined || value === undefined) return false
      if (H3_DATAGRAM.includes(id.value) && value.value === 1) this.#hasDatagrams = true
      at = value.end
    }
    const waiting = this.#waiting
    this.#waiting = undefined
    if (!this.#hasDatagrams) return false
    if (waiting !== undefined) this.#handleRequest(waiting.id, waiting.block)
    return true
  }

  #handleRequest(id: number, block: Uint8Array): void {
    if (!this.#hasDatagrams) {
      if (this.#waiting === undefined) this.#waiting = { id, block }
      return
    }
    const status = this.#judge(block)
    if (status === 200) this.streamId = id
    this.#out.sendStream(id, frame(FRAME.headers, encodeStatus(status)), status !== 200)
    if (status === 200) this.#onOpened()
  }

  #judge(block: Uint8Array): Status {
    const fields = decodeFields(block)
    if (fields === undefined || fields.get(':method') !== 'CONNECT' || fields.get(':protocol') !== 'webtransport')
      return 400
    const path = fields.get(':path') ?? ''
    const query = path.indexOf('?')
    if ((query < 0 ? path : path.slice(0, query)) !== this.#rules.path) return 404
    if (!this.#rules.isAllowedOrigin(fields.get('origin'), fields.get(':authority') ?? '')) return 403
    return this.streamId < 0 ? 200 : 503
  }
}

const NONE = new Uint8Array(0)

/** Encodes a QUIC variable-length integer: the top two bits give its length. The value is below 2^30 here. */
export function varint(value: number): Uint8Array {
  if (value < 0x40) return Uint8Array.of(value)
  if (value < 0x4000) return Uint8Array.of(0x40 | (value >> 8), value & 0xff)
  if (value < 0x4000_0000)
    return Uint8Array.of(0x80 | (value >> 24), (value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff)
  return Uint8Array.of(0xc0, 0, 0, 0, value >>> 24, (value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff)
}

/** Decodes the integer at `at`, with its end offset; undefined when it is incomplete. */
export function varintAt(bytes: Uint8Array, at: number): { readonly value: number; readonly end: number } | undefined {
  const first = bytes[at]
  if (first === undefined) return undefined
  const end = at + (1 << (first >> 6))
  if (end > bytes.length) return undefined
  let value = first & 0x3f
  for (let index = at + 1; index < end; index++) value = value * 256 + (bytes[index] ?? 0)
  return { value, end }
}

function frameAt(
  bytes: Uint8Array,
  at: number,
): { readonly type: number; readonly start: number; readonly end: number } | undefined {
  const type = varintAt(bytes, at)
  const length = type && varintAt(bytes, type.end)
  return type && length && { type: type.value, start: length.end, end: length.end + length.value }
}

function frame(type: number, content: Uint8Array): Uint8Array {
  return concat(varint(type), varint(content.length), content)
}

function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
