/**
 * A crowd: 24 players and 8 spectators in one match with both kinds of authority, in bad weather, from one seed.
 *
 * Always: every row that a client receives for a tick is the authority's row of that tick in the client's field set
 * (C1), it contains nothing that the client may not know (C2), and prediction is based on it (C3). Two seconds after
 * the weather has cleared: every client is in the match, everything that it must know is current, and it holds nothing
 * that it may not know (C4).
 */

import { compileRows } from '../../packages/tickwire/src/node/compile-rows.ts'
import { entropy, packed } from 'tickwire'
import { hashCombine, hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import { createMatchHost } from '../../packages/tickwire/src/core/game/match-host.ts'
import type { Match } from '../../packages/tickwire/src/core/game/match.ts'
import type { RoomHost } from '../../packages/tickwire/src/core/rooms/room-host.ts'
import { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { SimNet } from '../../packages/tickwire/src/testing/sim-net.ts'
import { SimPort } from '../../packages/tickwire/src/testing/sim-net-port.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { type NetWeather, calm } from '../../packages/tickwire/src/testing/weather.ts'
import { drawBulk } from './draw-bulk.ts'
import { Ask, Boom, Fighter, makeCrowdGame, Poke, TEAMS, Word, type CrowdInput } from './crowd-game.ts'
import { CrowdCounts, CrowdPlayer, type CrowdScene } from './crowd-player.ts'
import { CROWD_RULES } from './crowd-sight.ts'
import { CrowdTruth } from './crowd-truth.ts'
import { drawCrowdWeather } from './crowd-weather.ts'
import { Doubts, type Violation, hold, violationOf } from './invariants.ts'

export interface CrowdReport {
  readonly seed: number
  readonly violation: Violation | undefined
  readonly weather: NetWeather
  readonly endpointTicks: number
  readonly simulatedMs: number
  readonly traceHash: string
  readonly tally: LinkTally
  readonly counts: Readonly<CrowdCounts>
}

export const CROWD = { players: 24, spectators: 8, stormMs: 5000, calmMs: 2000 } as const

/** How far behind a client may be in calm weather: a snapshot or two in flight, and the tick that is being played. */
const LAG_MS = 250
/** A digest waits for a tick of which everything is known. */
const CONFIRMED_LAG_MS = 600

/**
 * Plays the crowd of a seed to its end, or to its first violation; in its own weather or in the one given. Without
 * `checksPrediction` only what clients received is judged (C1, C2, C4), and not what they predict from it (C3, C5).
 */
export function playCrowd(
  seed: number,
  weather: NetWeather = drawCrowdWeather(seed),
  checksPrediction: boolean = true,
): Promise<CrowdReport> {
  return new Crowd(seed, weather, checksPrediction).play()
}

class Crowd {
  readonly #seed: number
  readonly #checksPrediction: boolean
  readonly #weather: NetWeather
  readonly #dice: Dice
  readonly #net: SimNet
  readonly #rooms: RoomHost
  readonly #host: Match<CrowdInput>
  readonly #truth: CrowdTruth
  readonly #port: SimPort
  readonly #players: CrowdPlayer[]
  readonly #counts = new CrowdCounts()
  readonly #doubts = new Doubts()
  readonly #teams = new Map<number, number>()
  readonly #lookingOn = new Set<number>()
  readonly #lastNumbers = new Map<number, number>()
  readonly #trace = new Uint32Array(2)
  readonly #tickMs: number
  /** How many times per tick every client polls for datagrams. */
  readonly #moments: number
  #now = 0
  #words = 0
  #endpointTicks = 0
  #where = 'server'

  constructor(seed: number, weather: NetWeather, checksPrediction: boolean) {
    this.#checksPrediction = checksPrediction
    this.#seed = seed
    this.#weather = weather
    const dice = this.#dice = new Dice(seed ^ 0xc40d)
    const tickRate = [15, 15, 20, 20, 20, 20, 30, 60][dice.word() % 8]!
    const snapshotRate = dice.chance(0.5) ? tickRate : tickRate / 2
    const isPrivy = dice.chance(0.5)
    this.#moments = dice.chance(0.875) ? 1 : 2
    // Most seeds test which rows are sent, and the cheaper codec sends the same rows.
    const codec = dice.chance(0.25) ? entropy() : packed
    this.#tickMs = 1000 / tickRate
    this.#net = new SimNet({ seed, weather })
    const security = { provider: new StubCrypto() }
    const game = makeCrowdGame({ tickRate, snapshotRate, codec })
    if (seed % 2 === 0) game.compile(compileRows)
    const { rooms, host } = createMatchHost(game, {
      security,
      entropy: new Dice(seed ^ 0x5e7),
      maxPlayers: 96,
      maxSpectators: 32,
      spectators: { fields: isPrivy ? 'followed' : 'all' },
      interest: { teamOf: (peer) => this.#teams.get(peer) ?? 0, partition: dice.chance(0.5) ? 'grid' : 'octree' },
    })
    this.#rooms = rooms
    this.#host = host
    drawBulk(this.#host.replicator.schedule, seed)
    this.#truth = new CrowdTruth(this.#host.world, tickRate, isPrivy, CROWD_RULES)
    const node = this.#net.addNode('server', { isFixed: true })
    this.#port = new SimPort(this.#net, node, () => this.#now)
    this.#port.onDatagram = (from, bytes, length) => this.#rooms.handleDatagram(this.#now, from, bytes, length)
    const scene: CrowdScene = {
      game,
      net: this.#net,
      truth: this.#truth,
      security,
      server: node.address,
      checksPrediction,
      doubts: this.#doubts,
      now: () => this.#now,
    }
    this.#players = Array.from(
      { length: CROWD.players + CROWD.spectators },
      (_, index) =>
        new CrowdPlayer(
          scene,
          this.#counts,
          this.#net.addNode(`${index < CROWD.players ? 'player' : 'spectator'} ${index}`),
          index >= CROWD.players,
          dice.word(),
        ),
    )
    for (const player of this.#players)
      player.comesAt = dice.chance(0.7) ? 300 * dice.fraction() : 3500 * dice.fraction()
    this.#watch()
  }

  async play(): Promise<CrowdReport> {
    let violation: Violation | undefined
    try {
      while (this.#now < CROWD.stormMs) await this.#tick(true)
      this.#sweep()
      this.#net.setWeather(this.#now, calm())
      for (const player of this.#players) {
        player.leavesAt = Infinity
        player.comesAt = Math.min(player.comesAt, this.#now)
      }
      while (this.#now < CROWD.stormMs + CROWD.calmMs) await this.#tick(false)
      this.#sweep()
      for (const player of this.#players) this.#checkCalm(player)
    } catch (error) {
      violation = violationOf(error, this.#now, this.#where)
    }
    for (const player of this.#players) player.count()
    return {
      seed: this.#seed, violation, weather: this.#weather, endpointTicks: this.#endpointTicks, simulatedMs: this.#now,
      traceHash: hashHex(this.#trace, 0), tally: this.#net.tally, counts: this.#counts,
    }
  }

  /** One tick of time: every client plays, sends and receives; then pending answers are resolved. */
  async #tick(isStormy: boolean): Promise<void> {
    this.#mischief(isStormy)
    for (let moment = 0; moment < this.#moments; moment++) {
      this.#where = 'server'
      this.#port.deliver()
      this.#rooms.tick(this.#now)
      this.#truth.look(this.#viewers(), this.#teams)
      this.#rooms.drain(this.#now, this.#port)
      this.#truth.look(this.#viewers(), this.#teams)
      for (const player of this.#players) {
        this.#where = player.node.name
        player.wake()
        this.#endpointTicks++
        hashCombine(this.#trace, 0, player.host?.confirmed.newest ?? 0, player.witness?.rowCount ?? 0)
      }
      await undefined
      this.#doubts.raise()
      this.#now += this.#tickMs / this.#moments
    }
  }

  #sweep(): void {
    for (const player of this.#players) {
      this.#where = player.node.name
      if (player.peer !== 0) player.witness?.sweep()
    }
  }

  /** Records every tick of the authority, sets the views of spectators, and receives messages. */
  #watch(): void {
    const host = this.#host
    const { world } = host
    const endTick = world.endTick.bind(world)
    world.endTick = () => {
      endTick()
      this.#truth.note()
    }
    const attach = host.attach.bind(host)
    host.attach = (connection, member) => {
      this.#teams.set(member.id, this.#dice.word() % TEAMS)
      if (member.role === 'spectator') this.#lookingOn.add(member.id)
      attach(connection, member)
    }
    host.on(Word, ({ number }, from) => {
      const before = this.#lastNumbers.get(from.id) ?? 0
      hold(number === before + 1, 'G2', () => `message ${number} of peer ${from.id} came after ${before}`)
      this.#lastNumbers.set(from.id, number)
    })
    host.handle(Poke, ({ plan }, { object }) => {
      const fighter = world.get(Fighter, object)
      if (fighter !== null) fighter.plan = plan
    })
    host.handle(Ask, ({ number }) => ({ number }))
  }

  #mischief(isStormy: boolean): void {
    const dice = this.#dice
    const host = this.#host
    for (const player of this.#players) {
      this.#where = player.node.name
      if (isStormy && player.leavesAt === Infinity && player.peer !== 0 && dice.chance(0.002))
        player.leavesAt = this.#now
      if (player.isSpectator) this.#turn(player.peer)
      player.play()
    }
    const { peers } = host
    const peer = peers[dice.word() % Math.max(1, peers.length)]
    if (peer === undefined) return
    if (dice.chance(0.03)) this.#teams.set(peer.id, dice.word() % TEAMS)
    if (dice.chance(0.1)) host.broadcast(Word, { number: ++this.#words, text: 'to all' })
    if (dice.chance(0.1)) host.call(Boom, { power: 3 }, { about: [...host.world.each(Fighter)][0] ?? { id: 0 } })
  }

  /** By spectator: the player that it follows. */
  #viewers(): ReadonlyMap<number, number> {
    const { spectators } = this.#host
    return new Map(
      [...this.#lookingOn].filter((peer) => spectators.has(peer)).map((peer) => [peer, spectators.followed(peer)]),
    )
  }

  /** Sets on the host which player a spectator follows. */
  #turn(peer: number): void {
    const { peers } = this.#host
    if (peer === 0 || peers.length === 0 || !this.#dice.chance(0.01)) return
    this.#host.follow({ id: peer }, this.#dice.chance(0.1) ? { id: peer } : peers[this.#dice.word() % peers.length]!)
  }

  #checkCalm(player: CrowdPlayer): void {
    this.#where = player.node.name
    const isIn = player.peer !== 0 && (player.isSpectator || this.#host.peers.some(({ id }) => id === player.peer))
    hold(isIn, 'C4', () => `is not in after ${CROWD.calmMs} ms of calm`)
    const problem = player.witness?.problem(this.#ticksOf(LAG_MS))
    hold(problem === undefined, 'C4', () => `${problem} after ${CROWD.calmMs} ms of calm`)
    const doubt =
      player.isSpectator || !this.#checksPrediction
        ? undefined
        : player.witness?.predictionProblem(this.#ticksOf(CONFIRMED_LAG_MS))
    hold(doubt === undefined, 'C5', () => `${doubt} after ${CROWD.calmMs} ms of calm`)
  }

  #ticksOf(ms: number): number {
    return Math.ceil(ms / this.#tickMs)
  }
}
