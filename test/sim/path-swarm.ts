/**
 * One world of paths from one seed: a host and a guest behind routers, one or two packet relays, an attacker with a
 * valid token of another match, and the invariants I1, I5, I13, I14, I17, I19, I45 and I46.
 *
 * Relays crash and restart, stand still, and are cut off; routers forget their ports, the guest changes its network,
 * machines sleep, datagrams are lost, doubled, changed, replayed and forged. Then it clears: both are connected again,
 * by the path that their routers allow. At the end everything is silent, and the relays have nothing left.
 */

import { RelayClient } from 'tickwire/nat'
import { hashBytes, hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import { RELAY_LIFE_MS, RELAY_SWEEP_MS } from '../../packages/tickwire/src/core/base/limits-nat.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import type { NatKind, NatSight, SimHost } from '../../packages/tickwire/src/testing/sim-nat.ts'
import { calm } from '../../packages/tickwire/src/testing/weather.ts'
import { Machine, type NatPeer, NatStage } from '../nat/nat-stage.ts'
import { hold, violationOf, type Violation } from './invariants.ts'
import { RelayWitness } from './relay-witness.ts'
import type { WorldResult } from './world-result.ts'

const STEP_MS = 1000 / 60
const STORM_MS = 15_000
/** A connection that the storm has cut ends after ten seconds of silence, and the next one needs a path. */
const CALM_MS = 14_000
/** What was sent this shortly before the end may still be in flight. */
const UNDER_WAY_MS = 800
const SIGNAL_MS = 50
const SIGHTS: readonly NatSight[] = ['none', 'address', 'port']
const CHANNEL_HEAD_BYTES = 4
const ALLOCATIONS_MAX = 16

/** A bug to plant: called after every step of time. */
export type PathPlant = (stage: NatStage, isStorm: boolean) => void

/** Plays the world of a seed. */
export function playPath(seed: number, plant: PathPlant = () => {}): WorldResult {
  return new PathWorld(seed, plant).play()
}

class PathWorld {
  readonly #seed: number
  readonly #plant: PathPlant
  readonly #dice: Dice
  readonly #stage: NatStage
  readonly #kinds: readonly [Required<Pick<NatKind, 'mapping' | 'filtering'>>, NatKind]
  readonly #tally = new LinkTally()
  readonly #counts: Record<string, number> = {}
  readonly #trace = new Uint32Array(2)
  readonly #loss: number
  readonly #witness = new RelayWitness()
  /** Datagrams that were seen on the way, to be replayed. */
  readonly #seen: { readonly to: string; readonly bytes: Uint8Array }[] = []
  readonly #attacker: SimHost
  readonly #attack: RelayClient | undefined
  /** A generator for relays that stand still and lines that fail, in every second world. */
  readonly #more: Dice
  readonly #isMore: boolean
  /** Until then no datagram reaches a relay or comes from it. Indexed by relay. */
  readonly #flapUntil: number[] = []
  #isStorm = true
  #isOver = false
  #ticks = 0
  /** Messages of the newest connection: the next one, and when each was sent. */
  #next = 0
  #sentAt: number[] = []
  #reviveAt: number[] = []
  #connectAt = Infinity
  #sender: Connection | undefined

  constructor(seed: number, plant: PathPlant) {
    this.#seed = seed
    this.#plant = plant
    const dice = this.#dice = new Dice(seed ^ 0x9a7)
    this.#more = new Dice(seed ^ 0xf1a9)
    this.#isMore = this.#more.chance(0.5)
    this.#loss = dice.chance(0.3) ? 0.2 * dice.fraction() : 0.05 * dice.fraction()
    const kind = (): Required<Pick<NatKind, 'mapping' | 'filtering'>> => ({
      mapping: SIGHTS[dice.word() % 3]!, filtering: SIGHTS[dice.word() % 3]!,
    })
    const [home, away] = [kind(), kind()]
    this.#kinds = [home, away]
    const isPublic = dice.chance(0.15)
    const isSame = !isPublic && dice.chance(0.1)
    const lifeMs = dice.chance(0.2) ? 5000 + 10_000 * dice.fraction() : 120_000
    const own = { hasHairpin: dice.chance(0.3), keepsPorts: dice.chance(0.3), lifeMs }
    const relays = dice.chance(0.3) ? 1 : 2
    this.#stage = new NatStage(isPublic ? undefined : { ...home, ...own }, isSame ? 'same' : { ...away, ...own }, {
      seed, jitterMs: dice.chance(0.3) ? 40 * dice.fraction() : 5 * dice.fraction(), relays,
      latencyMs: 2 + 60 * dice.fraction(), mode: dice.chance(0.1) ? 'relay-only' : 'race',
    })
    this.#count(`${relays} relays`)
    this.#attacker = this.#stage.net.addHost('192.0.2.66:666')
    this.#attack = dice.chance(0.5) ? this.#addAttacker() : undefined
    this.#watch()
  }

  play(): WorldResult {
    let violation: Violation | undefined
    try {
      if (this.#dice.chance(0.5)) {
        this.#stage.prepareHost()
        this.#stage.meetByCode(SIGNAL_MS)
      } else this.#stage.meet()
      this.#stage.announceChanges(SIGNAL_MS)
      for (const end = this.#now + STORM_MS; this.#now < end;) {
        this.#mischief()
        this.#step()
      }
      this.#clear()
      for (const end = this.#now + CALM_MS; this.#now < end;) this.#step()
      this.#check()
      this.#end()
    } catch (error) {
      violation = violationOf(error, this.#now, 'path')
    }
    return {
      seed: this.#seed, violation, weather: calm(), endpointTicks: this.#ticks, simulatedMs: this.#now,
      traceHash: hashHex(this.#trace, 0), tally: this.#tally, counts: this.#counts,
    }
  }

  get #now(): number {
    return this.#stage.clock.now
  }

  #count(name: string): void {
    this.#counts[name] = (this.#counts[name] ?? 0) + 1
  }

  /** The attacker knows every id, and has a valid token of another match at the same relay. */
  #addAttacker(): RelayClient {
    const { net, clock, crypto } = this.#stage
    const client = new RelayClient({
      provider: crypto, entropy: new Dice(this.#seed ^ 0xa77), relay: '203.0.113.10:7777', token: this.#stage.token(1),
    })
    const out = createTransmit()
    clock.add(new Machine(
      net, this.#attacker,
      (now, _from, bytes, length) => {
        const isData = client.handleDatagram(now, bytes, length)
        hold(!isData, 'I46', () => 'a relay gave data of a match to the holder of a token of another match')
      },
      (now) => {
        while (client.pollTransmit(now, out)) net.send(now, this.#attacker, out.to, out.bytes, out.length)
        return client.pollTimeout(now)
      },
    ))
    this.#count('attacker')
    return client
  }

  /** Puts the faults of the network and the checks of relays into place. */
  #watch(): void {
    const { net } = this.#stage
    const send = net.send.bind(net)
    net.send = (now, from, to, bytes, length) => {
      hashBytes(bytes, 0, length, this.#trace[0]! ^ length, this.#trace, 0)
      this.#tally.sent++
      if (this.#isOver) return
      if (this.#isFlapping(from.address) || this.#isFlapping(to)) return void this.#tally.lost++
      const dice = this.#dice
      const sent = bytes.slice(0, length)
      if (this.#isStorm && from !== this.#attacker) {
        if (this.#seen.length < 200) this.#seen.push({ to, bytes: sent })
        else this.#seen[dice.word() % 200] = { to, bytes: sent }
        if (dice.chance(this.#loss)) return void this.#tally.lost++
        if (dice.chance(0.02)) {
          this.#tally.copies++
          send(now, from, to, sent, length)
        }
        if (dice.chance(0.005)) {
          this.#tally.bitsFlipped++
          sent[dice.word() % length]! ^= 1 << dice.word() % 8
        }
      }
      this.#tally.delivered++
      send(now, from, to, sent, length)
    }
    this.#stage.onRelay = (way, address, bytes, length, relay) => {
      if (way === 'in') this.#witness.handleReceived(relay, address, bytes, length)
      else this.#witness.handleSent(relay, address, bytes, length)
    }
    this.#stage.guest.onClosed = (connection) => {
      if (connection !== this.#stage.guest.connections.at(-1)) return
      this.#count('closed')
      this.#connectAt = this.#now + 100
    }
  }

  /** Relays crash and restart, routers restart, machines sleep and move, strangers send what they have seen. */
  #mischief(): void {
    const dice = this.#dice
    const { relayHosts, host, guest, net } = this.#stage
    if (this.#isMore) this.#moreMischief()
    relayHosts.forEach((relay, index) => {
      if (relay.isDead && this.#now >= this.#reviveAt[index]!) {
        this.#stage.restartRelay(index, this.#seed * 97 + Math.floor(this.#now))
        this.#count('relay restarted')
      } else if (!relay.isDead && dice.chance(0.001)) {
        relay.isDead = true
        this.#reviveAt[index] = this.#now + 200 + 6000 * dice.fraction()
        this.#count('relay crashed')
      }
      if (dice.chance(0.0002)) {
        this.#stage.relays[index]!.drain(this.#now, 10_000)
        this.#count('relay drained')
      }
    })
    for (const { machine } of [host, guest]) {
      if (dice.chance(0.0005)) {
        machine.host.router?.forget()
        this.#count('router restarted')
      }
      if (machine.isAsleep) machine.isAsleep = !dice.chance(0.02)
      else if (dice.chance(0.0005)) {
        machine.isAsleep = true
        this.#count('slept')
      }
    }
    if (dice.chance(0.0003) && guest.port.peers.size > 0) {
      this.#stage.moveGuest(this.#kinds[1], SIGNAL_MS, dice.chance(0.5))
      this.#count('moved')
    }
    if (dice.chance(0.05)) this.#forge(net)
  }

  /** Relays stand still, lines to relays fail, and both routers restart at once. */
  #moreMischief(): void {
    const dice = this.#more
    const { relayHosts, relayMachines, host, guest } = this.#stage
    relayHosts.forEach((relay, index) => {
      const machine = relayMachines[index]!
      if (machine.isAsleep) machine.isAsleep = !dice.chance(0.01)
      else if (!relay.isDead && dice.chance(0.0005)) {
        machine.isAsleep = true
        this.#count('relay stood still')
      }
      if (!dice.chance(0.0005)) return
      this.#flapUntil[index] = this.#now + 3000 * dice.fraction()
      this.#count('line to a relay failed')
    })
    if (!dice.chance(0.0003)) return
    for (const { machine } of [host, guest]) machine.host.router?.forget()
    this.#count('both routers restarted')
  }

  #isFlapping(address: string): boolean {
    const index = this.#stage.relayHosts.findIndex((relay) => relay.address === address)
    return this.#isStorm && (this.#flapUntil[index] ?? 0) > this.#now
  }

  /** The attacker sends noise, an old datagram, or data on a guessed channel; to relays and to peers. */
  #forge(net: NatStage['net']): void {
    const dice = this.#dice
    const { host, guest } = this.#stage
    const old = this.#seen[dice.word() % Math.max(1, this.#seen.length)]
    if (old !== undefined && dice.chance(0.6)) {
      const bytes = old.bytes.slice()
      if (dice.chance(0.3)) bytes[dice.word() % bytes.length]! ^= 1 << dice.word() % 8
      net.send(this.#now, this.#attacker, old.to, bytes, bytes.length)
    } else {
      const bytes = new Uint8Array(5 + dice.word() % 80)
      dice.fill(bytes)
      bytes[0] = 0x40 + dice.word() % 64
      bytes[2] = 0
      bytes[3] = bytes.length - CHANNEL_HEAD_BYTES
      net.send(this.#now, this.#attacker, '203.0.113.10:7777', bytes, bytes.length)
    }
    for (const { port } of [host, guest])
      for (const { allocation } of port.relays.slice(0, 1)) if (allocation !== '') this.#attack?.bind(allocation)
    this.#count('forged')
  }

  #step(): void {
    const { stage } = { stage: this.#stage }
    this.#ticks += 1 + [stage.host.machine, stage.guest.machine].filter(({ isAsleep }) => !isAsleep).length
      + stage.relayHosts.filter(({ isDead }) => !isDead).length
    this.#talk()
    stage.clock.drive(STEP_MS)
    this.#listen()
    this.#judgePaths()
    this.#plant(stage, this.#isStorm)
  }

  /** The guest sends a numbered message in every third step. A guest whose connection ended connects again. */
  #talk(): void {
    const { guest, host } = this.#stage
    if (this.#now >= this.#connectAt && !guest.machine.isAsleep) {
      this.#connectAt = Infinity
      guest.endpoint.connect(this.#now, 'peer/host')
      guest.machine.wake(this.#now)
      this.#count('connected again')
    }
    const connection = guest.connections.at(-1)
    if (connection !== this.#sender) {
      this.#sender = connection
      this.#next = 0
      this.#sentAt = []
    }
    if (connection?.isOpen !== true || guest.machine.isAsleep || !this.#dice.chance(1 / 3)) return
    const bytes = new Uint8Array(4)
    new DataView(bytes.buffer).setUint32(0, this.#next)
    if (guest.channels.send(0, bytes) !== 'queued') return
    this.#sentAt[this.#next++] = this.#now
    guest.machine.wake(this.#now)
    if (host.machine.isAsleep) this.#count('sent to a host that sleeps')
  }

  #listen(): void {
    const { received } = this.#stage.host
    received.forEach((number, at) => hold(number === at, 'I1', () => `message ${number} came in the place of ${at}`))
  }

  #judgePaths(): void {
    const { host, guest, relays } = this.#stage
    for (const peer of [host, guest]) {
      for (const { race } of peer.port.peers.values()) {
        const isDirect = race.state === 'direct'
        hold(isDirect === (race.direct !== ''), 'I16', () => `a race in ${race.state} has the path "${race.direct}"`)
        hold(race.rttMs >= 0, 'I19', () => `a probe took ${race.rttMs} ms`)
      }
      for (const { rttMs } of peer.port.relays) hold(rttMs >= 0, 'I19', () => `a relay answered in ${rttMs} ms`)
    }
    for (const { channel } of this.#attack?.peers.values() ?? [])
      hold(channel === 0, 'I46', () => 'a relay has bound a member of a match to a stranger')
    for (const { allocations } of relays)
      hold(allocations <= ALLOCATIONS_MAX, 'I13', () => `a relay has ${allocations} allocations`)
  }

  /** The weather clears, machines wake, and relays are back; now and then one of two is lost for good. */
  #clear(): void {
    this.#isStorm = false
    const { relayHosts, relayMachines, host, guest } = this.#stage
    for (const machine of relayMachines) machine.isAsleep = false
    const lost = this.#isMore && relayHosts.length > 1 && this.#more.chance(0.3) ? this.#more.word() % 2 : -1
    relayHosts.forEach((relay, index) => {
      if (index === lost) {
        relay.isDead = true
        this.#count('relay lost for good')
        return
      }
      const isDraining = this.#stage.relays[index]!.isDraining
      if (relay.isDead || isDraining) this.#stage.restartRelay(index, this.#seed * 131 + index)
    })
    for (const { machine } of [host, guest]) machine.isAsleep = false
  }

  #check(): void {
    const { host, guest } = this.#stage
    const connection = guest.connections.at(-1)
    hold(connection?.isOpen === true, 'I17', () => `the guest is ${connection?.state ?? 'alone'} after the calm`)
    const due = this.#sentAt.filter((at) => at < this.#now - UNDER_WAY_MS).length
    const { length } = host.received
    hold(length >= due, 'I18', () => `${length} of ${due} messages have arrived`)
    hold(due > 20, 'I45', () => `only ${due} messages were sent since the guest is connected`)
    hold(this.#stage.path !== 'none', 'I45', () => 'no path leads to the host')
    this.#count(`ended ${this.#stage.path}`)
    this.#counts['messages'] = length
  }

  /** Everything falls silent: a relay forgets its allocations. */
  #end(): void {
    this.#isOver = true
    const { clock, relays, host, guest } = this.#stage
    for (const { machine } of [host, guest] satisfies NatPeer[]) machine.isAsleep = true
    this.#attacker.isDead = true
    clock.drive(RELAY_LIFE_MS + 2 * RELAY_SWEEP_MS)
    const { relayHosts } = this.#stage
    for (const [index, relay] of relays.entries()) {
      const isLeft = relay.allocations > 0 && relayHosts[index]?.isDead !== true
      hold(!isLeft, 'I13', () => `${relay.allocations} allocations are left at a relay`)
    }
  }
}
