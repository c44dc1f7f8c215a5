/**
 * One client of a match of the swarm: it plays or watches, joins, leaves with or without a disconnect, and joins again,
 * in its old seat where seats are reserved. Everything that it receives is checked by a witness.
 */

import type { CloseReason } from '../../packages/tickwire/src/core/connection/close-reason.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import type { DatagramPort } from '../../packages/tickwire/src/core/endpoint/datagram-port.ts'
import type { ConnectPass, Endpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { createClientHost, type ClientHost } from '../../packages/tickwire/src/core/game/client-host.ts'
import type { JoinRequest } from '../../packages/tickwire/src/core/rooms/join-body.ts'
import type { SnapshotSink } from '../../packages/tickwire/src/core/replication/snapshot-sink.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import type { NetResident } from '../../packages/tickwire/src/testing/sim-net-actor.ts'
import type { SimNode } from '../../packages/tickwire/src/testing/sim-net-node.ts'
import { sinkOf, worldOf } from './crowd-player.ts'
import { sightOf } from './crowd-sight.ts'
import type { CrowdTruth } from './crowd-truth.ts'
import { CrowdWitness } from './crowd-witness.ts'
import { hold } from './invariants.ts'
import type { Diary } from './match-diary.ts'
import { SaidInputs } from './match-inputs.ts'
import { Ask, Boom, DELIVERIES, type MatchInput, Poke, Query, SAID, textOf } from './match-game.ts'
import { passMark } from './marks.ts'
import { isOrderly, type Feature } from './match-scenario.ts'
import type { ClientRole, ClientScene } from './match-scene.ts'

/** Ticks between two thorough checks of what is predicted. */
const THOROUGH_EVERY = 8

export class MatchClient implements NetResident {
  readonly node: SimNode
  readonly role: ClientRole
  /** When it joins next, on its own clock. */
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
  /** The ticket of the seat that it lost. */
  #ticket: Uint8Array | undefined
  #seatOf = 0
  /** A ticket that it has used: it must not be valid again. */
  #spentTicket: Uint8Array | undefined
  readonly said = new SaidInputs()
  /** The ticket that it joined with last, and its connection since. */
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

  /** The messages of its connection; undefined until the authority has received a packet. */
  get diary(): Diary | undefined {
    return this.connection && this.scene.house.diaryOf(this.connection)
  }

  /** 0 while it is not in the match. */
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

  /** Uses the rest of the API by chance; once a tick. */
  play(): void {
    const { dice, host } = this
    if (host === undefined || this.peer === 0) return
    if (this.isSpectator) {
      if (dice.chance(0.01)) void host.spectate(dice.chance(0.5) ? 'next' : 'previous')
      return
    }
    if (dice.chance(0.1)) {
      const [right, up, fire, kick] = [dice.chance(0.5), dice.chance(0.5), dice.chance(0.4), dice.chance(0.5)]
      this.#held = {
        right,
        up,
        fire,
        kick,
        aim: dice.fraction() * 2 - 1,
        call: dice.chance(0.2) ? `k${dice.word() % 90}` : '',
      }
    }
    if (this.has('messages') && dice.chance(0.15)) this.#say()
    if (this.has('calls') && dice.chance(0.04)) this.#call()
    if (this.has('shared') && dice.chance(0.03)) this.#claim()
  }

  /** Adds its counts to the sums, also when the match is over. */
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

  /** Sends datagrams that no endpoint made. */
  protected sendRaw(to: string, bytes: Uint8Array): void {
    this.#port?.send(to, bytes, bytes.length)
  }

  /** The connection is under construction: its sources and sinks are added now. */
  protected connect(
    now: number,
    host: ClientHost<MatchInput>,
    pass: ConnectPass,
    join: JoinRequest | undefined,
  ): Connection {
    return host.connect(now, this.scene.server, pass, join)
  }

  #say(): void {
    const { host, diary } = this
    const delivery = DELIVERIES[this.dice.word() % DELIVERIES.length]!
    if (host === undefined || diary === undefined) return
    const line = diary.up[delivery]
    const number = line.sent + 1
    if (host.send(SAID[delivery], { number, text: textOf(number) }) === 'queued') line.sent = number
  }

  #call(): void {
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
    if (dice.chance(0.1)) this.#ask(host, diary)
  }

  /** A call that waits for its answer. */
  #ask(host: ClientHost<MatchInput>, diary: Diary): void {
    const number = ++diary.asked
    diary.waiting++
    void host.request(Ask, { number }).then((result) => {
      diary.waiting--
      if (!result.isOk) return
      this.scene.counts.replies++
      this.scene.doubts.judge(() =>
        hold(
          result.values.number === number || this.role === 'attacker',
          'G3',
          () => `asked ${number}, and the answer is to ${result.values.number}`,
        ),
      )
    })
  }

  /** Requests a shared object, or gives it back. */
  #claim(): void {
    const { host, dice } = this
    const kind = this.scene.made.kinds.find(({ isShared }) => isShared)
    if (host === undefined || kind === undefined) return
    const objects = [...host.view.each(kind.entity)]
    const object = objects[dice.word() % Math.max(1, objects.length)]
    if (object === undefined) return
    if (object.owner === this.peer) host.releaseAuthority(object)
    else void host.requestAuthority(object).then(({ isGranted }) => { if (isGranted) this.scene.counts.grants++ })
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
    // The ticket is used once the authority has received from the client and answered: a client whose first packets
    // were all lost may use it again.
    if (this.#shown !== undefined && (this.#shown.to?.stats.packetsReceived ?? 0) > 0)
      this.#spentTicket = this.#shown.ticket
    this.#shown = undefined
    this.#isTrying = this.#spentTicket !== undefined && this.dice.chance(0.3)
    const ticket = this.#isTrying ? this.#spentTicket : this.#ticket
    const { room } = house
    const role = this.isSpectator ? 'spectator' : 'player'
    const join: JoinRequest | undefined =
      room === undefined ? undefined : ticket === undefined ? { room, role } : { resume: ticket, role }
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
    const [connection, isClean] = [this.connection, isOrderly(this.scene.scenario) && this.role !== 'attacker']
    const accept = sink.accept.bind(sink)
    sink.accept = (now, sequence, frame, coders) => {
      const { undecodableCount } = sink
      const verdict = accept(now, sequence, frame, coders)
      hold(
        !isClean || sink.undecodableCount === undecodableCount || this.scene.now() >= this.scene.scenario.stormMs,
        'C8',
        () => `could not read snapshot ${sequence}, of tick ${sink.tick} or before`,
      )
      if (verdict === 'ok' && sink.undecodableCount === undecodableCount && connection !== undefined)
        this.scene.house.diaryOf(connection)?.used.add(sequence)
      return verdict
    }
  }

  /**
   * The rows that the client holds never go back in time, and no object is dropped that it had to know all the time
   * since its last row (C7).
   */
  #watchHeld(sink: SnapshotSink): void {
    const { held } = sink
    const shown = new Map<number, { readonly id: number; readonly tick: number }>()
    const touch = held.touch.bind(held)
    held.touch = (index) => {
      const [id, tick, before] = [held.ids[index]!, held.receivedAt[index]!, shown.get(index)]
      hold(
        before?.id !== id || tick >= before.tick,
        'C7',
        () => `received object ${id} of tick ${before?.tick}, and then of ${tick}`,
      )
      shown.set(index, { id, tick })
      touch(index)
    }
    const leave = held.leave.bind(held)
    held.leave = (index, isDespawned) => {
      const [id, since] = [held.ids[index]!, held.receivedAt[index]!]
      hold(
        this.#mayLeave(index, id, since),
        'C7',
        () => `received that object ${id} has left since tick ${since}, and it has not`,
      )
      leave(index, isDespawned)
    }
  }

  /** Whether an object could have left the client's view after tick `since`. */
  #mayLeave(index: number, id: number, since: number): boolean {
    const truth = this.#truth
    const { peer } = this
    if (truth === undefined || peer === 0) return true
    for (let tick = since + 1; tick <= truth.newest; tick++) {
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
    hold(host !== undefined && !this.#hasEnded, 'I16', () => 'was accepted after the end')
    if (host === undefined) return
    if (this.role === 'attacker' && this.connection !== undefined) this.scene.house.mistrust(this.connection)
    hold(!this.#isTrying, 'I16', () => 'resumed with a ticket that was used')
    if (this.#ticket !== undefined) {
      this.#shown = { ticket: this.#ticket, to: this.connection }
      passMark('a player resumes a seat')
      hold(host.peer === this.#seatOf, 'I16', () => `resumed the seat of ${this.#seatOf}, and is peer ${host.peer}`)
      hold(host.seat?.isBack === true, 'I16', () => 'resumed, and is treated as a new player')
    }
    if (this.#truth !== this.scene.house.truth) this.#judgeAnew(host)
    this.#ticket = this.has('resume') ? host.seat?.ticket : undefined
    this.#seatOf = host.peer
  }

  /** The authority died and restarted while the client was joining: another truth holds. */
  #judgeAnew(host: ClientHost<MatchInput>): void {
    passMark('a player joins an authority that restarted meanwhile')
    delete (host.confirmed as { put?: unknown }).put
    this.#truth = this.scene.house.truth
    this.witness = this.#witnessBy?.(this.scene.house.truth)
  }

  #handleClosed({ by, code }: CloseReason): void {
    hold(!this.#hasEnded, 'I16', () => `ended with ${by} ${code} after the end`)
    this.#hasEnded = true
    hold(code !== 'broken' || this.role === 'attacker', 'I16', () => `${by} ${code}, and it is honest`)
    const { closes } = this.scene.counts
    const name = `${by} ${code}`
    closes.set(name, (closes.get(name) ?? 0) + 1)
    // A seat is reserved for a client that lost its connection, not for one that was refused.
    if (by !== 'network' && !this.#isTrying) this.#ticket = undefined
    if (this.#isTrying) this.#spentTicket = undefined
    if (this.role === 'attacker' && (code === 'broken' || code === 'kicked')) passMark('an attacker is thrown out')
    if (by === 'protocol') this.scene.counts.refusals++
  }

  #leave(now: number): void {
    if (this.#isWriting()) passMark('a player leaves while it writes a shared object')
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
