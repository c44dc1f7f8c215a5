/**
 * One whole match of the swarm, determined by one seed: an authority, two to thirty-two clients, spectators, an
 * attacker in every fourth, a game that was drawn, and weather.
 *
 * Storm: all clients play, and a drawn part of everything that can happen does. Calm: within 5 s every client is in;
 * within 10 s every client is current, has received everything that was promised, and has its prediction confirmed.
 * End: the authority closes, and nothing may be left.
 *
 * Invariants are those of `invariants.ts`; the first violation ends the match.
 */

import type { CryptoProvider } from '../../packages/tickwire/src/core/crypto/provider.ts'
import type { ConnectPass } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { EndpointSecurity } from '../../packages/tickwire/src/core/endpoint/endpoint-security.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { SimClock } from '../../packages/tickwire/src/testing/sim-clock.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { SimNet } from '../../packages/tickwire/src/testing/sim-net.ts'
import { SimNetActor } from '../../packages/tickwire/src/testing/sim-net-actor.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { calm } from '../../packages/tickwire/src/testing/weather.ts'
import type { Inputs } from '../../packages/tickwire/src/core/game/define-game.ts'
import type { World } from '../../packages/tickwire/src/core/world/world.ts'
import { DatagramWatch } from './invariants-datagrams.ts'
import { drawPriors } from './draw-priors.ts'
import { Doubts, type Violation, hold, violationOf } from './invariants.ts'
import { MatchAttacker } from './match-attacker.ts'
import { MatchClient } from './match-client.ts'
import type { MatchReport } from './match-report.ts'
import { type ClientScene, MatchCounts } from './match-scene.ts'
import { Boom, DELIVERIES, makeMatchGame, type MatchInput, Query, SAID, textOf } from './match-game.ts'
import { passMark } from './marks.ts'
import { GONE_MS, holdNothingLeft } from './match-end.ts'
import { House } from './match-house.ts'
import { type Feature, type Scenario, drawScenario, isOrderly } from './match-scenario.ts'
import { makeTokens } from './match-tokens.ts'
import { Trace } from './trace.ts'

/** One endpoint tick. */
const TICK_MS = 1000 / 60
const CONNECTED_MS = 5000
const CURRENT_MS = 10_000
/** How far behind a client may be in calm weather: a snapshot or two in flight, and the tick that is being played. */
const LAG_MS = 300
/** A digest waits for a tick of which everything is known. */
const CONFIRMED_LAG_MS = 700
/** Both, where not everything fits: changes wait for their turn. */
const THRIFTY_LAG_MS = 3000
/** The interval in ticks at which the match is checked in the calm. */
const ASK_EVERY = 6
/** One seed in this many is played with real cryptography. */
const REAL_CRYPTO_EVERY = 32
const TEAMS = 3

/** Plays a match to its end, or to its first violation. */
export function playMatch(scenario: Scenario): Promise<MatchReport> {
  return new MatchWorld(scenario).play()
}

/** Plays the match of a seed; the features in `only` are always on. */
export function playMatchOf(seed: number, only?: Feature): Promise<MatchReport> {
  return playMatch(drawScenario(seed, only))
}

class MatchWorld {
  readonly #scenario: Scenario
  readonly #dice: Dice
  readonly #clock = new SimClock()
  readonly #net: SimNet
  readonly #trace = new Trace()
  readonly #datagrams = new DatagramWatch(this.#trace)
  readonly #counts = new MatchCounts()
  readonly #doubts = new Doubts()
  readonly #house: House
  readonly #houseActor: SimNetActor
  readonly #clients: MatchClient[]
  readonly #actors: SimNetActor[]
  readonly #crypto: CryptoProvider
  readonly #pass: () => ConnectPass
  #endpointTicks = 0
  #where = 'the match'

  constructor(scenario: Scenario) {
    const { seed, players, spectators, weather } = scenario
    this.#scenario = scenario
    const dice = this.#dice = new Dice(seed ^ 0x3a7c)
    this.#crypto = seed % REAL_CRYPTO_EVERY === 31 ? bestProvider() : new StubCrypto()
    this.#net = new SimNet({ seed, weather })
    const made = makeMatchGame(scenario)
    const rekey = this.#has('rekey')
      ? { afterPackets: 20 + Math.floor(150 * dice.fraction()), afterMs: 500 + 4000 * dice.fraction() }
      : {}
    const common: EndpointSecurity = { provider: this.#crypto, rekey }
    const { security, pass } = this.#has('tokens')
      ? makeTokens(this.#crypto, this.#clock, common, dice)
      : { security: common, pass: () => ({}) }
    this.#pass = pass
    const node = this.#net.addNode('server', { isFixed: true })
    this.#house = new House({
      scenario,
      made,
      security,
      node,
      datagrams: this.#datagrams,
      now: () => this.#clock.now,
      onTurn: () => {
        this.#where = 'server'
      },
    })
    const scene: ClientScene = {
      scenario,
      made,
      house: this.#house,
      server: node.address,
      security: common,
      datagrams: this.#datagrams,
      now: () => this.#clock.now,
      counts: this.#counts,
      doubts: this.#doubts,
      pass: () => this.#pass(),
      onTurn: (client) => {
        this.#where = client.node.name
      },
    }
    const add = (name: string, role: MatchClient['role']): MatchClient => {
      const at = this.#net.addNode(name)
      return role === 'attacker'
        ? new MatchAttacker(scene, at, role, dice.word())
        : new MatchClient(scene, at, role, dice.word())
    }
    this.#clients = []
    for (let index = 0; index < players; index++) this.#clients.push(add(`player ${index}`, 'player'))
    for (let index = 0; index < spectators; index++) this.#clients.push(add(`spectator ${index}`, 'spectator'))
    if (this.#has('attacker')) this.#clients.push(add('attacker', 'attacker'))
    for (const client of this.#clients)
      client.comesAt = dice.chance(0.7) ? 200 * dice.fraction() : 2500 * dice.fraction()
    made.onStep = (world, inputs) => this.#judgeInputs(world, inputs)
    this.#houseActor = new SimNetActor(this.#net, node, this.#clock, this.#house)
    this.#actors = [
      this.#houseActor,
      ...this.#clients.map((client) => new SimNetActor(this.#net, client.node, this.#clock, client)),
    ]
  }

  async play(): Promise<MatchReport> {
    const { seed, stormMs, weather } = this.#scenario
    let violation: Violation | undefined
    try {
      while (this.#clock.now < stormMs) {
        this.#stir()
        await this.#tick()
      }
      await this.#settle()
      await this.#part()
    } catch (error) {
      violation = violationOf(error, this.#clock.now, this.#where)
    }
    for (const client of this.#clients) client.count()
    this.#countStalls()
    return {
      seed,
      scenario: this.#scenario,
      violation,
      weather,
      endpointTicks: this.#endpointTicks,
      simulatedMs: this.#clock.now,
      traceHash: this.#trace.hex,
      tally: this.#net.tally,
      counts: this.#counts,
      datagrams: this.#datagrams.counts,
    }
  }

  #countStalls(): void {
    const ofServer = this.#houseActor.node.clock.tally.stalls
    const ofClients = this.#clients.reduce((sum, { node }) => sum + node.clock.tally.stalls, 0)
    this.#counts.stalls += ofServer + ofClients
    if (ofServer > 10) passMark('a server stalls again and again')
    if (ofClients > 10) passMark('clients stall again and again')
    if (ofServer > 10 && isOrderly(this.#scenario)) passMark('a server stalls on clean lines')
  }

  #has(feature: Feature): boolean {
    return this.#scenario.features.includes(feature)
  }

  #lagMs(usual: number): number {
    return this.#has('thrift') ? THRIFTY_LAG_MS : usual
  }

  /** The authority steps with the inputs that players sent for this tick, or with the ones before. */
  #judgeInputs(world: World, inputs: Inputs<MatchInput>): void {
    if (world !== this.#house.match.world) return
    for (const { peer, role, said, node } of this.#clients) {
      // A disconnected player has an empty input. After a restart of the authority a player may have the number of
      // another one.
      if (
        peer === 0
        || role !== 'player'
        || inputs.isHeld(peer)
        || inputs.viewTick(peer) < 0
        || this.#house.match.connectionOf({ id: peer })?.address !== node.address
      )
        continue
      const { right, up, fire, kick, aim } = inputs.of(peer)
      hold(
        said.isSaid(world.tick, { right, up, fire, kick, aim }),
        'G4',
        () => `${node.name} has an input in tick ${world.tick} that it did not send for it`,
      )
    }
  }

  /** Runs every client that is awake; then resolves pending answers. */
  async #tick(): Promise<void> {
    const { now } = this.#clock
    for (const actor of this.#actors) {
      if (!actor.node.clock.isAwake(now)) continue
      this.#endpointTicks++
      actor.wake(now)
    }
    this.#clock.drive(TICK_MS)
    await undefined
    this.#doubts.raise()
  }

  /** Leaves, crashes, moves and closed paths, by chance. */
  #stir(): void {
    const { now } = this.#clock
    const dice = this.#dice
    for (const client of this.#clients) {
      this.#where = client.node.name
      if (!client.node.clock.isAwake(now)) continue
      const local = client.node.clock.localAt(now)
      client.play()
      if (client.peer !== 0 && this.#has('joins') && client.leavesAt === Infinity && dice.chance(0.003))
        client.leavesAt = local
      if (this.#has('moves') && dice.chance(0.002))
        this.#net.rebind(now, client.node, dice.chance(0.5) ? 'port' : 'address')
    }
    const { clock } = this.#houseActor.node
    if (clock.isAwake(now)) this.#govern()
  }

  /** The actions of the authority beside its ticks. */
  #govern(): void {
    this.#where = 'server'
    const dice = this.#dice
    const house = this.#house
    const { match } = house
    const peer = match.peers[dice.word() % Math.max(1, match.peers.length)]
    const others = [...house.diaries.keys()]
    const whom = others[dice.word() % Math.max(1, others.length)]
    if (whom !== undefined && this.#has('messages') && dice.chance(0.2)) this.#tell(whom)
    if (whom !== undefined && match.spectators.has(whom) && peer !== undefined && dice.chance(0.2)) {
      const eyes = dice.chance(0.1) ? { id: whom } : peer
      house.beforeTick(() => match.follow({ id: whom }, eyes))
    }
    if (this.#has('retrains') && dice.chance(0.01)) {
      const { entities, tickRate } = match.game
      match.retrain(drawPriors(entities, tickRate, 1 + match.retraining.version, new Dice(dice.word())))
      passMark('tables are retrained')
    }
    if (peer === undefined) return
    if (this.#has('teams') && dice.chance(0.03)) {
      const team = dice.word() % TEAMS
      house.beforeTick(() => house.teams.set(peer.id, team))
    }
    if (this.#has('calls') && dice.chance(0.05)) match.call(Boom, { power: 3 })
    if (this.#has('calls') && dice.chance(0.03)) this.#query(peer, dice.word() % 1000)
    if (this.#has('kicks') && dice.chance(0.002) && match.connectionOf(peer) !== undefined) {
      this.#counts.kicks++
      passMark('a player is disconnected by the server')
      match.kick(peer)
    }
    if (this.#has('cuts') && dice.chance(0.003)) house.host.handlePathClosed(match.connectionOf(peer)?.address ?? '')
    if (!this.#has('restarts') || !dice.chance(0.002)) return
    this.#counts.restarts++
    house.restart()
  }

  /** The authority calls a client. */
  #query(peer: { readonly id: number }, number: number): void {
    void this.#house.match.request(peer, Query, { number }).then((result) => {
      if (!result.isOk) return
      this.#counts.replies++
      this.#doubts.judge(() =>
        hold(
          result.values.number === number || this.#house.isMistrusted(peer.id),
          'G3',
          () => `${number} was asked, and answered is ${result.values.number}`,
        ),
      )
    })
  }

  /** The authority sends a message to a client. */
  #tell(peer: number): void {
    const diary = this.#house.diaries.get(peer)
    const delivery = DELIVERIES[this.#dice.word() % DELIVERIES.length]!
    if (diary === undefined) return
    const number = diary.down[delivery].sent + 1
    if (this.#house.match.send({ id: peer }, SAID[delivery], { number, text: textOf(number) }) === 'queued')
      diary.down[delivery].sent = number
  }

  async #settle(): Promise<void> {
    const since = this.#clock.now
    this.#net.setWeather(since, calm())
    for (const client of this.#clients) {
      client.leavesAt = Infinity
      if (client.witness === undefined) client.comesAt = Math.min(client.comesAt, client.node.clock.localAt(since))
    }
    let isFirst = true
    if (this.#clients.some((client) => client.role !== 'attacker' && client.peer === 0))
      passMark('a client has to join again in the calm')
    for (let ticks = 1; ; ticks++) {
      await this.#tick()
      const passed = this.#clock.now - since
      if (ticks % ASK_EVERY !== 0 || passed < this.#lagMs(LAG_MS)) continue
      const absent = this.#clients.find((client) => client.role !== 'attacker' && !this.#isIn(client))
      this.#where = absent?.node.name ?? 'the match'
      hold(
        absent === undefined || passed < CONNECTED_MS,
        'I17',
        () => `is not in, or not at the address the authority knows, ${CONNECTED_MS} ms after the weather cleared`,
      )
      const problem = absent === undefined ? this.#problem() : undefined
      if (isFirst && absent === undefined && problem === undefined)
        passMark('every client is current at the first check in the calm')
      isFirst = false
      if (absent !== undefined) continue
      if (problem === undefined) return
      hold(passed < CURRENT_MS, problem.about, () => `${problem.text}, ${CURRENT_MS} ms after the weather cleared`)
    }
  }

  /** The authority shuts down, no client joins again, and nothing may be left. */
  async #part(): Promise<void> {
    const { clock } = this.#houseActor.node
    for (const client of this.#clients) client.witness?.sweep()
    if (this.#clients.some(({ role, peer }) => role === 'attacker' && peer !== 0))
      passMark('an attacker stays to the end')
    if (this.#clients.length > 20) passMark('a match of more than twenty clients')
    if (!(this.#crypto instanceof StubCrypto)) passMark('a match with real cryptography')
    const { host, match } = this.#house
    host.close(clock.localAt(this.#clock.now))
    for (const end = this.#clock.now + GONE_MS; this.#clock.now < end;) {
      await this.#tick()
      for (const client of this.#clients) client.comesAt = Infinity
    }
    this.#where = 'server'
    holdNothingLeft(host, match, this.#net)
  }

  /** Both sides are open, and the authority knows the client's present address. */
  #isIn(client: MatchClient): boolean {
    const { connection, peer, node, role } = client
    if (connection?.isOpen !== true || peer === 0 || !this.#house.knows(peer, role === 'spectator')) return false
    return this.#house.match.connectionOf({ id: peer })?.address === node.address
  }

  /** A problem that the match still has; undefined when there is none. */
  #problem(): { readonly about: Violation['invariant']; readonly text: string } | undefined {
    const ticksOf = (ms: number): number => Math.ceil(ms * this.#scenario.tickRate / 1000)
    this.#where = 'server'
    const [stranger] = this.#house.strangers
    if (stranger !== undefined) return { about: 'I13', text: `peer ${stranger} owns objects, and is not here` }
    const [unseated] = this.#house.unseated
    if (unseated !== undefined) return { about: 'I13', text: `player ${unseated} has no seat, and is in the match` }
    for (const { role, witness, diary, node } of this.#clients) {
      if (role === 'attacker') continue
      this.#where = node.name
      const missing = diary?.missing
      if (missing !== undefined) return { about: 'I18', text: missing }
      const stale = witness?.problem(ticksOf(this.#lagMs(LAG_MS)))
      if (stale !== undefined) return { about: 'C4', text: stale }
      // A client that predicts everything gets a digest of everything, and no client knows everything here.
      if (role !== 'player' || this.#has('predictNone') || this.#has('predictAll')) continue
      const doubt = witness?.predictionProblem(ticksOf(this.#lagMs(CONFIRMED_LAG_MS)))
      if (doubt !== undefined) return { about: 'C5', text: doubt }
    }
    return undefined
  }
}
