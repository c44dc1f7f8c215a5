/**
 * Makes test/vectors/packet.json: bytes and meaning of every packet and handshake there is, as the engine writes them,
 * and bytes that a reader must refuse.
 *
 * `node --conditions=tickwire-source --import tsx tools/gen-vectors-packet.ts` writes the file. A test holds the file
 * to this list, and an independent checker holds it to the standard; a change of either is a change of the wire.
 */

import { writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Meaning, PacketKey } from '../test/reference/packet-checker.ts'
import { engineSeals, engineWrites, unhex } from '../test/reference/packet-engine.ts'

/** Bytes and, if they have one, their meaning. */
export interface PacketVector {
  readonly name: string
  /** Hexadecimal. */
  readonly bytes: string
  /** Zero bytes that follow. */
  readonly zeros?: number
  readonly key?: PacketKey
  readonly meaning?: Meaning
}

/** The whole file. */
export interface PacketVectors {
  readonly about: string
  readonly packets: readonly PacketVector[]
  readonly refused: readonly PacketVector[]
  readonly reliableOrdered: readonly {
    readonly body: string
    readonly meaning: { readonly firstId: number; readonly messages: readonly string[] }
  }[]
  readonly reliableOrderedRefused: readonly { readonly name: string; readonly body: string }[]
}

const ABOUT =
  'Tickwire packets, version 3: bytes and meaning. docs/wire/STANDARD.md says how to read them. '
  + "'zeros' are zero bytes after 'bytes'; 'key' opens what is sealed: its suite, and its material "
  + '(key 32 bytes, and salt 8 in suite 2); 64-bit numbers are hexadecimal, highest digit first.'

/** `count` bytes that count up from `first`. */
const run = (first: number, count: number): string =>
  hex(Uint8Array.from({ length: count }, (_, index) => first + index))

const KEY_1: PacketKey = { suite: 1, material: run(0x80, 32) }
const KEY_2: PacketKey = { suite: 2, material: run(0x10, 40) }
const ID = '123456780badf00d'
const SALT = '8877665544332211'
const [CLIENT_KEY, SERVER_KEY, COOKIE] = [run(0x01, 32), run(0x21, 32), run(0x41, 16)]
const [RANDOM, RESET_TOKEN, SIGNATURE] = [run(0x51, 16), run(0x61, 16), run(0xa0, 64)]

const asking = { version: 3, connection: '0000000000000000', epoch: 0, sequence: 0 }
const clean = (latest: number, delayUs: number = 0): PacketAcks => ({ latest, delayUs, missing: [] })
const FRAMES = [{ kind: 1, body: 'aa' }, { kind: 15, body: '010203' }, { kind: 3, body: '000502686900' }]

type PacketAcks = Extract<Meaning, { is: 'payload' | 'keepalive' }>['acks']
type Case = readonly [name: string, meaning: Meaning, key?: PacketKey]

function payload(
  sequence: number,
  acks: PacketAcks,
  frames: readonly { kind: number; body: string }[],
  epoch: number = 0,
): Meaning {
  return { is: 'payload', version: 3, connection: ID, epoch, sequence, acks, frames }
}

function keepalive(sequence: number, latest: number, delayUs: number | 'unknown', missing: readonly number[]): Meaning {
  return {
    is: 'keepalive',
    version: 3,
    connection: ID,
    epoch: 0,
    sequence,
    acks: { latest, delayUs, missing },
    frames: [],
  }
}

const disconnect = (reason: string, sequence: number = 9): Case => [
  `disconnect: ${reason}`,
  { is: 'disconnect', version: 3, connection: ID, epoch: 0, sequence, reason },
  KEY_1,
]
const control = (name: string, sequence: number, body: string): Case => [
  `payload: ${name}`,
  payload(sequence, clean(7), [{ kind: 15, body }]),
  KEY_1,
]

const HANDSHAKES: readonly Case[] = [
  ['request for one suite', { is: 'request', ...asking, salt: SALT, clientKey: CLIENT_KEY, suites: [1] }],
  [
    'request for two suites, the second first',
    { is: 'request', ...asking, salt: '0000000000000001', clientKey: CLIENT_KEY, suites: [2, 1] },
  ],
  [
    'challenge',
    { is: 'challenge', ...asking, salt: SALT, suite: 1, serverKey: SERVER_KEY, cookie: COOKIE, signature: SIGNATURE },
  ],
  [
    'response without token and user bytes',
    {
      is: 'response',
      ...asking,
      salt: SALT,
      suite: 1,
      clientKey: CLIENT_KEY,
      cookie: COOKIE,
      suites: [1],
      token: '',
      fingerprint: 'deadbeef01020304',
      user: '',
      data: '',
    },
    KEY_1,
  ],
  [
    'response with a token, user bytes and join data, suite 2',
    {
      is: 'response',
      ...asking,
      salt: SALT,
      suite: 2,
      clientKey: CLIENT_KEY,
      cookie: COOKIE,
      suites: [2, 1],
      token: run(0x07, 150),
      fingerprint: 'deadbeef01020304',
      user: '416461',
      data: '03416461',
    },
    KEY_2,
  ],
  [
    'accepted without a welcome',
    {
      is: 'accepted',
      ...asking,
      connection: ID,
      salt: SALT,
      random: RANDOM,
      resetToken: RESET_TOKEN,
      signature: SIGNATURE,
      datagramBytesMax: 1200,
      welcome: '',
    },
    KEY_1,
  ],
  [
    'accepted with a welcome, suite 2',
    {
      is: 'accepted',
      ...asking,
      connection: 'ffffffffffffffff',
      salt: '8000000000000000',
      random: RANDOM,
      resetToken: RESET_TOKEN,
      signature: SIGNATURE,
      datagramBytesMax: 1500,
      welcome: '000102ff',
    },
    KEY_2,
  ],
  ['rejected: version', { is: 'rejected', ...asking, salt: SALT, reason: 'version' }],
  ...['schema', 'full', 'refused', 'token'].map((reason): Case =>
    [`refused: ${reason}`, { is: 'refused', ...asking, salt: SALT, random: RANDOM, reason }, KEY_1]),
  ['reset', { is: 'reset', ...asking, connection: ID, resetToken: RESET_TOKEN }],
]

const PACKETS: readonly Case[] = [
  ['keepalive before anything was received', keepalive(1, 0, 0, []), KEY_1],
  ['keepalive: 1042 and all but 1039 of the 64 before', keepalive(127, 1042, 3200, [3]), KEY_1],
  ['keepalive: a gap in every group, delay unknown', keepalive(128, 65_535, 'unknown', [1, 32, 33, 49]), KEY_1],
  [
    'keepalive: nothing but the latest',
    keepalive(
      16_384,
      0,
      32,
      Array.from({ length: 64 }, (_, index) => index + 1),
    ),
    KEY_1,
  ],
  ['payload with an empty frame', payload(2, clean(1), [{ kind: 0, body: '' }]), KEY_1],
  ['payload with three frames of three kinds', payload(300, clean(299, 992), FRAMES), KEY_1],
  [
    'payload with the last sequence there is',
    payload(2 ** 53 - 1, { latest: 7, delayUs: 0, missing: [1, 2, 3, 4] }, [{ kind: 2, body: 'ff' }]),
    KEY_1,
  ],
  disconnect('left'),
  disconnect('kicked'),
  disconnect('shutdown'),
  disconnect('broken', 2 ** 49),
  ['payload of epoch 3', payload(2 ** 32 + 5, clean(299, 992), FRAMES, 3), KEY_1],
  ['payload under suite 2', payload(2 ** 32 + 5, clean(299, 992), FRAMES), KEY_2],
  disconnect('token'),
  disconnect('full', 1),
  disconnect('flooding'),
  control('an offer of new keys', 8, `01000101${CLIENT_KEY}`),
  control('an answer with new keys', 8, `01000201${SERVER_KEY}`),
  control('a check of a path', 9, '027172737475767778'),
  control('its reply', 9, '037172737475767778'),
]

/** Header of packet 1 of a type. */
const head = (type: number, version: number = 3): string => `544b570${version}0${type}0df0ad0b785634120001`

/** A sealed packet with that header and any body. */
function sealed(name: string, header: string, body: string): PacketVector {
  const bytes = unhex(header + body)
  return { name, bytes: hex(engineSeals(bytes, header.length / 2, 0, 1, KEY_1)), key: KEY_1 }
}

const clear = (name: string, bytes: string, zeros?: number): PacketVector => ({
  name,
  bytes,
  ...(zeros !== undefined && { zeros }),
})
const header = (type: string, sequence: string): string => `544b5703${type}0df0ad0b7856341200${sequence}`
const request = (id: string, suites: string): string => `544b570300${id}0000011122334455667788${CLIENT_KEY}${suites}`

function makeRefused(bytesOf: (name: string) => string): PacketVector[] {
  const [accepted, alive] = [bytesOf('accepted without a welcome'), bytesOf('keepalive before anything was received')]
  const [challenge, reset] = [bytesOf('challenge'), bytesOf('reset')]
  return [
    clear('nothing', ''),
    clear('a header cut short', header('02', '')),
    clear('another protocol', `544b58${header('02', '01').slice(6)}0000000000`),
    sealed('another version', head(2, 1), '0000000000'),
    clear('a type without meaning', `${header('06', '01')}0000000000`),
    clear('sequence 1 encoded in two bytes', `${header('02', '8100')}0000000000`),
    clear('sequence 2^53', `${header('02', '8080808080808010')}0000000000`),
    clear('a sequence of nine bytes', `${header('02', '808080808080808001')}0000000000`),
    sealed('acks cut short', head(2), '00000000'),
    sealed('a group of acks that has no gap', head(2), '000000001ffff0'),
    sealed('padding that is not zero', head(2), '0000000001'),
    sealed('a whole byte of padding', head(2), '000000000000'),
    sealed('a keepalive with a frame', head(2), '0000000000000000'),
    sealed('a payload without a frame', head(1), '0000000000'),
    sealed('a frame with a flag', head(1), '0000000000100000'),
    sealed('a frame longer than its packet', head(1), '0000000001000140'),
    sealed('a disconnect without a reason', head(3), ''),
    sealed('a disconnect for an unknown reason', head(3), 'ff'),
    clear('a numbered handshake', `544b570300${'00'.repeat(9)}0104112233445566778804`),
    clear('a rejection for an unknown reason', `544b570300${'00'.repeat(9)}0004112233445566778800`),
    clear('a request that is not 1200 bytes', request('0000000000000000', '0101'), 1141),
    clear('a request that names a connection', request('0100000000000000', '0101'), 1142),
    clear('a request without a suite', request('0000000000000000', '0000'), 1142),
    clear('an unknown handshake', `544b570300${'00'.repeat(9)}0007112233445566778804`),
    clear('a challenge cut short', challenge.slice(0, -2)),
    {
      name: 'an acceptance without an id',
      bytes: `${accepted.slice(0, 10)}${'00'.repeat(8)}${accepted.slice(26)}`,
      key: KEY_1,
    },
    { name: 'an acceptance under another key', bytes: accepted, key: { suite: 1, material: run(0x81, 32) } },
    {
      name: 'an acceptance whose last bit was turned',
      bytes: accepted.slice(0, -1) + (Number.parseInt(accepted.slice(-1), 16) ^ 1).toString(16),
      key: KEY_1,
    },
    { name: 'a keepalive whose header was touched', bytes: `${alive.slice(0, 9)}1${alive.slice(10)}`, key: KEY_1 },
    { name: 'a keepalive of another epoch', bytes: `${alive.slice(0, 26)}01${alive.slice(28)}`, key: KEY_1 },
    clear('a keepalive in the clear', `${header('02', '01')}0000000000`),
    { name: 'a keepalive without its tag', bytes: alive.slice(0, 40), key: KEY_1 },
    clear('a reset cut short', reset.slice(0, -2)),
  ]
}

const MESSAGES: readonly (readonly [firstId: number, ...messages: string[]])[] = [
  [0, 'aa'], [255, ''], [65_535, '6162', '', 'cc'], [0x1234, '5a'.repeat(128)],
]

/** Everything in the file. */
export function makePacketVectors(): PacketVectors {
  const packets = [...HANDSHAKES, ...PACKETS].map(([name, meaning, key]): PacketVector => {
    const written = hex(engineWrites(meaning, key))
    // The zeros that pad a request are stored as a count.
    const bytes = meaning.is === 'request' ? written.replace(/(00)+$/, '') : written
    const zeros = (written.length - bytes.length) / 2
    return { name, bytes, ...(zeros > 0 && { zeros }), ...(key && { key }), meaning }
  })
  const bytesOf = (name: string): string => packets.find((vector) => vector.name === name)?.bytes ?? ''
  return {
    about: ABOUT, packets, refused: makeRefused(bytesOf),
    reliableOrdered: MESSAGES.map(([firstId, ...messages]) => ({
      body: firstId.toString(16).padStart(4, '0') + messages.map((message) => lengthOf(message) + message).join(''),
      meaning: { firstId, messages },
    })),
    reliableOrderedRefused: [
      { name: 'nothing', body: '' },
      { name: 'no message', body: '0000' },
      { name: 'a message longer than the frame', body: '00000261' },
      { name: 'a length encoded too long', body: '00008000' },
    ],
  }
}

/** The length of a message as a varint. */
function lengthOf(message: string): string {
  const length = message.length / 2
  return hex(length < 0x80 ? Uint8Array.of(length) : Uint8Array.of((length & 0x7f) | 0x80, length >>> 7))
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** The file as it lies in the repository: one vector a line. */
export function packetVectorsText(vectors: PacketVectors): string {
  const lists = Object.entries(vectors).map(([name, value]: [string, string | readonly unknown[]]) =>
    typeof value === 'string'
      ? `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`
      : `  ${JSON.stringify(name)}: [\n${value.map((one) => `    ${JSON.stringify(one)}`).join(',\n')}\n  ]`,
  )
  return `{\n${lists.join(',\n')}\n}\n`
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(
    fileURLToPath(new URL('../test/vectors/packet.json', import.meta.url)),
    packetVectorsText(makePacketVectors()),
  )
}
