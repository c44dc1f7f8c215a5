/**
 * Who is let in, by whom, and what strangers can and cannot do to a server: tokens, identities, cookies, floods.
 */

import { describe, expect, test } from 'vitest'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { issueToken } from '../../packages/tickwire/src/core/crypto/connect-token.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { SpentTokens, type TokenJournal } from '../../packages/tickwire/src/core/crypto/spent-tokens.ts'
import { type Endpoint, createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { EndpointConfig } from '../../packages/tickwire/src/core/endpoint/endpoint-config.ts'
import type { TokenPolicy } from '../../packages/tickwire/src/core/endpoint/endpoint-security.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'

const identity = new Uint8Array(32).fill(7)
const issuer = pureProvider.importSigning(new Uint8Array(32).fill(9))
const server = pureProvider.importSigning(identity).publicKey
const NOW_SECONDS = 1_800_000_000

function policy(spent: SpentTokens = new SpentTokens(NOW_SECONDS)): TokenPolicy {
  return { issuers: [issuer.publicKey], audience: 'arena', spent, wallSeconds: () => NOW_SECONDS }
}

function tokenWith(grant: Partial<Parameters<typeof issueToken>[2]> = {}): Uint8Array {
  return issueToken(pureProvider, issuer, {
    server, id: new Uint8Array(16).fill(1), issuedAt: NOW_SECONDS - 10, expiresAt: NOW_SECONDS + 300, audience: 'arena',
    user: Uint8Array.of(4, 2), ...grant,
  })
}

/** How a client fares that brings this token. Real cryptography: this is about it. */
function fare(token: Uint8Array | undefined, spent?: SpentTokens, seed = 1, expected?: Uint8Array): string {
  const pair = new Pair({ seed, crypto: pureProvider, server: { security: { identity, tokens: policy(spent) } } })
  const connection = pair.connect(undefined, 12_000, { ...(token && { token }), ...(expected && { server: expected }) })
  expect(pair.server.endpoint.connections.length).toBe(connection.isOpen ? 1 : 0)
  return connection.isOpen ? `in, ${connection.security.isServerVerified ? 'verified' : 'unverified'}` : connection.closeReason!.code
}

describe('tokens', () => {
  test('[SEC4] a good token lets its bearer in, its server proves itself, and the host hears what the issuer says', () => {
    const heard: unknown[] = []
    const pair = new Pair({ crypto: pureProvider, server: {
      security: { identity, tokens: policy() },
      admit: ({ token }) => {
        heard.push(token?.user)
        return new Uint8Array(0)
      },
    } })
    const connection = pair.connect(undefined, 5000, { token: tokenWith() })
    expect(connection.isOpen).toBe(true)
    expect(connection.security).toEqual({ suite: expect.stringContaining('ChaCha20'), isServerVerified: true })
    expect(heard).toEqual([Uint8Array.of(4, 2)])
  })

  test('[SEC4] no token, a bad one, an expired one, one of another game: refused, and told so', () => {
    expect(fare(undefined)).toBe('token')
    expect(fare(tokenWith({ expiresAt: NOW_SECONDS }))).toBe('token')
    expect(fare(tokenWith({ issuedAt: NOW_SECONDS + 60 }))).toBe('token')
    expect(fare(tokenWith({ audience: 'chess' }))).toBe('token')
    const forged = tokenWith()
    forged[forged.length - 1]! ^= 1
    expect(fare(forged)).toBe('token')
  })

  test('[SEC4] seed 2012 of the matches: with a token that was used nobody is even asked for a seat', () => {
    let asked = 0
    const spent = new SpentTokens(NOW_SECONDS)
    const token = tokenWith()
    expect(fare(token, spent, 1)).toBe('in, verified')
    const pair = new Pair({ seed: 2, crypto: pureProvider, server: {
      security: { identity, tokens: policy(spent) },
      admit: () => {
        asked++
        return new Uint8Array(0)
      },
    } })
    expect(pair.connect(undefined, 12_000, { token }).closeReason!.code).toBe('token')
    expect(asked).toBe(0)
  })

  test('[SEC4] a token for another server is refused by this one', () => {
    const other = pureProvider.importSigning(new Uint8Array(32).fill(8)).publicKey
    expect(fare(tokenWith({ server: other }))).toBe('token')
  })

  test('[SEC4] a token is good once, also when the server starts anew', () => {
    let bytes = new Uint8Array(0)
    const journal: TokenJournal = {
      load: () => bytes,
      append: (record) => { bytes = Uint8Array.of(...bytes, ...record); return true },
      replace: (all) => { bytes = all.slice(); return true },
    }
    const token = tokenWith()
    const spent = new SpentTokens(NOW_SECONDS, journal)
    expect(fare(token, spent, 1)).toBe('in, verified')
    expect(fare(token, spent, 2)).toBe('token')
    expect(fare(token, new SpentTokens(NOW_SECONDS + 1, journal), 3)).toBe('token')
    expect(fare(token, new SpentTokens(NOW_SECONDS + 1, journal), 1), 'not even with the same client key').toBe('token')
    expect(fare(tokenWith({ id: new Uint8Array(16).fill(2) }), new SpentTokens(NOW_SECONDS, journal), 4)).toBe('in, verified')
  })

  test('[SEC4] a client that repeats itself in bad weather spends its token once', () => {
    for (let seed = 1; seed <= 5; seed++) {
      const spent = new SpentTokens(NOW_SECONDS)
      const pair = new Pair({
        seed, crypto: pureProvider, weather: { latencyMs: 80, jitterMs: 60, loss: 0.5, duplication: 0.3 },
        server: { security: { identity, tokens: policy(spent) } },
      })
      expect(pair.connect(undefined, 10_000, { token: tokenWith() }).isOpen, `seed ${seed}`).toBe(true)
      pair.drive(3000)
      expect(spent.count).toBe(1)
      expect(pair.server.endpoint.connections.length).toBe(1)
    }
  })

  test('[SEC4] tokens without an identity are a mistake that is told at construction', () => {
    expect(() => createEndpoint({
      fingerprint: new Uint8Array(8), entropy: new Dice(1), maxConnections: 1, security: { tokens: policy() }, assemble() {},
    })).toThrow(/identity/)
  })
})

describe('identity', () => {
  const serve = (seed: Uint8Array) => ({ server: { security: { identity: seed } }, crypto: pureProvider })

  test('[SEC5] a server that is not the one we meant is not taken for it', () => {
    const pair = new Pair(serve(new Uint8Array(32).fill(1)))
    const connection = pair.connect(undefined, 12_000, { server })
    expect(connection.closeReason).toEqual({ by: 'protocol', code: 'identity' })
    expect(connection.stats.drops.handshake).toBeGreaterThan(10)
    expect(pair.server.endpoint.connections).toEqual([])
  })

  test('[SEC5] known, it is verified; unknown, anybody will do, and the connection says so', () => {
    expect(new Pair(serve(identity)).connect(undefined, 5000, { server }).security.isServerVerified).toBe(true)
    const unknown = new Pair({ crypto: pureProvider }).connect()
    expect(unknown.isOpen).toBe(true)
    expect(unknown.security.isServerVerified).toBe(false)
  })
})

describe('strangers', () => {
  const crypto = new StubCrypto()
  let worlds = 0
  const make = (config: Partial<EndpointConfig> = {}): Endpoint => createEndpoint({
    fingerprint: new Uint8Array(8), entropy: new Dice(500 + worlds++), security: { provider: crypto }, assemble() {}, ...config,
  })

  /** The first datagram of a client that was just told something. */
  function next(client: Endpoint, now: number): Uint8Array {
    const out = createTransmit()
    expect(client.pollTransmit(now, out)).toBe(true)
    return out.bytes.slice(0, out.length)
  }

  /** What a server answers, if it does. */
  function answer(house: Endpoint, now: number, from: string, bytes: Uint8Array): Uint8Array | undefined {
    const out = createTransmit()
    house.handleDatagram(now, from, bytes.slice(), bytes.length)
    if (!house.pollTransmit(now, out)) return undefined
    const first = out.bytes.slice(0, out.length)
    expect(house.pollTransmit(now, out), 'one answer at most').toBe(false)
    return first
  }

  test('[SEC12] a cookie is good at the address it was sent to, with the key it was made for, for 4 to 8 s', () => {
    const house = make({ maxConnections: 4 })
    const client = make()
    client.connect(0, 'server')
    const challenge = answer(house, 0, 'client', next(client, 0))!
    client.handleDatagram(0, 'server', challenge, challenge.length)
    const response = next(client, 0)
    expect(answer(house, 1, 'thief', response)).toBeUndefined()
    expect(house.admissionDrops.cookie).toBe(1)
    const otherKey = response.slice()
    otherKey[15 + 9]! ^= 1
    expect(answer(house, 1, 'client', otherKey)).toBeUndefined()
    expect(house.admissionDrops.cookie).toBe(2)
    expect(answer(house, 8000, 'client', response), 'too late').toBeUndefined()
    expect(house.admissionDrops.cookie).toBe(3)
    const again = make({ maxConnections: 4 })
    expect(answer(again, 1, 'client', response), 'of another house').toBeUndefined()
    const fresh = make({ maxConnections: 4 })
    const late = make()
    late.connect(0, 'server')
    const given = answer(fresh, 3999, 'client', next(late, 0))!
    late.handleDatagram(3999, 'server', given, given.length)
    expect(answer(fresh, 7999, 'client', next(late, 3999)), 'the bucket before').toBeDefined()
  })

  test('[SEC1] a response with any bit changed is refused and leaves nothing', () => {
    const house = make({ maxConnections: 4 })
    const client = make()
    client.connect(0, 'server')
    const challenge = answer(house, 0, 'client', next(client, 0))!
    client.handleDatagram(0, 'server', challenge, challenge.length)
    const response = next(client, 0)
    for (let bit = 0; bit < response.length * 8; bit += 1) {
      const flipped = response.slice()
      flipped[bit >>> 3]! ^= 1 << (bit & 7)
      const said = answer(house, 1, 'client', flipped)
      expect(said === undefined || said[15] === 4, `bit ${bit}`).toBe(true)
    }
    expect(answer(house, 1, 'client', response)![15], 'none of them took the seat').toBe(3)
  })

  test('[SEC6] a flood of requests keeps nothing: one answer each, no longer than 0.35 of the question', () => {
    const house = make({ maxConnections: 4 })
    const client = make()
    client.connect(0, 'server')
    const request = next(client, 0)
    for (let index = 0; index < 5000; index++) {
      new DataView(request.buffer).setUint32(16, index)
      const said = answer(house, index / 10, `198.51.${index & 255}.${(index >>> 8) & 255}:${index}`, request)
      if (said !== undefined) expect(said.length).toBe(73)
    }
    expect(house.connections).toEqual([])
    expect(house.pollTimeout()).toBe(Infinity)
    // Unanswered for want of a flush: the queue is as long as it is.
    const out = createTransmit()
    for (let index = 0; index < 500; index++) house.handleDatagram(900, `a${index}`, request, request.length)
    let answers = 0
    while (house.pollTransmit(900, out)) answers++
    expect(answers).toBe(64)
    expect(house.admissionDrops.replies).toBe(436)
  })

  test('[SEC13] who comes in the middle of 50,000 requests a second from made-up addresses is let in within 2 s', () => {
    const house = make({ maxConnections: 32 })
    const request = next((() => {
      const stranger = make()
      stranger.connect(0, 'server')
      return stranger
    })(), 0)
    const guests = Array.from({ length: 12 }, (_, index) => ({ from: `203.0.113.${index}:77`, endpoint: make(), at: 1000 + index * 37, openAt: Infinity }))
    const out = createTransmit()
    let spoofed = 0
    for (let now = 0; now < 4000; now++) {
      for (let index = 0; index < 50; index++) {
        spoofed++
        house.handleDatagram(now, `${spoofed >>> 16}.${(spoofed >>> 8) & 255}.${spoofed & 255}.7:9`, request, request.length)
        // As the event loop has it: what 32 datagrams asked for is answered before the next 32.
        if (index % 32 === 31) while (house.pollTransmit(now, out)) deliver(now)
      }
      for (const guest of guests) {
        if (now === guest.at) guest.endpoint.connect(now, 'server')
        if (now < guest.at) continue
        while (guest.endpoint.pollTransmit(now, out)) house.handleDatagram(now, guest.from, out.bytes, out.length)
        if (guest.openAt === Infinity && guest.endpoint.connections[0]?.isOpen === true) guest.openAt = now
      }
      while (house.pollTransmit(now, out)) deliver(now)
    }
    function deliver(now: number): void {
      guests.find(({ from }) => from === out.to)?.endpoint.handleDatagram(now, 'server', out.bytes, out.length)
    }
    expect(house.admissionDrops.flooded).toBeGreaterThan(150_000)
    for (const { at, openAt } of guests) expect(openAt - at).toBeLessThan(2000)
  })

  test('[SEC6] requests and responses of every length and kind are answered by no more than they were', () => {
    const house = make({ maxConnections: 4 })
    const dice = new Dice(3)
    for (let round = 0; round < 3000; round++) {
      const bytes = new Uint8Array(round % 1500)
      dice.fill(bytes)
      bytes.set([0x54, 0x4b, 0x57, 2, round % 7].slice(0, bytes.length))
      const said = answer(house, round * 20, `198.51.100.${round & 255}:9`, bytes)
      if (said !== undefined) expect(said.length).toBeLessThan(bytes.length)
    }
    expect(house.connections).toEqual([])
  })

  test('[SEC9] one origin gets its share of seats and no more, whatever its ports; a neighbour still gets in', () => {
    const house = make({ maxConnections: 32 })
    const join = (now: number, from: string): string => {
      const client = make()
      const connection = client.connect(now, 'server')
      for (let round = 0; round < 3; round++) {
        const out = createTransmit()
        while (client.pollTransmit(now, out)) house.handleDatagram(now, from, out.bytes, out.length)
        while (house.pollTransmit(now, out)) if (out.to === from) client.handleDatagram(now, 'server', out.bytes, out.length)
      }
      return connection.closeReason?.code ?? connection.state
    }
    const fates = Array.from({ length: 8 }, (_, index) => join(index * 1000, `203.0.113.7:${index + 1}`))
    expect(fates).toEqual([...new Array<string>(5).fill('connected'), 'full', 'full', 'full'])
    expect(join(9000, '203.0.113.8:1')).toBe('connected')
    expect(Array.from({ length: 8 }, (_, index) => join(9000, `127.0.0.1:${index + 1}`))).toEqual(new Array<string>(8).fill('connected'))
  })
})
