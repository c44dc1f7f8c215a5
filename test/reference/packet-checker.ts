/**
 * Reads Tickwire packets by the tables of docs/wire/STANDARD.md alone: slow, clear, and independent of the engine.
 *
 * It imports nothing of the engine, works on a string of '0' and '1', and returns what a datagram means or throws the
 * reason why it is invalid. It opens sealed ones with the given key, by node:crypto. Vectors are compared with this
 * reading as well as with the engine's.
 */

import { createDecipheriv } from 'node:crypto'

/** What a datagram means. Ids, salts and bytes are hexadecimal; a 64-bit number is written highest digit first. */
export type Meaning =
  | ({
      readonly is: 'request'
      readonly salt: string
      readonly clientKey: string
      readonly suites: readonly number[]
    } & Head)
  | ({
      readonly is: 'challenge'
      readonly salt: string
      readonly suite: number
      readonly serverKey: string
      readonly cookie: string
      readonly signature: string
    } & Head)
  | ({
      readonly is: 'response'
      readonly salt: string
      readonly suite: number
      readonly clientKey: string
      readonly cookie: string
      readonly suites: readonly number[]
      readonly token: string
      readonly fingerprint: string
      readonly user: string
      readonly data: string
    } & Head)
  | ({
      readonly is: 'accepted'
      readonly salt: string
      readonly random: string
      readonly resetToken: string
      readonly signature: string
      readonly datagramBytesMax: number
      readonly welcome: string
    } & Head)
  | ({ readonly is: 'rejected'; readonly salt: string; readonly reason: string } & Head)
  | ({ readonly is: 'refused'; readonly salt: string; readonly random: string; readonly reason: string } & Head)
  | ({ readonly is: 'reset'; readonly resetToken: string } & Head)
  | ({ readonly is: 'payload' | 'keepalive'; readonly acks: Acks; readonly frames: readonly Frame[] } & Head)
  | ({ readonly is: 'disconnect'; readonly reason: string } & Head)

/** What opens a sealed packet: the suite, and its material, hexadecimal (key 32, and salt 8 in suite 2). */
export interface PacketKey {
  readonly suite: number
  readonly material: string
}

interface Head {
  readonly version: number
  readonly connection: string
  readonly epoch: number
  readonly sequence: number
}

interface Acks {
  readonly latest: number
  readonly delayUs: number | 'unknown'
  /** How far behind `latest` each packet is that has not arrived, 1..64. */
  readonly missing: readonly number[]
}

interface Frame {
  readonly kind: number
  readonly body: string
}

const CODES = [
  '',
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
const NO_CONNECTION = '0000000000000000'

/** The meaning of one datagram. */
export function readDatagram(bytes: Uint8Array, key?: PacketKey): Meaning {
  need(bytes.length >= 15, 'shorter than a header')
  need(hex(bytes, 0, 3) === '544b57', 'not ours')
  const { value: sequence, end } = varint(bytes, 14)
  const head: Head = { version: bytes[3]!, connection: number64(bytes, 5), epoch: bytes[13]!, sequence }
  const type = bytes[4]!
  need(type <= 4, 'a type without meaning')
  if (type === 0) return readHandshake(bytes, end, head, key)
  need(head.version === 3, 'another version')
  if (type === 4) return readResponse(bytes, end, head, key)
  const plain = open(bytes, end, head, key)
  if (type === 3) {
    need(plain.length === 1, 'a disconnect has one byte')
    return { is: 'disconnect', ...head, reason: codeOf(plain[0]!) }
  }
  const { acks, frames } = readBody(bits(plain, 0))
  need((type === 1) === (frames.length > 0), 'a payload has frames, a keepalive none')
  return { is: type === 1 ? 'payload' : 'keepalive', ...head, acks, frames }
}

/** The meaning of the body of a reliable-ordered frame: messages as hexadecimal, the first with `firstId`. */
export function readReliableOrdered(body: Uint8Array): { firstId: number; messages: string[] } {
  need(body.length >= 3, 'an id and at least one message')
  const firstId = body[0]! * 256 + body[1]!
  const messages: string[] = []
  for (let at = 2; at < body.length;) {
    const { value: length, end } = varint(body, at)
    need(length <= 1024 && end + length <= body.length, 'a message that does not fit')
    messages.push(hex(body, end, length))
    at = end + length
  }
  return { firstId, messages }
}

function readHandshake(bytes: Uint8Array, at: number, head: Head, key: PacketKey | undefined): Meaning {
  need(head.sequence === 0 && head.epoch === 0, 'handshakes are not numbered')
  need(bytes.length >= at + 10, 'shorter than any handshake')
  const salt = number64(bytes, at + 1)
  const kind = bytes[at]!
  need((kind === 3 || kind === 6) === (head.connection !== NO_CONNECTION), 'only an acceptance and a reset name one')
  if (kind === 4) {
    need(bytes.length === at + 10, 'a rejection has one reason')
    return { is: 'rejected', ...head, salt, reason: codeOf(bytes[at + 9]!) }
  }
  need(head.version === 3, 'another version')
  switch (kind) {
    case 1: {
      need(bytes.length === 1200, 'a request is 1200 bytes')
      const suites = suitesAt(bytes, at + 41)
      need(bytes.subarray(at + 42 + suites.length).every((byte) => byte === 0), 'then zeros')
      return { is: 'request', ...head, salt, clientKey: hex(bytes, at + 9, 32), suites }
    }
    case 2:
      need(bytes.length === at + 122, 'a challenge has its length')
      return {
        is: 'challenge',
        ...head,
        salt,
        suite: bytes[at + 9]!,
        serverKey: hex(bytes, at + 10, 32),
        cookie: hex(bytes, at + 42, 16),
        signature: hex(bytes, at + 58, 64),
      }
    case 3: {
      const plain = open(bytes, at + 25, head, key)
      need(plain.length >= 84, 'shorter than any acceptance')
      const size = plain[82]! + plain[83]! * 256
      const datagramBytesMax = plain[80]! + plain[81]! * 256
      need(size <= 256 && plain.length === 84 + size && datagramBytesMax >= 1200, 'a welcome as long as it says')
      return {
        is: 'accepted',
        ...head,
        salt,
        random: hex(bytes, at + 9, 16),
        resetToken: hex(plain, 0, 16),
        signature: hex(plain, 16, 64),
        datagramBytesMax,
        welcome: hex(plain, 84, size),
      }
    }
    case 5: {
      const plain = open(bytes, at + 25, head, key)
      need(plain.length === 1, 'a refusal has one reason')
      return { is: 'refused', ...head, salt, random: hex(bytes, at + 9, 16), reason: codeOf(plain[0]!) }
    }
    case 6:
      need(bytes.length === at + 17, 'a reset has its length')
      return { is: 'reset', ...head, resetToken: hex(bytes, at + 1, 16) }
    default: throw new Error('an unknown handshake')
  }
}

function readResponse(bytes: Uint8Array, at: number, head: Head, key: PacketKey | undefined): Meaning {
  need(head.sequence === 0 && head.epoch === 0 && head.connection === NO_CONNECTION, 'handshakes are not numbered')
  need(bytes.length === 1200, 'a response is 1200 bytes')
  const suites = suitesAt(bytes, at + 57)
  const plain = open(bytes, at + 58 + suites.length, head, key)
  const tokenSize = plain[8]! + plain[9]! * 256
  need(tokenSize <= 429, 'a token as long as tokens are')
  const user = 10 + tokenSize
  const size = plain[user]!
  const data = user + 1 + size
  const dataSize = plain[data]! | (plain[data + 1]! << 8)
  need(size <= 64 && dataSize <= 1024 && data + 2 + dataSize <= plain.length, 'user bytes, and join data')
  need(plain.subarray(data + 2 + dataSize).every((byte) => byte === 0), 'then zeros')
  return {
    is: 'response',
    ...head,
    salt: number64(bytes, at),
    suite: bytes[at + 8]!,
    clientKey: hex(bytes, at + 9, 32),
    cookie: hex(bytes, at + 41, 16),
    suites,
    token: hex(plain, 10, tokenSize),
    fingerprint: hex(plain, 0, 8),
    user: hex(plain, user + 1, size),
    data: hex(plain, data + 2, dataSize),
  }
}

/** The suites that are offered: their count stands at `at`. */
function suitesAt(bytes: Uint8Array, at: number): number[] {
  const count = bytes[at]!
  const suites = [...bytes.subarray(at + 1, at + 1 + count)]
  need(count >= 1 && count <= 8 && !suites.includes(0), 'one to eight suites')
  return suites
}

/** What follows the first `at` bytes, which are authenticated with it. */
function open(bytes: Uint8Array, at: number, head: Head, key: PacketKey | undefined): Uint8Array {
  need(key !== undefined, 'sealed, and no key')
  need(bytes.length >= at + 16, 'no room for a tag')
  const material = Buffer.from(key.material, 'hex')
  const nonce = Buffer.alloc(12)
  const low = head.sequence % 2 ** 32
  if (key.suite === 1) {
    nonce.writeUInt32LE(low, 0)
    nonce.writeUInt32LE((head.sequence - low) / 2 ** 32, 4)
    nonce[11] = head.epoch
  } else {
    material.copy(nonce, 0, 32, 40)
    nonce.writeUInt32LE(low, 8)
  }
  const decipher = key.suite === 1
    ? createDecipheriv('chacha20-poly1305', material.subarray(0, 32), nonce, { authTagLength: 16 })
    : createDecipheriv('aes-256-gcm', material.subarray(0, 32), nonce, { authTagLength: 16 })
  const end = bytes.length - 16
  decipher.setAAD(bytes.subarray(0, at), { plaintextLength: end - at })
  decipher.setAuthTag(bytes.subarray(end))
  return Uint8Array.from(Buffer.concat([decipher.update(bytes.subarray(at, end)), decipher.final()]))
}

function readBody(all: string): { acks: Acks; frames: Frame[] } {
  let at = 0
  const take = (width: number): string => {
    need(at + width <= all.length, 'ends too early')
    at += width
    return all.slice(at - width, at)
  }
  const number = (width: number): number => Number.parseInt(take(width), 2)
  const latest = number(16)
  const delay = number(16)
  const gaps = number(4)
  const missing: number[] = []
  for (let group = 0; group < 4; group++) {
    if (((gaps >> group) & 1) === 0) continue
    const word = number(16)
    need(word !== 0xffff, 'a group without gaps is left out')
    for (let bit = 0; bit < 16; bit++) if (((word >> bit) & 1) === 0) missing.push(group * 16 + bit + 1)
  }
  const frames: Frame[] = []
  while (all.length - at >= 22) {
    const kind = number(4)
    need(number(4) === 0, 'flags are zero')
    const length = number(14)
    const body = take(length * 8)
    frames.push({
      kind,
      body: (body.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2).toString(16).padStart(2, '0')).join(''),
    })
  }
  need(/^0{0,7}$/.test(all.slice(at)), 'fewer than 8 zeros at the end')
  return { acks: { latest, delayUs: delay === 65_535 ? 'unknown' : delay * 32, missing }, frames }
}

function varint(bytes: Uint8Array, at: number): { value: number; end: number } {
  let value = 0
  for (let index = 0; index < 8; index++) {
    const byte = bytes[at + index]
    need(byte !== undefined, 'ends inside a number')
    value += (byte % 128) * 128 ** index
    if (byte >= 128) continue
    need(!(byte === 0 && index > 0) && value <= 2 ** 53 - 1, 'a number encoded too long, or too large')
    return { value, end: at + index + 1 }
  }
  throw new Error('a number of more than 8 bytes')
}

function codeOf(byte: number): string {
  const code = CODES[byte]
  need(code !== undefined && code !== '', 'an unknown reason')
  return code
}

function number64(bytes: Uint8Array, at: number): string {
  return hex(bytes.slice(at, at + 8).reverse(), 0, 8)
}

function hex(bytes: Uint8Array, at: number, length: number): string {
  return [...bytes.subarray(at, at + length)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function bits(bytes: Uint8Array, at: number): string {
  return [...bytes.subarray(at)].map((byte) => byte.toString(2).padStart(8, '0')).join('')
}

function need(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Error(why)
}
