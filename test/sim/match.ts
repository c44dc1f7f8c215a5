/**
 * One match of the swarm: players, weather and mischief on the simulated network, all drawn from one seed, checked as it
 * goes.
 *
 * Safety, always: what a player sees of tick T is what the authority had at tick T, as far as he may know it (G1); what is
 * said reliably arrives once and in order (G2). Liveness, once the weather has cleared: everybody is in and current (G3).
 */

import type { ObjectView } from 'tickwire'
import { hashCombine, hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import { ServerHost } from '../../packages/tickwire/src/core/game/server-host.ts'
import type { Handle } from '../../packages/tickwire/src/core/world/handle.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
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
      const { view, peer } = player.host
      hashCombine(this.#trace, 0, view.tick, player.told)
      if (!this.#history.has(view.tick) || view.tick === player.checkedTick) continue
      player.checkedTick = view.tick
      for (const walker of view.each(Walker)) this.#checkObject(peer, 0, walker, view.tick)
      for (const crate of view.each(Crate)) this.#checkObject(peer, 1, crate, view.tick)
    }
  }

  /** Every lane that this player may know equals the authority's of that tick. */
  #checkObject(peer: number, type: number, object: ObjectView<typeof Walker> | ObjectView<typeof Crate>, tick: number): void {
    const handle = object as unknown as Handle
    const { $store: store } = handle
    const truth = this.#history.find(type, handle.id, tick)
    hold(truth >= 0, 'G1', () => `sees object ${handle.id} at tick ${tick}, and the authority did not have it`)
    const { rows } = this.#history.pools[type]!
    const { members } = store.schema.masks[handle.owner === peer ? 2 : 0]
    for (const member of members) {
      for (let lane = member.lane; lane < member.lane + member.laneCount; lane++) {
        const isText = store.schema.heapLeaves.some((leaf) => leaf.lane === lane)
        const seen = store.rows[store.rowAt(handle) + lane]
        // Handles of texts are each side's own; texts themselves are compared at the end.
        hold(isText || seen === rows[truth + lane], 'G1', () =>
          `sees ${member.path} of object ${handle.id} at tick ${tick} as ${seen}, the authority had ${rows[truth + lane]}`)
        if (!isText) hashCombine(this.#trace, 0, seen ?? 0, lane)
      }
    }
  }

  /** What keeps a player from being current. */
  #problemOf({ node, host: client, said, told }: MatchPlayer, isLast: boolean): string | undefined {
    const { world, peers } = this.#host
    const behind = world.tick - client.view.tick
    const heard = this.#heard.get(client.peer) ?? 0
    this.#where = node.name
    if (!peers.some(({ id }) => id === client.peer)) return 'is not in'
    if (behind > 2) return `is ${behind} ticks behind`
    if (heard !== said) return `said ${said} things, ${heard} were heard`
    if ((told !== 0 || isLast) && told !== this.#broadcast) return `was told ${told} of ${this.#broadcast} things`
    for (const walker of client.view.each(Walker)) {
      const name = world.get(Walker, walker.id)?.name
      if (behind === 0 && name !== walker.name) return `reads "${walker.name}" for "${name}"`
    }
    return undefined
  }
}
