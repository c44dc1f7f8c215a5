/**
 * Makes test/vectors/crypto.json: sealed packets with their keys, sessions, cookies, proofs and tokens as the engine
 * makes them, and what must be refused. All from fixed secrets.
 *
 * `node --conditions=tickwire-source --import tsx test/reference/crypto-engine.ts` writes the file. A test compares the
 * file with this list, and an independent reader compares it with the rules; a change of either is a change of the
 * wire.
 */

import { writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { makeCookie } from '../../packages/tickwire/src/core/crypto/challenge-cookie.ts'
import { issueToken } from '../../packages/tickwire/src/core/crypto/connect-token.ts'
import {
  directionMaterial, firstSecret, helloMaterial, helloSecret, nextSecret,
} from '../../packages/tickwire/src/core/crypto/key-schedule.ts'
import { SealingKey } from '../../packages/tickwire/src/core/crypto/packet-key.ts'
import { type SuiteId } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { createSuite, keyMaterialBytes } from '../../packages/tickwire/src/core/crypto/suite.ts'
import { bytesToText } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import {
  signChallengeKey, signTranscript, Transcript, type TranscriptPart,
} from '../../packages/tickwire/src/core/crypto/transcript.ts'
import { PacketHeader, writeHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import type { SessionKeys, SessionParts } from './crypto-checker.ts'

export const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
export const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'))
const fill = (size: number, value: number): Uint8Array => new Uint8Array(size).fill(value)
const count = (size: number, from: number): Uint8Array => Uint8Array.from({ length: size }, (_, index) => from + index)

/** The version of the wire. */
const SEALED_VERSION = 3

/** A packet as the engine seals it. */
export function sealPacket(
  suite: SuiteId,
  material: Uint8Array,
  type: number,
  epoch: number,
  sequence: number,
  plaintext: Uint8Array,
): Uint8Array {
  const header = Object.assign(new PacketHeader(), {
    version: SEALED_VERSION,
    type,
    idLo: 0x0bad_f00d,
    idHi: 0x1234_5678,
    epoch: epoch & 0xff,
    sequence,
  })
  const bytes = new Uint8Array(22 + plaintext.length + 16)
  const at = writeHeader(header, bytes)
  bytes.set(plaintext, at)
  return bytes.slice(
    0,
    new SealingKey(createSuite(suite, pureProvider), epoch, material).seal(sequence, bytes, at, plaintext.length),
  )
}

/** The keys of a session as the engine derives them. */
export function deriveByEngine(parts: SessionParts): SessionKeys {
  const suite = createSuite(parts.suite, pureProvider)
  const client = pureProvider.importAgreement(unhex(parts.clientSecret))
  const server = pureProvider.importAgreement(unhex(parts.serverSecret))
  const shared = client.agree(server.publicKey)!
  const transcriptOf = (numbers: readonly number[]): Uint8Array => {
    const transcript = new Transcript()
    for (const [part, bytes] of parts.transcriptParts)
      if (numbers.includes(part)) transcript.add(part as TranscriptPart, unhex(bytes))
    return transcript.hash(pureProvider)
  }
  // What the client's first message seals (fingerprint, token, user bytes) cannot be in its own key.
  const helloTranscript = transcriptOf([1, 2, 4, 5, 6, 11])
  const whole = transcriptOf([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
  const secrets = [firstSecret(pureProvider, shared, unhex(parts.challenge), unhex(parts.serverRandom))]
  for (const [one, two] of parts.rekeys) {
    const peer = pureProvider.importAgreement(unhex(two)).publicKey
    secrets.push(nextSecret(pureProvider, secrets.at(-1)!, pureProvider.importAgreement(unhex(one)).agree(peer)!))
  }
  return {
    clientPublic: hex(client.publicKey),
    serverPublic: hex(server.publicKey),
    shared: hex(shared),
    helloTranscript: hex(helloTranscript),
    transcript: hex(whole),
    hello: hex(
      helloMaterial(pureProvider, suite, helloSecret(pureProvider, shared, unhex(parts.challenge)), helloTranscript),
    ),
    epochs: secrets.map((secret, epoch) => ({
      secret: hex(secret),
      client: hex(directionMaterial(pureProvider, suite, secret, 'client', epoch, whole)),
      server: hex(directionMaterial(pureProvider, suite, secret, 'server', epoch, whole)),
    })),
  }
}

function packetVector(
  name: string,
  suite: SuiteId,
  type: number,
  epoch: number,
  sequence: number,
  plaintext: string,
): object {
  const material = count(keyMaterialBytes(createSuite(suite, pureProvider)), 0x40)
  const packet = hex(sealPacket(suite, material, type, epoch, sequence, unhex(plaintext)))
  return {
    name,
    suite,
    material: hex(material),
    packet,
    meaning: { type, connection: '123456780badf00d', epoch, sequence, plaintext },
  }
}

function packets(): object[] {
  return ([1, 2] as const).flatMap((suite) => [
    packetVector('a keepalive before anything was received', suite, 2, 0, 1, '0000000000'),
    packetVector('a payload', suite, 1, 3, 300, '0412006410000301c0de'),
    packetVector('nothing inside', suite, 2, 255, 127, ''),
    packetVector('a disconnect', suite, 3, 0, 128, '01'),
    packetVector('the highest 32-bit sequence', suite, 1, 1, 2 ** 32 - 1, 'ff'),
    packetVector('a sequence beyond 32 bits', suite, 1, 1, 2 ** 32 + 5, 'ff'),
    packetVector('the highest sequence', suite, 1, 1, 2 ** 53 - 1, 'ff'),
  ])
}

function refusedPackets(): object[] {
  return ([1, 2] as const).flatMap((suite) => {
    const material = count(keyMaterialBytes(createSuite(suite, pureProvider)), 0x40)
    const packet = sealPacket(suite, material, 1, 3, 300, unhex('0412006410000301c0de'))
    const touched = (name: string, at: number): object => {
      const bytes = packet.slice()
      bytes[at < 0 ? bytes.length + at : at]! ^= 0x01
      return { name, suite, material: hex(material), packet: hex(bytes) }
    }
    return [
      touched('another type', 4),
      touched('another connection', 5),
      touched('another epoch', 13),
      touched('another sequence', 15),
      touched('another body', 16),
      touched('another tag', -1),
      { name: 'cut', suite, material: hex(material), packet: hex(packet.slice(0, -1)) },
      { name: 'extended', suite, material: hex(material), packet: `${hex(packet)}00` },
      { name: 'another key', suite, material: hex(count(material.length, 0x41)), packet: hex(packet) },
    ]
  })
}

function sessions(): object[] {
  return ([1, 2] as const).map((suite) => {
    const clientPublic = pureProvider.importAgreement(count(32, 1)).publicKey
    const serverPublic = pureProvider.importAgreement(count(32, 65)).publicKey
    const parts: SessionParts = {
      suite,
      clientSecret: hex(count(32, 1)),
      serverSecret: hex(count(32, 65)),
      challenge: hex(fill(16, 0xcc)),
      serverRandom: hex(fill(16, 0x5e)),
      transcriptParts: [
        [1, '03'],
        [2, `0${suite}`],
        [3, 'deadbeef01020304'],
        [4, hex(clientPublic)],
        [5, hex(fill(16, 0xcc))],
        [6, hex(serverPublic)],
        [7, suite === 1 ? '' : hex(count(200, 7))],
        [8, '416461'],
        [9, hex(fill(16, 0x5e))],
        [10, '0df0ad0b78563412'],
        [11, suite === 1 ? '0102' : '02'],
      ],
      rekeys: [[hex(count(32, 100)), hex(count(32, 150))], [hex(count(32, 33)), hex(count(32, 34))]],
    }
    return { parts, keys: deriveByEngine(parts) }
  })
}

function cookies(): object[] {
  const clientKey = count(32, 1)
  return [
    ['192.0.2.1:4000', 0],
    ['192.0.2.1:4000', 1],
    ['[2001:db8::1]:65535', 4_000_000_001],
    ['', 2],
  ].map(([address, bucket]) => ({
    secret: hex(fill(32, 0x11)),
    bucket,
    address,
    clientKey: hex(clientKey),
    cookie: hex(makeCookie(pureProvider, fill(32, 0x11), Number(bucket), String(address), clientKey)),
  }))
}

function tokens(): { tokens: object[]; tokensRefused: object[] } {
  const seed = count(32, 200)
  const issuer = pureProvider.importSigning(seed)
  const server = pureProvider.importSigning(fill(32, 0x77)).publicKey
  const base = {
    server,
    id: count(16, 16),
    issuedAt: 1_800_000_000,
    expiresAt: 1_800_000_300,
    audience: 'arena',
    user: unhex('416461'),
  }
  const vector = (name: string, change: Partial<typeof base & { suite: SuiteId }>): { name: string; bytes: string } => {
    const given = { suite: 1 as SuiteId, ...base, ...change }
    const token = issueToken(pureProvider, issuer, given)
    const { server: named, id, user, ...rest } = given
    return Object.assign(
      {
        name,
        issuerSecret: hex(seed),
        issuerPublic: hex(issuer.publicKey),
        bytes: hex(token),
        text: bytesToText(token),
      },
      {
        meaning: {
          ...rest,
          issuer: hex(token.slice(2, 10)),
          server: hex(named),
          id: hex(id),
          user: hex(user),
          signature: hex(token.slice(-64)),
        },
      },
    )
  }
  const plain = vector('a token', {})
  const replaced = (name: string, at: number, bytes: string): object =>
    ({ name, bytes: plain.bytes.slice(0, 2 * at) + bytes + plain.bytes.slice(2 * at + bytes.length) })
  return {
    tokens: [
      plain,
      vector('suite 2, nothing of the user', { suite: 2, user: new Uint8Array(0) }),
      vector('the longest', { audience: 'x'.repeat(32), user: fill(256, 0xee) }),
      vector('an audience of several bytes a letter', { audience: 'påskeägg €' }),
      vector('the shortest and shortest-lived', { audience: 'g', user: new Uint8Array(0), expiresAt: 1_800_000_001 }),
    ],
    tokensRefused: [
      { name: 'empty', bytes: '' },
      { name: 'cut', bytes: plain.bytes.slice(0, -2) },
      { name: 'extended', bytes: `${plain.bytes}00` },
      replaced('version 2', 0, '02'),
      replaced('suite 0', 1, '00'),
      replaced('suite 3', 1, '03'),
      replaced('lives for nothing', 66, '00d2496b'),
      replaced('lives too long', 66, '11e0496b'),
      replaced('a time beyond 2^53', 64, '2000'),
      replaced('no audience', 74, '00'),
      replaced('an audience too long', 74, '21'),
      replaced('not UTF-8', 75, 'c0af'),
      replaced('more user than there is', 80, '04'),
      replaced('user too long', 80, '0101'),
    ],
  }
}

/** Everything in the file. */
export function makeVectors(): object {
  const identity = pureProvider.importSigning(fill(32, 0x77))
  const transcript = count(32, 3)
  const serverKey = pureProvider.importAgreement(count(32, 65)).publicKey
  return {
    about:
      'Tickwire cryptography: bytes and meaning. docs/spec/crypto.md says how to read them. '
      + 'All bytes are hexadecimal; connection ids are written highest digit first.',
    packets: packets(),
    packetsRefused: refusedPackets(),
    sessions: sessions(),
    cookies: cookies(),
    proofs: [
      {
        identity: hex(identity.publicKey),
        transcript: hex(transcript),
        signature: hex(signTranscript(identity, transcript)),
      },
    ],
    challengeProofs: [
      {
        identity: hex(identity.publicKey),
        serverKey: hex(serverKey),
        signature: hex(signChallengeKey(identity, serverKey)),
      },
    ],
    ...tokens(),
  }
}

/** One entry a line. */
export function toFileText(vectors: object): string {
  const entries = Object.entries(vectors).map(([name, value]) =>
    Array.isArray(value)
      ? `  ${JSON.stringify(name)}: [\n${value.map((item) => `    ${JSON.stringify(item)}`).join(',\n')}\n  ]`
      : `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`)
  return `{\n${entries.join(',\n')}\n}\n`
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  writeFileSync(fileURLToPath(new URL('../vectors/crypto.json', import.meta.url)), toFileText(makeVectors()))
}
