/** Relay messages as the engine reads and writes them, in the form of `relay-checker.ts`. */

import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import {
  RELAY_ERROR, RELAY_KIND, RelayMessage, hasMac, isMacValid, readRelay, relayErrorOf, sealRelay,
} from '../../packages/tickwire/src/core/nat/relay-wire.ts'
import type { RelayMeaning } from './relay-checker.ts'

const NAMES = new Map<number, string>(
  Object.entries(RELAY_KIND).map(([name, kind]) => [kind, name[0]!.toUpperCase() + name.slice(1)]),
)
const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'))
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const word = (value: number): string => value.toString(16).padStart(8, '0')
const low = (id: string): number => Number.parseInt(id.slice(8), 16)
const high = (id: string): number => Number.parseInt(id.slice(0, 8), 16)

/** The meaning of a message by the engine; undefined when it refuses the bytes. */
export function engineReadsRelay(bytes: Uint8Array, key: string): RelayMeaning | undefined {
  const message = new RelayMessage()
  if (!readRelay(bytes, bytes.length, message)) return undefined
  if (hasMac(message.kind) && !isMacValid(pureProvider, unhex(key), bytes, bytes.length)) return undefined
  return {
    is: NAMES.get(message.kind)!, allocation: word(message.idHi) + word(message.idLo),
    transaction: message.transaction, ...fieldsOf(message),
  }
}

function fieldsOf(message: RelayMessage): { [field: string]: string | number } {
  const reason = relayErrorOf(message.reason) ?? ''
  switch (message.kind) {
    case RELAY_KIND.allocate: return { cookie: hex(message.cookie), token: hex(message.token) }
    case RELAY_KIND.cookie: return { cookie: hex(message.cookie) }
    case RELAY_KIND.allocateOk: return {
      key: hex(message.key), life: message.lifeSeconds, kbits: message.kbitsPerSecond, mebibytes: message.mebibytes,
      relayed: message.relayed, seen: message.seen,
    }
    case RELAY_KIND.bind: return {
      peer: word(message.peerHi) + word(message.peerLo),
      connection: word(message.connectionHi) + word(message.connectionLo),
    }
    case RELAY_KIND.bindOk: return { channel: message.channel, tag: hex(message.originTag) }
    case RELAY_KIND.refresh: return { cookie: hex(message.cookie), life: message.lifeSeconds }
    case RELAY_KIND.refreshOk: return { life: message.lifeSeconds }
    case RELAY_KIND.moving: return { left: message.leftMs, reason }
    case RELAY_KIND.error: return { reason }
    case RELAY_KIND.ping: return { nonce: hex(message.nonce) }
    case RELAY_KIND.pong: return { nonce: hex(message.nonce), load: message.load, seen: message.seen }
    default: return {}
  }
}

/** The bytes of a meaning, as the engine writes them. */
export function engineWritesRelay(meaning: RelayMeaning, key: string): Uint8Array {
  const text = (field: string): string => String(meaning[field] ?? '')
  const number = (field: string): number => Number(meaning[field] ?? 0)
  const message = new RelayMessage()
  message.kind = [...NAMES].find(([, name]) => name === meaning.is)![0]
  message.idLo = low(meaning.allocation)
  message.idHi = high(meaning.allocation)
  message.transaction = meaning.transaction
  message.cookie = unhex(text('cookie'))
  message.token = unhex(text('token'))
  message.key = unhex(text('key'))
  message.lifeSeconds = number('life')
  message.kbitsPerSecond = number('kbits')
  message.mebibytes = number('mebibytes')
  message.relayed = text('relayed')
  message.seen = text('seen')
  message.peerLo = low(text('peer'))
  message.peerHi = high(text('peer'))
  message.connectionLo = low(text('connection'))
  message.connectionHi = high(text('connection'))
  message.channel = number('channel')
  message.originTag = unhex(text('tag'))
  message.leftMs = number('left')
  message.reason = RELAY_ERROR[text('reason') as keyof typeof RELAY_ERROR] ?? 0
  message.nonce = unhex(text('nonce'))
  message.load = number('load')
  const out = new Uint8Array(1500)
  return out.slice(0, sealRelay(pureProvider, unhex(key), message, out))
}
