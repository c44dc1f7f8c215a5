/**
 * Guests whose clients have given up. Late copies of their packets keep them alive on the server, and must not lock
 * their clients out.
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
/** At this time challenges are of the next bucket, and those of the first are still valid. */
const LATER = CHALLENGE_BUCKET_MS + 500
const CHALLENGE_BYTES = 137
const NOW_SECONDS = 1_800_000_000
const NO_BYTES = new Uint8Array(0)

let seed = 1
const make = (config: Partial<EndpointConfig> = {}): Endpoint =>
  createEndpoint({
    fingerprint: new Uint8Array(8),
    entropy: new Dice(seed++),
    security: { provider: new StubCrypto() },
    assemble() {},
    ...config,
  })

/** One attempt of a client. It has sent its response, and does not know the result. */
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
    this.send(now)
    this.receive(now)
    this.#response = this.send(now)
  }

  /** Sends what is due. Returns the last packet. */
  send(now: number): Uint8Array {
    let sent = NO_BYTES
    while (this.#client.pollTransmit(now, this.#out)) {
      sent = this.#out.bytes.slice(0, this.#out.length)
      this.#server.handleDatagram(now, this.#from, sent.slice(), sent.length)
    }
    return sent
  }

  /** Receives what the server sends, except packets that are too long. Returns the number of packets. */
  receive(now: number, bytesMax: number = Infinity): number {
    let count = 0
    for (; this.#server.pollTransmit(now, this.#out); count++) {
      if (this.#out.length <= bytesMax) this.#client.handleDatagram(now, 'server', this.#out.bytes, this.#out.length)
    }
    return count
  }

  /**
   * A copy of the client's first response arrives now. Returns the number of answers, none of which the client
   * receives.
   */
  echo(now: number): number {
    this.#server.handleDatagram(now, this.#from, this.#response.slice(), this.#response.length)
    return this.receive(now, 0)
  }
}

/**
 * A server with as many guests of the first bucket from HERE as possible, which received copies of their responses a
 * moment ago.
 */
function haunted(
  config: Partial<EndpointConfig> = {},
  tokens: readonly Uint8Array[] = [],
): { server: Endpoint; givenUp: readonly Attempt[] } {
  const server = make({ maxConnections: 4, ...config })
  const givenUp = ALL.map((index) => {
    const attempt = new Attempt(300 * index, server, HERE, tokens[index])
    expect(attempt.receive(300 * index, 0)).toBe(1)
    return attempt
  })
  expect(givenUp.map((attempt) => attempt.echo(LATER - 100)), 'all guests are still awaited').toEqual(each(1))
  return { server, givenUp }
}

describe('guests that their clients gave up', () => {
  test('[HS10] abandoned guests do not lock out the next attempt from their address, however late the echoes', () => {
    const { server } = haunted()
    const next = new Attempt(LATER, server, HERE)
    expect(next.receive(LATER)).toBe(1)
    next.send(LATER)
    expect(next.connection.isOpen).toBe(true)
    expect(server.connections.map(({ address }) => address)).toEqual([HERE])
  })

  test('[HS10] echoes of abandoned guests evict no newer guest, and newer guests do not evict each other', () => {
    const { server, givenUp } = haunted()
    const newer = ALL.map(() => {
      const attempt = new Attempt(LATER, server, HERE)
      expect(attempt.receive(LATER)).toBe(1)
      return attempt
    })
    for (let now = LATER + 100; now < LATER + 1000; now += 300) {
      expect(givenUp.map((attempt) => attempt.echo(now)), 'the abandoned guests are evicted').toEqual(each(0))
      expect(new Attempt(now, server, HERE).receive(now), 'not newer than the awaited guests').toBe(0)
      expect(newer.map((attempt) => attempt.echo(now)), 'the newer guests are awaited').toEqual(each(1))
    }
    for (const attempt of newer) attempt.send(LATER + 1000)
    expect(server.connections.length).toBe(GUESTS_PER_ORIGIN)
  })

  test("[HS10] a late echo of a guest's own older response does not make the guest older", () => {
    const server = make({ maxConnections: 4 })
    const patient = new Attempt(0, server, HERE)
    // The client receives challenges only, and has answered one of the next bucket in the end.
    for (let now = 0; now < LATER + 2000; now += 100) {
      patient.receive(now, CHALLENGE_BYTES)
      patient.send(now)
    }
    const now = LATER + 2000
    patient.receive(now, 0)
    expect(patient.echo(now)).toBe(1)
    for (const _ of ALL.slice(1)) expect(new Attempt(now, server, HERE).receive(now)).toBe(1)
    expect(new Attempt(now, server, HERE).receive(now), 'one more guest is not answered').toBe(0)
  })

  test('[HS10] neighbours behind the same origin are not evicted', () => {
    const server = make({ maxConnections: 4 })
    const neighbours = ALL.map((index) => {
      const neighbour = new Attempt(0, server, `203.0.113.7:${2 + index}`)
      expect(neighbour.receive(0, 0)).toBe(1)
      return neighbour
    })
    expect(new Attempt(LATER, server, HERE).receive(LATER)).toBe(0)
    expect(neighbours.map((neighbour) => neighbour.echo(LATER))).toEqual(each(1))
  })

  test('[HS10] the only seat of an origin is not held by an abandoned guest, but by a neighbour it is', () => {
    const join = (guest: string): string => {
      const server = make({ maxConnections: 4, limits: { connections: 1 } })
      new Attempt(0, server, guest).receive(0, 0)
      const again = new Attempt(LATER, server, HERE)
      again.receive(LATER)
      return again.connection.closeReason?.code ?? again.connection.state
    }
    expect(join(HERE)).toBe('connected')
    expect(join(NEXT_DOOR)).toBe('full')
  })

  test('[HS10] an evicted guest may return with its key and token; the token of another key evicts none', () => {
    const issuer = pureProvider.importSigning(new Uint8Array(32).fill(9))
    const identity = new Uint8Array(32).fill(7)
    const tokenOf = (id: number): Uint8Array =>
      issueToken(pureProvider, issuer, {
        server: pureProvider.importSigning(identity).publicKey,
        id: new Uint8Array(16).fill(id),
        issuedAt: NOW_SECONDS - 10,
        expiresAt: NOW_SECONDS + 300,
        audience: 'arena',
        user: NO_BYTES,
      })
    const tokens = {
      issuers: [issuer.publicKey],
      audience: 'arena',
      spent: new SpentTokens(NOW_SECONDS),
      wallSeconds: () => NOW_SECONDS,
    }
    const { server, givenUp } = haunted(
      { security: { provider: pureProvider, identity, tokens } },
      ALL.map((index) => tokenOf(1 + index)),
    )
    const second = new Attempt(LATER, server, HERE, tokenOf(1))
    second.receive(LATER)
    expect(second.connection.closeReason?.code).toBe('token')
    expect(givenUp.map((attempt) => attempt.echo(LATER)), 'all guests are still awaited').toEqual(each(1))
    const third = new Attempt(LATER, server, HERE, tokenOf(1 + GUESTS_PER_ORIGIN))
    third.receive(LATER)
    third.send(LATER)
    expect(third.connection.isOpen).toBe(true)
    expect(server.admissionDrops.tokens).toBe(1)
    third.receive(LATER + 100)
    // There is space again: the evicted guest is examined, and its token was spent by its own key.
    expect(givenUp[0]!.echo(LATER + 100)).toBe(1)
    expect(server.admissionDrops.tokens).toBe(1)
    expect(tokens.spent.count).toBe(1 + GUESTS_PER_ORIGIN)
    expect(server.connections.length).toBe(1)
  })
})
