/**
 * One lockstep match from one seed: a relay, players of every kind, bad lines, and invariants I19, I23 to I28 and I35.
 *
 * Players are honest, or send false times and pulses, flood, stand still, or have slow machines. Lines lose, delay,
 * duplicate, hold everything back, change addresses and fail for up to a minute. Players resume, join late and leave.
 * The relay stands still. Then it clears.
 */

import { LockstepRunner, playedMatch, ReplayFeed } from 'tickwire/lockstep'
import { hashBytes, hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import type { Weather } from '../../packages/tickwire/src/testing/memory-link.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { calm } from '../../packages/tickwire/src/testing/weather.ts'
import { readTicks, type OrderMeaning } from '../reference/lockstep-checker.ts'
import { ClockJumps } from './clock-jumps.ts'
import { require, type Violation, violationOf } from './invariants.ts'
import { game, Move, Spawn, Take, Unit } from './lockstep-game.ts'
import { LockstepParty, type PartyClient } from './lockstep-party.ts'
import { isSameLog } from './same-log.ts'
import { checkStream, readVarint } from './stream-checks.ts'
import type { WorldResult } from './world-result.ts'

const STORM_MS = 8000
/** A storm in which one line fails for a minute. */
const LONG_STORM_MS = 66_000
const LONG_OUTAGE_MS = 60_000
const CALM_MS = 7000
/** A client that could not be healed in the storm, or whose try to connect began in it, tries again after 10 s. */
const LONG_CALM_MS = 18_000
const STEP_MS = 25
const TAKE = game.orders.indexOf(Take)

/** How a player behaves. */
type Kind = 'honest' | 'liar' | 'flooder' | 'stuck'

interface Actor {
  readonly kind: Kind
  readonly client: PartyClient
  /** Serial number of the last Take order, which is also its value. */
  takes: number
  executed: number
  hasLeft: boolean
}

/** A bug to plant: called after every step of time. */
export type Plant = (party: LockstepParty, isStorm: boolean) => void

/** Plays the match of a seed. `isCorrupted`: in the middle of it, one number of one client's world changes. */
export function playLockstep(seed: number, plant: Plant = () => {}, isCorrupted = false): WorldResult {
  return new LockstepWorld(seed, plant, isCorrupted).play()
}

class LockstepWorld {
  readonly #seed: number
  readonly #dice: Dice
  /**
   * A separate generator for slow machines, rebinding, long outages and message lanes, so that the numbers of older
   * seeds stay the same.
   */
  readonly #more: Dice
  /** Another one, for a relay that stands still and for lines that hold everything back. */
  readonly #halts: Dice
  readonly #haltRate: number
  readonly #jumps: ClockJumps
  readonly #isLong: boolean
  #longOutage: { readonly client: PartyClient; readonly until: number } | undefined
  readonly #party: LockstepParty
  readonly #actors: Actor[] = []
  readonly #counts: Record<string, number> = {}
  readonly #worst: number
  readonly #plant: Plant
  #isCorruptionDue: boolean
  readonly #isCorrupted: boolean

  constructor(seed: number, plant: Plant, isCorrupted: boolean) {
    this.#plant = plant
    this.#isCorruptionDue = isCorrupted
    this.#isCorrupted = isCorrupted
    this.#seed = seed
    this.#dice = new Dice(seed ^ 0x10c5)
    this.#more = new Dice(seed ^ 0x51ee)
    this.#halts = new Dice(seed ^ 0x4a1b)
    this.#haltRate = this.#halts.chance(0.5) ? 0.002 : 0
    this.#jumps = new ClockJumps(seed)
    this.#isLong = this.#more.chance(0.03)
    if (this.#isLong) this.#count('long outage')
    this.#worst = this.#dice.fraction()
    const clients = 2 + Math.floor(this.#dice.fraction() * 4)
    const late = this.#dice.chance(0.3) ? 'drop' as const : 'slip' as const
    const isAgreed = this.#dice.chance(0.3)
    if (isAgreed) this.#count('agreed')
    this.#party = new LockstepParty({
      game: game as never, seed, clients: 0, resumeMs: this.#more.chance(0.5) ? 30_000 : 90_000, isAgreed,
      relay: { late, ...(this.#dice.chance(0.3) && { cover: 'all' as const }), stallMs: 2000 },
    })
    for (let client = 0; client < clients; client++) this.#add()
  }

  play(): WorldResult {
    let violation: Violation | undefined
    try {
      const stormMs = this.#isLong ? LONG_STORM_MS : STORM_MS
      for (let ms = 0; ms < stormMs; ms += STEP_MS) {
        this.#mischief()
        this.#moreMischief(ms)
        this.#halt()
        this.#party.run(STEP_MS)
        this.#act()
        if (ms > stormMs / 2) this.#corrupt()
        this.#plant(this.#party, true)
      }
      this.#clear()
      for (let ms = 0; ms < (this.#isCorrupted || this.#isLong ? LONG_CALM_MS : CALM_MS); ms += STEP_MS) {
        this.#reconnect()
        this.#party.run(STEP_MS)
        this.#plant(this.#party, false)
      }
      this.#check()
    } catch (error) {
      violation = violationOf(error, this.#party.clock.now, 'lockstep')
    }
    const { log } = this.#party.match.relay
    const trace = new Uint32Array(2)
    hashBytes(log.bytes, 0, log.length, this.#seed, trace, 0)
    const clients = this.#party.clients.length
    return {
      seed: this.#seed, violation, weather: calm(), endpointTicks: log.newest * (clients + 1),
      simulatedMs: this.#party.clock.now, traceHash: hashHex(trace, 0), tally: new LinkTally(), counts: this.#counts,
    }
  }

  #count(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1
  }

  #add(): void {
    const dice = this.#dice
    const client = this.#party.add()
    client.link.weather = this.#drawWeather()
    client.offsetMs = Math.floor(dice.fraction() * 100_000)
    client.drift = 1 + (dice.fraction() - 0.5) / 1000
    const draw = dice.fraction()
    const kind: Kind = draw < 0.7 ? 'honest' : draw < 0.8 ? 'liar' : draw < 0.9 ? 'flooder' : 'stuck'
    this.#count(kind)
    this.#actors.push({ kind, client, takes: 0, executed: 0, hasLeft: false })
    if (kind === 'liar') {
      const { report } = client.client.feed
      client.client.feed.report = (tick) => { report.call(client.client.feed, tick, tick & 0xffff) }
    }
  }

  #drawWeather(): Weather {
    const dice = this.#dice
    const bad = this.#worst * dice.fraction()
    return {
      latencyMs: 150 * bad * dice.fraction(), jitterMs: dice.chance(0.2) ? 200 * bad : 30 * bad,
      loss: dice.chance(0.2) ? 0.3 * bad : 0.05 * bad, duplication: 0.1 * bad,
    }
  }

  /** Links change, machines stand still, players join and leave. */
  #mischief(): void {
    const dice = this.#dice
    const { clock } = this.#party
    if (dice.chance(0.002) && this.#actors.length < 8) this.#add()
    for (const actor of this.#actors) {
      const { client } = actor
      if (dice.chance(0.01)) client.link.weather = this.#drawWeather()
      if (dice.chance(0.002)) {
        client.link.weather = { loss: 1 }
        this.#count('outage')
      }
      if (dice.chance(0.003)) client.frozenUntil = clock.now + 2000 * dice.fraction()
      if (actor.kind === 'stuck' && dice.chance(0.01)) client.stuckUntil = clock.now + 4000 * dice.fraction()
      if (dice.chance(0.0005) && !actor.hasLeft && client.client.runner !== undefined) {
        client.client.close(client.localTime(clock.now))
        actor.hasLeft = true
        this.#count('left')
      }
    }
    this.#reconnect()
  }

  /** Machines are slow, routers change addresses, one link fails for a minute, players send messages. */
  #moreMischief(ms: number): void {
    const dice = this.#more
    const { clock } = this.#party
    if (this.#isLong && ms === 3000) {
      const { client } = this.#actors[Math.floor(dice.fraction() * this.#actors.length)]!
      this.#longOutage = { client, until: clock.now + LONG_OUTAGE_MS }
    }
    for (const { client, hasLeft } of this.#actors) {
      if (dice.chance(0.002)) {
        client.stepMs = dice.chance(0.5) ? 0 : 80 * dice.fraction()
        this.#count('slow')
      }
      if (dice.chance(0.002)) this.#count(`rebound ${Math.min(1, client.rebinds++)}`)
      if (!hasLeft && dice.chance(0.01)) client.client.lanes.send('chat', new Uint8Array(100))
      if (!hasLeft && dice.chance(0.02)) client.client.lanes.send('voice', new Uint8Array(60))
      if (!hasLeft && dice.chance(0.002)) client.client.lanes.send('bulk', new Uint8Array(1000))
    }
    if (this.#longOutage !== undefined && clock.now < this.#longOutage.until)
      this.#longOutage.client.link.weather = { loss: 1 }
  }

  /** Clocks jump, the relay stands still, and a line holds all back and gives it at once, as TCP does after a loss. */
  #halt(): void {
    const dice = this.#halts
    const { now } = this.#party.clock
    if (dice.chance(this.#haltRate)) {
      this.#party.freeze(2500 * dice.fraction() ** 2)
      this.#count('relay stood still')
    }
    this.#jumps.strike(now, this.#party.clients, () => this.#count('clock jumped'))
    for (const { client } of this.#actors) {
      if (!dice.chance(this.#haltRate)) continue
      client.heldUntil = now + 5000 * dice.fraction()
      this.#count('line held back')
    }
  }

  /** Changes one number in the world of one client. */
  #corrupt(): void {
    if (!this.#isCorruptionDue) return
    const actor = this.#actors.find(({ kind, client, hasLeft }) =>
      kind === 'honest' && !hasLeft && !client.isClosed && (client.client.runner?.tick ?? 0) > 30)
    const unit = actor && [...actor.client.client.runner!.world.each(Unit)][2]
    if (unit === undefined) return
    unit.hp = unit.hp === 77 ? 78 : 77
    this.#isCorruptionDue = false
    this.#count('corrupted')
  }

  #reconnect(): void {
    for (const { client, hasLeft } of this.#actors) {
      if (!client.isClosed || hasLeft) continue
      const { seat } = client.client
      this.#count('resume')
      // As `LockstepLine`: a client whose seat is gone asks for a new one.
      const isGone = seat === undefined || client.closedBy === 'ticket' || client.closedBy === 'kicked'
      client.connect(this.#party.clock.now, isGone ? undefined : { resume: seat.ticket })
    }
  }

  /** Orders of all players. */
  #act(): void {
    const dice = this.#dice
    const { now } = this.#party.clock
    for (const actor of this.#actors) {
      const { client, kind } = actor
      const { runner, player } = client.client
      if (runner === undefined || actor.hasLeft || now < client.frozenUntil) continue
      const count = kind === 'flooder' ? (dice.chance(0.1) ? 200 : 0) : dice.chance(0.15) ? 1 : 0
      for (let each = 0; each < count; each++) {
        // A liar claims that it gave the order half a second ago.
        const at = kind === 'liar' ? now - 500 : now
        if (client.order(at, Take as never, { crate: (actor.takes + 1) % 65_536 }) === 'sent') actor.takes++
      }
      if (dice.chance(0.05)) client.order(now, Spawn as never, { count: 1 })
      if (dice.chance(0.05)) {
        const units = [...runner.world.each(Unit)].filter(({ owner }) => owner === player).map(({ id }) => id)
        client.order(now, Move as never, { units, to: { x: 256 * dice.fraction(), y: 256 * dice.fraction() } })
      }
      if (dice.chance(0.001)) runner.setSpeed(client.localTime(now), dice.chance(0.5) ? 2 : 0.5)
      if (dice.chance(0.001)) runner.pause(client.localTime(now))
      if (dice.chance(0.01)) runner.resume(client.localTime(now))
    }
  }

  /** The weather clears, and a paused match resumes. */
  #clear(): void {
    const { now } = this.#party.clock
    for (const { client, hasLeft } of this.#actors) {
      client.link.weather = { latencyMs: 10 }
      client.heldUntil = 0
      client.stepMs = 0
      client.frozenUntil = Math.min(client.frozenUntil, now)
      client.stuckUntil = Math.min(client.stuckUntil, now)
      if (!hasLeft) client.client.runner?.resume(client.localTime(now))
    }
  }

  #check(): void {
    const { relay } = this.#party.match
    const ticks = readTicks(relay.log.bytes.slice(0, relay.log.length))
    this.#counts['ticks'] = ticks.length
    this.#counts['orders'] = ticks.flat().filter(({ player }) => player > 0).length
    this.#checkBytes()
    if (!this.#isCorrupted) this.#checkHashes()
    this.#checkReplay()
    this.#checkHeals()
    this.#checkOrders(ticks)
    this.#checkCadence(ticks)
    this.#checkReturn()
    this.#checkEvents()
  }

  #checkBytes(): void {
    const { log } = this.#party.match.relay
    for (let tick = 1; tick <= log.newest; tick++)
      require('I9', log.startOf(tick) === log.endOf(tick - 1) && log.has(tick), `tick ${tick} is not in the log`)
    this.#actors.forEach(({ client }, number) => {
      require('I23', isSameLog(client.client.feed.log, log), `client ${number} has other bytes than the relay`)
    })
  }

  #checkHashes(): void {
    const known: string[] = []
    this.#actors.forEach(({ client: { hashes } }, number) => hashes.forEach((hash, tick) => {
      known[tick] ??= hash
      require('I24', known[tick] === hash, `client ${number} has another world after tick ${tick}`)
    }))
  }

  /** The log of the relay, stepped again, ends in the world of the clients. */
  #checkReplay(): void {
    if (this.#isCorrupted || this.#seed % 4 !== 3) return
    const { log } = this.#party.match.relay
    const seed = this.#actors[0]?.client.client.feed.seed ?? 0
    const feed = new ReplayFeed(playedMatch(log, game.tickRate, seed))
    feed.speed = Infinity
    const hashes: string[] = []
    const replay = new LockstepRunner(game, feed, {
      ticksPerUpdate: Infinity,
      onTick: (tick, low, high) => { hashes[tick] = `${high.toString(16)}.${low.toString(16)}` },
    })
    replay.update(0)
    this.#actors.forEach(({ client: { hashes: own } }, number) => {
      const last = own.length - 1
      require('I12', last < 1 || own[last] === hashes[last], `client ${number} and the replay differ at tick ${last}`)
    })
    this.#count('replayed')
  }

  #checkHeals(): void {
    const { judge, relay } = this.#party.match
    const { healed, failed } = judge.counts
    this.#counts['healed'] = healed
    require('I35', this.#isCorrupted || healed + failed === 0, `${healed} clients were healed, ${failed} could not be`)
    // In a pause there are no ticks in which a difference could be seen.
    if (!this.#isCorrupted || relay.isPaused) return
    const present = this.#actors.filter(({ client, hasLeft }) =>
      !hasLeft && !client.isClosed && relay.slotOf(client.client.player) >= 0)
    const tick = Math.min(...present.map(({ client }) => client.client.runner!.tick))
    const hashes = new Set(present.map(({ client }) => client.hashes[tick]))
    require('I35', present.length === 0 || hashes.size === 1, `after all, ${hashes.size} worlds differ in tick ${tick}`)
  }

  #checkOrders(ticks: readonly (readonly OrderMeaning[])[]): void {
    checkStream(ticks, TAKE)
    this.#actors.forEach(({ client }, number) => {
      const waiting = client.client.feed.orders.waitingCount
      const isOver = client.isClosed || client.client.endpoint.connections.length === 0
      require('I25', isOver || waiting === 0, `client ${number} still has ${waiting} orders that are not acknowledged`)
    })
  }

  #checkCadence(ticks: readonly (readonly OrderMeaning[])[]): void {
    const { closedAt } = this.#party
    let percent = 100
    let freeUntil = 0
    ticks.forEach((orders, at) => {
      const tick = at + 1
      for (const { player, type, data } of orders) {
        if (player !== 0) continue
        if (type === 0xc6) percent = readVarint(data)
        // These events restart the windows: join, leave, away, back, pause, resume, speed, commit, reveal.
        if ([0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc9, 0xca].includes(type)) freeUntil = tick + 1
      }
      if (tick < 3 || tick <= freeUntil || this.#party.wasFrozen(closedAt[tick]!)) return
      const gap = closedAt[tick]! - closedAt[tick - 1]!
      const planned = 100_000 / (game.tickRate * percent)
      const isPlanned = Math.abs(gap - planned) < 0.12 * planned
      require('I26', isPlanned, `tick ${tick} closed after ${gap} ms, planned ${planned}`)
    })
  }

  #checkReturn(): void {
    const { relay } = this.#party.match
    this.#actors.forEach(({ client, hasLeft }, number) => {
      if (hasLeft || relay.slotOf(client.client.player) < 0) return
      const behind = relay.log.newest - client.client.runner!.tick
      require('I27', behind < 30, `client ${number} is ${behind} ticks behind, though its line is good`)
    })
  }

  #checkEvents(): void {
    const known = new Map<number, string>()
    this.#actors.forEach(({ client: { events } }, number) => {
      const byTick = new Map<number, string>()
      for (const [name, player, tick] of events) byTick.set(tick, `${byTick.get(tick) ?? ''} ${name} ${player}`)
      for (const [tick, text] of byTick) {
        const first = known.get(tick) ?? text
        known.set(tick, first)
        require('I28', first === text, `tick ${tick} has${first}, but${text} on client ${number}`)
      }
    })
  }
}
