/** Reads messages of the sync stream as docs/wire/DESYNC.md says, and throws if invalid. Imports nothing of src. */

class Bytes {
  at = 0
  readonly bytes: Uint8Array

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  big(count: number): number {
    let value = 0
    for (let each = 0; each < count; each++) {
      const byte = this.bytes[this.at++]
      if (byte === undefined) throw new Error('cut')
      value = value * 256 + byte
    }
    return value
  }

  varint(): number {
    let value = 0n
    for (let group = 0n; group < 8n; group++) {
      const byte = this.big(1)
      value |= BigInt(byte & 127) << (7n * group)
      if (byte >= 128) continue
      if ((byte === 0 && group > 0n) || value >= 2n ** 53n) throw new Error('no varint')
      return Number(value)
    }
    throw new Error('long varint')
  }

  hex(count: number = this.bytes.length - this.at): string {
    return Array.from({ length: count }, () => this.big(1).toString(16).padStart(2, '0')).join('')
  }

  text(): string {
    const rest = this.bytes.slice(this.at)
    this.at = this.bytes.length
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(rest)
  }

  /** A varint length of at most 256, and that many bytes of UTF-8. */
  name(): string {
    const size = this.varint()
    if (size > 256) throw new Error('a long name')
    return Buffer.from(this.hex(size), 'hex').toString('utf8')
  }

  end(): void {
    if (this.at !== this.bytes.length) throw new Error('too long')
  }
}

const OUTCOMES = ['named', 'healed', 'refused']
const ROLES = ['witness', 'donor', 'diverged']

/** A message as plain values. Roots and bytes are hexadecimal. */
export type Meaning = Readonly<Record<string, unknown>>

/** Reads one message. */
export function readSyncMessage(bytes: Uint8Array): Meaning {
  const from = new Bytes(bytes)
  const kind = from.big(1)
  const meaning = readBody(from, kind)
  from.end()
  return meaning
}

function readBody(from: Bytes, kind: number): Meaning {
  const first = from.varint()
  switch (kind) {
    case 1:
      return {
        message: 'report', case: first, tick: from.varint(), held: from.varint(), root: from.hex(8),
        generator: from.hex(16), machine: from.text(),
      }
    case 2: return { message: 'ask', case: first, bytes: from.hex() }
    case 3: return { message: 'answer', case: first, bytes: from.hex() }
    case 4: return { message: 'finding', case: first, text: from.text() }
    case 5: return { message: 'done', case: first, outcome: named(OUTCOMES, from.varint()), tick: from.varint() }
    case 6: return { message: 'root', tick: first, root: from.hex(8) }
    case 7:
      return {
        message: 'seal', tick: first, orders: from.varint(), publicKey: from.hex(32), signature: from.hex(64),
      }
    case 8: return { message: 'image', tick: first, bytes: from.hex() }
    case 9: return { message: 'digest', tick: first, bytes: from.hex(32) }
    case 16: return { message: 'request', case: first, tick: from.varint(), level: from.varint() }
    case 17:
      return {
        message: 'verdict', case: first, tick: from.varint(), role: named(ROLES, from.varint()),
        mayHeal: named([false, true], from.varint()), root: from.hex(8),
      }
    case 18: return { message: 'summary', case: first, text: from.text() }
    case 20: {
      const position = from.varint()
      const ticks = from.hex(from.varint())
      return { message: 'state', tick: first, position, ticks, snapshot: from.hex() }
    }
    case 22: return { message: 'past', position: first, bytes: from.hex() }
    case 19: return { message: 'wanted', tick: first, isWhole: named([false, true], from.varint()) }
    case 21: return { message: 'sealing', tick: first }
    case 10: return { message: 'bind', player: first, publicKey: from.hex(32) }
    case 11: {
      const isWhole = named([false, true], from.varint())
      const checkpoint = from.hex(from.varint())
      return { message: 'claim', tick: first, isWhole, checkpoint, tail: from.hex() }
    }
    case 12: return { message: 'ticks', offset: first, bytes: from.hex() }
    case 23: {
      const mayContinue = named([false, true], first)
      const count = from.varint()
      if (count > 8) throw new Error('too many relays')
      const match = from.hex(16)
      const relays = Array.from({ length: count }, () => ({ url: from.name(), key: from.hex(32) }))
      return { message: 'relays', mayContinue, match, relays }
    }
    case 24: return { message: 'certificate', player: first, bytes: from.hex() }
    case 25: return { message: 'checkpoint', tick: first, bytes: from.hex() }
    case 26: return { message: 'fetch', from: first, to: from.varint() }
    case 27: return { message: 'continued', tick: first, keep: from.varint() }
    default: throw new Error('unknown message')
  }
}

function named<T>(names: readonly T[], at: number): T {
  const name = names[at]
  if (name === undefined) throw new Error('no such number')
  return name
}

/** Reads a snapshot: the players after a tick, and the image, which stays bytes. */
export function readSnapshot(bytes: Uint8Array): Meaning {
  const from = new Bytes(bytes)
  const end = from.varint() + from.at
  const flags = from.varint()
  if (flags > 1023) throw new Error('too many handovers')
  const [speedPercent, deadlineUs, checkTick, checkUntil] = [1, 2, 3, 4].map(() => from.varint())
  if (speedPercent === 0) throw new Error('no speed')
  const count = from.varint()
  if (count > 16) throw new Error('too many players')
  const entries = Array.from({ length: count }, () => from.varint())
  const players = entries.map((entry) => Math.floor(entry / 2))
  if (new Set(players).size < players.length || players.includes(0)) throw new Error('a player twice, or player 0')
  if (from.at !== end) throw new Error('the roster has another length')
  return {
    isPaused: flags % 2 === 1, isHashFull: (flags & 2) === 2, handovers: flags >>> 2, speedPercent, deadlineUs,
    checkTick, checkUntil, players,
    away: players.filter((_, at) => entries[at]! % 2 === 1), image: from.hex(),
  }
}

/** The messages of a stream, given its frames in order. */
export function readStream(frames: readonly Uint8Array[]): string[] {
  const stream: number[] = []
  for (const frame of frames) {
    const from = new Bytes(frame)
    const offset = from.varint()
    if (offset > stream.length) throw new Error('gap')
    frame.slice(from.at).forEach((byte, at) => { stream[offset + at] = byte })
  }
  const from = new Bytes(Uint8Array.from(stream))
  const messages: string[] = []
  while (from.at < stream.length) messages.push(from.hex(from.varint()))
  return messages
}
