/**
 * One client of a crowd, on a node of the simulated network: a player or a spectator. It joins, leaves with or without
 * a disconnect, and joins again as another peer.
 */

import { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import type { EndpointSecurity } from '../../packages/tickwire/src/core/endpoint/endpoint-security.ts'
import { createClientHost, type ClientHost } from '../../packages/tickwire/src/core/game/client-host.ts'
import { SnapshotSink } from '../../packages/tickwire/src/core/replication/snapshot-sink.ts'
import type { Shape } from '../../packages/tickwire/src/core/schema/field.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import type { SimNet } from '../../packages/tickwire/src/testing/sim-net.ts'
import type { SimNode } from '../../packages/tickwire/src/testing/sim-net-node.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { SimPort } from '../../packages/tickwire/src/testing/sim-net-port.ts'
import { Ask, Ball, Boom, Fighter, Poke, Word, type CrowdGame, type CrowdInput } from './crowd-game.ts'
import type { CrowdTruth } from './crowd-truth.ts'
import { CrowdWitness } from './crowd-witness.ts'
import { type Doubts, hold } from './invariants.ts'

/** What all clients of a crowd share. */
export interface CrowdScene {
  readonly game: CrowdGame
  readonly net: SimNet
  readonly truth: CrowdTruth
  readonly security: EndpointSecurity
  readonly server: string
  readonly checksPrediction: boolean
  readonly doubts: Doubts
  /** True time. */
  readonly now: () => number
}

/** Counts over all clients. */
export class CrowdCounts {
  rows = 0
  /**
   * Frames whose rest could not be read; and rows that were requested because their baseline was no longer remembered.
   */
  undecodable = 0
  asked = 0
  joins = 0
  crashes = 0
  goodbyes = 0
  words = 0
  booms = 0
  replies = 0
  grants = 0
  follows = 0
  rollbacks = 0
  predictionRestarts = 0
  spawnsMatched = 0
}

export class CrowdPlayer {
  readonly node: SimNode
  readonly isSpectator: boolean
  /** When it joins next. */
  comesAt: number
  /** When it leaves the match that it is in. */
  leavesAt = Infinity
  witness: CrowdWitness | undefined = undefined
  said = 0
  lastNumber = 0
  readonly #scene: CrowdScene
  readonly #counts: CrowdCounts
  readonly #port: SimPort
  readonly #dice: Dice
  #held = { right: false, up: false, fire: false, kick: false, aim: 0, call: '' }
  #isLeaving = false
  #pumps = 0

  constructor(scene: CrowdScene, counts: CrowdCounts, node: SimNode, isSpectator: boolean, seed: number) {
    this.#scene = scene
    this.#counts = counts
    this.node = node
    this.isSpectator = isSpectator
    this.#dice = new Dice(seed)
    this.comesAt = Infinity
    this.#port = new SimPort(scene.net, node, scene.now)
    this.#port.onDatagram = (from, bytes, length) => this.witness?.host.handleDatagram(this.#now, from, bytes, length)
  }

  get host(): ClientHost<CrowdInput> | undefined {
    return this.witness?.host
  }

  /** 0 while it is not in a match. */
  get peer(): number {
    return this.#isLeaving ? 0 : this.witness?.host.peer ?? 0
  }

  get #now(): number {
    return this.node.clock.localAt(this.#scene.now())
  }

  /** Receives, plays, sends. */
  wake(): void {
    const trueNow = this.#scene.now()
    if (!this.node.clock.isAwake(trueNow)) return
    if (this.witness === undefined && trueNow >= this.comesAt) this.#come()
    this.#port.deliver()
    if (this.witness === undefined) return
    const { host } = this.witness
    const now = this.#now
    this.#pumps++
    host.tick(now)
    this.witness.afterTick(this.#scene.checksPrediction && this.#pumps % 8 === 0)
    if (this.#pumps % 16 === this.node.index % 16) host.draw(now)
    host.drain(now, this.#port)
    if (host.endpoint.connections.length === 0) this.#forget(trueNow)
    else if (trueNow >= this.leavesAt && !this.#isLeaving) this.#leave(trueNow, now)
  }

  /** Uses the rest of the API by chance: messages, calls, requests of authority. */
  play(): void {
    const dice = this.#dice
    const { host } = this
    if (host === undefined || this.peer === 0) return
    if (this.isSpectator) {
      if (dice.chance(0.01))
        void host.spectate(dice.chance(0.5) ? 'next' : 'previous').then((whom) => {
          if (whom !== 0) this.#counts.follows++
        })
      return
    }
    if (dice.chance(0.1)) {
      const [right, up, fire, kick] = [dice.chance(0.5), dice.chance(0.5), dice.chance(0.4), dice.chance(0.5)]
      this.#held = {
        right,
        up,
        fire,
        kick,
        aim: dice.fraction() * 2 - 1,
        call: dice.chance(0.2) ? `k${dice.word() % 90}` : '',
      }
    }
    if (
      dice.chance(0.03)
      && host.send(Word, { number: this.said + 1, text: 'x'.repeat(dice.word() % 40) }) === 'queued'
    )
      this.said++
    if (!dice.chance(0.02)) return
    const own = [...host.view.each(Fighter)].find(({ owner }) => owner === this.peer)
    if (own !== undefined) host.call(Poke, { plan: dice.word() % 1000 }, { about: own })
    this.#ask(host, dice.word() % 1000)
    const balls = [...host.view.each(Ball)]
    const ball = balls[dice.word() % Math.max(1, balls.length)]
    if (ball === undefined) return
    if (ball.owner === this.peer) host.releaseAuthority(ball)
    else void host.requestAuthority(ball).then(({ isGranted }) => { if (isGranted) this.#counts.grants++ })
  }

  /** Adds its counts to the sums, also when the match is over. */
  count(): void {
    const { witness } = this
    if (witness === undefined) return
    this.#counts.rows += witness.rowCount
    this.#counts.undecodable += witness.undecodable
    this.#counts.asked += witness.asked
    const { predictor } = witness.host
    if (predictor === undefined) return
    this.#counts.rollbacks += predictor.rollbacks
    this.#counts.predictionRestarts += predictor.restarts
    this.#counts.spawnsMatched += predictor.spawnsMatched
  }

  #ask(host: ClientHost<CrowdInput>, number: number): void {
    void host.request(Ask, { number }).then((result) => {
      if (!result.isOk) return
      this.#counts.replies++
      this.#scene.doubts.judge(() =>
        hold(
          result.values.number === number,
          'G3',
          () => `asked ${number}, and the answer is to ${result.values.number}`,
        ),
      )
    })
  }

  #come(): void {
    const { game, security, truth, server } = this.#scene
    this.comesAt = Infinity
    this.leavesAt = Infinity
    this.said = 0
    this.lastNumber = 0
    this.#counts.joins++
    const entropy = new Dice(this.#dice.word())
    const { made: host, found: world } = worldOf(() =>
      createClientHost(game, { security, entropy, role: this.isSpectator ? 'spectator' : 'player' }),
    )
    host.sampleInput = () => this.#held
    host.on(Word, ({ number }) => {
      hold(
        this.lastNumber === 0 || number === this.lastNumber + 1,
        'G2',
        () => `the authority's message ${number} came after ${this.lastNumber}`,
      )
      this.lastNumber = number
      this.#counts.words++
    })
    host.handle(Boom, () => { this.#counts.booms++ })
    const sink = sinkOf(() => host.connect(this.#now, server))
    this.witness = new CrowdWitness(truth, host, sink, world)
  }

  #leave(trueNow: number, now: number): void {
    if (this.#dice.chance(0.5)) {
      this.#counts.crashes++
      this.#forget(trueNow)
      return
    }
    this.#counts.goodbyes++
    this.#isLeaving = true
    this.host?.close(now)
  }

  #forget(trueNow: number): void {
    this.count()
    this.witness = undefined
    this.#isLeaving = false
    this.comesAt = trueNow + 100 + 900 * this.#dice.fraction()
  }
}

/** The world that confirmed rows are written into, of a host that is under construction: a host does not expose it. */
export function worldOf<I extends Shape>(
  make: () => ClientHost<I>,
): { readonly made: ClientHost<I>; readonly found: World } {
  const { keepValuesOf } = World.prototype
  const worlds = new Map<unknown, World>()
  World.prototype.keepValuesOf = function catching(this: World, keeper) {
    if (keeper instanceof Timeline) worlds.set(keeper, this)
    keepValuesOf.call(this, keeper)
  }
  try {
    const made = make()
    return { made, found: worlds.get(made.confirmed)! }
  } finally {
    World.prototype.keepValuesOf = keepValuesOf
  }
}

/** The sink of the snapshots of a connection that is under construction: a host does not expose it. */
export function sinkOf(connect: () => void): SnapshotSink {
  const { addSink } = Connection.prototype
  let found: SnapshotSink | undefined
  Connection.prototype.addSink = function catching(this: Connection, kind, sink) {
    if (sink instanceof SnapshotSink) found = sink
    addSink.call(this, kind, sink)
  }
  try {
    connect()
  } finally {
    Connection.prototype.addSink = addSink
  }
  if (found === undefined) throw new Error('a connection without snapshots')
  return found
}
