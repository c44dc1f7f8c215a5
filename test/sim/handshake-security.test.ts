/**
 * Which clients a server accepts, and what unknown senders can and cannot do to it: tokens, identities, cookies,
 * floods.
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

/** The result for a client with this token. Real cryptography, because that is what is tested. */
function fare(token: Uint8Array | undefined, spent?: SpentTokens, seed = 1, expected?: Uint8Array): string {
  const pair = new Pair({ seed, crypto: pureProvider, server: { security: { identity, tokens: policy(spent) } } })
  const connection = pair.connect(undefined, 12_000, { ...(token && { token }), ...(expected && { server: expected }) })
  expect(pair.server.endpoint.connections.length).toBe(connection.isOpen ? 1 : 0)
  return connection.isOpen ? `in, ${connection.security.identity}` : connection.closeReason!.code
}

describe('tokens', () => {
  test("[SEC4] a valid token admits its client, verifies the server, and brings the issuer's user data", () => {
    const users: unknown[] = []
    const pair = new Pair({ crypto: pureProvider, server: {
      security: { identity, tokens: policy() },
      admit: ({ token }) => {
        users.push(token?.user)
        return new Uint8Array(0)
      },
    } })
    const connection = pair.connect(undefined, 5000, { token: tokenWith() })
    expect(connection.isOpen).toBe(true)
    expect(connection.security).toEqual({ suite: expect.stringContaining('ChaCha20'), identity: 'verified' })
    expect(users).toEqual([Uint8Array.of(4, 2)])
  })

  test('[SEC4] a missing, bad, expired or foreign token is refused with the reason', () => {
    expect(fare(undefined)).toBe('token')
    expect(fare(tokenWith({ expiresAt: NOW_SECONDS }))).toBe('token')
    expect(fare(tokenWith({ issuedAt: NOW_SECONDS + 60 }))).toBe('token')
    expect(fare(tokenWith({ audience: 'chess' }))).toBe('token')
    const forged = tokenWith()
    forged[forged.length - 1]! ^= 1
    expect(fare(forged)).toBe('token')
  })

  test('[SEC4] seed 2012 of the matches: a client with a used token does not reach the seat check', () => {
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
    expect(fare(tokenWith({ server: other }), undefined, 1, server)).toBe('token')
    expect(fare(tokenWith({ server: other })), 'the client does not even show it').toBe('identity')
  })

  test('[SEC4] a token is valid once, also after a restart of the server', () => {
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
    expect(
      fare(token, new SpentTokens(NOW_SECONDS + 1, journal), 1),
      'the same client key, whose connection ended with the process',
    ).toBe('in, verified')
    expect(fare(tokenWith({ id: new Uint8Array(16).fill(2) }), new SpentTokens(NOW_SECONDS, journal), 4)).toBe(
      'in, verified',
    )
  })

  test('[SEC4] a client that repeats its packets in bad weather spends its token once', () => {
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

  test('[SEC4] tokens without an identity are refused at construction', () => {
    expect(() =>
      createEndpoint({
        fingerprint: new Uint8Array(8),
        entropy: new Dice(1),
        maxConnections: 1,
        security: { tokens: policy() },
        assemble() {},
      }),
    ).toThrow(/identity/)
  })
})

describe('identity', () => {
  const serve = (seed: Uint8Array) => ({ server: { security: { identity: seed } }, crypto: pureProvider })

  test('[SEC5] a server with another identity than the expected one is not accepted', () => {
    const pair = new Pair(serve(new Uint8Array(32).fill(1)))
    const connection = pair.connect(undefined, 12_000, { server })
    expect(connection.closeReason).toEqual({ by: 'protocol', code: 'identity' })
    expect(connection.stats.drops.handshake).toBeGreaterThan(10)
    expect(pair.server.endpoint.connections).toEqual([])
  })

  test('[SEC5] a known server is verified; for an unknown one the connection says so', () => {
    expect(new Pair(serve(identity)).connect(undefined, 5000, { server }).security.identity).toBe('verified')
    const unknown = new Pair({ crypto: pureProvider }).connect()
    expect(unknown.isOpen).toBe(true)
    expect(unknown.security.identity).toBe('unverified')
  })
})

describe('strangers', () => {
  const crypto = new StubCrypto()
  let worlds = 0
  const make = (config: Partial<EndpointConfig> = {}): Endpoint =>
    createEndpoint({
      fingerprint: new Uint8Array(8),
      entropy: new Dice(500 + worlds++),
      security: { provider: crypto },
      assemble() {},
      ...config,
    })

  /** The first datagram of a client that was just started or answered. */
  function next(client: Endpoint, now: number): Uint8Array {
    const out = createTransmit()
    expect(client.pollTransmit(now, out)).toBe(true)
    return out.bytes.slice(0, out.length)
  }

  /** The answer of a server, if there is one. */
  function answer(house: Endpoint, now: number, from: string, bytes: Uint8Array): Uint8Array | undefined {
    const out = createTransmit()
    house.handleDatagram(now, from, bytes.slice(), bytes.length)
    if (!house.pollTransmit(now, out)) return undefined
    const first = out.bytes.slice(0, out.length)
    expect(house.pollTransmit(now, out), 'one answer at most').toBe(false)
    return first
  }

  test('[SEC12] a cookie is valid at the address it was sent to, with the key it was made for, for 4 to 8 s', () => {
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
    expect(answer(again, 1, 'client', response), 'a cookie of another server').toBeUndefined()
    const fresh = make({ maxConnections: 4 })
    const late = make()
    late.connect(0, 'server')
    const given = answer(fresh, 3999, 'client', next(late, 0))!
    late.handleDatagram(3999, 'server', given, given.length)
    expect(answer(fresh, 7999, 'client', next(late, 3999)), 'the bucket before').toBeDefined()
  })

  test('[SEC1] a response with any bit changed is refused and leaves no state', () => {
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

  test('[SEC6] a flood of requests leaves no state: one answer each, at most 0.35 of the request', () => {
    const house = make({ maxConnections: 4 })
    const client = make()
    client.connect(0, 'server')
    const request = next(client, 0)
    for (let index = 0; index < 5000; index++) {
      new DataView(request.buffer).setUint32(16, index)
      const said = answer(house, index / 10, `198.51.${index & 255}.${(index >>> 8) & 255}:${index}`, request)
      if (said !== undefined) expect(said.length).toBe(137)
    }
    expect(house.connections).toEqual([])
    expect(house.pollTimeout()).toBe(Infinity)
    // Not answered before a flush: the queue has a limit.
    const out = createTransmit()
    for (let index = 0; index < 500; index++) house.handleDatagram(900, `a${index}`, request, request.length)
    let answers = 0
    while (house.pollTransmit(900, out)) answers++
    expect(answers).toBe(64)
    expect(house.admissionDrops.replies).toBe(436)
  })

  test('[SEC13] a client joins within 2 s during 50,000 requests a second from forged addresses', () => {
    const house = make({ maxConnections: 32 })
    const request = next(
      (() => {
        const stranger = make()
        stranger.connect(0, 'server')
        return stranger
      })(),
      0,
    )
    const guests = Array.from({ length: 12 }, (_, index) => ({
      from: `203.0.113.${index}:77`,
      endpoint: make(),
      at: 1000 + index * 37,
      openAt: Infinity,
    }))
    const out = createTransmit()
    let spoofed = 0
    for (let now = 0; now < 4000; now++) {
      for (let index = 0; index < 50; index++) {
        spoofed++
        house.handleDatagram(
          now,
          `${spoofed >>> 16}.${(spoofed >>> 8) & 255}.${spoofed & 255}.7:9`,
          request,
          request.length,
        )
        // As in the event loop: 32 datagrams are answered before the next 32 are read.
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

  test('[SEC6] requests and responses of every length and kind draw answers no longer than themselves', () => {
    const house = make({ maxConnections: 4 })
    const dice = new Dice(3)
    for (let round = 0; round < 3000; round++) {
      const bytes = new Uint8Array(round % 1500)
      dice.fill(bytes)
      bytes.set([0x54, 0x4b, 0x57, 3, round % 7].slice(0, bytes.length))
      const said = answer(house, round * 20, `198.51.100.${round & 255}:9`, bytes)
      if (said !== undefined) expect(said.length).toBeLessThan(bytes.length)
    }
    expect(house.connections).toEqual([])
  })

  test('[SEC9] one origin gets its share of seats, whatever its ports; a neighbour still gets in', () => {
    const house = make({ maxConnections: 32 })
    const join = (now: number, from: string): string => {
      const client = make()
      const connection = client.connect(now, 'server')
      for (let round = 0; round < 3; round++) {
        const out = createTransmit()
        while (client.pollTransmit(now, out)) house.handleDatagram(now, from, out.bytes, out.length)
        while (house.pollTransmit(now, out))
          if (out.to === from) client.handleDatagram(now, 'server', out.bytes, out.length)
      }
      return connection.closeReason?.code ?? connection.state
    }
    const fates = Array.from({ length: 8 }, (_, index) => join(index * 1000, `203.0.113.7:${index + 1}`))
    expect(fates).toEqual([...new Array<string>(5).fill('connected'), 'full', 'full', 'full'])
    expect(join(9000, '203.0.113.8:1')).toBe('connected')
    expect(Array.from({ length: 8 }, (_, index) => join(9000, `127.0.0.1:${index + 1}`))).toEqual(
      new Array<string>(8).fill('connected'),
    )
  })
})
