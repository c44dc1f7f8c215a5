/**
 * Makes test/vectors/relay.json: bytes and meaning of every relay control message, as the engine writes them, and bytes
 * that a reader must refuse.
 *
 * `node --conditions=tickwire-source --import tsx tools/gen-vectors-relay.ts` writes the file. A test holds the file to
 * this list, and an independent checker holds it to docs/wire/RELAY.md; a change of either is a change of the wire.
 */

import { writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { pureProvider } from '../packages/tickwire/src/core/crypto/pure-provider.ts'
import { issueRelayToken } from '../packages/tickwire/src/core/nat/relay-token.ts'
import type { RelayMeaning } from '../test/reference/relay-checker.ts'
import { engineWritesRelay } from '../test/reference/relay-engine.ts'
import type { TurnMessage } from '../test/reference/turn-checker.ts'
import { playTurn } from '../test/reference/turn-exchange.ts'

/** Bytes and, if they have one, their meaning. */
export interface RelayVector {
  readonly name: string
  /** Hexadecimal. */
  readonly bytes: string
  readonly meaning?: RelayMeaning
}

/** A datagram of a TURN client, and what the relay sends for it. */
export interface TurnVector {
  readonly name: string
  readonly from: string
  readonly bytes: string
  /** Undefined for channel data. */
  readonly meaning?: TurnMessage
  /** Undefined when the relay sends nothing. */
  readonly answer?: { readonly to: string; readonly bytes: string; readonly meaning?: TurnMessage }
}

/** The whole file. */
export interface RelayVectors {
  readonly about: string
  /** The key of every mac. */
  readonly key: string
  readonly messages: readonly RelayVector[]
  readonly refused: readonly RelayVector[]
  readonly token: { readonly issuerSeed: string; readonly bytes: string }
  readonly turn: {
    readonly relayed: string
    readonly users: readonly { readonly username: string; readonly password: string; readonly key: string }[]
    readonly exchange: readonly TurnVector[]
  }
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
const run = (first: number, count: number): Uint8Array => Uint8Array.from({ length: count }, (_, at) => first + at)

const KEY = hex(run(0x30, 16))
const NONE = '0000000000000000'
const ID = '0102030405060708'
const COOKIE = hex(run(0xa0, 16))
const ZEROS = '00'.repeat(16)
const SEED = run(1, 32)

const TOKEN = hex(
  issueRelayToken(pureProvider, pureProvider.importSigning(SEED), {
    session: run(0x50, 16), id: run(0x70, 16), issuedAt: 1_800_000_000, expiresAt: 1_800_000_300, audience: 'relay',
    kbitsPerSecond: 128, mebibytes: 64, minutes: 90,
  }),
)

const MEANINGS: readonly (readonly [string, RelayMeaning])[] = [
  [
    'Allocate without a cookie',
    { is: 'Allocate', allocation: NONE, transaction: 1, cookie: ZEROS, token: '0'.repeat(TOKEN.length) },
  ],
  ['Allocate with a cookie', { is: 'Allocate', allocation: NONE, transaction: 2 ** 48, cookie: COOKIE, token: TOKEN }],
  ['Cookie', { is: 'Cookie', allocation: NONE, transaction: 300, cookie: COOKIE }],
  [
    'AllocateOk, IPv4',
    {
      is: 'AllocateOk', allocation: ID, transaction: 300, key: KEY, life: 30, kbits: 256, mebibytes: 1024,
      relayed: '203.0.113.10:7777', seen: '198.51.100.7:40000',
    },
  ],
  [
    'AllocateOk, IPv6',
    {
      is: 'AllocateOk', allocation: ID, transaction: 2 ** 53 - 1, key: KEY, life: 30, kbits: 1, mebibytes: 65_535,
      relayed: '[2001:db8::1]:7777', seen: '[2001:db8:0:1::2]:1',
    },
  ],
  [
    'AllocateOk, seen through a WebSocket',
    {
      is: 'AllocateOk', allocation: ID, transaction: 300, key: KEY, life: 30, kbits: 256, mebibytes: 1024,
      relayed: '203.0.113.10:7777', seen: '',
    },
  ],
  ['Bind', { is: 'Bind', allocation: ID, transaction: 301, peer: '1112131415161718', connection: NONE }],
  [
    'Bind that names a connection',
    { is: 'Bind', allocation: ID, transaction: 302, peer: '1112131415161718', connection: 'f0f1f2f3f4f5f6f7' },
  ],
  ['BindOk', { is: 'BindOk', allocation: ID, transaction: 301, channel: 0x4000, tag: hex(run(0xc0, 8)) }],
  ['BindOk, last channel', { is: 'BindOk', allocation: ID, transaction: 301, channel: 0x7fff, tag: hex(run(0xc0, 8)) }],
  ['Refresh', { is: 'Refresh', allocation: ID, transaction: 400, cookie: ZEROS, life: 30 }],
  ['Refresh from a new address', { is: 'Refresh', allocation: ID, transaction: 401, cookie: COOKIE, life: 30 }],
  ['Refresh that frees', { is: 'Refresh', allocation: ID, transaction: 402, cookie: ZEROS, life: 0 }],
  ['RefreshOk', { is: 'RefreshOk', allocation: ID, transaction: 400, life: 30 }],
  ['Moving', { is: 'Moving', allocation: ID, transaction: 0, left: 10_000, reason: 'draining' }],
  ...['token', 'quota', 'full', 'unknown', 'draining'].map(
    (reason) => [`Error: ${reason}`, { is: 'Error', allocation: ID, transaction: 7, reason }] as const,
  ),
  ['Ping', { is: 'Ping', allocation: NONE, transaction: 9, nonce: hex(run(0xd0, 8)) }],
  [
    'Pong',
    { is: 'Pong', allocation: NONE, transaction: 9, nonce: hex(run(0xd0, 8)), load: 12, seen: '198.51.100.7:40000' },
  ],
  [
    'Pong, IPv6',
    { is: 'Pong', allocation: ID, transaction: 10, nonce: hex(run(0xd0, 8)), load: 255, seen: '[2001:db8:0:1::2]:1' },
  ],
  ['Pong by WebSocket', { is: 'Pong', allocation: ID, transaction: 11, nonce: hex(run(0xd0, 8)), load: 0, seen: '' }],
  ['Probe', { is: 'Probe', allocation: NONE, transaction: 20 }],
  ['ProbeReply', { is: 'ProbeReply', allocation: NONE, transaction: 20 }],
]

/** All vectors. */
export function makeRelayVectors(): RelayVectors {
  const messages = MEANINGS.map(([name, meaning]) => ({ name, bytes: hex(engineWritesRelay(meaning, KEY)), meaning }))
  const of = (name: string): string => messages.find((vector) => vector.name === name)!.bytes
  const edit = (name: string, at: number, to: string): string => {
    const bytes = of(name)
    return bytes.slice(0, 2 * at) + to + bytes.slice(2 * at + to.length)
  }
  const refused = [
    ['one byte short', of('Ping').slice(0, -2)],
    ['one byte too many', `${of('Ping')}00`],
    ['another protocol', edit('Ping', 0, '55')],
    ['another version', edit('Ping', 3, '02')],
    ['kind 0', edit('Ping', 13, '00')],
    ['kind 14', edit('Ping', 13, '0e')],
    ['a transaction that is longer than needed', `${of('Ping').slice(0, 28)}8900${of('Ping').slice(30)}`],
    ['a Ping whose zeros are not zero', edit('Ping', 46, '01')],
    ['Allocate whose token is shorter than it says', of('Allocate without a cookie').slice(0, -2)],
    ['AllocateOk with port 0', edit('AllocateOk, IPv4', 39, '0000')],
    ['AllocateOk with family 5', edit('AllocateOk, IPv4', 38, '05')],
    ['AllocateOk with IPv4 mapped into IPv6', edit('AllocateOk, IPv6', 47, '00000000000000000000ffff')],
    ['Bind with a wrong mac', edit('Bind', 16, 'ff')],
    ['Refresh with a wrong mac', edit('Refresh', 40, '00')],
    ['BindOk cut before its mac', of('BindOk').slice(0, -16)],
    ['Error without a known reason', edit('Error: token', 15, '06')],
    ['Error with reason 0', edit('Error: token', 15, '00')],
    ['a Probe with a wrong mac', edit('Probe', 22, '00')],
    ['nothing', ''],
  ].map(([name = '', bytes = '']) => ({ name, bytes }))
  const about =
    'Relay control, version 3: bytes and meaning. docs/wire/RELAY.md says how to read them. The key of every mac is '
    + "'key'; 64-bit numbers are hexadecimal, highest digit first."
  const turn = playTurn(SEED)
  return { about, key: KEY, messages, refused, token: { issuerSeed: hex(SEED), bytes: TOKEN }, turn }
}

/** The file. */
export function relayVectorsText(vectors: RelayVectors): string {
  const list = (items: readonly unknown[]): string => items.map((item) => `    ${JSON.stringify(item)}`).join(',\n')
  return `{
  "about": ${JSON.stringify(vectors.about)},
  "key": ${JSON.stringify(vectors.key)},
  "messages": [\n${list(vectors.messages)}\n  ],
  "refused": [\n${list(vectors.refused)}\n  ],
  "token": ${JSON.stringify(vectors.token)},
  "turn": {
    "relayed": ${JSON.stringify(vectors.turn.relayed)},
    "users": [\n${list(vectors.turn.users)}\n    ],
    "exchange": [\n${list(vectors.turn.exchange)}\n    ]
  }
}
`
}

const PATH = fileURLToPath(new URL('../test/vectors/relay.json', import.meta.url))

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href)
  writeFileSync(PATH, relayVectorsText(makeRelayVectors()))
