/**
 * Datagrams of the wire protocol, written and read from the tables of docs/wire/STANDARD.md alone. Clear rather than
 * fast: bits are strings.
 */

/** The types of packets, the kinds of handshake packets, and the control frames of a connection. */
export const TYPE = { handshake: 0, payload: 1, keepalive: 2, disconnect: 3, response: 4 } as const
export const HANDSHAKE = { request: 1, challenge: 2, accepted: 3, rejected: 4, refused: 5, reset: 6 } as const
export const CONTROL = { kind: 15, rekey: 1, pathCheck: 2, pathReply: 3, padding: 4 } as const

export const REASONS: readonly string[] = [
  '?',
  'left',
  'kicked',
  'shutdown',
  'version',
  'schema',
  'full',
  'refused',
  'broken',
  'token',
  'identity',
  'flooding',
  'ended',
  'fault',
  'replaced',
  'no-room',
  'locked',
  'ticket',
  'password',
  'host-left',
  'moved',
]

export const WIRE_VERSION = 3
/** Length of a request and a response. No datagram is longer until a padded one has been acknowledged. */
export const FULL_BYTES = 1200
/** Length of a header whose sequence takes one byte. */
export const HEAD_BYTES = 15
export const NO_CONNECTION: Buffer = Buffer.alloc(8)

export interface Head {
  readonly version: number
  readonly type: number
  /** As it is in the packet. */
  readonly connection: Buffer
  readonly epoch: number
  readonly sequence: number
  /** Offset of its end. */
  readonly end: number
}

export interface Acks {
  /** The low 16 bits of the highest sequence that arrived. */
  readonly latest: number
  /** How long that packet waited for its ack; undefined when longer than can be encoded. */
  readonly delayMs: number | undefined
  /** Distances behind `latest` of the packets that have not arrived, 1 to 64. */
  readonly missing: readonly number[]
}

export interface Frame {
  readonly kind: number
  readonly body: Buffer
}

/** Header fields that a check may set to wrong values. */
export interface HeadFields {
  readonly version?: number
  readonly connection?: Uint8Array
  readonly epoch?: number
  readonly sequence?: number
}

export function writeHead(type: number, fields: HeadFields = {}): Buffer {
  const { version = WIRE_VERSION, connection = NO_CONNECTION, epoch = 0, sequence = 0 } = fields
  return Buffer.concat([
    Buffer.from('TKW'),
    Buffer.of(version, type),
    connection,
    Buffer.of(epoch % 256),
    varint(sequence),
  ])
}

/** A connection request: 1200 bytes, whatever its content. */
export function writeRequest(
  salt: Uint8Array,
  clientKey: Uint8Array,
  suites: readonly number[],
  fields: HeadFields = {},
): Buffer {
  const body = [
    writeHead(TYPE.handshake, fields),
    Buffer.of(HANDSHAKE.request),
    salt,
    clientKey,
    Buffer.of(suites.length, ...suites),
  ]
  return Buffer.concat(body, FULL_BYTES)
}

/** The unsealed part of a response to a challenge. */
export function writeResponseHead(
  salt: Uint8Array, suite: number, clientKey: Uint8Array, cookie: Uint8Array, suites: readonly number[],
): Buffer {
  return Buffer.concat([
    writeHead(TYPE.response),
    salt,
    Buffer.of(suite),
    clientKey,
    cookie,
    Buffer.of(suites.length, ...suites),
  ])
}

/** The sealed part of a response, `size` bytes long. */
export function writeHello(fingerprint: Uint8Array, token: Uint8Array, user: Uint8Array, size: number): Buffer {
  const tokenSize = Buffer.alloc(2)
  tokenSize.writeUInt16LE(token.length)
  return Buffer.concat([fingerprint, tokenSize, token, Buffer.of(user.length), user], size)
}

/** The header of a datagram; undefined when it has none. */
export function readHead(bytes: Buffer): Head | undefined {
  if (bytes.length < HEAD_BYTES || bytes.toString('latin1', 0, 3) !== 'TKW') return undefined
  let sequence = 0
  for (let index = 0; index < 8; index++) {
    const byte = bytes[14 + index]
    if (byte === undefined) return undefined
    sequence += (byte % 128) * 128 ** index
    if (byte >= 128) continue
    if (byte === 0 && index > 0) return undefined
    return {
      version: bytes[3] ?? 0,
      type: bytes[4] ?? 0,
      connection: bytes.subarray(5, 13),
      epoch: bytes[13] ?? 0,
      sequence,
      end: 15 + index,
    }
  }
  return undefined
}

/** The plaintext of a payload or a keepalive. `bits` follow the frames, before the zeros that pad to whole bytes. */
export function writeBody(acks: Acks, frames: readonly Frame[], bits = ''): Buffer {
  const groups = [0, 1, 2, 3].map((group) => {
    const word = [...Array(16).keys()]
      .map((bit) => (acks.missing.includes(group * 16 + bit + 1) ? '0' : '1'))
      .reverse()
      .join('')
    return word.includes('0') ? word : ''
  })
  const gaps = groups.map((word) => word === '' ? '0' : '1').reverse().join('')
  const delay = acks.delayMs === undefined ? 65_535 : Math.min(Math.floor(acks.delayMs * 1000 / 32), 65_534)
  const heads = bitsOf(acks.latest, 16) + bitsOf(delay, 16) + gaps + groups.join('')
  const headers = frames.map(
    ({ kind, body }) =>
      bitsOf(kind, 4) + '0000' + bitsOf(body.length, 14) + [...body].map((byte) => bitsOf(byte, 8)).join(''),
  )
  return bytesOf(heads + headers.join('') + bits)
}

/** Parses a plaintext. Returns the reason when it does not follow the standard. */
export function readBody(plain: Uint8Array): { readonly acks: Acks; readonly frames: readonly Frame[] } | string {
  const all = [...plain].map((byte) => bitsOf(byte, 8)).join('')
  let at = 0
  const take = (width: number): number => {
    at += width
    return Number.parseInt(all.slice(at - width, at), 2)
  }
  if (all.length < 36) return 'shorter than an ack block'
  const latest = take(16)
  const delay = take(16)
  const gaps = take(4)
  const missing: number[] = []
  for (let group = 0; group < 4; group++) {
    if (((gaps >> group) & 1) === 0) continue
    if (all.length - at < 16) return 'ends inside the ack block'
    const word = take(16)
    if (word === 0xffff) return 'a group of acks without a gap is sent'
    for (let bit = 0; bit < 16; bit++) if (((word >> bit) & 1) === 0) missing.push(group * 16 + bit + 1)
  }
  const frames: Frame[] = []
  while (all.length - at >= 22) {
    const kind = take(4)
    if (take(4) !== 0) return 'a frame has flags'
    const length = take(14)
    if (all.length - at < length * 8) return 'ends inside a frame'
    frames.push({ kind, body: bytesOf(all.slice(at, at + length * 8)) })
    at += length * 8
  }
  if (!/^0{0,7}$/.test(all.slice(at))) return `ends in ${all.length - at} bits that are not fewer than 8 zeros`
  return { acks: { latest, delayMs: delay === 65_535 ? undefined : delay * 0.032, missing }, frames }
}

/** A number in seven bits a byte, lowest group first. */
export function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push(rest % 128 + 128)
  return Buffer.of(...bytes, rest)
}

function bitsOf(value: number, width: number): string {
  return value.toString(2).padStart(width, '0')
}

function bytesOf(bits: string): Buffer {
  return Buffer.from((bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)))
}
