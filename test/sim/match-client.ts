/**
 * One client of a match of the swarm: he plays or looks on, comes, goes with a goodbye or without one, and comes again, to his
 * seat where seats are kept. Everything that he is told is looked at by a witness.
 */

import type { CloseReason } from '../../packages/tickwire/src/core/connection/close-reason.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import type { DatagramPort } from '../../packages/tickwire/src/core/endpoint/datagram-port.ts'
import type { ConnectPass, Endpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { EndpointSecurity } from '../../packages/tickwire/src/core/endpoint/endpoint-security.ts'
import { createClientHost, type ClientHost } from '../../packages/tickwire/src/core/game/client-host.ts'
import type { JoinRequest } from '../../packages/tickwire/src/core/game/rooms/join-body.ts'
import type { SnapshotSink } from '../../packages/tickwire/src/core/replication/snapshot-sink.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import type { NetResident } from '../../packages/tickwire/src/testing/sim-net-actor.ts'
import type { SimNode } from '../../packages/tickwire/src/testing/sim-net-node.ts'
import { sinkOf, worldOf } from './crowd-player.ts'
import { sightOf } from './crowd-sight.ts'
import type { CrowdTruth } from './crowd-truth.ts'
import { CrowdWitness } from './crowd-witness.ts'
import type { DatagramWatch } from './invariants-datagrams.ts'
import { type Doubts, hold } from './invariants.ts'
import type { Diary } from './match-diary.ts'
import { SaidInputs } from './match-inputs.ts'
import { Ask, Boom, DELIVERIES, type MatchGame, type MatchInput, Poke, Query, SAID, textOf } from './match-game.ts'
import { passMark } from './marks.ts'
import type { House } from './match-house.ts'
import type { Feature, Scenario } from './match-scenario.ts'

/** What all clients of a match share. */
export interface ClientScene {
  readonly scenario: Scenario
  readonly made: MatchGame
  readonly house: House
  readonly server: string
  readonly security: EndpointSecurity
  readonly datagrams: DatagramWatch
  readonly now: () => number
  readonly counts: MatchCounts
  readonly doubts: Doubts
  /** What he brings to the door; a new one each time. */
  readonly pass: () => ConnectPass
  readonly onTurn: (client: MatchClient) => void
}

/** What all of them did and saw. */
export class MatchCounts {
  rows = 0
  undecodable = 0
  joins = 0
  resumes = 0
  refusals = 0
  crashes = 0
  goodbyes = 0
  kicks = 0
  restarts = 0
  messages = 0
  calls = 0
  replies = 0
  grants = 0
  booms = 0
  rollbacks = 0
  spawnsMatched = 0
  bent = 0
  forged = 0
  readonly closes: Map<string, number> = new Map<string, number>()
}

export type ClientRole = 'player' | 'spectator' | 'attacker'

/** Ticks between two thorough looks at what is predicted. */
const THOROUGH_EVERY = 8

export class MatchClient implements NetResident {
  readonly node: SimNode
  readonly role: ClientRole
  /** When he comes next, on his clock. */
  comesAt = Infinity
  leavesAt = Infinity
  witness: CrowdWitness<MatchInput> | undefined = undefined
  connection: Connection | undefined = undefined
  protected readonly scene: ClientScene
  protected readonly dice: Dice
  #held = { right: false, up: false, fire: false, kick: false, aim: 0, call: '' }
  #isLeaving = false
  #pumps = 0
  #port: Pick<DatagramPort, 'send'> | undefined
  readonly #out: Pick<DatagramPort, 'send'>
  readonly #door: Pick<Endpoint, 'connections' | 'handleDatagram'>
  /** The ticket of the seat that he lost. */
  #ticket: Uint8Array | undefined
  #seatOf = 0
  /** A ticket that he has used: it must not be good again. */
  #spentTicket: Uint8Array | undefined
  readonly said = new SaidInputs()
  /** The ticket that let him in last, and his line since. */
  #shown: { readonly ticket: Uint8Array; readonly to: Connection | undefined } | undefined
  #isTrying = false
  #truth: CrowdTruth | undefined
  #witnessBy: ((truth: CrowdTruth) => CrowdWitness<MatchInput>) | undefined
  #hasEnded = false

  constructor(scene: ClientScene, node: SimNode, role: ClientRole, seed: number) {
    this.scene = scene
    this.node = node
    this.role = role
    this.dice = new Dice(seed)
    const client = this
    this.#door = {
      get connections() { return client.host?.endpoint.connections ?? [] },
      handleDatagram: (now, from, bytes, length) => client.host?.handleDatagram(now, from, bytes, length),
    }
    this.#out = { send: (to, bytes, length) => this.send(to, bytes, length) }
  }

  get host(): ClientHost<MatchInput> | undefined {
    return this.witness?.host
  }

  /** What is said on his connection; undefined until the authority has heard him. */
  get diary(): Diary | undefined {
    return this.connection && this.scene.house.diaryOf(this.connection)
  }

  /** 0 while he is not in. */
  get peer(): number {
    return this.#isLeaving ? 0 : this.host?.peer ?? 0
  }

  get isSpectator(): boolean {
    return this.role === 'spectator'
  }

  handleDatagram(now: number, from: string, bytes: Uint8Array, length: number): void {
    this.scene.onTurn(this)
    this.scene.datagrams.deliver(now, this.node.index, this.#door, from, bytes, length)
  }

  pump(now: number, port: Pick<DatagramPort, 'send'>): number {
    this.scene.onTurn(this)
    this.#port = port
    if (this.witness === undefined && now >= this.comesAt) this.#come(now)
    const { witness } = this
    if (witness === undefined) return this.comesAt
    const { host } = witness
    this.#pumps++
    const ticks = host.tick(now)
    witness.afterTick(ticks > 0 && this.#pumps % THOROUGH_EVERY === 0)
    if (this.has('draws') && this.dice.chance(0.1)) host.draw(now)
    const dueAt = host.drain(now, this.#out)
    if (host.endpoint.connections.length === 0) this.#forget(now)
    else if (now >= this.leavesAt && !this.#isLeaving) this.#leave(now)
    return this.witness === undefined ? this.comesAt : dueAt
  }

  /** Does this and that; once a tick. */
  play(now: number): void {
    const { dice, host } = this
    if (host === undefined || this.peer === 0) return
    if (this.isSpectator) {
      if (dice.chance(0.01)) void host.spectate(now, dice.chance(0.5) ? 'next' : 'previous')
      return
    }
    if (dice.chance(0.1)) {
      const [right, up, fire, kick] = [dice.chance(0.5), dice.chance(0.5), dice.chance(0.4), dice.chance(0.5)]
      this.#held = { right, up, fire, kick, aim: dice.fraction() * 2 - 1, call: dice.chance(0.2) ? `k${dice.word() % 90}` : '' }
    }
    if (this.has('messages') && dice.chance(0.15)) this.#say()
    if (this.has('calls') && dice.chance(0.04)) this.#call(now)
    if (this.has('shared') && dice.chance(0.03)) this.#claim(now)
  }

  /** Adds what he did to the sums; also when the match is over. */
  count(): void {
    const { witness } = this
    if (witness === undefined) return
    const { counts } = this.scene
    counts.rows += witness.rowCount
    counts.undecodable += witness.undecodable
    counts.rollbacks += witness.host.predictor?.rollbacks ?? 0
    counts.spawnsMatched += witness.host.predictor?.spawnsMatched ?? 0
  }

  protected has(feature: Feature): boolean {
    return this.scene.scenario.features.includes(feature)
  }

  protected send(to: string, bytes: Uint8Array, length: number): void {
    this.scene.datagrams.handleSent(this.scene.now(), this.node.index, bytes, length)
    this.#port?.send(to, bytes, length)
  }

  /** Sends what no endpoint made. */
  protected sendRaw(to: string, bytes: Uint8Array): void {
    this.#port?.send(to, bytes, bytes.length)
  }

  /** The connection is being made: what rides in it is added now. */
  protected connect(now: number, host: ClientHost<MatchInput>, pass: ConnectPass, join: JoinRequest | undefined): Connection {
    return host.connect(now, this.scene.server, pass, join)
  }

  #say(): void {
    const { host, diary } = this
    const delivery = DELIVERIES[this.dice.word() % DELIVERIES.length]!
    if (host === undefined || diary === undefined) return
    const line = diary.up[delivery]
    const number = line.said + 1
    if (host.send(SAID[delivery], { number, text: textOf(number) }) === 'queued') line.said = number
  }

  #call(now: number): void {
    const { host, diary, dice } = this
    if (host === undefined || diary === undefined) return
    const number = diary.asked + 1
    if (host.call(Ask, { number }) === 'queued') diary.asked = number
    this.scene.counts.calls++
    const avatars = [...host.view.each(this.scene.made.avatar)]
    const any = avatars[dice.word() % Math.max(1, avatars.length)]
    const own = avatars.find(({ owner }) => owner === this.peer)
    const about = dice.chance(0.2) ? any : own
    if (about !== undefined) host.call(Poke, { plan: dice.word() % 1000 }, { about })
    if (dice.chance(0.1)) this.#ask(now, host, diary)
  }

  /** A call that waits for its answer. */
  #ask(now: number, host: ClientHost<MatchInput>, diary: Diary): void {
    const number = ++diary.asked
    diary.waiting++
    void host.request(now, Ask, { number }).then((result) => {
      diary.waiting--
      if (!result.isOk) return
      this.scene.counts.replies++
      this.scene.doubts.judge(() => hold(result.values.number === number || this.role === 'attacker', 'G3', () => `asked ${number}, and the answer is to ${result.values.number}`))
    })
  }

  /** Asks for something shared, or gives it back. */
  #claim(now: number): void {
    const { host, dice } = this
    const kind = this.scene.made.kinds.find(({ isShared }) => isShared)
    if (host === undefined || kind === undefined) return
    const objects = [...host.view.each(kind.entity)]
    const object = objects[dice.word() % Math.max(1, objects.length)]
    if (object === undefined) return
    if (object.owner === this.peer) host.releaseAuthority(object)
    else void host.requestAuthority(now, object).then(({ isGranted }) => { if (isGranted) this.scene.counts.grants++ })
  }

  #come(now: number): void {
    const { made, security, house, counts } = this.scene
    this.comesAt = Infinity
    this.leavesAt = Infinity
    this.#hasEnded = false
    counts.joins++
    const entropy = new Dice(this.dice.word())
    const { made: host, found: world } = worldOf(() => createClientHost(made.game, {
      security, entropy, role: this.isSpectator ? 'spectator' : 'player',
      onOpened: () => this.#handleOpened(),
      onClosed: (reason) => this.#handleClosed(reason),
    }))
    host.sampleInput = () => this.said.sample(host.clock.inputs, this.#held)
    for (const delivery of DELIVERIES) {
      host.on(SAID[delivery], ({ number, text }) => {
        counts.messages++
        if (this.role !== 'attacker') this.diary?.down[delivery].hear(delivery, number, text)
      })
    }
    host.handle(Boom, () => { counts.booms++ })
    host.handle(Query, ({ number }) => ({ number }))
    // Used it is once the authority has heard him, and speaks to him: whose first packets all went under may show it again.
    if (this.#shown !== undefined && (this.#shown.to?.stats.packetsReceived ?? 0) > 0) this.#spentTicket = this.#shown.ticket
    this.#shown = undefined
    this.#isTrying = this.#spentTicket !== undefined && this.dice.chance(0.3)
    const ticket = this.#isTrying ? this.#spentTicket : this.#ticket
    const { room } = house
    const role = this.isSpectator ? 'spectator' : 'player'
    const join: JoinRequest | undefined = room === undefined ? undefined : ticket === undefined ? { room, role } : { resume: ticket, role }
    if (ticket !== undefined) counts.resumes++
    const sink = sinkOf(() => { this.connection = this.connect(now, host, this.scene.pass(), join) })
    this.#watchUse(sink)
    this.#watchHeld(sink)
    this.#witnessBy = (truth) => new CrowdWitness(truth, host, sink, world)
    this.#truth = house.truth
    this.witness = this.#witnessBy(house.truth)
  }

  /** Notes every snapshot that could be used: no other may count as delivered. */
  #watchUse(sink: SnapshotSink): void {
    const { connection } = this
    const accept = sink.accept.bind(sink)
    sink.accept = (now, sequence, frame, coders) => {
      const { undecodableCount } = sink
      const verdict = accept(now, sequence, frame, coders)
      if (verdict === 'ok' && sink.undecodableCount === undecodableCount && connection !== undefined) this.scene.house.diaryOf(connection)?.used.add(sequence)
      return verdict
    }
  }

  /** What he holds never goes back, and nobody is dropped who had to be known all the time since he was told of last (C7). */
  #watchHeld(sink: SnapshotSink): void {
    const { held } = sink
    const shown = new Map<number, { readonly id: number; readonly tick: number }>()
    const touch = held.touch.bind(held)
    held.touch = (index) => {
      const [id, tick, before] = [held.ids[index]!, held.tellings[index]!, shown.get(index)]
      hold(before?.id !== id || tick >= before.tick, 'C7', () => `was shown object ${id} of tick ${before?.tick}, and then of ${tick}`)
      shown.set(index, { id, tick })
      touch(index)
    }
    const leave = held.leave.bind(held)
    held.leave = (index, isDespawned) => {
      const [id, told] = [held.ids[index]!, held.tellings[index]!]
      hold(this.#mayLeave(index, id, told), 'C7', () => `was told that object ${id} has left since tick ${told}, and it has not`)
      leave(index, isDespawned)
    }
  }

  /** Whether an object could have left his view after a tick. */
  #mayLeave(index: number, id: number, told: number): boolean {
    const truth = this.#truth
    const { peer } = this
    if (truth === undefined || peer === 0) return true
    for (let tick = told + 1; tick <= truth.newest; tick++) {
      const row = truth.row(tick, index)
      if (row?.id !== id || !sightOf(truth, tick, peer, row, true).must) return true
    }
    return false
  }

  #isWriting(): boolean {
    const kind = this.scene.made.kinds.find(({ isShared }) => isShared)
    return kind !== undefined && [...this.host?.view.each(kind.entity) ?? []].some(({ owner }) => owner === this.peer)
  }

  #handleOpened(): void {
    const { host } = this
    hold(host !== undefined && !this.#hasEnded, 'I16', () => 'was let in after the end')
    if (host === undefined) return
    if (this.role === 'attacker' && this.connection !== undefined) this.scene.house.mistrust(this.connection)
    hold(!this.#isTrying, 'I16', () => 'came back with a ticket that was used')
    if (this.#ticket !== undefined) {
      this.#shown = { ticket: this.#ticket, to: this.connection }
      passMark('a player comes back to his seat')
      hold(host.peer === this.#seatOf, 'I16', () => `came back to the seat of ${this.#seatOf}, and is ${host.peer}`)
      hold(host.seat?.isBack === true, 'I16', () => 'came back, and is taken for new')
    }
    if (this.#truth !== this.scene.house.truth) this.#judgeAnew(host)
    this.#ticket = this.has('resume') ? host.seat?.ticket : undefined
    this.#seatOf = host.peer
  }

  /** The authority died and began anew while he was on his way in: another truth holds. */
  #judgeAnew(host: ClientHost<MatchInput>): void {
    passMark('a player is let in by an authority that began anew while he asked')
    delete (host.confirmed as { put?: unknown }).put
    this.#truth = this.scene.house.truth
    this.witness = this.#witnessBy?.(this.scene.house.truth)
  }

  #handleClosed({ by, code }: CloseReason): void {
    hold(!this.#hasEnded, 'I16', () => `was told ${by} ${code} after the end`)
    this.#hasEnded = true
    hold(code !== 'broken' || this.role === 'attacker', 'I16', () => `${by} ${code}, and he is honest`)
    const { closes } = this.scene.counts
    const name = `${by} ${code}`
    closes.set(name, (closes.get(name) ?? 0) + 1)
    // A seat is kept for who lost his line, and for nobody who was turned away.
    if (by !== 'network' && !this.#isTrying) this.#ticket = undefined
    if (this.#isTrying) this.#spentTicket = undefined
    if (this.role === 'attacker' && (code === 'broken' || code === 'kicked')) passMark('an attacker is thrown out')
    if (by === 'protocol') this.scene.counts.refusals++
  }

  #leave(now: number): void {
    if (this.#isWriting()) passMark('a player leaves while he writes something shared')
    if (this.dice.chance(0.5)) {
      this.scene.counts.crashes++
      passMark('a client crashes in the middle of a match')
      this.#forget(now)
      return
    }
    this.scene.counts.goodbyes++
    this.#isLeaving = true
    this.#ticket = undefined
    this.host?.close(now)
  }

  #forget(now: number): void {
    this.count()
    if (this.connection !== undefined) this.scene.datagrams.forget(this.connection)
    this.witness = undefined
    this.connection = undefined
    this.#isLeaving = false
    this.leavesAt = Infinity
    this.comesAt = now + 50 + 800 * this.dice.fraction()
  }
}
