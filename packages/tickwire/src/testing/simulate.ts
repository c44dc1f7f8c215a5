/**
 * A whole match in one process, from one seed: server, players, cables and weather, in time that leaps.
 *
 * ```ts
 * const sim = simulate(game, { seed: 7, clients: 2, link: { latencyMs: 100, jitterMs: 20, loss: 0.05 } })
 * sim.hold(0, { right: true })
 * sim.run(2000)
 * sim.client(1, Player)[0].x        // what the second player sees of the first
 * sim.difference()                  // undefined: everybody sees what the authority has
 * ```
 *
 * Everything but the clock and the cables is the real thing: the very hosts that `serve` and `connect` drive. The
 * same seed gives the same match, to the last bit.
 */

import { InvariantError } from '../core/base/assert.ts'
import type { Millis, Tick } from '../core/base/time.ts'
import type { EndpointSecurity } from '../core/endpoint/endpoint-security.ts'
import { checkGame, type Game } from '../core/game/define-game.ts'
import { ServerHost, type ServerHostOptions } from '../core/game/server-host.ts'
import type { ClientHostOptions } from '../core/game/client-host.ts'
import type { View } from '../core/game/view.ts'
import type { Entity } from '../core/schema/definition.ts'
import type { Shape } from '../core/schema/field.ts'
import type { InitOf } from '../core/schema/value-types.ts'
import type { ObjectOf, ObjectView } from '../core/world/handle.ts'
import type { LinkFlight, Weather } from './memory-link.ts'
import { SimClock } from './sim-clock.ts'
import { Dice } from './sim-entropy.ts'
import { SimPlayer, SimServer, SimDrawer } from './simulate-actors.ts'
import { differenceOf } from './simulate-difference.ts'
import { StubCrypto } from './stub-suite.ts'

export interface SimulateOptions {
  readonly seed?: number
  /** How many players. */
  readonly clients?: number
  /** The weather on every player's cable, both ways; or on that of each, by its number. */
  readonly link?: Weather | ((client: number) => Weather)
  /** Told of every datagram of every player, from the first on: as it sets out, and when it arrives. */
  readonly onFlight?: (client: number, flight: LinkFlight) => void
  /** What seals. A stub unless said: it protects nothing and sees every nonce. */
  readonly security?: EndpointSecurity
  /** What else to say to the server's host, and to those of the players: `{ syncTest: 8 }`. */
  readonly server?: Partial<ServerHostOptions>
  readonly client?: Partial<ClientHostOptions>
}

/** How long players may take to come in before the simulation says that something is wrong. */
const JOIN_MS_MAX = 15_000
/** How long a world at rest may take until everybody sees it as it is. */
const REST_MS_MAX = 10_000
const REST_STEP_MS = 50

/** Starts a match and lets everybody in. */
export function simulate<I extends Shape>(game: Game<I>, options: SimulateOptions = {}): Simulation<I> {
  checkGame(game)
  return new Simulation(game, options)
}

export class Simulation<I extends Shape = Shape> {
  readonly clock: SimClock = new SimClock()
  readonly host: ServerHost<I>
  readonly players: readonly SimPlayer<I>[]

  constructor(game: Game<I>, options: SimulateOptions) {
    const { seed = 1, clients = 1, link = {}, onFlight, security = { provider: new StubCrypto() } } = options
    this.host = new ServerHost(game, { security, entropy: new Dice(seed ^ 0x5e7), maxPlayers: Math.max(clients, 1), ...options.server })
    this.players = Array.from({ length: clients }, (_, index) => new SimPlayer(game, seed + index * 7919, typeof link === 'function' ? link(index) : link, { security, ...options.client }))
    if (onFlight !== undefined) this.players.forEach(({ link }, client) => { link.onFlight = (flight) => onFlight(client, flight) })
    this.clock.add(new SimServer(this.host, this.players))
    for (const player of this.players) {
      this.clock.add(player)
      player.host.connect(this.clock.now, 'server')
    }
    const isIn = ({ host }: SimPlayer<I>): boolean => host.serverTick > 0 && (game.predict === 'none' || host.predictor?.isRunning === true)
    const isEverybodyIn = (): boolean => this.host.peers.length >= clients && this.players.every(isIn)
    if (!this.clock.driveUntil(isEverybodyIn, JOIN_MS_MAX)) throw new InvariantError(`seed ${seed}: not everybody came in within ${JOIN_MS_MAX} ms of simulated time`)
  }

  /** What a player holds from now on; what is not named goes back to its initial value. */
  hold(client: number, input: InitOf<I>): void {
    this.#player(client).host.sampleInput = () => input
  }

  /** What a player holds from now on, asked for every tick he plays, which he plays ahead of the authority. */
  script(client: number, play: (tick: Tick) => InitOf<I>): void {
    const { host } = this.#player(client)
    host.sampleInput = () => play(host.clock.inputs.newest + 1)
  }

  /** Lets time pass. */
  run(ms: Millis): void {
    this.clock.drive(ms)
  }

  /** Lets time pass until `isDone`, asked after every moment, or for `msMax`. Says whether it was. */
  runUntil(isDone: () => boolean, msMax: Millis): boolean {
    return this.clock.driveUntil(isDone, msMax)
  }

  /** Calls `draw` for a player so many times a second, with what he may draw then. Returns what ends it. */
  draw(client: number, rateHz: number, draw: (view: View, now: Millis) => void): () => void {
    const drawer = new SimDrawer(this.#player(client).host, this.clock.now, 1000 / rateHz, draw)
    this.clock.add(drawer)
    return () => this.clock.remove(drawer)
  }

  /** Changes the weather on one player's cable, or on all, for what is sent from now on. */
  weather(weather: Weather, client?: number): void {
    const players = client === undefined ? this.players : [this.#player(client)]
    for (const player of players) player.link.weather = weather
  }

  /** The authority's objects of an entity. */
  server<E extends Entity>(entity: E): ObjectOf<E>[] {
    return [...this.host.world.each(entity)]
  }

  /** What a player sees of an entity, now. */
  client<E extends Entity>(client: number, entity: E): ObjectView<E>[] {
    return [...this.#player(client).host.draw(this.clock.now).each(entity)]
  }

  /**
   * The first thing that a player sees otherwise than the authority has it, in words; undefined when there is none. Views are
   * of the past: it lets time pass until they show the authority's state, so let everybody stand still first.
   */
  difference(): string | undefined {
    let difference: string | undefined
    for (let ms = 0; ms <= REST_MS_MAX; ms += REST_STEP_MS) {
      difference = undefined
      this.players.forEach(({ host }, client) => { difference ??= differenceOf(client, host, this.host, this.clock.now) })
      if (difference === undefined) return undefined
      this.run(REST_STEP_MS)
    }
    return difference
  }

  #player(client: number): SimPlayer<I> {
    const player = this.players[client]
    if (!player) throw new RangeError(`player ${client}: there are ${this.players.length}, counted from 0`)
    return player
  }
}
