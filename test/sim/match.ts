/**
 * One match of the swarm: players, weather and mischief on the simulated network, all drawn from one seed, checked as it
 * goes.
 *
 * Safety, always: what a player sees of tick T is what the authority had at tick T, as far as he may know it (G1); what is
 * said reliably arrives once and in order (G2). Liveness, once the weather has cleared: everybody is in and current (G3).
 */

import { hashCombine, hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import { ServerHost } from '../../packages/tickwire/src/core/game/server-host.ts'
import { ROW_BITS, ROW_MASK, Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import type { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import { SimClock } from '../../packages/tickwire/src/testing/sim-clock.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { SimNet } from '../../packages/tickwire/src/testing/sim-net.ts'
import { SimNetActor } from '../../packages/tickwire/src/testing/sim-net-actor.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { type NetWeather, calm } from '../../packages/tickwire/src/testing/weather.ts'
import { drawWeather } from '../../packages/tickwire/src/testing/weather-draw.ts'
import { type Violation, hold, violationOf } from './invariants.ts'
import { MatchPlayer } from './match-player.ts'
import { Chat, Crate, swarmGame, Walker } from './swarm-game.ts'

/** What a match showed: tests assert that the swarm did something. */
export interface MatchReport {
  readonly seed: number
  readonly violation: Violation | undefined
  readonly weather: NetWeather
  readonly endpointTicks: number
  readonly simulatedMs: number
  readonly traceHash: string
  readonly tally: LinkTally
  readonly messages: number
  readonly despawns: number
}

const TICK_MS = 1000 / 60
const STORM_MS = 6000
/** A dead connection is noticed after ten seconds, and then its player comes again. */
const CALM_MS = 15_000
/** Ticks back, from the newest that a player was told of, whose rows are compared every tick. */
const CHECKED_TICKS = 4
/** What a player may not know yet in calm weather. */
const LAG_TICKS = 6
/** Longer than any player lags behind. */
const HISTORY_TICKS = 600

/** Plays the match of a seed to its end, or to its first violation; in its own weather or in one that is given. */
export function playMatch(seed: number, weather: NetWeather = drawWeather(seed ^ 0x3a7c, { without: [] })): MatchReport {
  return new Match(seed, weather).play()
}

class Match {
  readonly #seed: number
  readonly #weather: NetWeather
  readonly #dice: Dice
  readonly #clock = new SimClock()
  readonly #net: SimNet
  readonly #host: ServerHost<typeof swarmGame.input>
  readonly #players: readonly MatchPlayer[]
  readonly #actors: readonly SimNetActor[]
  readonly #history: Timeline
  readonly #trace = new Uint32Array(2)
  /** What was heard from each peer. */
  readonly #heard = new Map<number, number>()
  #broadcast = 0
  #messages = 0
  #despawns = 0
  #endpointTicks = 0
  #where = 'the world'

  constructor(seed: number, weather: NetWeather) {
    this.#seed = seed
    this.#weather = weather
    this.#dice = new Dice(seed ^ 0x3a7c)
    this.#net = new SimNet({ seed, weather })
    const security = { provider: new StubCrypto() }
    const count = 1 + (this.#dice.word() % 6)
    this.#host = new ServerHost(swarmGame, { security, entropy: new Dice(seed ^ 0x5e7), maxPlayers: 4 * count })
    const host = this.#host
    const node = this.#net.addNode('server', { isFixed: true })
    this.#players = Array.from({ length: count }, (_, index) =>
      new MatchPlayer(this.#net.addNode(`player ${index}`), node.address, security, seed + index * 7919))
    this.#actors = [
      new SimNetActor(this.#net, node, this.#clock, {
        handleDatagram: (now, from, bytes, length) => host.handleDatagram(now, from, bytes, length),
        pump: (now, port) => {
          host.tick(now)
          return host.drain(now, port)
        },
      }),
      ...this.#players.map((player) => new SimNetActor(this.#net, player.node, this.#clock, player)),
    ]
    this.#history = new Timeline(host.world, HISTORY_TICKS)
    this.#watch()
  }

  play(): MatchReport {
    let violation: Violation | undefined
    try {
      for (const end = STORM_MS; this.#clock.now < end;) {
        this.#mischief()
        this.#tick()
      }
      this.#settle()
    } catch (error) {
      violation = violationOf(error, this.#clock.now, this.#where)
    }
    return {
      seed: this.#seed, violation, weather: this.#weather, endpointTicks: this.#endpointTicks, simulatedMs: this.#clock.now,
      traceHash: hashHex(this.#trace, 0), tally: this.#net.tally, messages: this.#messages, despawns: this.#despawns,
    }
  }

  #settle(): void {
    this.#net.setWeather(this.#clock.now, calm())
    const end = this.#clock.now + CALM_MS
    for (let isLast = false; ;) {
      this.#tick()
      let problem: string | undefined
      for (const player of this.#players) problem ??= this.#problemOf(player, isLast)
      if (problem === undefined && isLast) return
      // One thing more is said when all are in, so that the last of them hears something too.
      if (problem === undefined) {
        isLast = true
        this.#host.broadcast(Chat, { number: ++this.#broadcast, text: 'the last' })
      }
      hold(this.#clock.now < end, 'G3', () => `${problem} after ${CALM_MS} ms of calm`)
    }
  }

  #tick(): void {
    const { now } = this.#clock
    for (const actor of this.#actors) {
      if (!actor.node.clock.isAwake(now)) continue
      this.#endpointTicks++
      actor.wake(now)
    }
    this.#clock.drive(TICK_MS)
    this.#check()
  }

  /** Samples every tick of the authority, and listens to what it hears. */
  #watch(): void {
    const { world } = this.#host
    const endTick = world.endTick.bind(world)
    let crates: readonly number[] = []
    world.endTick = () => {
      endTick()
      this.#history.sample()
      this.#despawns += crates.filter((id) => world.get(Crate, id) === null).length
      crates = [...world.each(Crate)].map(({ id }) => id)
    }
    this.#host.on(Chat, ({ number }, from) => {
      const before = this.#heard.get(from.id) ?? 0
      hold(number === before + 1, 'G2', () => `message ${number} of peer ${from.id} came after ${before}`)
      this.#heard.set(from.id, number)
      this.#messages++
    })
  }

  #mischief(): void {
    const dice = this.#dice
    for (const player of this.#players) {
      if (dice.chance(0.1)) {
        const [up, right, shield] = [dice.chance(0.5), dice.chance(0.5), dice.chance(0.3)]
        player.held = { up, right, shield, aim: dice.fraction() * 2 - 1 }
      }
      if (dice.chance(0.15)) player.say('x'.repeat(dice.word() % 80))
    }
    if (dice.chance(0.1)) this.#host.broadcast(Chat, { number: ++this.#broadcast, text: 'to all' })
  }

  #check(): void {
    for (const player of this.#players) {
      this.#where = player.node.name
      const { confirmed, peer } = player.host
      hashCombine(this.#trace, 0, confirmed.newest, player.told)
      for (let back = 0; back < CHECKED_TICKS; back++) {
        const tick = confirmed.newest - back
        if (this.#history.has(tick)) confirmed.references(tick).forEach((reference) => this.#checkRow(peer, confirmed, reference, tick))
      }
    }
  }

  /** Every lane that this player may know equals the authority's of that tick. */
  #checkRow(peer: number, confirmed: Timeline, reference: number, tick: number): void {
    if (reference === 0) return
    const type = reference >>> ROW_BITS
    const { schema, ids, owners, rows: told, laneCount } = confirmed.pools[type]!
    const row = reference & ROW_MASK
    const truth = this.#history.find(type, ids[row]!, tick)
    hold(truth >= 0, 'G1', () => `was told of object ${ids[row]} at tick ${tick}, and the authority did not have it`)
    const { rows } = this.#history.pools[type]!
    for (const member of schema.masks[owners[row] === peer ? 2 : 0].members) {
      for (let lane = member.lane; lane < member.lane + member.laneCount; lane++) {
        const isText = schema.heapLeaves.some((leaf) => leaf.lane === lane)
        const seen = told[row * laneCount + lane]
        // Handles of texts are each side's own; texts themselves are compared at the end.
        hold(isText || seen === rows[truth + lane], 'G1', () =>
          `was told ${member.path} of object ${ids[row]} at tick ${tick} as ${seen}, the authority had ${rows[truth + lane]}`)
        if (!isText) hashCombine(this.#trace, 0, seen ?? 0, lane)
      }
    }
  }

  /** An object that a player was told too little of: it changed, came or went, and there was time to say so. */
  #staleOf({ confirmed, view }: MatchPlayer['host']): string | undefined {
    const { world } = this.#host
    const past = world.tick - LAG_TICKS
    for (const { type, schema } of world.stores) {
      for (const { id } of world.stores[type]!.living()) {
        const told = confirmed.findLatest(type, id) < 0 ? -1 : confirmed.changedAt(id)
        if (this.#history.changedAt(id) <= past && told < this.#history.changedAt(id)) return `knows ${schema.name} ${id} of tick ${told}, and it changed since`
      }
    }
    for (const { id } of view.each(Crate)) {
      if (world.get(Crate, id) === null && this.#history.find(1, id, past) < 0) return `sees object ${id}, which is gone`
    }
    return undefined
  }

  /** What keeps a player from being current. */
  #problemOf({ node, host: client, said, told }: MatchPlayer, isLast: boolean): string | undefined {
    const { world, peers } = this.#host
    const behind = this.#staleOf(client)
    const heard = this.#heard.get(client.peer) ?? 0
    this.#where = node.name
    if (!peers.some(({ id }) => id === client.peer)) return 'is not in'
    if (behind !== undefined) return behind
    if (heard !== said) return `said ${said} things, ${heard} were heard`
    if ((told !== 0 || isLast) && told !== this.#broadcast) return `was told ${told} of ${this.#broadcast} things`
    for (const walker of client.view.each(Walker)) {
      const name = world.get(Walker, walker.id)?.name
      if (name !== undefined && name !== walker.name) return `reads "${walker.name}" for "${name}"`
    }
    return undefined
  }
}
