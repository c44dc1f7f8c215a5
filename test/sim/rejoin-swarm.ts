/**
 * One lockstep match from one seed that clients join when it is old: new players, new processes in old seats, and
 * observers. Donors, witnesses and joining clients crash in the middle of an image, donors stand still and answer late,
 * clocks jump, and some players lie about their images or give none. The match is recorded. Invariants: I23, I24 and
 * I40 to I44.
 */

import { hashBytes, hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import type { SyncMessage } from '../../packages/tickwire/src/core/order/sync-messages.ts'
import { matchHead } from '../../packages/tickwire/src/core/replay/match-head.ts'
import type { MatchFile } from '../../packages/tickwire/src/core/replay/match-file.ts'
import { MatchRecorder } from '../../packages/tickwire/src/core/replay/match-recorder.ts'
import { verifyMatch } from '../../packages/tickwire/src/core/replay/verify-match.ts'
import { encodeWorld, WorldEncoder } from '../../packages/tickwire/src/core/world/world-image.ts'
import { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { calm } from '../../packages/tickwire/src/testing/weather.ts'
import { readSeal } from '../reference/seal-checker.ts'
import { ImageAsks } from './image-asks.ts'
import { require, type Violation, violationOf } from './invariants.ts'
import { game, Move, Spawn, Unit } from './lockstep-game.ts'
import { LockstepParty, type PartyClient } from './lockstep-party.ts'
import { flipped, FullSink, openMatch, otherWorld, relayKey, sha256, verifying } from './replay-party.ts'
import { isSameLog } from './same-log.ts'
import type { WorldResult } from './world-result.ts'

/** The match is so old when the first client joins: more than 300 ticks, also for observers, which are 60 behind. */
const OLD_MS = 13_000
/** In some matches with liars, the first key image of the recording comes before that. */
const KEY_IMAGE_MS = 19_000
/** Clients have so long to join. A match in which all have joined ends sooner. */
const JOIN_MS = 30_000
const JOIN_MS_MIN = 3000
const STEP_MS = 25
const DELAY_TICKS = 60
/** Others may wait so long for a tick: two and a half ticks, and the jitter of their lines. */
const GAP_MS_MAX = 95
/** A client whose line is good is at most so many ticks behind. */
const NEAR_TICKS = 30

interface Joiner {
  readonly client: PartyClient
  readonly isObserver: boolean
  hasCrashed: boolean
}

/** Plays the match of a seed. `plant`: called after every step of time. */
export function playRejoin(seed: number, plant: (party: LockstepParty) => void = () => {}): WorldResult {
  return new RejoinWorld(seed, plant).play()
}

class RejoinWorld {
  readonly #seed: number
  readonly #dice: Dice
  readonly #plant: (party: LockstepParty) => void
  readonly #party: LockstepParty
  readonly #others: number
  readonly #joiners: Joiner[] = []
  readonly #crashed = new Set<PartyClient>()
  readonly #jumped = new Set<PartyClient>()
  readonly #liars = new Set<number>()
  readonly #asks = new ImageAsks()
  /** Images of liars, and images that the relay has sent or recorded. */
  readonly #lies: Uint8Array[] = []
  readonly #given: Uint8Array[] = []
  readonly #counts: Record<string, number> = {}
  readonly #sink = new FullSink()
  /** A generator for the disk alone, so that the matches of older seeds stay the same. */
  readonly #disk: Dice
  #recorder: MatchRecorder | undefined
  /** A generator for donors that stand still alone. */
  readonly #still: Dice
  #stillAt = Infinity
  #crashAt = Infinity

  constructor(seed: number, plant: (party: LockstepParty) => void) {
    this.#seed = seed
    this.#plant = plant
    this.#dice = new Dice(seed ^ 0x4e01)
    this.#disk = new Dice(seed ^ 0xd15c)
    this.#still = new Dice(seed ^ 0x571)
    const isDiskBad = this.#disk.chance(0.4)
    if (isDiskBad) this.#sink.everyMs = 300 + 5000 * this.#disk.fraction()
    const dice = this.#dice
    this.#others = 2 + Math.floor(dice.fraction() * 3)
    const isAgreed = dice.chance(0.3)
    this.#party = new LockstepParty({
      game: game as never, seed, clients: this.#others, isAgreed, resumeMs: 60_000, observerDelayTicks: DELAY_TICKS,
      provider: Object.assign(new StubCrypto(), { sha256 }),
      weather: () => ({ latencyMs: 5 + 40 * dice.fraction(), jitterMs: 4 * dice.fraction() }),
      // Half of the matches are recorded: signatures take most of the time.
      ...(seed % 2 === 0 && {
        signer: (client: number) => pureProvider.importSigning(new Uint8Array(32).fill(1 + client)),
        record: ({ log, seed: agreed, game: card }) => (this.#recorder = new MatchRecorder({
          log, match: { fingerprint: card.fingerprint, seed: agreed }, head: matchHead(card), sink: this.#sink, sha256,
          signer: relayKey,
        })),
      }),
    })
  }

  play(): WorldResult {
    let violation: Violation | undefined
    const { clock, clients } = this.#party
    const kind = this.#dice.fraction()
    // The lines of liars are the shortest, so the relay asks a liar first.
    const liars = kind < 0.3 ? clients.slice(0, Math.ceil(this.#others / 2) - 1) : []
    for (const { link } of liars) link.weather = { latencyMs: 1 }
    try {
      this.#run(OLD_MS)
      if (kind < 0.3) this.#lie(liars)
      if (liars.length > 0 && this.#seed % 2 === 0) this.#run(KEY_IMAGE_MS)
      else if (kind < 0.7) this.#crashAt = clock.now + 1500 * this.#dice.fraction()
      this.#join()
      const from = clock.now
      this.#run(JOIN_MS_MIN)
      while (!this.#isSettled() && clock.now < from + JOIN_MS) this.#run(1000)
      this.#check(from)
    } catch (error) {
      violation = violationOf(error, clock.now, 'rejoin')
    }
    const { log } = this.#party.match.relay
    const trace = new Uint32Array(2)
    hashBytes(log.bytes, 0, log.length, this.#seed, trace, 0)
    const { passed, refused } = this.#party.match.desk.counts
    Object.assign(this.#counts, { 'images passed': passed, 'images refused': refused })
    return {
      seed: this.#seed, violation, weather: calm(), endpointTicks: log.newest * (this.#party.clients.length + 1),
      simulatedMs: clock.now, traceHash: hashHex(trace, 0), tally: new LinkTally(), counts: this.#counts,
    }
  }

  #count(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1
  }

  #run(ms: number): void {
    for (let at = 0; at < ms; at += STEP_MS) {
      this.#act()
      this.#crash()
      this.#freezeDonor()
      this.#fillDisk()
      this.#party.run(STEP_MS)
      const { agreed } = this.#party.match.keeping
      if (agreed !== undefined && !this.#given.includes(agreed.snapshot)) this.#recorded(agreed.snapshot)
      this.#plant(this.#party)
    }
  }

  #recorded(snapshot: Uint8Array): void {
    this.#given.push(snapshot)
    this.#count('images recorded')
  }

  /** The disk of the recorder is full for a while. The first chunks are written. */
  #fillDisk(): void {
    const { now } = this.#party.clock
    if (now < 1000 || !this.#disk.chance(STEP_MS / this.#sink.everyMs)) return
    this.#sink.fullUntil = now + 800 * this.#disk.fraction()
    this.#sink.now = () => this.#party.clock.now
    this.#count('disk full')
  }

  /** Orders of players, and clocks that jump ahead as after a sleep. */
  #act(): void {
    const dice = this.#dice
    const { now } = this.#party.clock
    for (const client of this.#party.clients) {
      const { runner, player } = client.client
      if (runner === undefined || this.#crashed.has(client)) continue
      if (dice.chance(0.0004)) {
        client.offsetMs += 1500 * dice.fraction()
        this.#jumped.add(client)
        this.#count('clock jumped')
      }
      if (!dice.chance(0.03)) continue
      const units = [...runner.world.each(Unit)].filter(({ owner }) => owner === player).map(({ id }) => id).slice(0, 9)
      client.order(now, Move as never, { units, to: { x: 256 * dice.fraction(), y: 256 * dice.fraction() } })
      if (dice.chance(0.3)) client.order(now, Spawn as never, { count: 2 })
    }
  }

  /** Clients join. */
  #join(): void {
    const dice = this.#dice
    const party = this.#party
    if (this.#still.chance(0.3)) this.#stillAt = party.clock.now
    const count = 1 + Math.floor(dice.fraction() * 3)
    for (let each = 0; each < count; each++) {
      const isObserver = dice.chance(0.25)
      const isReturn = !isObserver && each === 0 && this.#others > 2 && dice.chance(0.4)
      const old = party.clients[0]!
      if (isReturn) this.#stop(old)
      const client = party.add(isReturn ? { resume: old.client.seat!.ticket }
        : isObserver ? { role: 'spectator' } : undefined)
      client.link.weather = {
        latencyMs: 120 * dice.fraction(), jitterMs: 20 * dice.fraction(), loss: 0.08 * dice.fraction(),
      }
      this.#joiners.push({ client, isObserver, hasCrashed: false })
      this.#count(isReturn ? 'returned' : isObserver ? 'observer' : 'joined')
      if (dice.chance(0.5)) this.#run(500 * dice.fraction())
    }
    if (dice.chance(0.3)) this.#crashJoinerAt(800 * dice.fraction())
  }

  /**
   * Less than half of the players lie about their images: the relay receives other bytes than they have, or nothing.
   * For the recording they also send the digest of the image that they forged.
   */
  #lie(liars: readonly PartyClient[]): void {
    const { desk, keeping } = this.#party.match
    const isSilent = new Dice(this.#seed ^ 0x51e7).chance(0.3)
    if (isSilent) this.#count('silent')
    for (const { client } of liars) this.#liars.add(client.player)
    const { handleMessage, take } = desk
    desk.handleMessage = (now, peer, message) => {
      const isImage = message.kind === 'image' || message.kind === 'digest'
      if (!this.#liars.has(peer) || !isImage) handleMessage.call(desk, now, peer, message)
      else if (!isSilent) handleMessage.call(desk, now, peer, this.#changed(message))
    }
    desk.take = () => {
      const out = take.call(desk)
      for (const each of out) this.#asks.see(each)
      for (const { message } of out) if (message.kind === 'state') this.#given.push(message.snapshot)
      return out
    }
    const { handleMessage: keep } = keeping
    keeping.handleMessage = (peer, message) => {
      if (message.kind !== 'image' || !this.#liars.has(peer)) return keep.call(keeping, peer, message)
      const bytes = otherWorld(message.bytes)
      this.#lies.push(bytes)
      keep.call(keeping, peer, { ...message, kind: 'digest', bytes: sha256(bytes) })
      keep.call(keeping, peer, { ...message, bytes })
    }
  }

  #changed(message: SyncMessage & { readonly kind: 'image' | 'digest' }): SyncMessage {
    this.#count(`wrong ${message.kind}`)
    const isWorld = message.kind === 'image' && this.#dice.chance(0.5)
    const bytes = isWorld ? otherWorld(message.bytes) : flipped(message.bytes, this.#dice)
    if (message.kind === 'image') this.#lies.push(bytes)
    return { ...message, bytes }
  }

  /** The machine of a client stops for ever. */
  #stop(client: PartyClient): void {
    this.#crashed.add(client)
    client.frozenUntil = Infinity
    client.link.weather = { loss: 1 }
  }

  /** A donor or witness crashes while an image is wanted. At least one of the others goes on. */
  #crash(): void {
    const { clock, clients, match: { desk } } = this.#party
    if (clock.now < this.#crashAt) return
    const alive = clients.slice(0, this.#others).filter((client) => !this.#crashed.has(client))
    const donor = alive.find(({ client }) => desk.isDonor(client.player))
    if (alive.length < 2 || donor === undefined) return
    const witness = alive.find((client) => client !== donor)!
    const isDonor = this.#dice.chance(0.6)
    this.#stop(isDonor ? donor : witness)
    this.#count(isDonor ? 'donor crashed' : 'witness crashed')
    this.#crashAt = this.#dice.chance(0.3) ? clock.now + 3000 * this.#dice.fraction() : Infinity
  }

  /** A donor stands still while its image is wanted. It answers when another donor was asked. */
  #freezeDonor(): void {
    const { clock, clients, match: { desk } } = this.#party
    if (clock.now < this.#stillAt) return
    const donor = clients.find((client) => !this.#crashed.has(client) && desk.isDonor(client.client.player))
    if (donor === undefined) return
    donor.frozenUntil = clock.now + 500 + 4000 * this.#still.fraction()
    this.#jumped.add(donor)
    this.#stillAt = Infinity
    this.#count('donor stood still')
  }

  #crashJoinerAt(ms: number): void {
    this.#run(ms)
    const joiner = this.#joiners[Math.floor(this.#dice.fraction() * this.#joiners.length)]!
    joiner.hasCrashed = true
    this.#stop(joiner.client)
    this.#count('joiner crashed')
  }

  #behind({ client: { client }, isObserver }: Joiner): number {
    return this.#party.match.relay.log.newest - (client.runner?.tick ?? 0) - (isObserver ? DELAY_TICKS : 0)
  }

  #isSettled(): boolean {
    return this.#crashAt === Infinity && this.#party.match.desk.nextAt() === Infinity && this.#joiners.every((joiner) =>
      joiner.hasCrashed || (this.#behind(joiner) < NEAR_TICKS && joiner.client.client.feed.log.isWhole))
  }

  #check(from: number): void {
    const { match: { relay, desk }, clients } = this.#party
    const isLie = this.#given.some((image) => this.#lies.some((lie) => Buffer.compare(lie, image) === 0))
    require('I43', !isLie, 'the image of a liar was passed on or recorded, though most players have another one')
    const known: string[] = []
    clients.forEach(({ hashes, client }, number) => {
      require('I23', isSameLog(client.feed.log, relay.log), `client ${number} has other bytes than the relay`)
      const gaps = hashes.filter((hash, tick) => hash !== undefined && tick > 1 && hashes[tick - 1] === undefined)
      require('I11', gaps.length <= 1, `client ${number} has ${gaps.length} gaps between its ticks`)
      hashes.forEach((hash, tick) => {
        known[tick] ??= hash
        require('I24', known[tick] === hash, `client ${number} has another world after tick ${tick}`)
      })
    })
    this.#joiners.forEach((joiner, number) => {
      const { client: { client, isClosed, closedBy }, hasCrashed } = joiner
      if (hasCrashed || (isClosed && closedBy === 'kicked')) return
      const behind = this.#behind(joiner)
      require('I40', behind < NEAR_TICKS, `client ${number} joined and is ${behind} ticks behind`)
      require('I40', client.feed.log.isWhole, `client ${number} never got the ticks from before its image`)
    })
    const { cases } = this.#party.match.judge.counts
    require('I35', cases === 0, `${cases} differences were looked into, and there was none`)
    // Of those that have not crashed: without a majority of them no image may be passed on (seed 143).
    const alive = clients.slice(0, this.#others).filter((client) => !this.#crashed.has(client))
    const honest = alive.map(({ client: { player } }) => player).filter((player) => !this.#liars.has(player))
    const isMajority = this.#liars.size > 0 && 2 * honest.length > alive.length
    if (isMajority && this.#joiners.every(({ hasCrashed }) => !hasCrashed)) {
      // A player that is left alone is asked too. A witness that has crashed does not confirm its image (425, 565).
      const isConfirmed = honest.length > 1 || this.#asks.hasMajority(honest)
      const isAsked = isConfirmed ? desk.counts.passed > 0 : this.#asks.hasDonor(honest[0]!)
      require('I40', isAsked, 'most players are honest, and no image was passed on')
    }
    const hasJumped = this.#joiners.some(({ client: { hashes }, hasCrashed }) =>
      hasCrashed || hashes.filter((hash) => hash !== undefined).length < hashes.length - NEAR_TICKS)
    require('I40', hasJumped || desk.counts.passed === 0, 'an image was passed on, and no client went on from it')
    this.#checkGaps(from)
    this.#checkSlices()
    this.#checkRecording()
  }

  /** A world in slices of any size has the bytes of the world in one piece. */
  #checkSlices(): void {
    const { world } = this.#party.clients.find((client) => !this.#crashed.has(client))!.client.runner!
    const whole = encodeWorld(world)!
    for (const sizeBytes of [1, 1 + Math.floor(whole.length * this.#dice.fraction())]) {
      const encoder = new WorldEncoder(world)
      while (!encoder.advance(sizeBytes));
      const isSame = encoder.image !== undefined && Buffer.compare(encoder.image, whole) === 0
      require('I44', isSame, `an image in slices of ${sizeBytes} bytes is not the image of the world`)
    }
  }

  /** Ticks are closed and executed as before. */
  #checkGaps(from: number): void {
    const { closedAt, clients } = this.#party
    const longest = (times: readonly number[]): number => times.reduce((most, at, tick) =>
      at > from && times[tick - 1] !== undefined ? Math.max(most, at - times[tick - 1]!) : most, 0)
    require('I41', longest(closedAt) < GAP_MS_MAX, `the relay closed no tick for ${longest(closedAt)} ms`)
    clients.slice(0, this.#others).forEach((client, number) => {
      const gap = longest(client.executedAt)
      const isSteady = !this.#crashed.has(client) && !this.#jumped.has(client)
      require('I41', !isSteady || gap < GAP_MS_MAX, `client ${number} stepped no tick for ${gap} ms`)
    })
  }

  #checkRecording(): void {
    if (this.#recorder === undefined) return
    this.#sink.fullUntil = 0
    this.#recorder.close(this.#party.clock.now)
    const bytes = this.#sink.bytes()
    const { lostTicks } = this.#recorder
    if (lostTicks > 0) this.#count('gap')
    const { problems, ticks, players, lostTicks: named } = verifyMatch(openMatch(bytes), verifying)
    require('I42', problems.length === 0, `the recording is not genuine: ${problems[0]}`)
    const { newest } = this.#party.match.relay.log
    require('I42', ticks === newest, `the recording has ${ticks} ticks of ${newest}`)
    require('I42', named === lostTicks, `the disk lost ${lostTicks} ticks, and the recording says ${named}`)
    // Behind a gap, what players signed cannot be checked.
    require('I42', players.size > 0 || lostTicks > 0, 'no player has signed its orders')
    const file = openMatch(bytes)
    if (lostTicks === 0) this.#checkSeals(file)
    const sealed = file.recording.chunks.filter(({ type }) => type >= 10 && type <= 12)
    const chunk = sealed[Math.floor(this.#dice.fraction() * sealed.length)]!
    const body = chunk.offset + 12 + Math.floor(this.#dice.fraction() * chunk.length)
    const altered = bytes.slice()
    altered[body]! ^= 1 << Math.floor(8 * this.#dice.fraction())
    const sum = new Uint32Array(2)
    hashBytes(altered, chunk.offset, 12 + chunk.length, 0, sum, 0)
    new DataView(altered.buffer).setUint32(chunk.offset + 12 + chunk.length, sum[0]!, true)
    const found = verifyMatch(openMatch(altered), verifying).problems.length
    require('I42', found > 0, `byte ${body} of a chunk of type ${chunk.type} was changed, and nothing found it`)
    this.#count('verified')
  }

  /** A reader that was written from the wire document finds in the seals what the engine has put there. */
  #checkSeals(file: MatchFile): void {
    for (const { body } of file.seals) {
      const { first, top, computed, roots } = readSeal(body, (tick) => file.tickBytes(tick)!)
      require('I42', top === computed, `the seal from tick ${first} on is not over its ticks and hashes`)
      this.#counts['sealed hashes'] = (this.#counts['sealed hashes'] ?? 0) + roots.size
    }
  }
}
