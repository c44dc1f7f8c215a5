/**
 * One lockstep match from one seed whose relay crashes or is asked to end. Invariants: I9, I23, I24, I25, I27, I38, I39
 * and I42.
 *
 * Players are honest, or claim ticks that never were, or give old ticks with other bytes. Some are gone when the relay
 * crashes, or stand still for a while, or crash when the next relay asks them for the old ticks. Lines lose and delay,
 * and sometimes one is cut while the relay is well. Sometimes the next relay crashes as well. A quarter of the matches
 * is recorded, by each relay.
 */

import { HANDOVER_TICKS } from '../../packages/tickwire/src/core/base/limits.ts'
import { hashBytes, hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import type { RecordedMatch } from '../../packages/tickwire/src/core/relaying/match-keeping.ts'
import { TickLog } from '../../packages/tickwire/src/core/order/tick-log.ts'
import { matchHead } from '../../packages/tickwire/src/core/replay/match-head.ts'
import { MatchRecorder } from '../../packages/tickwire/src/core/replay/match-recorder.ts'
import { MemorySink } from '../../packages/tickwire/src/core/replay/recording-memory.ts'
import { verifyMatch, type VerifyOptions } from '../../packages/tickwire/src/core/replay/verify-match.ts'
import { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import type { Weather } from '../../packages/tickwire/src/testing/memory-link.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { calm } from '../../packages/tickwire/src/testing/weather.ts'
import { readTicks } from '../reference/lockstep-checker.ts'
import { HandoverParty, type HandoverClient } from './handover-party.ts'
import { require, type Violation, violationOf } from './invariants.ts'
import { game, Spawn, Take } from './lockstep-game.ts'
import { openMatch } from './replay-party.ts'
import { isSameLog } from './same-log.ts'
import { checkStream } from './stream-checks.ts'
import type { WorldResult } from './world-result.ts'

const STEP_MS = 25
const HANDOVER_BAR_MS = 6000
/** A relay that is asked to end hands its match on in less time, on a good line. */
const ASKED_BAR_MS = 2500
/** At the end clients have so long to step the newest ticks, and are at most so many behind. */
const NEAR_MS = 7000
const NEAR_TICKS = 30
const OBSERVER_TICKS = 60
const TAKE = game.orders.indexOf(Take)

const crypto = new StubCrypto()
const sha256 = (bytes: Uint8Array): Uint8Array => crypto.sha256(bytes)
/** Those of `HandoverParty`. */
const RELAY_KEYS = [1, 2, 3].map((byte) => crypto.importSigning(new Uint8Array(32).fill(byte)))
const verifying: VerifyOptions = {
  sha256, verify: (publicKey, message, signature) => crypto.importVerifying(publicKey).verify(message, signature),
  publicKeys: RELAY_KEYS.map(({ publicKey }) => publicKey),
}

interface Recorded {
  readonly recorder: MatchRecorder
  readonly sink: MemorySink
}

interface Actor {
  readonly client: HandoverClient
  isLiar: boolean
  takes: number
}

/** A bug to plant: called after every step of time. */
export type HandoverPlant = (party: HandoverParty) => void

/** Plays the match of a seed. */
export function playHandover(seed: number, plant: HandoverPlant = () => {}): WorldResult {
  return new HandoverWorld(seed, plant).play()
}

class HandoverWorld {
  readonly #seed: number
  readonly #dice: Dice
  /** A separate generator for relays that are asked to end, so that the numbers of older seeds stay the same. */
  readonly #more: Dice
  /** Another one, for altered recordings. */
  readonly #disk: Dice
  /** Another one, for lines that are cut and players that crash after their claim. */
  readonly #late: Dice
  /** Another one, for old ticks that are altered. */
  readonly #old: Dice
  readonly #party: HandoverParty
  readonly #actors: Actor[] = []
  /** Players that altered old ticks. */
  readonly #forgers = new Set<number>()
  readonly #counts: Record<string, number> = {}
  readonly #isGood: boolean
  readonly #plant: HandoverPlant
  /** Indexed by relay. */
  readonly #recorded: Recorded[] = []
  /** Where the match is played. */
  #relay = 0
  /** The bytes of the log that are kept whatever happens: two honest players hold them. */
  #kept: Uint8Array = new Uint8Array(0)

  constructor(seed: number, plant: HandoverPlant) {
    this.#seed = seed
    this.#plant = plant
    this.#dice = new Dice(seed ^ 0x4a0d)
    this.#more = new Dice(seed ^ 0x5706)
    this.#disk = new Dice(seed ^ 0xd15c)
    this.#late = new Dice(seed ^ 0x1a7e)
    this.#old = new Dice(seed ^ 0x01d5)
    const dice = this.#dice
    this.#isGood = dice.chance(0.5)
    const worst = this.#isGood ? 0.1 : dice.fraction()
    const weather = (): Weather => ({
      latencyMs: 20 + 80 * worst * dice.fraction(), jitterMs: 40 * worst * dice.fraction(),
      loss: 0.2 * worst * dice.fraction(), duplication: 0.1 * worst,
    })
    const rules = { ...(dice.chance(0.3) && { seed: 'agreed' as const }), relay: { stallMs: 2000 } }
    this.#party = new HandoverParty({
      game: game as never, seed, clients: 1 + Math.floor(5 * dice.fraction()), relays: 3, weather, rules,
      ...(seed % 4 === 0 && { record: (relay) => (match) => this.#record(relay, match) }),
    })
    for (const client of this.#party.clients) this.#actors.push({ client, isLiar: false, takes: 0 })
    if (dice.chance(0.2)) this.#party.add(true)
  }

  play(): WorldResult {
    let violation: Violation | undefined
    const dice = this.#dice
    try {
      this.#run(1500 + 4000 * dice.fraction())
      if (this.#late.chance(0.15)) this.#cut()
      this.#crash()
      if (dice.chance(0.2)) {
        this.#run(500)
        this.#crash()
      }
      this.#run(3000)
      for (let passed = 0; passed < NEAR_MS && this.#behind() > NEAR_TICKS; passed += STEP_MS) this.#run(STEP_MS)
      this.#check()
    } catch (error) {
      violation = violationOf(error, this.#party.clock.now, 'handover')
    }
    const trace = new Uint32Array(2)
    const log = this.#log()
    if (log !== undefined) hashBytes(log.bytes, 0, log.length, this.#seed, trace, 0)
    return {
      seed: this.#seed, violation, weather: calm(), endpointTicks: (log?.newest ?? 0) * (this.#actors.length + 1),
      simulatedMs: this.#party.clock.now, traceHash: hashHex(trace, 0), tally: new LinkTally(), counts: this.#counts,
    }
  }

  #count(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1
  }

  #log(): TickLog | undefined {
    return this.#party.relays[this.#relay]?.match?.relay.log
  }

  #run(ms: number): void {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      this.#act()
      this.#party.run(STEP_MS)
      this.#plant(this.#party)
    }
  }

  #record(relay: number, { log, seed, game: card, takeover }: RecordedMatch): MatchRecorder {
    const sink = new MemorySink()
    const recorder = new MatchRecorder({
      log, match: { fingerprint: card.fingerprint, seed }, head: matchHead(card), sink, sha256,
      signer: RELAY_KEYS[relay]!, ...(takeover && { handover: takeover }),
    })
    this.#recorded[relay] = { recorder, sink }
    return recorder
  }

  /** Orders of all players. */
  #act(): void {
    const dice = this.#dice
    const { now } = this.#party.clock
    for (const actor of this.#actors) {
      const { client } = actor
      if (client.isGone || now < client.frozenUntil) continue
      if (dice.chance(0.15) && client.order(now, Take as never, { crate: (actor.takes + 1) % 65_536 }) === 'sent')
        actor.takes++
      if (dice.chance(0.05)) client.order(now, Spawn as never, { count: 1 })
      if (dice.chance(0.002)) client.client.runner?.setSpeed(now, dice.chance(0.5) ? 2 : 0.5)
    }
  }

  /** The players at the relay. */
  #here(): readonly Actor[] {
    return this.#actors.filter(({ client }) => client.relay === this.#relay && client.client.runner !== undefined)
  }

  /** The line of one player is cut while the relay is well. The player asks the next relays, and none goes on. */
  #cut(): void {
    const here = this.#here()
    const far = here[Math.floor(this.#late.fraction() * here.length)]?.client
    if (far === undefined || here.length < 2) return
    this.#count('cut')
    const link = far.links[this.#relay]!
    const { weather } = link
    link.weather = { loss: 1 }
    this.#run(2000 + 6000 * this.#late.fraction())
    link.weather = weather
    for (let passed = 0; passed < 2 * NEAR_MS && this.#behind() > NEAR_TICKS; passed += STEP_MS) this.#run(STEP_MS)
    require('I27', !this.#isGood || this.#behind() <= NEAR_TICKS, 'the player does not return to its relay')
    const others = this.#party.relays.filter((_, relay) => relay !== this.#relay)
    const isOne = others.every(({ match }) => match?.succession?.desk?.stage !== 'done')
    require('I9', isOne, 'the match goes on at another relay for one player, and its relay is well')
  }

  /** The relay crashes, or is asked to end: returns whether it is asked. */
  #endRelay(): boolean {
    const isAsked = this.#more.chance(0.4)
    if (isAsked) this.#party.stop(this.#relay)
    else this.#party.crash(this.#relay)
    this.#count(isAsked ? 'asked' : 'crash')
    return isAsked
  }

  /** The relay crashes, with players that are gone, frozen or lie, and the match goes on, or is refused. */
  #crash(): void {
    const dice = this.#dice
    const { clock } = this.#party
    const old = this.#log()
    const here = this.#here()
    const isMishap = dice.chance(0.3) && here.length > 2
    const mishap = here[Math.floor(dice.fraction() * here.length)]
    if (isMishap && mishap !== undefined) {
      const draw = dice.fraction()
      this.#count(draw < 0.4 ? 'gone' : draw < 0.7 ? 'frozen' : 'liar')
      if (draw < 0.4) mishap.client.isGone = true
      else if (draw < 0.7) mishap.client.frozenUntil = clock.now + 4000 * dice.fraction()
      else this.#lie(mishap)
    }
    // The old ticks are asked for at the lowest player first.
    const [lowest] = here.toSorted((a, b) => a.client.client.player - b.client.client.player)
    const isFatal = this.#late.chance(0.2) && here.length > 2 && !isMishap
    const holder = isFatal ? lowest?.client : undefined
    const isForged = this.#old.chance(0.3) && here.length > 2 && !isMishap && !isFatal
    if (isForged && here.every(({ isLiar }) => !isLiar)) this.#forge(lowest!)
    const isAsked = this.#endRelay()
    const crashedAt = clock.now
    // A player that stands still has the time of the bar after that.
    const isQuick = isAsked && !isMishap && !isFatal && !isForged && this.#actors.every(({ client }) => !client.isGone)
    const barMs = (isQuick ? ASKED_BAR_MS : HANDOVER_BAR_MS)
      + Math.max(0, ...here.map(({ client }) => client.frozenUntil - crashedAt))
    const before = here.map(({ client }) => client.continued.length)
    if (old !== undefined) this.#keep(here.filter(({ client }) => client !== holder), old)
    const fatalMs = 400 * this.#late.fraction()
    let claimedAt = Infinity
    const isAll = (): boolean =>
      here.every(({ client, isLiar }, each) => client.isGone || isLiar || client.continued.length > before[each]!)
    const step = (): boolean => {
      this.#plant(this.#party)
      if (holder?.client.isGathering === true) claimedAt = Math.min(claimedAt, clock.now)
      if (holder !== undefined && clock.now > claimedAt + fatalMs && !holder.isGone) {
        this.#count('holder crashed')
        holder.isGone = true
      }
      return isAll()
    }
    for (let passed = 0; passed < (this.#isGood ? barMs : 30_000) && !step(); passed += STEP_MS)
      this.#party.run(STEP_MS)
    const tookMs = clock.now - crashedAt
    const name = isQuick ? 'askedMs' : 'tookMs'
    this.#counts[name] = Math.max(this.#counts[name] ?? 0, tookMs)
    const there = here.filter(({ client }, each) => client.continued.length > before[each]!)
    const [first] = there
    if (first === undefined) {
      require('I39', !this.#isGood || here.length === 0, `no client went on within ${tookMs} ms`)
      this.#count('void')
      return
    }
    require('I39', !this.#isGood || isAll(), `only ${there.length} of ${here.length} went on within ${tookMs} ms`)
    this.#relay = first.client.relay
    const isOne = there.every(({ client }) => client.relay === this.#relay)
    require('I9', isOne, 'the match goes on at two relays')
    this.#count('continued')
    const log = this.#log()
    const isKept = log !== undefined && this.#kept.every((byte, at) => log.bytes[at] === byte)
    require('I38', isKept && log.length >= this.#kept.length, 'a tick that two players hold is not in the match')
    const { tick } = first.client.continued.at(-1)!
    const isClosed = log !== undefined && old !== undefined && old.newest >= tick
      && old.bytes.subarray(0, old.endOf(tick)).every((byte, at) => log.bytes[at] === byte)
    // Two liars of the same chain are as good as two honest players.
    const isHonest = here.filter(({ isLiar }) => isLiar).length < 2
    require('I38', isClosed || !isHonest, 'a tick that the lost relay has not closed is in the match')
  }

  /** The longest run of ticks that two honest players hold. Packets that are under way can only make it longer. */
  #keep(here: readonly Actor[], old: TickLog): void {
    const { now } = this.#party.clock
    const honest = here.filter(({ client, isLiar }) => !client.isGone && !isLiar && client.frozenUntil <= now)
    // A client that has just gone on from an image shows no ticks before its next checkpoint (HAND2).
    const lengths = honest.map(({ client: { client: { feed: { log } } } }) => log)
      .map((log) => log.isWhole || log.lastMissing + 2 * HANDOVER_TICKS <= log.newest ? log.endOf(log.newest) : 0)
      .sort((a, b) => b - a)
    const length = lengths[Math.min(1, lengths.length - 1)] ?? 0
    // A client that went on from an image may not have all ticks yet: they are taken from the relay.
    if (2 * honest.length > here.length) this.#kept = old.bytes.slice(0, Math.min(length, old.length))
  }

  /** The player claims ticks that never were. */
  #lie(actor: Actor): void {
    actor.isLiar = true
    const { client } = actor
    client.onClaim = () => {
      const { log } = client.client.feed
      const count = Math.ceil(20 * this.#dice.fraction())
      if (this.#dice.chance(0.5)) log.retreat(Math.max(2, log.newest - count))
      for (let each = 0; each < 2 * count; each++) log.append(Uint8Array.of(0x5a), 1)
    }
  }

  /** The player alters one bit of the old ticks that it is asked for. They can still be read. */
  #forge(actor: Actor): void {
    actor.isLiar = true
    this.#forgers.add(actor.client.client.player)
    const { log } = actor.client.client.feed
    actor.client.onClaim = () => {
      actor.client.onClaim = () => {}
      const length = log.isWhole ? log.endOf(Math.max(0, log.newest - HANDOVER_TICKS)) : 0
      for (let each = 0; each < 200 && length > 0; each++) {
        const at = Math.floor(length * this.#old.fraction())
        const bit = 1 << Math.floor(8 * this.#old.fraction())
        log.bytes[at]! ^= bit
        if (new TickLog().receive(log.bytes, 0, log.length, log.newest) === 'ok') return this.#count('forged')
        log.bytes[at]! ^= bit
      }
    }
  }

  /** How many ticks the last of the clients that went on has still to step. */
  #behind(): number {
    const log = this.#log()
    if (log === undefined) return 0
    return Math.max(0, ...this.#honest().filter(({ frozenUntil }) => frozenUntil < this.#party.clock.now)
      .map(({ client: { player, runner } }) => log.newest - (player === 0 ? OBSERVER_TICKS : 0) - (runner?.tick ?? 0)))
  }

  /** The players and the observer at the relay, without liars. */
  #honest(): readonly HandoverClient[] {
    const liars = new Set(this.#actors.filter(({ isLiar }) => isLiar).map(({ client }) => client))
    return this.#party.clients.filter((client) =>
      !liars.has(client) && !client.isGone && client.relay === this.#relay)
  }

  #check(): void {
    const log = this.#log()
    if (log === undefined) return
    const behind = this.#behind()
    require('I27', behind <= NEAR_TICKS, `a client is at the relay, and ${behind} ticks behind`)
    const ticks = readTicks(log.bytes.slice(0, log.length))
    this.#counts['ticks'] = ticks.length
    const known: string[] = []
    for (const client of this.#honest()) {
      const own = client.client.feed.log
      require('I23', isSameLog(own, log), 'a client has other bytes than the relay')
      client.hashes.forEach((hash, tick) => {
        known[tick] ??= hash
        require('I24', known[tick] === hash, `a client has another world after tick ${tick}`)
      })
    }
    // A player that claimed false ticks loses count of its own orders.
    const liars = this.#actors.filter(({ isLiar }) => isLiar).map(({ client }) => Number(client.client.player))
    checkStream(ticks, TAKE, new Set(liars))
    this.#checkRecording(log)
  }

  /** The recording of the last relay is genuine: the seals of all its ticks, and what the relay before had signed. */
  #checkRecording({ newest }: TickLog): void {
    const recorded = this.#recorded[this.#relay]
    if (recorded === undefined) return
    recorded.recorder.close(this.#party.clock.now)
    const bytes = recorded.sink.bytes()
    const file = openMatch(bytes)
    const { problems, ticks, sealedTicks } = verifyMatch(file, verifying)
    // A player that alters its own log signs other orders than the others received: the recording names that player.
    const named = [...this.#forgers].map((player) => `player ${player}: did not sign the orders`)
    const others = problems.filter((problem) => !named.some((name) => problem.startsWith(name)))
    require('I42', others.length === 0, `the recording is not genuine: ${others[0]}`)
    require('I42', ticks === newest && sealedTicks === newest, `${sealedTicks} of ${newest} ticks are sealed`)
    if (problems.length > 0) return this.#count('forger named')
    const sealed = file.recording.chunks.filter(({ type }) => [10, 12, 16].includes(type))
    const chunk = sealed[Math.floor(this.#disk.fraction() * sealed.length)]!
    const altered = bytes.slice()
    altered[chunk.offset + 12 + Math.floor(this.#disk.fraction() * chunk.length)]! ^= 1 << this.#disk.fraction() * 8
    const sum = new Uint32Array(2)
    hashBytes(altered, chunk.offset, 12 + chunk.length, 0, sum, 0)
    new DataView(altered.buffer).setUint32(chunk.offset + 12 + chunk.length, sum[0]!, true)
    const found = verifyMatch(openMatch(altered), verifying).problems.length
    require('I42', found > 0, `a byte of a chunk of type ${chunk.type} was changed, and nothing found it`)
    this.#count(this.#relay > 0 ? 'verified after a handover' : 'verified')
  }
}
