/**
 * One world with R-Type clients from one seed: the real sessions and the real world stream, a network that loses,
 * delays, reorders and duplicates, and the invariants I29 to I33.
 *
 * Half of the clients are reference clients, made from the protocol's document alone; the others are those of the
 * engine. Clients move to other addresses, fall silent, leave and join; the server crashes and stands still; strangers
 * send forged and broken datagrams. Then the weather clears and the world stands still.
 */

import { hashBytes, hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import { RtypeClient } from '../../packages/tickwire/src/core/rtype-session/client.ts'
import { RtypeServer } from '../../packages/tickwire/src/core/rtype-session/server.ts'
import type { RtypePeer } from '../../packages/tickwire/src/core/rtype-session/server-types.ts'
import { RtypeWorldStream } from '../../packages/tickwire/src/core/rtype-session/world-stream.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { calm } from '../../packages/tickwire/src/testing/weather.ts'
import { ReferenceClient } from '../reference/rtype-client.ts'
import { hold, type Violation, violationOf } from './invariants.ts'
import { isVisible, RtypeEntities } from './rtype-entities.ts'
import { type Forged, FORGER, RtypeForger } from './rtype-forger.ts'
import { RtypeModel, type Seated } from './rtype-model.ts'
import { RtypeNet, type RtypePlant } from './rtype-net.ts'
import type { WorldResult } from './world-result.ts'

const STEP_MS = 1000 / 60
const STORM_MS = 8000
/** A client notices within 10 s that its server has forgotten it. */
const CALM_MS = 13_000
/** From here on in the calm, no client loses its seat. */
const SETTLED_MS = 6000
/** The world stands still for the last part of the calm. */
const STILL_MS = 1500
/** Until here in the calm, half of the seeds lose some datagrams to clients, so that repeats are needed. */
const LOSSY_MS = STORM_MS + CALM_MS - STILL_MS - 1500
const TIMEOUT_MS = 3000
const SILENCE_MS = 4000
const SEATS = 4
const MARK_MS = 100
/** Packets that are sent this shortly before the end may still be in flight. */
const UNDER_WAY_MS = 600
/** By then in the standstill, one entity has changed and changed back, and every client knows it. */
const TWITCHED_MS = 1100

/** A player, whatever its current client is. */
interface Player {
  readonly clientId: number
  readonly isReference: boolean
  address: string
  client: ReferenceClient | RtypeClient
  model: RtypeModel
  /** Marks that its current client received. */
  marks: number[]
  input: number
  receivedAt: number
  hasLeft: boolean
  /** Its process has died. */
  isDead: boolean
}

/** Plays the world of a seed. */
export function playRtype(seed: number, plant: RtypePlant = (bytes) => bytes): WorldResult {
  return new RtypeSwarmWorld(seed, plant).play()
}

class RtypeSwarmWorld {
  readonly #seed: number
  readonly #dice: Dice
  #server: RtypeServer
  /** Generators for crashes and standstills alone, so that the worlds of older seeds stay the same. */
  readonly #crashes: Dice
  readonly #stills: Dice
  readonly #stillRate: number
  /** Likewise, for clients that die. */
  readonly #deaths: Dice
  readonly #deathRate: number
  readonly #forger: RtypeForger
  readonly #stream = new RtypeWorldStream({
    isVisible: ({ clientId }, { id }) => isVisible(clientId, id),
  })
  readonly #players: Player[] = []
  readonly #seated = new Map<RtypePeer, Seated>()
  readonly #entities: RtypeEntities
  readonly #net: RtypeNet
  readonly #counts: Record<string, number> = {}
  readonly #trace = new Uint32Array(2)
  /** Bytes of each address that never had a seat: received from it, and sent to it. */
  readonly #strangers = new Map<string, { received: number; sent: number }>()
  readonly #seatedAddresses = new Set<string>()
  readonly #resendMs: number
  #now = 0
  #tick = 0
  #mark = 0
  #nextAddress = 1

  constructor(seed: number, plant: RtypePlant) {
    this.#seed = seed
    this.#dice = new Dice(seed ^ 0x5254)
    const dice = this.#dice
    this.#crashes = new Dice(seed ^ 0xc4a5)
    this.#stills = new Dice(seed ^ 0x572)
    this.#stillRate = this.#stills.chance(0.5) ? 0.001 : 0
    this.#deaths = new Dice(seed ^ 0xdead)
    this.#deathRate = this.#deaths.chance(0.5) ? 0.0005 : 0
    this.#forger = new RtypeForger(seed, dice)
    this.#resendMs = 100 + Math.floor(dice.fraction() * 400)
    this.#server = this.#newServer()
    this.#net = new RtypeNet(dice, plant)
    if (new Dice(seed ^ 0x1055).chance(0.5)) this.#net.lossyUntil = LOSSY_MS
    for (let each = 2 + Math.floor(dice.fraction() * 4); each > 0; each--) this.#addPlayer()
    this.#entities = new RtypeEntities(dice)
  }

  play(): WorldResult {
    let violation: Violation | undefined
    try {
      while (this.#now < STORM_MS) this.#step()
      this.#net.isStorm = false
      this.#net.stillUntil = 0
      while (this.#now < STORM_MS + CALM_MS - STILL_MS + TWITCHED_MS) this.#step()
      for (const player of this.#players)
        if (player.client instanceof ReferenceClient && this.#isSettled(player)) this.#checkWorld(player, player.client)
      while (this.#now < STORM_MS + CALM_MS) this.#step()
      this.#check()
      this.#leaveAll()
    } catch (error) {
      violation = violationOf(error, this.#now, 'rtype')
    }
    return {
      seed: this.#seed, violation, weather: calm(), endpointTicks: this.#tick * (this.#players.length + 1),
      simulatedMs: this.#now, traceHash: hashHex(this.#trace, 0), tally: this.#net.tally, counts: this.#counts,
    }
  }

  #step(): void {
    this.#now += STEP_MS
    this.#tick++
    if (this.#net.isStorm) this.#mischief()
    this.#deliver()
    for (const player of this.#players) this.#drive(player)
    if (this.#now >= this.#net.stillUntil) this.#runServer()
  }

  #newServer(): RtypeServer {
    const options = { maxPlayers: SEATS, timeoutMs: TIMEOUT_MS, resendMs: this.#resendMs }
    return new RtypeServer(options, new Dice(this.#seed + 7919 * Math.floor(this.#now)))
  }

  /** The process of the server dies, and the next one knows no client. */
  #crash(): void {
    this.#count('server crashed')
    for (const peer of this.#seated.keys()) this.#stream.remove(peer)
    this.#seated.clear()
    this.#server = this.#newServer()
  }

  #count(name: string, more: number = 1): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + more
  }

  #addPlayer(): void {
    const clientId = 100 + this.#players.length
    const player: Player = {
      clientId, isReference: this.#dice.chance(0.5), address: '', client: new ReferenceClient('x', 1),
      model: new RtypeModel(), marks: [], input: 0, receivedAt: 0, hasLeft: false, isDead: false,
    }
    this.#players.push(player)
    this.#connect(player)
  }

  /** A new client of the same player, from another address. */
  #connect(player: Player): void {
    player.address = `203.0.113.${1 + (this.#nextAddress % 200)}:${1000 + this.#nextAddress++}`
    const name = `Player ${player.clientId}`
    player.client = player.isReference
      ? new ReferenceClient(name, player.clientId)
      : new RtypeClient(this.#now, { name, clientId: player.clientId })
    player.model = new RtypeModel()
    player.marks = []
    player.receivedAt = this.#now
    this.#count('connect')
  }

  /** Clients move, fall silent, leave and join; strangers forge. */
  #mischief(): void {
    const dice = this.#dice
    for (const player of this.#players) {
      if (dice.chance(0.001)) {
        this.#count('move')
        this.#connect(player)
      }
      if (dice.chance(0.0005) && player.client instanceof ReferenceClient) player.client.hasHeartbeat = false
      if (this.#deaths.chance(this.#deathRate) && !player.hasLeft) {
        this.#count('died')
        player.hasLeft = player.isDead = true
      }
      if (dice.chance(0.0005) && !player.hasLeft) {
        this.#count('leave')
        player.hasLeft = true
        if (player.client instanceof ReferenceClient) player.client.leave(this.#now)
        else player.client.disconnect(this.#now)
      }
    }
    if (dice.chance(0.001) && this.#players.length < 7) this.#addPlayer()
    if (dice.chance(0.05)) this.#forge(this.#forger.request())
    const claim = this.#forger.claim()
    if (claim !== undefined) this.#forge(claim)
    if (this.#crashes.chance(0.0005)) this.#crash()
    if (!this.#stills.chance(this.#stillRate)) return
    this.#net.stillUntil = this.#now + 4000 * this.#stills.fraction() ** 2
    this.#count('server stood still')
  }

  /** Datagrams of addresses that belong to no client. */
  #forge({ from, bytes }: Forged): void {
    this.#count('forged')
    this.#net.inject({ at: this.#now, to: 'server', from, bytes })
  }

  #send(from: string, to: string, bytes: Uint8Array): void {
    hashBytes(bytes, 0, bytes.length, this.#trace[0]! ^ this.#tick, this.#trace, 0)
    this.#net.send(this.#now, from, to, bytes)
  }

  #deliver(): void {
    for (const { to, from, bytes } of this.#net.poll(this.#now)) {
      if (to === 'server') {
        this.#stranger(from).received += bytes.length
        this.#server.handleDatagram(this.#now, from, bytes, bytes.length)
        continue
      }
      const player = this.#players.find(({ address }) => address === to)
      if (player === undefined || player.isDead) continue
      player.receivedAt = this.#now
      if (player.client instanceof ReferenceClient) player.client.handle(this.#now, bytes)
      else player.client.handleDatagram(this.#now, bytes, bytes.length)
    }
  }

  #stranger(address: string): { received: number; sent: number } {
    let stranger = this.#strangers.get(address)
    if (stranger === undefined) this.#strangers.set(address, stranger = { received: 0, sent: 0 })
    return stranger
  }

  /** One step of a player's machine. */
  #drive(player: Player): void {
    const { client, hasLeft } = player
    if (player.isDead) return
    const isOver = client instanceof ReferenceClient
      ? client.state === 'ended' || client.state === 'rejected' || this.#now - player.receivedAt > SILENCE_MS
      : client.state === 'closed'
    if (isOver && !hasLeft) return this.#connect(player)
    if (this.#dice.chance(0.1) && this.#now < STORM_MS + CALM_MS - STILL_MS) player.input = (player.input + 1) & 0x7f
    if (client instanceof ReferenceClient) {
      client.input = player.input
      player.model.follow(client.received)
      for (const bytes of client.poll(this.#now)) this.#send(player.address, 'server', bytes)
      return
    }
    if (client.state === 'open') client.sendInput(this.#now, player.input)
    for (let read = client.poll(); read !== undefined; read = client.poll()) {
      if (read.packet.type === 'LEVEL_START') player.marks.push(read.packet.estimatedDurationS)
    }
    client.drain(this.#now, (bytes, length) => this.#send(player.address, 'server', bytes.slice(0, length)))
  }

  #runServer(): void {
    const now = this.#now
    for (let event = this.#server.poll(); event !== undefined; event = this.#server.poll()) {
      const { peer } = event
      if (event.kind === 'join') {
        if (event.replaces !== undefined) {
          hold(this.#seated.delete(event.replaces), 'I31', () => `${peer.name} replaces a client that has no seat`)
          this.#stream.remove(event.replaces)
        }
        this.#count('join')
        hold(peer.name !== FORGER, 'I32', () => `${peer.address} has a seat, and never received its player id`)
        this.#seatedAddresses.add(peer.address)
        this.#seated.set(peer, { marks: [], lastInput: -1, input: 0 })
        this.#stream.add(peer, event.replaces !== undefined)
      } else if (event.kind === 'leave') {
        hold(this.#seated.delete(peer), 'I31', () => `${peer.name} leaves twice, or without having joined`)
        const isLate = now > STORM_MS + SETTLED_MS && event.reason !== 0
        hold(!isLate, 'I31', () => `${peer.name} loses its seat in clear weather, reason ${event.reason}`)
        this.#stream.remove(peer)
      } else this.#handleInput(peer, event.input.inputState)
    }
    hold(this.#seated.size <= SEATS && this.#server.peers.length <= SEATS, 'I31', () => `${this.#seated.size} seats`)
    const stillMs = now - (STORM_MS + CALM_MS - STILL_MS)
    if (stillMs < 0) this.#entities.move(this.#stream)
    else this.#entities.twitch(stillMs)
    const shown = this.#entities.describe()
    this.#stream.tick(now, this.#tick, shown, (peer, packet) => this.#server.send(now, peer, packet))
    if (Math.floor(now / MARK_MS) !== Math.floor((now - STEP_MS) / MARK_MS)) this.#sendMarks()
    this.#server.drain(now, (to, bytes, length) => {
      const stranger = this.#stranger(to)
      stranger.sent += length
      hold(this.#seatedAddresses.has(to) || stranger.sent <= stranger.received, 'I32', () =>
        `${to} was sent ${stranger.sent} bytes for ${stranger.received}`)
      this.#send('server', to, bytes.slice(0, length))
    })
  }

  #handleInput(peer: RtypePeer, input: number): void {
    const seated = this.#seated.get(peer)
    if (seated === undefined) return
    // Inputs count up, and wrap at 128.
    const ahead = (input - seated.input) & 0x7f
    const isForward = seated.lastInput < 0 || ahead < 64
    hold(isForward, 'I33', () => `${peer.name}: input ${input} after ${seated.input}`)
    Object.assign(seated, { input, lastInput: this.#now })
    this.#count('input')
  }

  #sendMarks(): void {
    for (const [peer, { marks }] of this.#seated) {
      this.#mark++
      const packet = { type: 'LEVEL_START', levelId: 1, levelName: 'mark', estimatedDurationS: this.#mark } as const
      if (this.#server.send(this.#now, peer, packet) === 'queued') marks.push({ mark: this.#mark, at: this.#now })
    }
  }

  /** At the end of the calm. */
  #check(): void {
    const present = this.#players.filter(({ hasLeft }) => !hasLeft)
    const waiting = present.filter((player) => this.#seatOf(player) === undefined)
    const free = SEATS - this.#seated.size
    hold(waiting.length === 0 || free === 0, 'I31', () => `${waiting.length} clients wait while ${free} seats are free`)
    for (const player of present) {
      const seat = this.#seatOf(player)
      if (seat === undefined) continue
      this.#checkMarks(player, seat)
      const { clientId, input } = player
      hold(seat.input === input, 'I33', () => `${clientId} presses ${input}, the server has ${seat.input}`)
      if (player.client instanceof ReferenceClient) this.#checkWorld(player, player.client)
    }
  }

  #seatOf({ client }: Player): Seated | undefined {
    for (const [peer, seated] of this.#seated) if (peer.playerId === client.playerId) return seated
    return undefined
  }

  /** Whether a player has had its seat for a while: it knows the world. */
  #isSettled(player: Player): boolean {
    return !player.hasLeft && (this.#seatOf(player)?.marks.length ?? 0) * MARK_MS > 1000
  }

  #checkMarks(player: Player, { marks }: Seated): void {
    const { client } = player
    const received = client instanceof ReferenceClient
      ? client.packets('LEVEL_START').map((each) => Number(each['estimated_duration']))
      : player.marks
    hold(new Set(received).size === received.length, 'I29', () => `${player.clientId} received a packet twice`)
    const sent = marks.map(({ mark }) => mark)
    const due = marks.filter(({ at }) => at < this.#now - UNDER_WAY_MS).map(({ mark }) => mark)
    const lost = due.filter((mark) => !received.includes(mark))
    hold(lost.length === 0, 'I29', () => `${player.clientId} lacks ${lost.length} of ${due.length} reliable packets`)
    const other = received.find((mark) => !sent.includes(mark))
    hold(other === undefined, 'I29', () => `${player.clientId} received packet ${other}, which was sent to another`)
    this.#count('marks', received.length)
  }

  #checkWorld(player: Player, client: ReferenceClient): void {
    player.model.follow(client.received)
    hold(client.broken === 0, 'I30', () => `${player.clientId} could not read ${client.broken} datagrams`)
    const expected = this.#entities.lines(player.clientId)
    const seen = player.model.entities()
    const wrong = expected.find((each) => !seen.includes(each)) ?? seen.find((each) => !expected.includes(each))
    hold(wrong === undefined, 'I30', () =>
      `${player.clientId} and the server differ in: ${wrong}; ${seen.length} entities, expected ${expected.length}`)
    this.#count('entities', seen.length)
  }

  /** When all have left, nothing remains. */
  #leaveAll(): void {
    for (const player of this.#players) {
      player.hasLeft = true
      if (player.client instanceof ReferenceClient) player.client.leave(this.#now)
      else player.client.disconnect(this.#now)
    }
    for (const end = this.#now + TIMEOUT_MS + 500; this.#now < end;) this.#step()
    hold(this.#seated.size === 0 && this.#server.peers.length === 0, 'I31', () => `${this.#seated.size} seats remain`)
  }
}
