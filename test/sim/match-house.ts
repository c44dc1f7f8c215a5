/**
 * The server of a match of the swarm: a room host with one room, and a record of its world, tick by tick.
 *
 * It receives messages and calls of the players and compares them with the diaries; it checks endpoint and seats by I14
 * to I16.
 */

import type { ObjectId, PeerId, Tick } from '../../packages/tickwire/src/core/base/time.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import type { ConnectionState } from '../../packages/tickwire/src/core/connection/states.ts'
import type { DatagramPort } from '../../packages/tickwire/src/core/endpoint/datagram-port.ts'
import type { Endpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { EndpointSecurity } from '../../packages/tickwire/src/core/endpoint/endpoint-security.ts'
import { LOCAL_PEERS_FROM } from '../../packages/tickwire/src/core/game/authority.ts'
import { FRAME_KIND } from '../../packages/tickwire/src/core/game/frame-kinds.ts'
import type { Match } from '../../packages/tickwire/src/core/game/match.ts'
import { createMatchHost } from '../../packages/tickwire/src/core/game/match-host.ts'
import type { RoomHost } from '../../packages/tickwire/src/core/rooms/room-host.ts'
import type { Game } from '../../packages/tickwire/src/core/game/define-game.ts'
import type { FrameSource } from '../../packages/tickwire/src/core/packet/frame-source.ts'
import { indexOf, NO_TYPE } from '../../packages/tickwire/src/core/world/object-table.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import type { NetResident } from '../../packages/tickwire/src/testing/sim-net-actor.ts'
import type { SimNode } from '../../packages/tickwire/src/testing/sim-net-node.ts'
import { CrowdTruth } from './crowd-truth.ts'
import { AddressWatch, type DatagramWatch } from './invariants-datagrams.ts'
import { hold } from './invariants.ts'
import { drawBulk } from './draw-bulk.ts'
import { Diary } from './match-diary.ts'
import { Ask, DELIVERIES, type MatchGame, type MatchInput, Poke, SAID } from './match-game.ts'
import type { Feature, Scenario } from './match-scenario.ts'

/** The inputs of the server side. */
export interface HousePlan {
  readonly scenario: Scenario
  readonly made: MatchGame
  readonly security: EndpointSecurity
  readonly node: SimNode
  readonly datagrams: DatagramWatch
  readonly now: () => number
  readonly onTurn: () => void
}

/** What a client gets per second where the authority limits it: less than a match of ten needs. */
const THRIFT_BYTES = 6000
const TEAMS = 3
/** In the order of a connection's life: a connection never goes back. */
const AGE: Readonly<Record<ConnectionState, number>> = {
  connecting: 0,
  handshake: 1,
  connected: 2,
  disconnecting: 3,
  timeout: 3,
  disconnected: 4,
}

/** The same on both sides. */
function nameOf({ idLo, idHi }: Connection): string {
  return `${idHi}:${idLo}`
}

/** Compares what a source is notified of as delivered with what its receiver could use. */
function watchDelivery(source: FrameSource, diary: Diary): void {
  const onDelivered = source.onDelivered.bind(source)
  source.onDelivered = (now, sequence) => {
    diary.handleDelivered(sequence)
    onDelivered(now, sequence)
  }
}

/** The server of the match. */
export class House implements NetResident {
  /** The host of the current process. */
  host: RoomHost<Match>
  match: Match<MatchInput>
  truth: CrowdTruth
  /**
   * Twice as many as there are clients: a client that asks again while it joins has two connections for some seconds.
   */
  readonly seats: number
  readonly spectatorSeats: number
  readonly diaries = new Map<PeerId, Diary>()
  readonly teams = new Map<PeerId, number>()
  readonly #plan: HousePlan
  readonly #dice: Dice
  readonly #byId = new Map<string, Diary>()
  /** Connections of attackers: their messages and calls are not checked. */
  readonly #mistrustedIds = new Set<string>()
  readonly #states = new Map<Connection, ConnectionState>()
  #lookingOn = new Set<PeerId>()
  #addresses = new AddressWatch()
  #changes: (() => void)[] = []
  #lives = 0
  /** Handlers of calls may throw, and hosts go on: violations that they found wait here. */
  #fault: unknown = undefined
  readonly #door: Pick<Endpoint, 'connections' | 'handleDatagram'>
  #port: Pick<DatagramPort, 'send'> | undefined
  readonly #out: Pick<DatagramPort, 'send'>

  constructor(plan: HousePlan) {
    this.#plan = plan
    const { players, spectators, seed } = plan.scenario
    this.#dice = new Dice(seed ^ 0x40e5e)
    this.seats = 2 * players + spectators + 4
    this.spectatorSeats = 2 * spectators + 2
    const [host, match, truth] = this.#build()
    this.host = host
    this.match = match
    this.truth = truth
    const house = this
    this.#door = {
      get connections() {
        return house.host.endpoint.connections
      },
      handleDatagram: (now, from, bytes, length) => house.host.handleDatagram(now, from, bytes, length),
    }
    this.#out = { send: (to, bytes, length) => this.#send(to, bytes, length) }
  }

  /** The name of the room to join; undefined where there are no rooms. */
  get room(): string | undefined {
    return this.#has('rooms') ? this.match.id : undefined
  }

  /** The process dies without disconnecting its clients, and another begins a new match. */
  restart(): void {
    this.diaries.clear()
    this.teams.clear()
    this.#states.clear()
    this.#changes = []
    this.#lookingOn = new Set()
    this.#addresses = new AddressWatch()
    const [host, match, truth] = this.#build()
    this.host = host
    this.match = match
    this.truth = truth
  }

  handleDatagram(now: number, from: string, bytes: Uint8Array, length: number): void {
    this.#plan.onTurn()
    this.#addresses.handleReceived(from, length)
    this.#plan.datagrams.deliver(now, this.#plan.node.index, this.#door, from, bytes, length)
  }

  pump(now: number, port: Pick<DatagramPort, 'send'>): number {
    this.#plan.onTurn()
    this.#port = port
    if (this.#changes.length > 0 && now >= this.match.loop.nextAt())
      for (const change of this.#changes.splice(0)) change()
    this.host.tick(now)
    this.#look()
    const dueAt = this.host.drain(now, this.#out)
    this.#look()
    if (this.#fault !== undefined) throw this.#fault
    this.#check()
    return dueAt
  }

  /** The messages of a connection, of either side. */
  diaryOf(connection: Connection): Diary | undefined {
    return this.#byId.get(nameOf(connection))
  }

  /** Runs a change right before the next tick: which peer looks how is recorded per tick. */
  beforeTick(change: () => void): void {
    this.#changes.push(change)
  }

  /** The client of this connection is an attacker. */
  mistrust(connection: Connection): void {
    this.#mistrustedIds.add(nameOf(connection))
  }

  /** Whether a peer is an attacker: its messages are not checked. */
  isMistrusted(peer: PeerId): boolean {
    return this.#mistrustedIds.has(this.diaries.get(peer)?.connection ?? '')
  }

  /** Which players and spectators are in the match. */
  knows(peer: PeerId, isSpectator: boolean): boolean {
    return isSpectator ? this.match.spectators.has(peer) : this.match.peers.some(({ id }) => id === peer)
  }

  #has(feature: Feature): boolean {
    return this.#plan.scenario.features.includes(feature)
  }

  #build(): [RoomHost<Match>, Match<MatchInput>, CrowdTruth] {
    const { scenario, made, security } = this.#plan
    const life = this.#lives++
    const entropy = new Dice((scenario.seed ^ 0x5e7) + 7919 * life)
    const isPrivy = scenario.seed % 2 === 0
    const interest = {
      teamOf: (peer: PeerId) => this.teams.get(peer) ?? 0,
      partition: this.#has('grid') ? 'grid' : 'octree',
    } as const
    const spectators = { fields: isPrivy ? 'followed' : 'all' } as const
    const limits = { connections: 64 }
    const bytesPerSecond = this.#has('thrift') ? THRIFT_BYTES : Infinity
    const onError = ({ error }: { readonly error: unknown }): void => {
      this.#fault ??= error
    }
    const game: Game<MatchInput> = made.game
    const { rooms: host, host: match } = createMatchHost(game, {
      entropy,
      security,
      limits,
      interest,
      spectators,
      onError,
      bytesPerSecond,
      maxPlayers: this.seats,
      maxSpectators: this.spectatorSeats,
      resumeMs: this.#has('resume') ? 3000 : 0,
      role: this.#has('listen') ? 'listen' : 'dedicated',
    })
    if (this.#has('listen')) match.join(() => ({ right: true, fire: match.world.tick % 16 < 8, aim: 0.3 }))
    drawBulk(match.replicator.schedule, scenario.seed)
    const truth = new CrowdTruth(match.world, scenario.tickRate, isPrivy, made.rules)
    this.#watch(match, truth)
    return [host, match, truth]
  }

  /** Records every tick of the authority, sets the views of spectators, and receives messages. */
  #watch(match: Match<MatchInput>, truth: CrowdTruth): void {
    const { world } = match
    const endTick = world.endTick.bind(world)
    world.endTick = () => {
      endTick()
      truth.note()
    }
    const attach = match.attach.bind(match)
    match.attach = (connection, member) => {
      const { id, role } = member
      if (!this.teams.has(id)) this.teams.set(id, this.#has('teams') ? this.#dice.word() % TEAMS : 1)
      if (role === 'spectator') this.#openEyes(truth, id)
      const diary = new Diary(nameOf(connection))
      this.diaries.set(id, diary)
      this.#byId.set(nameOf(connection), diary)
      const { addSource } = connection
      connection.addSource = (kind, source, weight) => {
        if (kind === FRAME_KIND.snapshot) watchDelivery(source, diary)
        addSource.call(connection, kind, source, weight)
      }
      attach(connection, member)
      delete (connection as { addSource?: unknown }).addSource
    }
    if (match.shared !== undefined)
      match.shared.writes.onAccepted = (id, tick, writer) => this.#checkWriter(truth, id, tick, writer)
    for (const delivery of DELIVERIES) {
      match.on(SAID[delivery], ({ number, text }, { id }) => {
        const diary = this.diaries.get(id)
        if (diary !== undefined && !this.isMistrusted(id)) diary.up[delivery].hear(delivery, number, text)
      })
    }
    match.handle(Ask, ({ number }, { from }) => {
      const diary = this.diaries.get(from.id)
      if (diary !== undefined && !this.isMistrusted(from.id)) diary.hearAsk(number)
      return { number }
    })
    match.handle(Poke, ({ plan }, { object, from }) => {
      const avatar = world.get(this.#plan.made.avatar, object) as unknown as { owner: PeerId; plan: number } | null
      hold(
        avatar === null || avatar.owner === from.id,
        'I6',
        () => `peer ${from.id} called for an object of ${avatar?.owner}`,
      )
      if (avatar !== null) avatar.plan = plan
    })
  }

  /** A row that a client wrote for a tick is by the client that owned the object at the end of the tick before. */
  #checkWriter(truth: CrowdTruth, id: ObjectId, tick: Tick, writer: PeerId): void {
    const row = truth.row(tick - 1, indexOf(id))
    hold(
      row === undefined || (row.id === id && row.owner === writer),
      'I6',
      () => `peer ${writer} wrote object ${id} of ${row?.owner} in tick ${tick}`,
    )
  }

  /** Owners of objects that are not in the match. */
  get strangers(): readonly PeerId[] {
    const { objects } = this.match.world
    const here = new Set(this.match.peers.map((peer) => peer.id))
    const owners = Array.from({ length: objects.highWater }, (_, index) =>
      objects.typeAt(index) === NO_TYPE ? 0 : objects.ownerAt(index),
    )
    return owners.filter((owner) => owner !== 0 && !here.has(owner))
  }

  /** Players over the network that the match still has, and that no seat is kept for. */
  get unseated(): readonly PeerId[] {
    const seated = new Set(this.match.members.map((member) => member.id))
    return this.match.peers.map((peer) => peer.id).filter((id) => id < LOCAL_PEERS_FROM && !seated.has(id))
  }

  /** A spectator that joins or resumes follows no player until the next tick. */
  #openEyes(truth: CrowdTruth, peer: PeerId): void {
    this.#lookingOn.add(peer)
    const moment = truth.at(truth.newest)
    if (moment !== undefined)
      moment.eyes = { viewers: new Map([...moment.eyes.viewers, [peer, peer]]), teams: moment.eyes.teams }
  }

  /** Sets which player each spectator follows. */
  #look(): void {
    const { spectators } = this.match
    const viewers = new Map(
      [...this.#lookingOn].filter((peer) => spectators.has(peer)).map((peer) => [peer, spectators.followed(peer)]),
    )
    this.truth.look(viewers, this.teams)
  }

  #send(to: string, bytes: Uint8Array, length: number): void {
    const { datagrams, now, node } = this.#plan
    datagrams.handleSent(now(), node.index, bytes, length)
    this.#addresses.handleSent(to, bytes, length, this.host.endpoint.connections)
    this.#port?.send(to, bytes, length)
  }

  #check(): void {
    const { connections } = this.host.endpoint
    const { seats } = this.match
    hold(
      seats.players <= seats.capacity && seats.spectators <= seats.spectatorCapacity,
      'I15',
      () => `${seats.players} players and ${seats.spectators} spectators have seats`,
    )
    for (const connection of connections) {
      const before = this.#states.get(connection)
      const { state } = connection
      if (state === before) continue
      hold(
        before === undefined || AGE[state] >= AGE[before],
        'I16',
        () => `a connection went from ${before} back to ${state}`,
      )
      this.#states.set(connection, state)
    }
    if (this.#states.size <= 2 * connections.length + 8) return
    for (const connection of this.#states.keys()) {
      if (connections.includes(connection)) continue
      this.#states.delete(connection)
      this.#plan.datagrams.forget(connection)
    }
  }
}
