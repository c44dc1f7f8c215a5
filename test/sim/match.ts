/**
 * One match of the swarm: players, weather and mischief, all drawn from one seed, checked as it goes.
 *
 * Safety, always: what a player sees of tick T is what the authority had at tick T, as far as he may know it; what is
 * said reliably arrives once and in order. Liveness, once the weather has cleared: everybody is current again.
 */

import type { ObjectView } from 'tickwire'
import { Dice, simulate, type Simulation, type Weather } from 'tickwire/testing'
import { hashCombine } from '../../packages/tickwire/src/core/base/hash.ts'
import type { Handle } from '../../packages/tickwire/src/core/world/handle.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import { Chat, Crate, swarmGame, Walker } from './swarm-game.ts'

/** What a match showed: tests assert that the swarm did something. */
export interface MatchReport {
  readonly problem: string | undefined
  readonly endpointTicks: number
  readonly traceHash: readonly [number, number]
  readonly lost: number
  readonly duplicated: number
  readonly reordered: number
  readonly messages: number
  readonly despawns: number
}

const STORM_MS = 3000
const CALM_MS = 2000
const STEP_MS = 20
/** Longer than any player lags behind. */
const HISTORY_TICKS = 600

/** Plays the match of a seed to its end, or to its first problem. */
export function playMatch(seed: number): MatchReport {
  const match = new Match(seed)
  let problem: string | undefined
  try {
    match.play()
  } catch (error) {
    problem = error instanceof Error ? error.message : String(error)
  }
  return match.report(problem)
}

class Match {
  readonly #dice: Dice
  readonly #sim: Simulation<typeof swarmGame.input>
  readonly #history: Timeline
  readonly #trace = new Uint32Array(2)
  /** By player: what he has said, and what the authority has heard of it; and the other way round. */
  readonly #said: number[]
  readonly #heard: number[]
  #broadcast = 0
  readonly #told: number[]
  #despawns = 0
  #problem: string | undefined

  constructor(seed: number) {
    this.#dice = new Dice(seed ^ 0x3a7c)
    const clients = 1 + this.#below(6)
    this.#sim = simulate(swarmGame, { seed, clients, link: this.#drawWeather() })
    this.#history = new Timeline(this.#sim.host.world, HISTORY_TICKS)
    this.#said = new Array<number>(clients).fill(0)
    this.#heard = new Array<number>(clients).fill(0)
    this.#told = new Array<number>(clients).fill(0)
    this.#watch()
  }

  play(): void {
    for (let ms = 0; ms < STORM_MS; ms += STEP_MS) {
      this.#mischief()
      this.#sim.run(STEP_MS)
      this.#check()
    }
    this.#sim.weather({})
    for (let ms = 0; ms < CALM_MS; ms += STEP_MS) {
      this.#sim.run(STEP_MS)
      this.#check()
    }
    this.#checkCurrent()
  }

  report(problem: string | undefined): MatchReport {
    const { players, host } = this.#sim
    const sum = (key: 'lost' | 'duplicated' | 'reordered'): number => players.reduce((total, { link }) => total + link.stats[key], 0)
    return {
      problem,
      endpointTicks: (players.length + 1) * host.world.tick,
      traceHash: [this.#trace[0]!, this.#trace[1]!],
      lost: sum('lost'),
      duplicated: sum('duplicated'),
      reordered: sum('reordered'),
      messages: this.#heard.concat(this.#told).reduce((total, count) => total + count, 0),
      despawns: this.#despawns,
    }
  }

  /** Samples every tick of the authority, and listens on both sides. */
  #watch(): void {
    const { host, players } = this.#sim
    const { world } = host
    const endTick = world.endTick.bind(world)
    let crates: readonly number[] = []
    world.endTick = () => {
      endTick()
      this.#history.sample()
      this.#despawns += crates.filter((id) => world.get(Crate, id) === null).length
      crates = [...world.each(Crate)].map(({ id }) => id)
    }
    host.on(Chat, ({ number }, from) => {
      const player = players.findIndex(({ host: client }) => client.peer === from.id)
      if (number !== this.#heard[player]! + 1) this.#problem ??= `player ${player}'s message ${number} came after ${this.#heard[player]}`
      this.#heard[player] = number
    })
    players.forEach(({ host: client }, player) => client.on(Chat, ({ number }) => {
      if (number !== this.#told[player]! + 1) this.#problem ??= `the authority's message ${number} came after ${this.#told[player]}`
      this.#told[player] = number
    }))
  }

  #mischief(): void {
    const { players, host } = this.#sim
    players.forEach(({ host: client }, player) => {
      if (this.#dice.chance(0.1)) {
        const [up, right, shield] = [this.#dice.chance(0.5), this.#dice.chance(0.5), this.#dice.chance(0.3)]
        this.#sim.hold(player, { up, right, shield, aim: this.#dice.fraction() * 2 - 1 })
      }
      if (this.#dice.chance(0.15)) {
        const number = this.#said[player]! + 1
        if (client.send(Chat, { number, text: 'x'.repeat(this.#below(80)) }) === 'queued') this.#said[player] = number
      }
    })
    if (this.#dice.chance(0.1)) host.broadcast(Chat, { number: ++this.#broadcast, text: 'to all' })
    if (this.#dice.chance(0.02)) this.#sim.weather(this.#drawWeather(), this.#below(players.length))
  }

  #check(): void {
    if (this.#problem !== undefined) throw new Error(this.#problem)
    this.#sim.players.forEach(({ host: client }, player) => {
      const { tick } = client.view
      if (!this.#history.has(tick)) return
      hashCombine(this.#trace, 0, tick, player)
      for (const walker of client.view.each(Walker)) this.#checkObject(player, client.peer, 0, walker, tick)
      for (const crate of client.view.each(Crate)) this.#checkObject(player, client.peer, 1, crate, tick)
    })
  }

  /** Every lane that this player may know equals the authority's of that tick. */
  #checkObject(player: number, peer: number, type: number, object: ObjectView<typeof Walker> | ObjectView<typeof Crate>, tick: number): void {
    const handle = object as unknown as Handle
    const { $store: store } = handle
    const truth = this.#history.find(type, handle.id, tick)
    if (truth < 0) throw new Error(`player ${player} sees object ${handle.id} at tick ${tick}, and the authority did not have it`)
    const { rows } = this.#history.pools[type]!
    const { members } = store.schema.masks[handle.owner === peer ? 2 : 0]
    for (const member of members) {
      for (let lane = member.lane; lane < member.lane + member.laneCount; lane++) {
        const isText = store.schema.heapLeaves.some((leaf) => leaf.lane === lane)
        const seen = store.rows[store.rowAt(handle) + lane]
        // Handles of texts are each side's own; texts themselves are compared at the end.
        if (!isText && seen !== rows[truth + lane]) {
          throw new Error(`player ${player} sees ${member.path} of object ${handle.id} at tick ${tick} as ${seen}, the authority had ${rows[truth + lane]}`)
        }
        hashCombine(this.#trace, 0, seen ?? 0, lane)
      }
    }
  }

  #checkCurrent(): void {
    const { host, players } = this.#sim
    players.forEach(({ host: client }, player) => {
      const behind = host.world.tick - client.view.tick
      if (behind > 2) throw new Error(`player ${player} is ${behind} ticks behind in calm weather`)
      if (this.#heard[player] !== this.#said[player]) throw new Error(`player ${player} said ${this.#said[player]} things, ${this.#heard[player]} were heard`)
      if (this.#told[player] !== this.#broadcast) throw new Error(`player ${player} was told ${this.#told[player]} of ${this.#broadcast} things`)
      for (const walker of client.view.each(Walker)) {
        const truth = host.world.get(Walker, walker.id)
        if (behind === 0 && truth?.name !== walker.name) throw new Error(`player ${player} reads "${walker.name}" for "${truth?.name}"`)
      }
    })
  }

  /** A random half of the faults, each as bad as it likes. */
  #drawWeather(): Weather {
    const maybe = (most: number): number => (this.#dice.chance(0.5) ? this.#dice.fraction() * most : 0)
    return { latencyMs: maybe(150), jitterMs: maybe(60), loss: maybe(0.3), duplication: maybe(0.1), reordering: maybe(0.2) }
  }

  #below(count: number): number {
    return Math.floor(this.#dice.fraction() * count)
  }
}
