/**
 * Writes and reads TURN messages by docs/wire/RELAY.md and RFC 8489/8656 alone, with the platform's hashes. It imports
 * nothing of the engine. `readTurn` throws the reason why bytes are invalid.
 */

import { createHash, createHmac } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** One message. Bytes are hexadecimal. */
export interface TurnMessage {
  readonly method: keyof typeof METHODS
  readonly class: keyof typeof CLASSES
  /** 12 bytes. */
  readonly transaction: string
  /** In the order of the message, without integrity and fingerprint. */
  readonly attributes: readonly (readonly [name: string, value: string | number])[]
  readonly hasIntegrity: boolean
  readonly hasFingerprint: boolean
}

const METHODS = {
  binding: 0x001, allocate: 0x003, refresh: 0x004, send: 0x006, data: 0x007, createPermission: 0x008,
  channelBind: 0x009,
} as const
const CLASSES = { request: 0, indication: 0x010, success: 0x100, error: 0x110 } as const
const COOKIE = Buffer.from('2112a442', 'hex')

type Kind = 'text' | 'hex' | 'word' | 'channel' | 'address' | 'code' | 'transport'
const ATTRIBUTES: { readonly [name: string]: readonly [number, Kind] } = {
  username: [0x0006, 'text'], error: [0x0009, 'code'], unknown: [0x000a, 'hex'], channel: [0x000c, 'channel'],
  lifetime: [0x000d, 'word'], peer: [0x0012, 'address'], data: [0x0013, 'hex'], realm: [0x0014, 'text'],
  nonce: [0x0015, 'text'], relayed: [0x0016, 'address'], family: [0x0017, 'transport'], evenPort: [0x0018, 'hex'],
  transport: [0x0019, 'transport'], mapped: [0x0020, 'address'], software: [0x8022, 'text'],
}

/** The key of a user name: MD5(user name : realm : password). */
export function turnKeyOf(username: string, realm: string, password: string): Buffer {
  return createHash('md5').update(`${username}:${realm}:${password}`).digest()
}

/** The bytes of a message; with its MAC when there is a key. */
export function writeTurn(message: Omit<TurnMessage, 'hasIntegrity'>, key?: Buffer): Buffer {
  const method = METHODS[message.method]
  const head = Buffer.alloc(20)
  head.writeUInt16BE(CLASSES[message.class] | (method & 0xf) | ((method & 0x70) << 1) | ((method & 0xf80) << 2), 0)
  COOKIE.copy(head, 4)
  Buffer.from(message.transaction, 'hex').copy(head, 8)
  const parts = message.attributes.map(([name, value]) => writeAttribute(name, value, head))
  let bytes = Buffer.concat([head, ...parts])
  const seal = (size: number): void => void bytes.writeUInt16BE(bytes.length - 20 + size, 2)
  seal(0)
  if (key !== undefined) {
    seal(24)
    const mac = createHmac('sha1', key).update(bytes).digest()
    bytes = Buffer.concat([bytes, Buffer.from('00080014', 'hex'), mac])
  }
  if (message.hasFingerprint) {
    seal(8)
    const crc = Buffer.alloc(4)
    crc.writeUInt32BE((crc32(bytes) ^ 0x5354554e) >>> 0)
    bytes = Buffer.concat([bytes, Buffer.from('80280004', 'hex'), crc])
  }
  return bytes
}

/** The message in some bytes. A MAC is checked when there is a key. */
export function readTurn(datagram: Uint8Array, key?: Buffer): TurnMessage {
  const bytes = Buffer.from(datagram)
  need(bytes.length >= 20 && bytes.subarray(4, 8).equals(COOKIE), 'the head')
  need(bytes.readUInt16BE(2) === bytes.length - 20 && bytes.length % 4 === 0, 'the size')
  const type = bytes.readUInt16BE(0)
  const method = (type & 0xf) | ((type & 0xe0) >>> 1) | ((type & 0x3e00) >>> 2)
  const attributes: (readonly [string, string | number])[] = []
  let [hasIntegrity, hasFingerprint] = [false, false]
  for (let at = 20; at < bytes.length;) {
    need(!hasFingerprint && at + 4 <= bytes.length, 'nothing after the fingerprint')
    const [attribute, size] = [bytes.readUInt16BE(at), bytes.readUInt16BE(at + 2)]
    const value = bytes.subarray(at + 4, at + 4 + size)
    const next = at + 4 + Math.ceil(size / 4) * 4
    need(next <= bytes.length, 'the attribute ends')
    if (attribute === 0x8028) {
      need(value.readUInt32BE() === ((crc32(bytes.subarray(0, at)) ^ 0x5354554e) >>> 0), 'the fingerprint')
      hasFingerprint = true
    } else if (attribute === 0x0008) {
      const covered = Buffer.from(bytes.subarray(0, at))
      covered.writeUInt16BE(at + 24 - 20, 2)
      if (key !== undefined) need(createHmac('sha1', key).update(covered).digest().equals(value), 'the MAC')
      hasIntegrity = true
    } else if (!hasIntegrity) attributes.push(readAttribute(attribute, value, bytes))
    at = next
  }
  return {
    method: nameOf(METHODS, method), class: nameOf(CLASSES, type & 0x110),
    transaction: bytes.subarray(8, 20).toString('hex'), attributes, hasIntegrity, hasFingerprint,
  }
}

function writeAttribute(name: string, value: string | number, head: Buffer): Buffer {
  const [type, kind] = ATTRIBUTES[name] ?? [Number(name), 'hex' as const]
  const body = writeValue(kind, value, head)
  const bytes = Buffer.alloc(4 + Math.ceil(body.length / 4) * 4)
  bytes.writeUInt16BE(type, 0)
  bytes.writeUInt16BE(body.length, 2)
  body.copy(bytes, 4)
  return bytes
}

function writeValue(kind: Kind, value: string | number, head: Buffer): Buffer {
  const word = Buffer.alloc(4)
  switch (kind) {
    case 'text': return Buffer.from(String(value))
    case 'hex': return Buffer.from(String(value), 'hex')
    case 'word': word.writeUInt32BE(Number(value)); return word
    case 'channel': word.writeUInt16BE(Number(value)); return word
    case 'transport': word[0] = Number(value); return word
    case 'code': word[2] = Math.floor(Number(value) / 100); word[3] = Number(value) % 100; return word
    case 'address': {
      const at = String(value).lastIndexOf(':')
      const ip = bytesOfIp(String(value).slice(0, at))
      const bytes = Buffer.alloc(4 + ip.length)
      bytes[1] = ip.length === 4 ? 1 : 2
      bytes.writeUInt16BE(Number(String(value).slice(at + 1)) ^ 0x2112, 2)
      ip.forEach((byte, index) => {
        bytes[4 + index] = byte ^ head[4 + index]!
      })
      return bytes
    }
  }
}

function readAttribute(type: number, value: Buffer, head: Buffer): readonly [string, string | number] {
  const [name, [, kind]] = Object.entries(ATTRIBUTES).find(([, [number]]) => number === type)
    ?? [`0x${type.toString(16)}`, [0, 'hex'] as const]
  switch (kind) {
    case 'text': return [name, value.toString()]
    case 'hex': return [name, value.toString('hex')]
    case 'word': need(value.length === 4, name); return [name, value.readUInt32BE()]
    case 'channel': need(value.length === 4, name); return [name, value.readUInt16BE()]
    case 'transport': need(value.length === 4, name); return [name, value[0]!]
    case 'code': return [name, value[2]! * 100 + value[3]!]
    case 'address': {
      need(value[0] === 0 && value.length === (value[1] === 1 ? 8 : 20), name)
      const ip = value.subarray(4).map((byte, index) => byte ^ head[4 + index]!)
      const port = value.readUInt16BE(2) ^ 0x2112
      if (ip.length === 4) return [name, `${ip.join('.')}:${port}`]
      const groups = [...Array(8).keys()].map((index) => Buffer.from(ip).readUInt16BE(2 * index).toString(16))
      return [name, `${new URL(`http://[${groups.join(':')}]`).hostname}:${port}`]
    }
  }
}

/** The bytes of an IP address; IPv6 is in brackets. */
function bytesOfIp(text: string): Buffer {
  if (!text.startsWith('[')) return Buffer.from(text.split('.').map(Number))
  const [front = '', back] = text.slice(1, -1).split('::')
  const groups = (part: string): number[] => part.split(':').filter(Boolean).map((group) => Number.parseInt(group, 16))
  const [first, last] = [groups(front), groups(back ?? '')]
  const all = [...first, ...Array<number>(8 - first.length - last.length).fill(0), ...last]
  return Buffer.from(all.flatMap((group) => [group >>> 8, group & 255]))
}

function nameOf<T extends { readonly [name: string]: number }>(table: T, value: number): keyof T {
  const name = Object.entries(table).find(([, number]) => number === value)?.[0]
  need(name !== undefined, 'the method and class')
  // reason: the entries of a table have its keys.
  return name as keyof T
}

function need(isRight: boolean, what: string): asserts isRight {
  if (!isRight) throw new Error(`not valid: ${what}`)
}
