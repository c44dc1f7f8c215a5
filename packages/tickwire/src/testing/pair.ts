/**
 * A server and a client endpoint on one cable, in simulated time: the smallest network there is.
 *
 * ```ts
 * const pair = new Pair({ seed: 7, weather: { latencyMs: 50, loss: 0.1 }, server: { assemble }, client: { assemble } })
 * pair.connect()
 * pair.drive(2000)
 * ```
 *
 * Both ends run through the very loop that real transports use (`drain`); only the cable and the clock are made up.
 */

import { assert } from '../core/base/assert.ts'
import { DATAGRAM_BYTES_MAX } from '../core/base/limits.ts'
import type { Millis } from '../core/base/time.ts'
import type { Connection } from '../core/connection/connection.ts'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import { drain } from '../core/endpoint/drain.ts'
import type { EndpointConfig } from '../core/endpoint/endpoint-config.ts'
import type { EndpointSecurity } from '../core/endpoint/endpoint-security.ts'
import { type ConnectPass, type Endpoint, type EndpointEvent, createEndpoint } from '../core/endpoint/endpoint.ts'
import { StubCrypto } from './stub-suite.ts'
import { type LinkSide, MemoryLink, type Weather } from './memory-link.ts'
import { type SimActor, SimClock } from './sim-clock.ts'
import { Dice } from './sim-entropy.ts'

/** What a pair lets its user say about an endpoint; the rest it brings itself. */
export type PairEndConfig = Partial<EndpointConfig>

/** How to set up a pair. */
export interface PairOptions {
  readonly seed?: number
  readonly weather?: Weather
  readonly server?: PairEndConfig
  readonly client?: PairEndConfig
  /** Seals for both ends. A stub of its own unless said: it protects nothing and sees every nonce. */
  readonly crypto?: CryptoProvider
  /** Lives in another's time. */
  readonly clock?: SimClock
}

/** One end of a cable: an endpoint, and what it told us. */
export class SimEnd implements SimActor {
  readonly endpoint: Endpoint
  /** Every event so far. */
  readonly events: EndpointEvent[] = []
  /** Called for each event as well. */
  onEvent: (event: EndpointEvent) => void = () => {}
  #link: MemoryLink
  #side: LinkSide
  /** Where the far end appears to be. Changes when its router gives it another port. */
  farAddress: string
  #incoming: Uint8Array = new Uint8Array(DATAGRAM_BYTES_MAX)
  #nextAt: Millis = 0

  constructor(endpoint: Endpoint, link: MemoryLink, side: LinkSide, farAddress: string) {
    this.endpoint = endpoint
    this.#link = link
    this.#side = side
    this.farAddress = farAddress
  }

  nextAt(): Millis {
    return Math.min(this.#nextAt, this.#link.nextAt(this.#side))
  }

  /** Takes in what has arrived and sends what is due. Call it also after telling the endpoint something. */
  wake(now: Millis): void {
    for (let length = this.#poll(now); length >= 0; length = this.#poll(now)) {
      this.endpoint.handleDatagram(now, this.farAddress, this.#incoming, length)
    }
    this.#nextAt = drain(this.endpoint, now, {
      send: (_to, bytes, length) => this.#link.send(now, this.#side, bytes, length),
    }, (event) => {
      this.events.push(event)
      this.onEvent(event)
    })
  }

  #poll(now: Millis): number {
    return this.#link.poll(now, this.#side, this.#incoming)
  }
}

/** Two ends, one cable, one clock. */
export class Pair {
  readonly clock: SimClock
  readonly link: MemoryLink
  readonly crypto: CryptoProvider
  readonly server: SimEnd
  readonly client: SimEnd

  constructor(options: PairOptions = {}) {
    const { seed = 1, weather = {}, clock = new SimClock() } = options
    this.clock = clock
    this.link = new MemoryLink(seed, weather)
    this.crypto = options.crypto ?? new StubCrypto()
    const base = { fingerprint: new Uint8Array(8), assemble: () => {} }
    const security = (end: PairEndConfig | undefined): EndpointSecurity => ({ provider: this.crypto, ...end?.security })
    this.server = new SimEnd(createEndpoint({
      ...base, entropy: new Dice(seed ^ 0x5e7), maxConnections: 16, ...options.server, security: security(options.server),
    }), this.link, 0, 'client')
    this.client = new SimEnd(createEndpoint({
      ...base, entropy: new Dice(seed ^ 0xc11), ...options.client, security: security(options.client),
    }), this.link, 1, 'server')
    clock.add(this.server)
    clock.add(this.client)
  }

  get now(): Millis {
    return this.clock.now
  }

  /** Lets the client ask, and drives until both sides are open or `msMax` is over. Returns the client's connection. */
  connect(user: Uint8Array = new Uint8Array(0), msMax: Millis = 15_000, pass: ConnectPass = {}): Connection {
    const connection = this.client.endpoint.connect(this.now, 'server', user, pass)
    this.flush()
    this.clock.driveUntil(() => connection.state === 'disconnected'
      || (connection.isOpen && this.server.endpoint.connections.some((peer) => peer.isOpen)), msMax)
    return connection
  }

  /** The server's connection, when there is exactly one. */
  get accepted(): Connection {
    const [connection, second] = this.server.endpoint.connections
    assert(connection !== undefined && second === undefined, 'the server has exactly one connection')
    return connection
  }

  /** Drains both ends now: after sending or closing something. */
  flush(): void {
    this.server.wake(this.now)
    this.client.wake(this.now)
  }

  /** Lets `ms` pass. */
  drive(ms: Millis): void {
    this.flush()
    this.clock.drive(ms)
  }
}
