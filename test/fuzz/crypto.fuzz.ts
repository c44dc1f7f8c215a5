/**
 * Hostile input for cryptography: sealed packets, tokens, their text, the journal of spent ones, messages that exchange
 * keys.
 */

import {
  createTokenCheck, issueToken, parseToken, verifyToken,
} from '../../packages/tickwire/src/core/crypto/connect-token.ts'
import { KeyRing } from '../../packages/tickwire/src/core/crypto/key-ring.ts'
import { type CryptoProvider } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { Rekey } from '../../packages/tickwire/src/core/crypto/rekey.ts'
import { SpentTokens } from '../../packages/tickwire/src/core/crypto/spent-tokens.ts'
import { createSuite } from '../../packages/tickwire/src/core/crypto/suite.ts'
import { bytesToText, textToBytes, textToKey } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { PacketHeader, readHeader, writeHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import { installedProviders } from '../../packages/tickwire/src/node/crypto.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import vectors from '../vectors/crypto.json' with { type: 'json' }
import type { FuzzTarget } from './target.ts'

const unhex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, 'hex'))
const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

function fail(why: string): never {
  throw new Error(why)
}

function makeRing(provider: CryptoProvider, role: 'client' | 'server', suite: number): KeyRing {
  return new KeyRing(0, {
    provider,
    role,
    suite: createSuite(suite, provider),
    secret: new Uint8Array(32).fill(1),
    transcript: new Uint8Array(32).fill(2),
  })
}

function sealedSeeds(suite: number): Uint8Array[] {
  const ring = makeRing(pureProvider, 'client', suite)
  return [0, 1, 40, 700].map((size, index) => {
    const bytes = new Uint8Array(22 + size + 16).fill(0x5a)
    const at = writeHeader(Object.assign(new PacketHeader(), { type: 1, idLo: 7, sequence: 100 + index }), bytes)
    return bytes.slice(0, ring.seal(100 + index, bytes, at, size))
  })
}

/** One target for each library and suite: only sealed bytes open, and bytes that do not open are left unchanged. */
function openTarget(provider: CryptoProvider, suite: number): FuzzTarget {
  const seeds = sealedSeeds(suite)
  return {
    name: `open-${provider.name.split(/[ :]/)[0]}-${suite}`,
    seeds: () => seeds,
    run(bytes) {
      const header = new PacketHeader()
      if (readHeader(bytes, bytes.length, header) !== 'ok') return
      const ring = makeRing(provider, 'server', suite)
      const before = bytes.slice()
      const verdict = ring.open(0, header.epoch, header.sequence, bytes, header.byteLength, bytes.length)
      if (verdict === 'ok' && !seeds.some((seed) => isSame(seed, before))) fail('opened bytes that were never sealed')
      if (verdict !== 'ok' && !isSame(bytes, before)) fail('it changed bytes that it refused')
      if (
        verdict === 'forged'
        && ring.open(0, header.epoch, header.sequence, bytes, header.byteLength, bytes.length) !== 'forged'
      ) {
        fail('a forgery marked the window')
      }
      ring.wipe()
    },
  }
}

const stub = new StubCrypto()
const stubIssuer = stub.importSigning(new Uint8Array(32))
const stubCheck = createTokenCheck(stub, [stubIssuer.publicKey], 'arena', new Uint8Array(32))

const tokens: FuzzTarget = {
  name: 'token-parse',
  seeds: () => [...vectors.tokens, ...vectors.tokensRefused].map(({ bytes }) => unhex(bytes)),
  run(bytes) {
    if (typeof verifyToken(stubCheck, bytes, 1_800_000_000) === 'object') fail('a signature came about by chance')
    const said = parseToken(bytes)
    if (said === undefined) return
    const again = issueToken(stub, stubIssuer, said)
    again.set(said.issuer, 2)
    again.set(said.signature, again.length - 64)
    if (!isSame(again, bytes)) fail('accepted, but not the only encoding')
  },
}

const texts: FuzzTarget = {
  name: 'token-text',
  seeds: () =>
    [...vectors.tokens.map(({ text }) => text), `tickwire-server-public:${'A'.repeat(43)}`, ''].map((text) =>
      Uint8Array.from(Buffer.from(text, 'latin1')),
    ),
  run(bytes) {
    const text = Buffer.from(bytes).toString('latin1')
    const decoded = textToBytes(text)
    if (decoded !== undefined && bytesToText(decoded) !== text) fail('accepted, but not the only encoding')
    const key = textToKey(text)
    if (key !== undefined && key.key.length !== 32) fail('a key of another size')
  },
}

const journal: FuzzTarget = {
  name: 'spent-tokens-journal',
  seeds: () => {
    let written = new Uint8Array(0)
    const spent = new SpentTokens(0, {
      load: () => written,
      append: (bytes) => {
        written = Uint8Array.of(...written, ...bytes)
        return true
      },
      replace: () => true,
    })
    for (let index = 0; index < 4; index++)
      spent.spend(0, new Uint8Array(16).fill(index), new Uint8Array(32), 60 * (index + 1))
    return [written, new Uint8Array(0)]
  },
  run(bytes) {
    let replaced = -1
    const spent = new SpentTokens(30, {
      load: () => bytes,
      append: () => true,
      replace: (kept) => {
        replaced = kept.length
        return true
      },
    })
    if (replaced !== spent.count * 64) fail('the journal is not what is held')
    if (spent.count * 64 > bytes.length) fail('more was held than was written')
    spent.spend(31, new Uint8Array(16).fill(200), new Uint8Array(32), 90)
    spent.spend(2 ** 40, new Uint8Array(16).fill(201), new Uint8Array(32), 2 ** 40 + 1)
  },
}

const rekeys: FuzzTarget = {
  name: 'rekey-messages',
  /** Input: messages of 34 bytes, one after another, into one connection that is itself offering now and then. */
  seeds: () => [
    Uint8Array.of(1, 1, ...new Uint8Array(32).fill(9)),
    Uint8Array.of(1, 1, ...new Uint8Array(32).fill(9), 2, 2, ...new Uint8Array(32).fill(8)),
  ],
  run(bytes) {
    const provider = new StubCrypto()
    const ring = makeRing(provider, bytes.length % 2 === 0 ? 'client' : 'server', 1)
    const rekey = new Rekey(ring, provider, new Dice(1))
    for (let at = 0, now = 0; at <= bytes.length; at += 34, now += 700) {
      if (rekey.poll(now * 1000) === 'broken') return
      const message = rekey.takeMessage()
      if (message !== undefined && message.length !== 34) fail('a message of another size')
      if (rekey.handleMessage(now, bytes.slice(at, at + 34)) === 'broken') return
      if (ring.openEpochs > 2) fail('more than two epochs are open')
    }
  },
}

/** The providers of Node 20. Other versions combine these. */
const libraries = installedProviders('20.19.0')

export const targets: readonly FuzzTarget[] = [
  ...libraries.flatMap((provider) => [openTarget(provider, 1), openTarget(provider, 2)]),
  tokens, texts, journal, rekeys,
]
