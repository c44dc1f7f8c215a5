/**
 * A whole match in one process, from one seed: server, players, cables and network faults, in simulated time.
 *
 * ```ts
 * const sim = simulate(game, { seed: 7, clients: 2, link: { latencyMs: 100, jitterMs: 20, loss: 0.05 } })
 * sim.hold(0, { right: true })
 * sim.run(2000)
 * sim.own(0, Player).x              // the first player's object on the server
 * sim.own(0, Player, 1).x           // the same object, as the second player sees it
 * const late = sim.join()           // a third player
 * sim.difference()                  // undefined: all players see the state of the authority
 * ```
 *
 * Only the clock and the cables are simulated. Players run the `ClientHost` of `connect`, and the server is the
 * `RoomHost` of `serve` and `serveRooms`. The same seed gives the same match, to the last bit.
 */

import { InvariantError } from '../core/base/assert.ts'
import { PLAYERS_DEFAULT } from '../core/base/limits.ts'
import type { Millis, Tick } from '../core/base/time.ts'
import type { EndpointSecurity } from '../core/endpoint/endpoint-security.ts'
import { checkGame, type Game } from '../core/game/define-game.ts'
import type { ClientHost } from '../core/game/client-host.ts'
import type { ClientHostOptions } from '../core/game/client-host-options.ts'
import type { Match } from '../core/game/match.ts'
import type { MatchHostOptions } from '../core/game/match-host.ts'
import type { StepWarning } from '../core/game/step-checks.ts'
import type { View } from '../core/game/view.ts'
import type { JoinRequest } from '../core/rooms/join-body.ts'
import type { RoomHost } from '../core/rooms/room-host.ts'
import type { Entity } from '../core/schema/definition.ts'
import type { Shape } from '../core/schema/field.ts'
import type { InitOf } from '../core/schema/value-types.ts'
import type { ObjectOf, ObjectView } from '../core/world/handle.ts'
import type { LinkFlight, Weather } from './memory-link.ts'
import { SimClock } from './sim-clock.ts'
import { SimDrawer, SimServer } from './simulate-actors.ts'
import { changesDuring, differenceOf, type Difference } from './simulate-difference.ts'
import { SimPlayer } from './simulate-player.ts'
import { SimHouse, type KeptRooms, type SimRoomType } from './simulate-server.ts'
import { SimStalls, type StallOptions } from './simulate-stalls.ts'
import { StubCrypto } from './stub-suite.ts'

/** How a match is simulated. */
export interface SimulateOptions<I extends Shape = Shape, J extends Shape = Shape> {
  /** The seed of all chance. Default: 1. */
  readonly seed?: number
  /** Number of players that join at the start. `join` adds more. Default: 1. */
  readonly clients?: number
  /**
   * The weather on every player's cable, in each direction; or a function of the player's number. Default: no faults.
   */
  readonly link?: Weather | ((client: number) => Weather)
  /**
   * The join data of every client (`join` of `defineGame`), or a function of the client's number. Default: the initial
   * values.
   */
  readonly data?: InitOf<J> | ((client: number) => InitOf<J>)
  /**
   * Room types, as for `serveRooms`: `{ duel: { capacity: 2 } }`. Their game may be left out. Default: a single match,
   * as with `serve`.
   */
  readonly rooms?: { readonly [type: string]: SimRoomType }
  /** Whether a server that is killed keeps its rooms for the next one, as with `keepRooms` of `serve`. Default: no. */
  readonly keepRooms?: boolean
  /** Called when a match begins, also after a restart of the server. Register its message handlers here. */
  readonly onMatch?: (match: Match<I>) => void
  /** Called for every host of a client, before it connects. A client that reconnects has a new one. */
  readonly onClient?: (host: ClientHost<I>, client: number) => void
  /** Called when a datagram of any player is sent, from the first on, with its time of arrival. */
  readonly onFlight?: (client: number, flight: LinkFlight) => void
  /** Hosts that stop at random, by the seed, once all players have joined. Default: none. `stall` stops one by hand. */
  readonly stalls?: { readonly server?: StallOptions; readonly clients?: StallOptions }
  /**
   * Development mode: called once for each kind of mistake in `step` and each field. `false` turns the checks off.
   * Default: a warning on the console. `sim.warnings` has them all.
   */
  readonly onWarning?: ((warning: StepWarning) => void) | false
  /** Default: a stub, which protects nothing and checks every nonce. */
  readonly security?: EndpointSecurity
  /** Further options of the server's host: `{ maxPlayers: 2 }`. Default: none. */
  readonly server?: Partial<MatchHostOptions>
  /** Further options of the players' hosts: `{ syncTest: 8 }`. Default: none. */
  readonly client?: Partial<ClientHostOptions>
}

/** How long a player may take to join or to reconnect before the simulation fails. */
const JOIN_MS_MAX = 15_000
/** How long players that are in the match may take to see it. */
const SEE_MS_MAX = 3000
/** How long a world at rest may take until all players see its state. */
const REST_MS_MAX = 10_000
const REST_STEP_MS = 50
const UNREST = 'Objects of the server still change. Fix: make them rest before you compare.'
/** The players of one simulation draw from different numbers. */
const PLAYER_SEED = 7919

/** Starts a match and lets all players join. */
export function simulate<I extends Shape, J extends Shape = Shape>(
  game: Game<I, J>,
  options: SimulateOptions<I, J> = {},
): Simulation<I> {
  checkGame(game)
  return new Simulation(game, options)
}

/** A match in simulated time: a server, players and their cables. */
export class Simulation<I extends Shape = Shape> {
  /** The simulated clock. */
  readonly clock: SimClock = new SimClock()
  /** The players, in the order of their numbers. One that has left keeps its number. */
  readonly players: readonly SimPlayer<I>[]
  /** The mistakes in `step` that were found: NaN, values that do not fit, unknown fields, writes outside of `step`. */
  readonly warnings: readonly StepWarning[]
  readonly #warnings: StepWarning[] = []
  readonly #game: Game<I>
  readonly #options: SimulateOptions<I>
  readonly #seed: number
  readonly #security: EndpointSecurity
  readonly #players: SimPlayer<I>[] = []
  readonly #house: SimHouse<I>
  readonly #server: SimServer<I>
  #rooms: RoomHost<Match>
  #oldest: Match | undefined
  #kept: KeptRooms | undefined
  #hasBegun = false

  constructor(game: Game<I>, options: SimulateOptions<I>) {
    const { seed = 1, clients = 1, stalls = {}, security = { provider: new StubCrypto() } } = options
    this.#game = game
    this.#options = options
    this.#seed = seed
    this.#security = security
    this.players = this.#players
    this.warnings = this.#warnings
    const { rooms, onMatch } = options
    const server = { maxPlayers: Math.max(clients, PLAYERS_DEFAULT), ...options.server }
    const onWarning = options.onWarning === false ? undefined : (warning: StepWarning) => this.#handleWarning(warning)
    this.#house = new SimHouse(game, { seed, security, rooms, server, onMatch, onWarning })
    this.#rooms = this.#house.begin(this.clock.now, undefined)
    this.#oldest = this.#rooms.rooms[0]
    this.#server = new SimServer(this.#rooms, this.#players)
    this.clock.add(this.#server)
    for (let client = 0; client < clients; client++) this.#add(undefined)
    this.#await(this.#players)
    this.#hasBegun = true
    if (stalls.server !== undefined)
      this.clock.add(new SimStalls(this.#server, this.clock.now, seed ^ 0x57a1, stalls.server))
    this.#players.forEach((player, client) => this.#stallAtRandom(player, client))
  }

  /** The server's room host. After `kill`, the last one. */
  get rooms(): RoomHost<Match> {
    return this.#rooms
  }

  /**
   * The match, as `serve` returns it; with rooms, the oldest. When all have ended, the last one. Throws RangeError when
   * there was none.
   */
  get host(): Match<I> {
    this.#oldest = this.#rooms.rooms[0] ?? this.#oldest
    if (this.#oldest === undefined) throw new RangeError('sim.host: there is no room. Fix: let a player join first.')
    return this.#oldest as unknown as Match<I>
  }

  /** The match that a player is in. Throws RangeError when it is in none. */
  room(client: number): Match<I> {
    const match = this.#rooms.room(this.#player(client).host.seat?.room ?? '')
    if (match === undefined)
      throw new RangeError(`player ${client}: not in a match. Fix: see sim.players[${client}].closed for the reason.`)
    return match as unknown as Match<I>
  }

  /**
   * A player joins, or a spectator (`{ role: 'spectator' }`); with rooms, the room that it asks for, such as
   * `{ create: 'duel' }`. Lets time pass until it is in. Returns its number. Throws InvariantError when it is refused,
   * with the reason.
   */
  join(request?: JoinRequest): number {
    this.#await([this.#add(request)])
    return this.#players.length - 1
  }

  /** A player leaves for good, as with `room.leave()`. Lets time pass until the server knows. */
  leave(client: number): void {
    const player = this.#player(client)
    player.leave(this.clock.now)
    this.runUntil(() => player.closed !== undefined, JOIN_MS_MAX)
  }

  /**
   * A player reloads the page: a new client host, into the same seat while the server holds it, otherwise into a new
   * one. Lets time pass until it is in. Throws InvariantError with the reason when it is refused.
   */
  rejoin(client: number): void {
    const player = this.#player(client)
    player.rejoin(this.clock.now)
    this.#await([player])
  }

  /** The server's process ends without a goodbye. Players notice it as they do live. `keepRooms` keeps its rooms. */
  kill(): void {
    if (this.#server.host === undefined) return
    this.#kept = this.#options.keepRooms === true ? this.#rooms.images() : undefined
    this.#server.host = undefined
  }

  /**
   * The server starts again, and kills the running process first. Lets time pass until all players are back: in their
   * seats with `keepRooms`, otherwise in a new match.
   */
  restart(): void {
    this.kill()
    this.#rooms = this.#house.begin(this.clock.now, this.#kept)
    this.#server.begin(this.clock.now, this.#rooms)
    const expected = this.#players.filter(({ closed }) => closed === undefined)
    const before = new Set(expected.map(({ host }) => host))
    this.#await(expected, ({ host }) => !before.has(host))
  }

  /** Sets a player's input from now on. Missing fields have their initial value. */
  hold(client: number, input: InitOf<I>): void {
    this.#player(client).play = () => input
  }

  /** Sets a player's input from now on, by a function of the tick. A player runs ahead of the authority. */
  script(client: number, play: (tick: Tick) => InitOf<I>): void {
    this.#player(client).play = ({ clock }) => play(clock.inputs.newest + 1)
  }

  /** Lets time pass. */
  run(ms: Millis): void {
    this.clock.drive(ms)
  }

  /** Lets time pass until `isDone`, which is checked after every moment, or for `msMax`. Returns whether it is done. */
  runUntil(isDone: () => boolean, msMax: Millis): boolean {
    return this.clock.driveUntil(isDone, msMax)
  }

  /**
   * Stops the server or a client for `ms` from now on, as a busy main thread does: its clock continues, datagrams wait,
   * nothing is drawn, and everything that was due is done afterwards.
   */
  stall(host: 'server' | number, ms: Millis): void {
    const actor = host === 'server' ? this.#server : this.#player(host)
    actor.stall(this.clock.now, ms)
  }

  /** Calls `draw` for a player at a rate, with its view at that time. The returned function ends it. */
  draw(client: number, rateHz: number, draw: (view: View, now: Millis) => void): () => void {
    const drawer = new SimDrawer(this.#player(client), this.clock.now, 1000 / rateHz, draw)
    this.clock.add(drawer)
    return () => this.clock.remove(drawer)
  }

  /** Changes the weather on one player's cable, or on all, for datagrams sent from now on. */
  weather(weather: Weather, client?: number): void {
    const players = client === undefined ? this.#players : [this.#player(client)]
    for (const player of players) player.link.weather = weather
  }

  /** The authority's objects of an entity, in the oldest room or in the one that is given. */
  server<E extends Entity>(entity: E, room: Match<I> = this.host): ObjectOf<E>[] {
    return [...room.world.each(entity)]
  }

  /** A player's current view of the objects of an entity. */
  client<E extends Entity>(client: number, entity: E): ObjectView<E>[] {
    return [...this.#player(client).host.draw(this.clock.now).each(entity)]
  }

  /**
   * The object of a player: on the authority, or as the player `seenBy` sees it now. If the player has several of the
   * entity, the first. Throws RangeError when there is none.
   */
  own<E extends Entity>(client: number, entity: E): ObjectOf<E>
  own<E extends Entity>(client: number, entity: E, seenBy: number): ObjectView<E>
  own<E extends Entity>(client: number, entity: E, seenBy?: number): ObjectOf<E> | ObjectView<E> {
    const { peer } = this.#player(client).host
    const objects = seenBy === undefined ? this.server(entity, this.room(client)) : this.client(seenBy, entity)
    const own = objects.find(({ owner }) => owner === peer)
    if (own !== undefined) return own
    const place = seenBy === undefined ? 'on the server' : `in the view of player ${seenBy}`
    throw new RangeError(
      `player ${client}: no ${entity.schema.name} ${place}. Fix: spawn it in onJoin, and let time pass.`,
    )
  }

  /**
   * The first difference between a player's view and the authority's world, in words; undefined when there is none.
   * Views show the past: it lets time pass until they show the authority's state, so make all objects rest first. If
   * they do not rest within 10 seconds, the text says that too.
   */
  difference(): string | undefined {
    let difference = this.#difference()
    for (let ms = 0; difference !== undefined && ms < REST_MS_MAX; ms += REST_STEP_MS) {
      this.run(REST_STEP_MS)
      difference = this.#difference()
    }
    if (difference?.world === undefined) return difference?.text
    const isResting = !changesDuring(difference.world, () => this.run(REST_STEP_MS))
    return isResting ? difference.text : `${difference.text}. ${UNREST}`
  }

  #difference(): Difference | undefined {
    for (const [client, player] of this.#players.entries()) {
      if (player.closed !== undefined) continue
      if (!player.isIn) return { text: `player ${client} is not in the match`, world: undefined }
      const { world } = this.room(client)
      const text = differenceOf(client, player.host, this.room(client), this.clock.now)
      if (text !== undefined) return { text, world }
    }
    return undefined
  }

  #handleWarning(warning: StepWarning): void {
    const { onWarning } = this.#options
    // A restarted server finds the same mistakes again.
    if (this.#warnings.some(({ kind, field }) => kind === warning.kind && field === warning.field)) return
    this.#warnings.push(warning)
    if (onWarning !== undefined && onWarning !== false) onWarning(warning)
    else (globalThis as { console?: { warn(text: string): void } }).console?.warn(warning.message)
  }

  #add(request: JoinRequest | undefined): SimPlayer<I> {
    const client = this.#players.length
    const { link = {}, data, onFlight, onClient } = this.#options
    const player = new SimPlayer(
      this.#game,
      this.#seed + client * PLAYER_SEED,
      typeof link === 'function' ? link(client) : link,
      { security: this.#security, ...this.#options.client },
      {
        join: request,
        ...(data !== undefined && {
          data: this.#game.joinCodec.encode(typeof data === 'function' ? data(client) : data),
        }),
        ...(onClient && { onHost: (host: ClientHost<I>) => onClient(host, client) }),
        ...(onFlight && { onFlight: (flight: LinkFlight) => onFlight(client, flight) }),
      },
    )
    this.#players.push(player)
    this.clock.add(player)
    player.connect(this.clock.now)
    if (this.#hasBegun) this.#stallAtRandom(player, client)
    return player
  }

  /** Lets time pass until all of these are in a match, and see it as it was then. */
  #await(players: readonly SimPlayer<I>[], isBack: (player: SimPlayer<I>) => boolean = () => true): void {
    const isIn = (player: SimPlayer<I>): boolean => player.isIn && isBack(player) && this.#isKnown(player)
    this.runUntil(() => players.every(isIn) || players.some(({ closed }) => closed !== undefined), JOIN_MS_MAX)
    const missing = players.find((player) => !isIn(player))
    if (missing !== undefined) this.#refuse(missing)
    const views = players.map((player) => {
      const { world } = this.room(this.#players.indexOf(player))
      return { player, world, tick: world.tick }
    })
    this.runUntil(() => views.every(({ player, world, tick }) => player.hasSeen(world, tick)), SEE_MS_MAX)
  }

  #refuse(player: SimPlayer<I>): never {
    const { closed } = player
    const why = closed === undefined ? `after ${JOIN_MS_MAX} ms of simulated time` : `(${closed.by}: ${closed.code})`
    throw new InvariantError(
      `seed ${this.#seed}: player ${this.#players.indexOf(player)} is not in the match ${why}`,
    )
  }

  /** Whether the server's match has the player. */
  #isKnown({ host: { peer, seat }, isSpectator }: SimPlayer<I>): boolean {
    const match = this.#rooms.room(seat?.room ?? '')
    return isSpectator ? match !== undefined : match?.peers.some(({ id }) => id === peer) === true
  }

  #stallAtRandom(player: SimPlayer<I>, client: number): void {
    const stalls = this.#options.stalls?.clients
    if (stalls === undefined) return
    this.clock.add(new SimStalls(player, this.clock.now, (this.#seed ^ 0x57a2) + client * PLAYER_SEED, stalls))
  }

  #player(client: number): SimPlayer<I> {
    const player = this.players[client]
    if (!player) throw new RangeError(`player ${client}: there are ${this.players.length}, counted from 0`)
    return player
  }
}
