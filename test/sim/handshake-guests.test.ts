/**
 * Guests that their clients gave up: late copies of what they said keep them, and must not keep their clients out.
 */

import { describe, expect, test } from 'vitest'
import { CHALLENGE_BUCKET_MS, GUESTS_PER_ORIGIN } from '../../packages/tickwire/src/core/base/limits.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { issueToken } from '../../packages/tickwire/src/core/crypto/connect-token.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { SpentTokens } from '../../packages/tickwire/src/core/crypto/spent-tokens.ts'
import type { EndpointConfig } from '../../packages/tickwire/src/core/endpoint/endpoint-config.ts'
import { type Endpoint, createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'

const HERE = '203.0.113.7:1'
const NEXT_DOOR = '203.0.113.7:2'
/** As many guests as one origin may have. */
const ALL = Array.from({ length: GUESTS_PER_ORIGIN }, (_, index) => index)
const each = (count: number): number[] => ALL.map(() => count)
/** Challenges are of the next bucket, and those of the first are good. */
const LATER = CHALLENGE_BUCKET_MS + 500
const CHALLENGE_BYTES = 73
const NOW_SECONDS = 1_800_000_000
const NO_BYTES = new Uint8Array(0)

let seed = 1
const make = (config: Partial<EndpointConfig> = {}): Endpoint => createEndpoint({
  fingerprint: new Uint8Array(8), entropy: new Dice(seed++), security: { provider: new StubCrypto() }, assemble() {}, ...config,
})

/** One attempt of a client. It has said its response, and does not know what came of it. */
class Attempt {
  readonly connection: Connection
  readonly #client: Endpoint
  readonly #server: Endpoint
  readonly #from: string
  readonly #out = createTransmit()
  readonly #response: Uint8Array

  constructor(now: number, server: Endpoint, from: string, token?: Uint8Array) {
    this.#client = make(token && { security: { provider: pureProvider } })
    this.#server = server
    this.#from = from
    this.connection = this.#client.connect(now, 'server', NO_BYTES, token && { token })
    this.speak(now)
    this.hear(now)
    this.#response = this.speak(now)
  }

  /** Says what is due. Returns the last of it. */
  speak(now: number): Uint8Array {
    let said = NO_BYTES
    while (this.#client.pollTransmit(now, this.#out)) {
      said = this.#out.bytes.slice(0, this.#out.length)
      this.#server.handleDatagram(now, this.#from, said.slice(), said.length)
    }
    return said
  }

  /** Hears what the server has to say, and of it what is not too long. Returns how much there was. */
  hear(now: number, bytesMax: number = Infinity): number {
    let count = 0
    for (; this.#server.pollTransmit(now, this.#out); count++) {
      if (this.#out.length <= bytesMax) this.#client.handleDatagram(now, 'server', this.#out.bytes, this.#out.length)
    }
    return count
  }

  /** A copy of his first response arrives now. Returns how many answers there were; he hears none. */
  echo(now: number): number {
    this.#server.handleDatagram(now, this.#from, this.#response.slice(), this.#response.length)
    return this.hear(now, 0)
  }
}

/** A server with as many guests from here as there may be, of the first bucket, of whom copies were heard a moment ago. */
function haunted(config: Partial<EndpointConfig> = {}, tokens: readonly Uint8Array[] = []): { server: Endpoint; givenUp: readonly Attempt[] } {
  const server = make({ maxConnections: 4, ...config })
  const givenUp = ALL.map((index) => {
    const attempt = new Attempt(300 * index, server, HERE, tokens[index])
    expect(attempt.hear(300 * index, 0)).toBe(1)
    return attempt
  })
  expect(givenUp.map((attempt) => attempt.echo(LATER - 100)), 'all are awaited').toEqual(each(1))
  return { server, givenUp }
}

describe('guests that their clients gave up', () => {
  test('[HS10] they do not keep the next attempt of their address out, however late they are echoed', () => {
    const { server } = haunted()
    const next = new Attempt(LATER, server, HERE)
    expect(next.hear(LATER)).toBe(1)
    next.speak(LATER)
    expect(next.connection.isOpen).toBe(true)
    expect(server.connections.map(({ address }) => address)).toEqual([HERE])
  })

  test('[HS10] their echoes push nobody out who came after them, nor do those who came after them each other', () => {
    const { server, givenUp } = haunted()
    const newer = ALL.map(() => {
      const attempt = new Attempt(LATER, server, HERE)
      expect(attempt.hear(LATER)).toBe(1)
      return attempt
    })
    for (let now = LATER + 100; now < LATER + 1000; now += 300) {
      expect(givenUp.map((attempt) => attempt.echo(now)), 'they have given way').toEqual(each(0))
      expect(new Attempt(now, server, HERE).hear(now), 'no newer than those who are awaited').toBe(0)
      expect(newer.map((attempt) => attempt.echo(now)), 'these are awaited').toEqual(each(1))
    }
    for (const attempt of newer) attempt.speak(LATER + 1000)
    expect(server.connections.length).toBe(GUESTS_PER_ORIGIN)
  })

  test('[HS10] an older answer of his own, echoed late, makes nobody older', () => {
    const server = make({ maxConnections: 4 })
    const patient = new Attempt(0, server, HERE)
    // He hears challenges only, and has answered one of the next bucket in the end.
    for (let now = 0; now < LATER + 2000; now += 100) {
      patient.hear(now, CHALLENGE_BYTES)
      patient.speak(now)
    }
    const now = LATER + 2000
    patient.hear(now, 0)
    expect(patient.echo(now)).toBe(1)
    for (const _ of ALL.slice(1)) expect(new Attempt(now, server, HERE).hear(now)).toBe(1)
    expect(new Attempt(now, server, HERE).hear(now), 'one more is not answered').toBe(0)
  })

  test('[HS10] neighbours behind the same origin do not give way', () => {
    const server = make({ maxConnections: 4 })
    const neighbours = ALL.map((index) => {
      const neighbour = new Attempt(0, server, `203.0.113.7:${2 + index}`)
      expect(neighbour.hear(0, 0)).toBe(1)
      return neighbour
    })
    expect(new Attempt(LATER, server, HERE).hear(LATER)).toBe(0)
    expect(neighbours.map((neighbour) => neighbour.echo(LATER))).toEqual(each(1))
  })

  test('[HS10] where an origin has one seat, it is not taken by who was given up; by a neighbour it is', () => {
    const join = (guest: string): string => {
      const server = make({ maxConnections: 4, limits: { connections: 1 } })
      new Attempt(0, server, guest).hear(0, 0)
      const again = new Attempt(LATER, server, HERE)
      again.hear(LATER)
      return again.connection.closeReason?.code ?? again.connection.state
    }
    expect(join(HERE)).toBe('connected')
    expect(join(NEXT_DOOR)).toBe('full')
  })

  test('[HS10] who gave way has spent his token, and a token that is spent makes nobody give way', () => {
    const issuer = pureProvider.importSigning(new Uint8Array(32).fill(9))
    const identity = new Uint8Array(32).fill(7)
    const tokenOf = (id: number): Uint8Array => issueToken(pureProvider, issuer, {
      server: pureProvider.importSigning(identity).publicKey, id: new Uint8Array(16).fill(id), issuedAt: NOW_SECONDS - 10,
      expiresAt: NOW_SECONDS + 300, audience: 'arena', user: NO_BYTES,
    })
    const tokens = { issuers: [issuer.publicKey], audience: 'arena', spent: new SpentTokens(NOW_SECONDS), wallSeconds: () => NOW_SECONDS }
    const { server, givenUp } = haunted({ security: { provider: pureProvider, identity, tokens } }, ALL.map((index) => tokenOf(1 + index)))
    const second = new Attempt(LATER, server, HERE, tokenOf(1))
    second.hear(LATER)
    expect(second.connection.closeReason?.code).toBe('token')
    expect(givenUp.map((attempt) => attempt.echo(LATER)), 'all are awaited').toEqual(each(1))
    const third = new Attempt(LATER, server, HERE, tokenOf(1 + GUESTS_PER_ORIGIN))
    third.hear(LATER)
    third.speak(LATER)
    expect(third.connection.isOpen).toBe(true)
    expect(server.admissionDrops.tokens).toBe(1)
    // There is room again: he who gave way is looked at, and his token is spent.
    givenUp[0]!.echo(LATER + 100)
    expect(server.admissionDrops.tokens).toBe(2)
    expect(tokens.spent.count).toBe(1 + GUESTS_PER_ORIGIN)
    expect(server.connections.length).toBe(1)
  })
})
