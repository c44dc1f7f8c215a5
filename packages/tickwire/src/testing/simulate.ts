/**
 * A whole match in one process, from one seed: server, players, cables and weather, in time that leaps.
 *
 * ```ts
 * const sim = simulate(game, { seed: 7, clients: 2, link: { latencyMs: 100, jitterMs: 20, loss: 0.05 } })
 * sim.hold(0, { right: true })
 * sim.run(2000)
 * sim.client(1, Player)[0].x        // what the second player sees of the first
 * ```
 *
 * Everything but the clock and the cables is the real thing: the very hosts that `serve` and `connect` drive. The
 * same seed gives the same match, to the last bit.
 */

import { InvariantError } from '../core/base/assert.ts'
import { DATAGRAM_BYTES_MAX } from '../core/base/limits.ts'
import type { Millis } from '../core/base/time.ts'
import type { EndpointSecurity } from '../core/endpoint/endpoint-security.ts'
import { ClientHost } from '../core/game/client-host.ts'
import type { Game } from '../core/game/define-game.ts'
import { ServerHost } from '../core/game/server-host.ts'
import type { InterestOptions } from '../core/replication/interest/interest.ts'
import type { Entity } from '../core/schema/definition.ts'
import type { Shape } from '../core/schema/field.ts'
import type { InitOf } from '../core/schema/value-types.ts'
import type { ObjectOf, ObjectView } from '../core/world/handle.ts'
import { MemoryLink, type Weather } from './memory-link.ts'
import { SimClock, type SimActor } from './sim-clock.ts'
import { Dice } from './sim-entropy.ts'
import { StubCrypto } from './stub-suite.ts'

export interface SimulateOptions {
  readonly seed?: number
  /** How many players. */
  readonly clients?: number
  /** The weather on every player's cable, both ways. */
  readonly link?: Weather
  /** As the server is told it. */
  readonly interest?: InterestOptions
  /** What seals. A stub unless said: it protects nothing and sees every nonce. */
  readonly security?: EndpointSecurity
}

/** How long players may take to come in before the simulation says that something is wrong. */
const JOIN_MS_MAX = 15_000

/** Starts a match and lets everybody in. */
export function simulate<I extends Shape>(game: Game<I>, options: SimulateOptions = {}): Simulation<I> {
  return new Simulation(game, options)
}

export class Simulation<I extends Shape = Shape> {
  readonly clock: SimClock = new SimClock()
  readonly host: ServerHost<I>
  readonly players: readonly SimPlayer<I>[]

  constructor(game: Game<I>, options: SimulateOptions) {
    const { seed = 1, clients = 1, link = {}, security = { provider: new StubCrypto() }, interest = {} } = options
    this.host = new ServerHost(game, { security, interest, entropy: new Dice(seed ^ 0x5e7), maxPlayers: Math.max(clients, 1) })
    this.players = Array.from({ length: clients }, (_, index) => new SimPlayer(game, seed + index * 7919, link, security))
    this.clock.add(new SimServer(this.host, this.players))
    for (const player of this.players) {
      this.clock.add(player)
      player.host.connect(this.clock.now, 'server')
    }
    const isEverybodyIn = (): boolean => this.host.peers.length === clients && this.players.every(({ host }) => host.serverTick > 0)
    if (!this.clock.driveUntil(isEverybodyIn, JOIN_MS_MAX)) throw new InvariantError(`seed ${seed}: not everybody came in within ${JOIN_MS_MAX} ms of simulated time`)
  }

  /** What a player holds from now on; what is not named goes back to its initial value. */
  hold(client: number, input: InitOf<I>): void {
    this.#player(client).host.sampleInput = () => input
  }

  /** Lets time pass. */
  run(ms: Millis): void {
    this.clock.drive(ms)
  }

  /** Changes the weather on one player's cable, or on all. */
  weather(weather: Weather, client?: number): void {
    const players = client === undefined ? this.players : [this.#player(client)]
    for (const player of players) player.link.weather = weather
  }

  /** The authority's objects of an entity. */
  server<E extends Entity>(entity: E): ObjectOf<E>[] {
    return [...this.host.world.each(entity)]
  }

  /** What a player sees of an entity. */
  client<E extends Entity>(client: number, entity: E): ObjectView<E>[] {
    return [...this.#player(client).host.view.each(entity)]
  }

  #player(client: number): SimPlayer<I> {
    const player = this.players[client]
    if (!player) throw new RangeError(`player ${client}: there are ${this.players.length}, counted from 0`)
    return player
  }
}

/** One player at his end of a cable. */
export class SimPlayer<I extends Shape> implements SimActor {
  readonly host: ClientHost<I>
  readonly link: MemoryLink
  readonly #incoming = new Uint8Array(DATAGRAM_BYTES_MAX)
  #nextAt: Millis = 0

  constructor(game: Game<I>, seed: number, weather: Weather, security: EndpointSecurity) {
    this.host = new ClientHost(game, { security, entropy: new Dice(seed ^ 0xc11) })
    this.link = new MemoryLink(seed, weather)
  }

  nextAt(): Millis {
    return Math.min(this.#nextAt, this.link.nextAt(1))
  }

  wake(now: Millis): void {
    for (let length = this.#poll(now); length >= 0; length = this.#poll(now)) {
      this.host.handleDatagram(now, 'server', this.#incoming, length)
    }
    this.host.tick(now)
    this.#nextAt = this.host.drain(now, { send: (_to, bytes, length) => this.link.send(now, 1, bytes, length) })
  }

  #poll(now: Millis): number {
    return this.link.poll(now, 1, this.#incoming)
  }
}

/** The authority at the other end of all cables; a player's address is his number. */
class SimServer<I extends Shape> implements SimActor {
  readonly #host: ServerHost<I>
  readonly #players: readonly SimPlayer<I>[]
  readonly #incoming = new Uint8Array(DATAGRAM_BYTES_MAX)
  #nextAt: Millis = 0

  constructor(host: ServerHost<I>, players: readonly SimPlayer<I>[]) {
    this.#host = host
    this.#players = players
  }

  nextAt(): Millis {
    return this.#players.reduce((earliest, player) => Math.min(earliest, player.link.nextAt(0)), this.#nextAt)
  }

  wake(now: Millis): void {
    this.#players.forEach(({ link }, index) => {
      for (let length = link.poll(now, 0, this.#incoming); length >= 0; length = link.poll(now, 0, this.#incoming)) {
        this.#host.handleDatagram(now, String(index), this.#incoming, length)
      }
    })
    this.#host.tick(now)
    this.#nextAt = this.#host.drain(now, {
      send: (to, bytes, length) => this.#players[Number(to)]?.link.send(now, 0, bytes, length),
    })
  }
}
