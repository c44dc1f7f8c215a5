/**
 * One mesh from one seed: two or three peers on bad lines, and the invariants I19, those of lockstep, I36 and I37.
 *
 * Lines lose, delay and duplicate, and fail one by one or all at once; machines stand still and crash; clocks drift;
 * players pause, change the speed and leave. Then the weather clears.
 */

import { hashBytes, hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import type { Weather } from '../../packages/tickwire/src/testing/memory-link.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { calm } from '../../packages/tickwire/src/testing/weather.ts'
import { readTicks } from '../reference/lockstep-checker.ts'
import { ClockJumps } from './clock-jumps.ts'
import { require, type Violation, violationOf } from './invariants.ts'
import { game, Move, Spawn, Take, Unit } from './lockstep-game.ts'
import { MeshParty, type MeshMember } from './mesh-party.ts'
import type { WorldResult } from './world-result.ts'

const STORM_MS = 12_000
const CALM_MS = 14_000
const STEP_MS = 25
const TAKE = game.orders.indexOf(Take)
/** A link that was good for this long carries frames: both ends receive them. */
const GOOD_MS = 4000

/** A bug to plant: called after every step of time. */
export type MeshPlant = (party: MeshParty, isStorm: boolean) => void

/** Plays the mesh of a seed. */
export function playMesh(seed: number, plant: MeshPlant = () => {}): WorldResult {
  return new MeshWorld(seed, plant).play()
}

class MeshWorld {
  readonly #seed: number
  readonly #dice: Dice
  readonly #party: MeshParty
  readonly #players: number
  readonly #worst: number
  readonly #plant: MeshPlant
  readonly #counts: Record<string, number> = {}
  /** Indexed by player. */
  readonly #takes: number[] = []
  readonly #hasLeft: boolean[] = []
  readonly #hasEnded: boolean[] = []
  /** The player whose machine stops for ever, and the generator that draws it. */
  #crashed = 0
  readonly #crashes: Dice
  readonly #crashRate: number
  readonly #jumps: ClockJumps
  readonly #judged = new Set<string>()
  /** Since when the line of two players is good, by `1-2`. Infinity: it is not. */
  readonly #goodSince = new Map<string, number>()
  /** When a line that has failed works again, by its players. */
  readonly #failedUntil = new Map<string, number>()

  constructor(seed: number, plant: MeshPlant) {
    this.#seed = seed
    this.#plant = plant
    this.#dice = new Dice(seed ^ 0x3e5)
    this.#crashes = new Dice(seed ^ 0xc4a7)
    this.#crashRate = this.#crashes.chance(0.5) ? 0.002 : 0
    this.#jumps = new ClockJumps(seed)
    this.#worst = this.#dice.fraction()
    this.#players = this.#dice.chance(0.3) ? 2 : 3
    this.#party = new MeshParty({ game: game as never, seed: seed + 1, players: this.#players })
    for (const member of this.#party.members) {
      member.offsetMs = Math.floor(this.#dice.fraction() * 100_000)
      member.drift = 1 + (this.#dice.fraction() - 0.5) / 1000
    }
  }

  play(): WorldResult {
    let violation: Violation | undefined
    try {
      this.#run(1500, () => {})
      this.#run(STORM_MS, () => this.#mischief())
      this.#clear()
      this.#run(CALM_MS, () => this.#resume())
      this.#check()
    } catch (error) {
      violation = violationOf(error, this.#party.clock.now, 'mesh')
    }
    const { log } = this.#party.member(1).client.feed
    const trace = new Uint32Array(2)
    hashBytes(log.bytes, 0, log.length, this.#seed, trace, 0)
    this.#counts['ticks'] = log.newest
    return {
      seed: this.#seed, violation, weather: calm(), endpointTicks: log.newest * this.#players,
      simulatedMs: this.#party.clock.now, traceHash: hashHex(trace, 0), tally: new LinkTally(), counts: this.#counts,
    }
  }

  #run(ms: number, each: () => void): void {
    for (let at = 0; at < ms; at += STEP_MS) {
      each()
      this.#party.run(STEP_MS)
      this.#act()
      this.#noteLines()
      this.#judge()
      this.#plant(this.#party, ms === STORM_MS)
    }
  }

  #count(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1
  }

  *#pairs(): Iterable<[number, number]> {
    for (let a = 1; a <= this.#players; a++) for (let b = a + 1; b <= this.#players; b++) yield [a, b]
  }

  #drawWeather(): Weather {
    const dice = this.#dice
    const bad = this.#worst * dice.fraction()
    return {
      latencyMs: 120 * bad * dice.fraction(), jitterMs: 60 * bad, loss: dice.chance(0.2) ? 0.3 * bad : 0.05 * bad,
      duplication: 0.1 * bad,
    }
  }

  /** Lines fail, machines stand still, players leave. */
  #mischief(): void {
    const dice = this.#dice
    const { now } = this.#party.clock
    for (const [a, b] of this.#pairs()) {
      const key = `${a}-${b}`
      const link = this.#party.cable(a, b)
      const until = this.#failedUntil.get(key) ?? -Infinity
      if (now < until) continue
      if (until !== -Infinity || dice.chance(0.01)) link.weather = this.#drawWeather()
      this.#failedUntil.delete(key)
      if (!dice.chance(0.004)) continue
      link.weather = { loss: 1 }
      this.#failedUntil.set(key, now + 8000 * dice.fraction())
      this.#count('outage')
    }
    this.#jumps.strike(now, this.#party.members, () => this.#count('clock jumped'))
    for (const member of this.#party.members) {
      if (dice.chance(0.002)) member.frozenUntil = now + 3000 * dice.fraction()
      if (member.client.player === this.#crashed) member.frozenUntil = Infinity
      if (dice.chance(0.001)) member.stuckUntil = now + 2000 * dice.fraction()
      const { player } = member.client
      if (!dice.chance(0.0005) || this.#hasLeft[player]) continue
      member.client.leave(member.localTime(now))
      member.poke(now)
      this.#hasLeft[player] = true
      this.#count('left')
    }
    if (this.#crashed !== 0 || !this.#crashes.chance(this.#crashRate)) return
    this.#crashed = 1 + this.#crashes.word() % this.#players
    this.#count('crashed')
  }

  #act(): void {
    const dice = this.#dice
    const { now } = this.#party.clock
    for (const member of this.#party.members) {
      const { player, runner } = member.client
      if (runner === undefined || now < member.frozenUntil) continue
      if (dice.chance(0.2)) {
        const crate = (this.#takes[player] ?? 0) + 1
        if (member.order(now, Take as never, { crate }) === 'sent') this.#takes[player] = crate
      }
      if (dice.chance(0.05)) member.order(now, Spawn as never, { count: 1 })
      if (dice.chance(0.05)) {
        const units = [...runner.world.each(Unit)].filter(({ owner }) => owner === player).map(({ id }) => id)
        member.order(now, Move as never, { units, to: { x: 256 * dice.fraction(), y: 256 * dice.fraction() } })
      }
      if (dice.chance(0.001)) runner.setSpeed(member.localTime(now), dice.chance(0.5) ? 2 : 0.5)
      if (dice.chance(0.001)) runner.pause(member.localTime(now))
      if (dice.chance(0.02)) this.#ask(member, () => runner.resume(member.localTime(now)))
    }
  }

  #ask(member: MeshMember, what: () => void): void {
    what()
    member.poke(this.#party.clock.now)
  }

  #resume(): void {
    for (const member of this.#party.members) {
      const { runner } = member.client
      if (runner?.roster.isPaused) this.#ask(member, () => runner.resume(member.localTime(this.#party.clock.now)))
    }
  }

  #clear(): void {
    const { now } = this.#party.clock
    for (const [a, b] of this.#pairs()) this.#party.cable(a, b).weather = { latencyMs: 10 }
    for (const member of this.#party.members) {
      member.frozenUntil = member.client.player === this.#crashed ? Infinity : Math.min(member.frozenUntil, now)
      member.stuckUntil = Math.min(member.stuckUntil, now)
    }
  }

  #noteLines(): void {
    const { now } = this.#party.clock
    for (const [a, b] of this.#pairs()) {
      const isAwake = [a, b].every((player) => {
        const { frozenUntil, stuckUntil } = this.#party.member(player)
        return now >= frozenUntil && now >= stuckUntil
      })
      const isGood = isAwake && (this.#party.cable(a, b).weather.loss ?? 0) < 0.35
      const since = this.#goodSince.get(`${a}-${b}`) ?? Infinity
      this.#goodSince.set(`${a}-${b}`, isGood ? Math.min(since, now) : Infinity)
    }
  }

  #isGood(a: number, b: number): boolean {
    const since = this.#goodSince.get(a < b ? `${a}-${b}` : `${b}-${a}`) ?? Infinity
    return this.#party.clock.now - since > GOOD_MS
  }

  /** Verdicts and ends, as they happen. */
  #judge(): void {
    for (const { client } of this.#party.members) {
      const { feed, player } = client
      const others = feed.peers.filter(({ goneFrom }) => goneFrom === Infinity)
      for (const peer of feed.peers) {
        if (peer.verdict === undefined || this.#judged.has(`${player}>${peer.player}`)) continue
        this.#judged.add(`${player}>${peer.player}`)
        this.#count('removed')
        const isConnected = this.#isGood(player, peer.player)
          || others.some((other) => other !== peer && this.#isGood(other.player, peer.player))
        require('I36', !isConnected, `player ${player} removed ${peer.player}, whose frames a peer receives`)
      }
      if (feed.ended === undefined || this.#hasEnded[player]) continue
      this.#hasEnded[player] = true
      if (feed.ended !== 'line-lost') continue
      this.#count('line-lost')
      const isRemoved = this.#party.members.some((member) => member.client.feed.peerOf(player)?.verdict !== undefined)
      const isConnected = others.some((other) => !this.#hasEnded[other.player] && this.#isGood(player, other.player))
      require('I36', isRemoved || !isConnected, `player ${player} ended with line-lost on a good line`)
    }
  }

  #check(): void {
    this.#checkBytes()
    this.#checkOrders()
    this.#checkEvents()
    this.#checkProgress()
  }

  /**
   * The first tick that the others play without a player. The player may not know that yet, and its own ticks from
   * there on do not count.
   */
  #goneFrom(player: number): number {
    const known = this.#party.members.map(({ client }) => client.feed.peerOf(player)?.goneFrom ?? Infinity)
    return Math.min(...known)
  }

  #checkBytes(): void {
    const known: string[] = []
    const bodies: string[] = []
    for (const { client, hashes } of this.#party.members) {
      const { log } = client.feed
      const limit = this.#goneFrom(client.player)
      for (let tick = 1; tick <= log.newest && tick < limit; tick++) {
        const body = log.bytes.slice(log.startOf(tick), log.endOf(tick)).join()
        bodies[tick] ??= body
        require('I23', bodies[tick] === body, `player ${client.player} has other bytes in tick ${tick}`)
      }
      hashes.forEach((hash, tick) => {
        if (tick >= limit) return
        known[tick] ??= hash
        require('I24', known[tick] === hash, `player ${client.player} has another world after tick ${tick}`)
      })
    }
  }

  /** Take orders have serial numbers: all that were sent are there once, in their sequence. */
  #checkOrders(): void {
    for (const { client: { feed } } of this.#party.members) {
      const last = new Map<number, number>()
      const { log } = feed
      for (const { player, type, data } of readTicks(log.bytes.slice(0, log.endOf(log.newest))).flat()) {
        if (type !== TAKE || player === 0) continue
        const serial = Number.parseInt(data.slice(2) + data.slice(0, 2), 16)
        const isNext = serial === (last.get(player) ?? 0) + 1
        require('I25', isNext, `order ${serial} of player ${player} is not the next one`)
        last.set(player, serial)
      }
      for (const [player, serial] of last) {
        this.#counts['orders'] = (this.#counts['orders'] ?? 0) + serial
        require('I25', serial <= this.#takes[player]!, `player ${player} never gave order ${serial}`)
      }
    }
  }

  #checkEvents(): void {
    const known = new Map<number, string>()
    for (const { events, client } of this.#party.members) {
      const byTick = new Map<number, string>()
      for (const [name, player, value, tick] of events)
        byTick.set(tick, `${byTick.get(tick) ?? ''} ${name} ${player} ${value}`)
      for (const [tick, text] of byTick) {
        if (tick >= this.#goneFrom(client.player)) continue
        const first = known.get(tick) ?? text
        known.set(tick, first)
        require('I28', first === text, `tick ${tick} has${first}, but${text} on player ${client.player}`)
      }
    }
  }

  /** In clear weather all that are still in the match step the same ticks, or know that it is over. */
  #checkProgress(): void {
    const { now } = this.#party.clock
    const playing = this.#party.members.filter(({ client: { feed, player } }) =>
      feed.ended === undefined && player !== this.#crashed)
    for (const { client, tick, executedAt } of playing) {
      if (client.runner === undefined || tick === 0) continue
      const lateMs = now - executedAt[tick]!
      require('I37', lateMs < 700, `player ${client.player} waits for ${lateMs} ms after tick ${tick}`)
      const { players } = client.runner.roster
      const others = playing.filter((member) => member.client !== client).map((member) => member.client.player)
      for (const other of players) {
        const isThere = other === client.player || others.includes(other)
        require('I37', isThere, `player ${client.player} plays with ${other}, whose match is over`)
      }
    }
  }
}
