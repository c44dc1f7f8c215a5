/**
 * The authority's side of a match of the swarm: a host by itself, one that plays too, or a room behind a host of rooms; and the
 * truth of it, written down as it goes.
 *
 * It hears what players say and calls, and holds that to the diaries; it holds endpoint and seats to I14 to I16.
 */

import type { ObjectId, PeerId, Tick } from '../../packages/tickwire/src/core/base/time.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import type { ConnectionState } from '../../packages/tickwire/src/core/connection/states.ts'
import type { DatagramPort } from '../../packages/tickwire/src/core/endpoint/datagram-port.ts'
import type { Endpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { EndpointSecurity } from '../../packages/tickwire/src/core/endpoint/endpoint-security.ts'
import { FRAME_KIND } from '../../packages/tickwire/src/core/game/frame-kinds.ts'
import type { Match } from '../../packages/tickwire/src/core/game/match.ts'
import { RoomHost } from '../../packages/tickwire/src/core/game/rooms/room-host.ts'
import type { Room } from '../../packages/tickwire/src/core/game/rooms/room.ts'
import { ServerHost } from '../../packages/tickwire/src/core/game/server-host.ts'
import type { Game } from '../../packages/tickwire/src/core/game/define-game.ts'
import type { FrameSource } from '../../packages/tickwire/src/core/packet/frame-source.ts'
import { indexOf, NO_TYPE } from '../../packages/tickwire/src/core/world/object-table.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import type { NetResident } from '../../packages/tickwire/src/testing/sim-net-actor.ts'
import type { SimNode } from '../../packages/tickwire/src/testing/sim-net-node.ts'
import { CrowdTruth } from './crowd-truth.ts'
import { AddressWatch, type DatagramWatch } from './invariants-datagrams.ts'
import { hold } from './invariants.ts'
import { drawCells } from './draw-cells.ts'
import { Diary } from './match-diary.ts'
import { Ask, DELIVERIES, type MatchGame, type MatchInput, Poke, SAID } from './match-game.ts'
import type { Feature, Scenario } from './match-scenario.ts'

/** What the house is built from. */
export interface HousePlan {
  readonly scenario: Scenario
  readonly made: MatchGame
  readonly security: EndpointSecurity
  readonly node: SimNode
  readonly datagrams: DatagramWatch
  readonly now: () => number
  readonly onTurn: () => void
}

/** What a client gets a second where the authority is thrifty: less than a match of ten needs. */
const THRIFT_BYTES = 6000
const TEAMS = 3
/** In the order of a life: a connection never goes back. */
const AGE: Readonly<Record<ConnectionState, number>> = {
  connecting: 0, handshake: 1, connected: 2, disconnecting: 3, timeout: 3, disconnected: 4,
}

type Host = ServerHost<MatchInput> | RoomHost

/** The same on both sides. */
function nameOf({ idLo, idHi }: Connection): string {
  return `${idHi}:${idLo}`
}

/** Holds what a source is told has arrived to what was of use. */
function watchDelivery(source: FrameSource, diary: Diary): void {
  const onDelivered = source.onDelivered.bind(source)
  source.onDelivered = (now, sequence) => {
    diary.handleDelivered(sequence)
    onDelivered(now, sequence)
  }
}

/** Where the match is. */
export class House implements NetResident {
  /** Of the process that runs now. */
  host: Host
  match: Match<MatchInput>
  truth: CrowdTruth
  /** Twice as many as there are clients: who is on his way and asks anew has two for some seconds. */
  readonly seats: number
  readonly spectatorSeats: number
  readonly diaries = new Map<PeerId, Diary>()
  readonly teams = new Map<PeerId, number>()
  readonly #plan: HousePlan
  readonly #dice: Dice
  readonly #byId = new Map<string, Diary>()
  /** Connections of who may say anything: his words and calls are held to nothing. */
  readonly #mistrustedIds = new Set<string>()
  readonly #states = new Map<Connection, ConnectionState>()
  #lookingOn = new Set<PeerId>()
  #addresses = new AddressWatch()
  #changes: (() => void)[] = []
  #lives = 0
  /** Handlers of calls may throw, and hosts go on: what they threw waits here. */
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
      get connections() { return house.host.endpoint.connections },
      handleDatagram: (now, from, bytes, length) => house.host.handleDatagram(now, from, bytes, length),
    }
    this.#out = { send: (to, bytes, length) => this.#send(to, bytes, length) }
  }

  /** The room's name, to ask for; undefined where there are no rooms. */
  get room(): string | undefined {
    return this.host instanceof RoomHost ? this.host.rooms[0]?.id : undefined
  }

  /** The process dies without a word, and another begins a match of its own. */
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
    if (this.#changes.length > 0 && now >= this.match.loop.nextAt()) for (const change of this.#changes.splice(0)) change()
    this.host.tick(now)
    this.#look()
    const dueAt = this.host.drain(now, this.#out)
    this.#look()
    if (this.#fault !== undefined) throw this.#fault
    this.#check()
    return dueAt
  }

  /** What was said on a connection, whichever side it is of. */
  diaryOf(connection: Connection): Diary | undefined {
    return this.#byId.get(nameOf(connection))
  }

  /** Does something right before the next tick: who looks how is written down by ticks. */
  beforeTick(change: () => void): void {
    this.#changes.push(change)
  }

  /** Whoever made this connection may say anything. */
  mistrust(connection: Connection): void {
    this.#mistrustedIds.add(nameOf(connection))
  }

  /** Whether a peer is an attacker: what he says binds nobody. */
  isMistrusted(peer: PeerId): boolean {
    return this.#mistrustedIds.has(this.diaries.get(peer)?.connection ?? '')
  }

  /** Who is in, of those who play and those who look on. */
  knows(peer: PeerId, isSpectator: boolean): boolean {
    return isSpectator ? this.match.spectators.has(peer) : this.match.peers.some(({ id }) => id === peer)
  }

  #has(feature: Feature): boolean {
    return this.#plan.scenario.features.includes(feature)
  }

  #build(): [Host, Match<MatchInput>, CrowdTruth] {
    const { scenario, made, security } = this.#plan
    const life = this.#lives++
    const entropy = new Dice((scenario.seed ^ 0x5e7) + 7919 * life)
    const isPrivy = scenario.seed % 2 === 0
    const interest = { teamOf: (peer: PeerId) => this.teams.get(peer) ?? 0, partition: this.#has('grid') ? 'grid' : 'octree' } as const
    const spectators = { fields: isPrivy ? 'followed' : 'all' } as const
    const limits = { connections: 64 }
    const bytesPerSecond = this.#has('thrift') ? THRIFT_BYTES : Infinity
    const onFault = (error: unknown): void => { this.#fault ??= error }
    const game: Game<MatchInput> = made.game
    let host: Host
    let match: Match<MatchInput>
    if (this.#has('rooms')) {
      const rooms = new RoomHost({
        match: {
          game: game as unknown as Game, capacity: this.seats, spectators: this.spectatorSeats, mayCreate: false, emptyMs: Infinity, interest, watching: spectators, onFault,
          bytesPerSecond, resumeMs: this.#has('resume') ? 3000 : 0,
        },
      }, { entropy, security, limits, onRoomFault: (_room: Room, error: unknown) => { throw error } })
      const room = rooms.create('match')
      host = rooms
      match = room as unknown as Match<MatchInput>
    } else {
      const single = new ServerHost(game, {
        entropy, security, limits, interest, spectators, onFault, bytesPerSecond, maxPlayers: this.seats, maxSpectators: this.spectatorSeats,
        role: this.#has('listen') ? 'listen' : 'dedicated',
      })
      if (this.#has('listen')) single.join(() => ({ right: true, fire: single.world.tick % 16 < 8, aim: 0.3 }))
      host = single
      match = single
    }
    drawCells(match.replicator.grid, scenario.seed)
    const truth = new CrowdTruth(match.world, scenario.tickRate, isPrivy, made.rules)
    this.#watch(match, truth)
    return [host, match, truth]
  }

  /** Writes down every tick of the authority, says who looks on, and listens. */
  #watch(match: Match<MatchInput>, truth: CrowdTruth): void {
    const { world } = match
    const endTick = world.endTick.bind(world)
    world.endTick = () => {
      endTick()
      truth.note()
    }
    const attach = match.attach.bind(match)
    match.attach = (connection, peer, isSpectator) => {
      if (!this.teams.has(peer.id)) this.teams.set(peer.id, this.#has('teams') ? this.#dice.word() % TEAMS : 1)
      if (isSpectator === true) this.#openEyes(truth, peer.id)
      const diary = new Diary(nameOf(connection))
      this.diaries.set(peer.id, diary)
      this.#byId.set(nameOf(connection), diary)
      const { addSource } = connection
      connection.addSource = (kind, source, weight) => {
        if (kind === FRAME_KIND.snapshot) watchDelivery(source, diary)
        addSource.call(connection, kind, source, weight)
      }
      attach(connection, peer, isSpectator)
      delete (connection as { addSource?: unknown }).addSource
    }
    if (match.shared !== undefined) match.shared.writes.onAccepted = (id, tick, writer) => this.#checkWriter(truth, id, tick, writer)
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
      hold(avatar === null || avatar.owner === from.id, 'I6', () => `peer ${from.id} called for an object of ${avatar?.owner}`)
      if (avatar !== null) avatar.plan = plan
    })
  }

  /** What is written of a tick is written by who owned it when the tick before was over. */
  #checkWriter(truth: CrowdTruth, id: ObjectId, tick: Tick, writer: PeerId): void {
    const row = truth.row(tick - 1, indexOf(id))
    hold(row === undefined || (row.id === id && row.owner === writer), 'I6', () => `peer ${writer} wrote object ${id} of ${row?.owner} in tick ${tick}`)
  }

  /** Owners of objects who are not here. */
  get strangers(): readonly PeerId[] {
    const { objects } = this.match.world
    const here = new Set(this.match.peers.map((peer) => peer.id))
    const owners = Array.from({ length: objects.highWater }, (_, index) => (objects.typeAt(index) === NO_TYPE ? 0 : objects.ownerAt(index)))
    return owners.filter((owner) => owner !== 0 && !here.has(owner))
  }

  /** Who comes to look on, or comes back, looks through his own eyes until the next tick. */
  #openEyes(truth: CrowdTruth, peer: PeerId): void {
    this.#lookingOn.add(peer)
    const moment = truth.at(truth.newest)
    if (moment !== undefined) moment.eyes = { viewers: new Map([...moment.eyes.viewers, [peer, peer]]), teams: moment.eyes.teams }
  }

  /** Through whose eyes who looks on sees. */
  #look(): void {
    const { spectators } = this.match
    const viewers = new Map([...this.#lookingOn].filter((peer) => spectators.has(peer)).map((peer) => [peer, spectators.followed(peer)]))
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
    const most = this.seats + this.spectatorSeats
    if (!(this.host instanceof RoomHost)) hold(connections.length <= most, 'I15', () => `${connections.length} connections on ${most} seats`)
    else {
      const seats = this.host.rooms[0]?.seats
      hold(seats === undefined || (seats.players <= seats.capacity && seats.spectators <= seats.spectatorCapacity), 'I15', () => `${seats?.players} players and ${seats?.spectators} looking on`)
    }
    for (const connection of connections) {
      const before = this.#states.get(connection)
      const { state } = connection
      if (state === before) continue
      hold(before === undefined || AGE[state] >= AGE[before], 'I16', () => `a connection went from ${before} back to ${state}`)
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
