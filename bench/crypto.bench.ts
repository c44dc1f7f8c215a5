/**
 * The cost of encryption: sealing and opening a packet with each provider, the parts of a handshake, and the
 * simulator's stub. Packets are sealed as a connection seals them: in place, after a header of 16 bytes, with the key
 * that counts its nonces.
 *
 * The comparison is plain node:crypto: one context for each packet, as in its documentation.
 */

import { createCipheriv, createDecipheriv } from 'node:crypto'
import { parseArgs } from 'node:util'
import { makeCookie } from '../packages/tickwire/src/core/crypto/challenge-cookie.ts'
import { createTokenCheck, issueToken, verifyToken } from '../packages/tickwire/src/core/crypto/connect-token.ts'
import { OpeningKey, SealingKey } from '../packages/tickwire/src/core/crypto/packet-key.ts'
import { SUITE, type CryptoProvider, type SuiteId } from '../packages/tickwire/src/core/crypto/provider.ts'
import { createSuite, keyMaterialBytes } from '../packages/tickwire/src/core/crypto/suite.ts'
import { bestProvider, installedProviders } from '../packages/tickwire/src/node/crypto.ts'
import { StubCrypto } from '../packages/tickwire/src/testing/stub-suite.ts'
import {
  allocatedBytes, interleave, ratio, type Bench, type BenchResult, type Contender, type Figure, type Table, type Timing,
} from './harness.ts'

const HEADER = 16
const SIZES = [64, 300, 1200] as const
const OPS = 200

export const bench: Bench = {
  name: 'crypto',
  summary: 'sealing and opening packets, handshakes and tokens, with each provider found here',
  options: ['--rounds N     timed rounds (default 41)'],
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { rounds: { type: 'string', default: '41' } } })
    return run(Number(values.rounds))
  },
}

/**
 * The library's name in figures and tables: the first word of the provider's name. 'mixed' is the provider that Node 24
 * gets.
 */
function shortName({ name }: CryptoProvider): string {
  return /^noble.*node:crypto/.test(name) ? 'mixed' : name.split(/[ :,-]/)[0]!
}

function run(rounds: number): BenchResult {
  const providers = [...installedProviders(), new StubCrypto()]
  const best = shortName(bestProvider())
  const packets = SIZES.map((size) => ({ size, timings: interleave(packetContenders(providers, size), rounds) }))
  const handshake = interleave(installedProviders().flatMap(handshakeContenders), Math.min(rounds, 15), 3)
  return {
    tables: [
      ...packets.map(({ size, timings }) =>
        nsTable(`${size} bytes of plaintext, header of ${HEADER}; best here: ${bestProvider().name}`, timings),
      ),
      nsTable('parts of a handshake', handshake),
    ],
    figures: [
      ...packets.flatMap(({ size, timings }) => packetFigures(timings, best, size)),
      ...['challenge', 'agree', 'token verify'].map((name): Figure => ({
        name: `${name.replace(' ', '_')}_ns`, value: nsOf(handshake, `${name}: ${best}`), unit: 'ns', against: null,
      })),
      ...allocationFigures(bestProvider()),
    ],
  }
}

function packetFigures(timings: readonly Timing[], best: string, size: number): Figure[] {
  const libraries = [...new Set(timings.map(({ name }) => name.split(': ')[1]!))].filter((name) => name !== 'plain')
  const ns = libraries.flatMap((library) =>
    ['seal', 'open'].map((what): Figure => ({
      name: `${what}_${size}_${library}_ns`,
      value: nsOf(timings, `${what} chacha: ${library}`),
      unit: 'ns/packet',
      against: null,
    })),
  )
  const against = 'node:crypto, one context a packet'
  const ratios = ['seal', 'open'].map((what): Figure => ({
    name: `${what}_${size}_ratio_node`,
    value: ratio(timings, `${what} chacha: ${best}`, `${what} chacha: plain`),
    unit: 'ratio',
    against,
    // Where sodium-native is not installed, our provider is node:crypto with a few checks.
    ...(best === 'sodium' && size <= 300 ? { atMost: 0.5 } : {}),
  }))
  return [...ns, ...ratios]
}

function nsOf(timings: readonly Timing[], name: string): number {
  return timings.find((timing) => timing.name === name)?.ns ?? Number.NaN
}

/** Every library seals and opens packets of one size with both suites; plain node:crypto with the first suite. */
function packetContenders(providers: readonly CryptoProvider[], size: number): Contender[] {
  const ours = providers.flatMap((provider) =>
    Object.values(SUITE).flatMap((suite) => suiteContenders(provider, suite, size)),
  )
  return [...ours, ...plainContenders(size)]
}

function suiteContenders(provider: CryptoProvider, id: SuiteId, size: number): Contender[] {
  const suite = createSuite(id, provider)
  const material = new Uint8Array(keyMaterialBytes(suite)).fill(id).map((byte, index) => byte * 31 + index + size)
  const sealing = new SealingKey(suite, 0, material)
  const opening = new OpeningKey(suite, 0, material)
  const bytes = new Uint8Array(1500)
  const sealed = bytes.slice()
  const name = `${id === SUITE.chacha20Poly1305 ? 'chacha' : 'aes'}: ${shortName(provider)}`
  let sequence = 1
  sealing.seal(1, sealed, HEADER, size)
  return [
    {
      name: `seal ${name}`, ops: OPS, run() {
        for (let op = 0; op < OPS; op++) sealing.seal(++sequence, bytes, HEADER, size)
      },
    },
    {
      name: `open ${name}`, ops: OPS, run() {
        for (let op = 0; op < OPS; op++) {
          bytes.set(sealed)
          if (!opening.open(1, bytes, HEADER, HEADER + size + 16)) throw new Error('a packet did not open')
        }
      },
    },
  ]
}

function plainContenders(size: number): Contender[] {
  const key = new Uint8Array(32).fill(1)
  const nonce = new Uint8Array(12)
  const bytes = new Uint8Array(1500)
  const header = bytes.subarray(0, HEADER)
  const option = { authTagLength: 16 } as const
  const cipher = createCipheriv('chacha20-poly1305', key, nonce, option)
  cipher.setAAD(header, { plaintextLength: size })
  const sealed = cipher.update(bytes.subarray(HEADER, HEADER + size))
  cipher.final()
  const tag = cipher.getAuthTag()
  return [
    {
      name: 'seal chacha: plain', ops: OPS, run() {
        for (let op = 0; op < OPS; op++) {
          const one = createCipheriv('chacha20-poly1305', key, nonce, option)
          one.setAAD(header, { plaintextLength: size })
          one.update(bytes.subarray(HEADER, HEADER + size))
          one.final()
          one.getAuthTag()
        }
      },
    },
    {
      name: 'open chacha: plain', ops: OPS, run() {
        for (let op = 0; op < OPS; op++) {
          const one = createDecipheriv('chacha20-poly1305', key, nonce, option)
          one.setAAD(header, { plaintextLength: size })
          one.setAuthTag(tag)
          one.update(sealed)
          one.final()
        }
      },
    },
  ]
}

function handshakeContenders(provider: CryptoProvider): Contender[] {
  const fill = (value: number): Uint8Array => new Uint8Array(32).fill(value)
  const own = provider.importAgreement(fill(1))
  const peer = provider.importAgreement(fill(2)).publicKey
  const issuer = provider.importSigning(fill(3))
  const server = provider.importSigning(fill(4))
  const message = new Uint8Array(60)
  const token = issueToken(provider, issuer, {
    server: server.publicKey, id: new Uint8Array(16), issuedAt: 1000, expiresAt: 1300, audience: 'arena', user: message,
  })
  const check = createTokenCheck(provider, [issuer.publicKey], 'arena', server.publicKey)
  const secret = fill(5)
  const contender = (name: string, ops: number, act: () => void): Contender => ({
    name: `${name}: ${shortName(provider)}`, ops, run() {
      for (let op = 0; op < ops; op++) act()
    },
  })
  return [
    contender('challenge', 400, () => {
      makeCookie(provider, secret, 7, '203.0.113.77:50123', peer)
    }),
    contender('ephemeral key', 3, () => {
      provider.importAgreement(secret)
    }),
    contender('agree', 3, () => {
      own.agree(peer)
    }),
    contender('token verify', 3, () => {
      if (typeof verifyToken(check, token, 1001) === 'string') throw new Error('refused')
    }),
    contender('sign', 3, () => {
      server.sign(message)
    }),
  ]
}

function allocationFigures(provider: CryptoProvider): Figure[] {
  const [seal, open] = suiteContenders(provider, SUITE.chacha20Poly1305, 300) as [Contender, Contender]
  // Only sodium-native allocates nothing. The other libraries create objects.
  const budget = shortName(provider) === 'sodium' ? { atMost: 8 } : {}
  return [
    { name: 'seal_alloc', value: allocatedBytes(() => seal.run(), OPS), unit: 'B/packet', against: null, ...budget },
    { name: 'open_alloc', value: allocatedBytes(() => open.run(), OPS), unit: 'B/packet', against: null, ...budget },
  ]
}

function nsTable(title: string, timings: readonly Timing[]): Table {
  return {
    title,
    columns: ['', 'ns (median)', 'fastest', 'slowest'],
    rows: timings.map(({ name, ns, nsMin, nsMax }) => [name, ns, nsMin, nsMax]),
  }
}
