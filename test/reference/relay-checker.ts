/**
 * Reads relay control messages by the tables of docs/wire/RELAY.md alone. It imports nothing of the engine. It returns
 * what a datagram means, or throws the reason why it is invalid.
 */

import { createHmac } from 'node:crypto'

/** What a datagram means. Bytes and 64-bit numbers are hexadecimal, the latter highest digit first. */
export interface RelayMeaning {
  readonly is: string
  readonly allocation: string
  readonly transaction: number
  readonly [field: string]: string | number
}

const KINDS = [
  '', 'Allocate', 'Cookie', 'AllocateOk', 'Bind', 'BindOk', 'Refresh', 'RefreshOk', 'Moving', 'Error', 'Ping', 'Pong',
  'Probe', 'ProbeReply',
]
const REASONS = ['', 'token', 'quota', 'full', 'unknown', 'draining']
const WITH_MAC = [4, 5, 6, 7, 8, 12, 13]

/** The meaning of a relay control message. `key` is needed for those with a mac. */
export function readRelayMeaning(datagram: Uint8Array, key: string): RelayMeaning {
  const bytes = Buffer.from(datagram)
  need(bytes.length >= 15 && bytes.subarray(0, 5).equals(Buffer.from('544b570305', 'hex')), 'the first five bytes')
  const kind = bytes[13]!
  need(kind >= 1 && kind < KINDS.length, 'the kind')
  let transaction = 0
  let at = 14
  for (let shift = 1; ; shift *= 128) {
    need(at < bytes.length && at < 22, 'the transaction ends')
    const byte = bytes[at++]!
    transaction += (byte % 128) * shift
    if (byte >= 128) continue
    need(byte !== 0 || at === 15, 'the shortest transaction')
    break
  }
  need(Number.isSafeInteger(transaction), 'a transaction below 2^53')
  let end = bytes.length
  if (WITH_MAC.includes(kind)) {
    end -= 8
    need(end >= at, 'room for the mac')
    const mac = createHmac('sha256', Buffer.from(key, 'hex')).update(bytes.subarray(0, end)).digest().subarray(0, 8)
    need(mac.equals(bytes.subarray(end)), 'the mac')
  }
  const cursor = new Cursor(bytes.subarray(0, end), at)
  const fields = FIELDS[kind]!(cursor)
  need(cursor.at === end, 'the length')
  need(kind !== 8 || transaction === 0, 'the transaction of Moving')
  const allocation = Buffer.from(bytes.subarray(5, 13)).reverse().toString('hex')
  return { is: KINDS[kind]!, allocation, transaction, ...fields }
}

class Cursor {
  readonly bytes: Buffer
  at: number

  constructor(bytes: Buffer, at: number) {
    this.bytes = bytes
    this.at = at
  }

  take(count: number): Buffer {
    need(this.at + count <= this.bytes.length, 'enough bytes')
    this.at += count
    return this.bytes.subarray(this.at - count, this.at)
  }

  hex(count: number): string {
    return this.take(count).toString('hex')
  }

  number(count: 1 | 2): number {
    return this.take(count).readUIntLE(0, count)
  }

  id(): string {
    return Buffer.from(this.take(8)).reverse().toString('hex')
  }

  address(): string {
    const family = this.number(1)
    if (family === 0) return ''
    need(family === 4 || family === 6, 'the family')
    const port = this.number(2)
    need(port > 0, 'the port')
    if (family === 4) return `${[...this.take(4)].join('.')}:${port}`
    const ip = this.take(16)
    need(!ip.subarray(0, 12).equals(Buffer.from('00000000000000000000ffff', 'hex')), 'IPv4 is written as IPv4')
    // The form of RFC 5952, made by the platform.
    const groups = [...Array(8).keys()].map((index) => ip.readUInt16BE(2 * index).toString(16)).join(':')
    return `${new URL(`http://[${groups}]`).hostname}:${port}`
  }

  reason(): string {
    const reason = REASONS[this.number(1)]
    need(reason !== undefined && reason !== '', 'the reason')
    return reason
  }
}

type Fields = { readonly [field: string]: string | number }

const FIELDS: readonly ((cursor: Cursor) => Fields)[] = [
  () => ({}),
  (c) => ({ cookie: c.hex(16), token: c.hex(c.number(2)) }),
  (c) => ({ cookie: c.hex(16) }),
  (c) => ({
    key: c.hex(16), life: c.number(2), kbits: c.number(2), mebibytes: c.number(2), relayed: c.address(),
    seen: c.address(),
  }),
  (c) => ({ peer: c.id(), connection: c.id() }),
  (c) => {
    const channel = c.number(2)
    need(channel >= 0x4000 && channel <= 0x7fff, 'the channel')
    return { channel, tag: c.hex(8) }
  },
  (c) => ({ cookie: c.hex(16), life: c.number(2) }),
  (c) => ({ life: c.number(2) }),
  (c) => ({ left: c.number(2), reason: c.reason() }),
  (c) => ({ reason: c.reason() }),
  (c) => {
    const nonce = c.hex(8)
    need(c.take(24).every((byte) => byte === 0), 'zeros')
    return { nonce }
  },
  (c) => ({ nonce: c.hex(8), load: c.number(1), seen: c.address() }),
  () => ({}),
  () => ({}),
]

function need(isRight: boolean, what: string): asserts isRight {
  if (!isRight) throw new Error(`not valid: ${what}`)
}
