/**
 * A server and a client endpoint on one cable, in simulated time: the smallest network.
 *
 * ```ts
 * const pair = new Pair({ seed: 7, weather: { latencyMs: 50, loss: 0.1 }, server: { assemble }, client: { assemble } })
 * pair.connect()
 * pair.drive(2000)
 * ```
 *
 * Both ends run the same loop as real transports (`drain`); only the cable and the clock are simulated.
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

/** The endpoint settings that a user of a pair may set; the pair provides the rest. */
export type PairEndConfig = Partial<EndpointConfig>

/** How to set up a pair. */
export interface PairOptions {
  /** The seed of all chance. Default: 1. */
  readonly seed?: number
  /** The faults of the cable. Default: none. */
  readonly weather?: Weather
  /** Settings of the server's endpoint. Default: those of a server for 16 clients. */
  readonly server?: PairEndConfig
  /** Settings of the client's endpoint. Default: those of an endpoint that only connects. */
  readonly client?: PairEndConfig
  /** Seals for both ends. Default: a new stub, which protects nothing and checks every nonce. */
  readonly crypto?: CryptoProvider
  /** A clock to share. Default: a clock of its own. */
  readonly clock?: SimClock
}

/** One end of a cable: an endpoint, and the events that it emitted. */
export class SimEnd implements SimActor {
  readonly endpoint: Endpoint
  /** Every event so far. */
  readonly events: EndpointEvent[] = []
  /** Called for each event as well. */
  onEvent: (event: EndpointEvent) => void = () => {}
  #link: MemoryLink
  #side: LinkSide
  /** The address that the far end appears to have. It changes when the far end's router rebinds it. */
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

  /** Handles what has arrived and sends what is due. Call it also after a call to the endpoint. */
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
  /** The simulated clock. */
  readonly clock: SimClock
  /** The cable. */
  readonly link: MemoryLink
  /** The cryptography of both ends. */
  readonly crypto: CryptoProvider
  /** The end that accepts. */
  readonly server: SimEnd
  /** The end that connects. */
  readonly client: SimEnd

  constructor(options: PairOptions = {}) {
    const { seed = 1, weather = {}, clock = new SimClock() } = options
    this.clock = clock
    this.link = new MemoryLink(seed, weather)
    this.crypto = options.crypto ?? new StubCrypto()
    const base = { fingerprint: new Uint8Array(8), assemble: () => {} }
    const security = (end: PairEndConfig | undefined): EndpointSecurity => ({ provider: this.crypto, ...end?.security })
    this.server = new SimEnd(
      createEndpoint({
        ...base,
        entropy: new Dice(seed ^ 0x5e7),
        maxConnections: 16,
        ...options.server,
        security: security(options.server),
      }),
      this.link,
      0,
      'client',
    )
    this.client = new SimEnd(
      createEndpoint({
        ...base,
        entropy: new Dice(seed ^ 0xc11),
        ...options.client,
        security: security(options.client),
      }),
      this.link,
      1,
      'server',
    )
    clock.add(this.server)
    clock.add(this.client)
  }

  /** The simulated time, in ms. */
  get now(): Millis {
    return this.clock.now
  }

  /** Connects, and drives until both sides are open or `msMax` has passed. Returns the client's connection. */
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

  /** Drains both ends now: call it after sending or closing. */
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
