/**
 * One endpoint of a transport world: a server, or a client that connects, sends, leaves and connects again.
 *
 * It passes every datagram through the watches, receives everything that arrives, and checks each connection by its
 * state table (I16) and its memory (I13, I15).
 */

import { MESSAGE_BYTES_MAX } from '../../packages/tickwire/src/core/base/limits.ts'
import type { ChannelSet } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import type { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import type { LeaveCode } from '../../packages/tickwire/src/core/connection/close-reason.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import type { ConnectionState } from '../../packages/tickwire/src/core/connection/states.ts'
import type { FragmentPool, FragmentQuota } from '../../packages/tickwire/src/core/delivery/fragment-pool.ts'
import type { DatagramPort } from '../../packages/tickwire/src/core/endpoint/datagram-port.ts'
import { drain } from '../../packages/tickwire/src/core/endpoint/drain.ts'
import type { Endpoint, EndpointEvent } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { FrameSource } from '../../packages/tickwire/src/core/packet/frame-source.ts'
import type { NetResident } from '../../packages/tickwire/src/testing/sim-net-actor.ts'
import type { SimNode } from '../../packages/tickwire/src/testing/sim-net-node.ts'
import { AddressWatch } from './invariants-datagrams.ts'
import { GuestWatch } from './invariants-guests.ts'
import { SAID_BYTES_MAX, type Session } from './invariants-session.ts'
import { ViolationError, hold } from './invariants.ts'
import { passMark } from './marks.ts'
import type { World } from './transport-swarm.ts'

/**
 * The kind of a client. A `stranger` plays another game, an `unwelcome` one is refused, a `vandal` sends what no honest
 * peer would, a `misled` one expects another server.
 */
export type Role = 'server' | 'player' | 'stranger' | 'unwelcome' | 'vandal' | 'misled'

/** One side of one connection. */
export interface Talk {
  readonly connection: Connection
  readonly set: ChannelSet
  readonly quota: FragmentQuota
  readonly session: Session
  /** Packets received when the channels were last read. */
  listenedAt: number
  state: ConnectionState
  isOpened: boolean
  pathMoves: number
}

/** In the order of a connection's life: a connection never goes back. */
const AGE: Readonly<Record<ConnectionState, number>> = {
  connecting: 0, handshake: 1, connected: 2, disconnecting: 3, timeout: 3, disconnected: 4,
}
const incoming = new Uint8Array(2 * SAID_BYTES_MAX)
const outgoing = new Uint8Array(SAID_BYTES_MAX)

/** A malformed frame, once. */
export class Vandalism implements FrameSource {
  isArmed = false

  begin(): void {}

  wantsAt(now: number): number {
    return this.isArmed ? now : Infinity
  }

  fill(_now: number, _sequence: number, out: BitWriter): boolean {
    if (!this.isArmed || out.bitsLeft < 8) return false
    this.isArmed = false
    out.writeBits(0xff, 8)
    return true
  }

  onDelivered(): void {}

  onLost(): void {}
}

/** One endpoint. */
export class Party implements NetResident {
  readonly node: SimNode
  readonly role: Role
  readonly talks: Talk[] = []
  readonly vandalism = new Vandalism()
  endpoint: Endpoint
  /** All connections that it ever had. */
  readonly addresses: Set<string> = new Set<string>()
  /** When a client that has no connection asks for one, on its clock. */
  comesAt = Infinity
  readonly #world: World
  #addresses: AddressWatch | undefined
  #guests: GuestWatch | undefined
  #port: Pick<DatagramPort, 'send'> | undefined
  readonly #out: Pick<DatagramPort, 'send'>
  readonly #onEvent: (event: EndpointEvent) => void
  #now = 0

  constructor(world: World, node: SimNode, role: Role, endpoint: (party: Party) => Endpoint) {
    this.#world = world
    this.node = node
    this.role = role
    this.#addresses = role === 'server' ? new AddressWatch() : undefined
    this.#guests = role === 'server' ? new GuestWatch() : undefined
    this.endpoint = endpoint(this)
    this.#onEvent = (event) => this.#handle(event)
    this.#out = { send: (to, bytes, length) => this.#send(to, bytes, length) }
  }

  /** The process dies, and another takes its place: without disconnects, and with only its identity kept. */
  restart(endpoint: Endpoint): void {
    for (const talk of this.talks) {
      if (isHalf(talk) && endpoint !== this.endpoint) passMark('the authority dies while a large message is incomplete')
      this.#world.handleDeath(talk)
      this.#release(talk)
    }
    this.talks.length = 0
    this.#addresses = new AddressWatch()
    this.#guests = new GuestWatch()
    this.endpoint = endpoint
  }

  handleDatagram(now: number, from: string, bytes: Uint8Array, length: number): void {
    this.#world.current = this
    this.#addresses?.handleReceived(from, length)
    const { counts } = this.#world.datagrams
    const { rekeys } = counts
    this.#world.datagrams.deliver(now, this.node.index, this.endpoint, from, bytes, length)
    if (counts.rekeys !== rekeys && this.talks.some(isHalf))
      passMark('keys are replaced while a large message is incomplete')
  }

  pump(now: number, port: Pick<DatagramPort, 'send'>): number {
    this.#world.current = this
    this.#port = port
    this.#now = now
    if (now >= this.comesAt && this.endpoint.connections.length === 0) {
      this.comesAt = Infinity
      this.#world.connect(now, this)
    }
    for (let at = 0; at < this.talks.length; at++) this.#listen(this.talks[at]!)
    const dueAt = drain(this.endpoint, now, this.#out, this.#onEvent)
    hold(dueAt >= now, 'I19', () => `asked at ${now} ms, it is due at ${dueAt} ms`)
    for (const { connection: { rtt } } of this.talks) {
      const isReal = rtt.samples === 0 || (rtt.latestMs >= 0 && rtt.smoothedMs >= 0 && rtt.rtoMs > 0)
      hold(isReal, 'I19', () => `a round trip took ${rtt.latestMs} ms, ${rtt.smoothedMs} ms on average`)
    }
    this.#check()
    return Math.min(dueAt, this.comesAt)
  }

  /** Sends something on a channel, unless too much waits already. */
  say(talk: Talk, channel: number): void {
    const stream = talk.session.streams[this.#side]![channel]!
    if (talk.set.channel(channel).waitingBytes > 6000) return
    const number = stream.sent + 1
    const length = stream.compose(number, outgoing)
    if (talk.set.send(channel, outgoing.subarray(0, length)) === 'queued') stream.sent = number
    else this.#world.counts.refusedSends++
    const { queue } = talk.set.specs[channel]!
    hold(
      talk.set.channel(channel).waitingBytes <= queue.bufferBytes,
      'I13',
      () => `more waits on channel ${channel} than lane ${queue.name} holds`,
    )
  }

  /** Ends a connection. */
  leave(now: number, talk: Talk, code: LeaveCode): void {
    talk.connection.close(now, code)
  }

  get #side(): 0 | 1 {
    return this.role === 'server' ? 1 : 0
  }

  #send(to: string, bytes: Uint8Array, length: number): void {
    this.#world.datagrams.handleSent(this.#world.now, this.node.index, bytes, length)
    this.#addresses?.handleSent(to, bytes, length, this.endpoint.connections)
    this.#guests?.handleSent(this.#now, to, bytes, length)
    this.addresses.add(this.node.address)
    if (this.role === 'server' || !this.#world.isStolen(this, bytes, length)) this.#port?.send(to, bytes, length)
  }

  #handle(event: EndpointEvent): void {
    const at = this.talks.findIndex(({ connection }) => connection === event.connection)
    const talk = this.talks[at]
    hold(talk !== undefined, 'I16', () => `${event.type} of a closed connection`)
    if (talk === undefined) return
    this.#world.trace.note(this.node.index, event.type === 'opened' ? 1 : 2)
    if (event.type === 'opened') {
      hold(!talk.isOpened, 'I16', () => 'opened twice')
      talk.isOpened = true
      this.#guests?.handleOpened(event.connection)
      this.#world.counts.opened++
      this.vandalism.isArmed = this.role === 'vandal'
      return
    }
    const { reason } = event
    hold(
      reason === event.connection.closeReason && event.connection.state === 'disconnected',
      'I16',
      () => 'closed without having ended',
    )
    if (isHalf(talk)) passMark('a connection ends while a large message is incomplete')
    this.#world.handleClosed(this, talk, reason)
    this.#listen(talk)
    this.#release(talk)
    this.talks.splice(at, 1)
    if (this.role !== 'server') this.comesAt = this.#now + this.#world.drawAbsenceMs(this.role)
  }

  #release(talk: Talk): void {
    talk.set.close()
    talk.set.release()
    this.#world.datagrams.forget(talk.connection)
    hold(
      talk.quota.parts === 0 && talk.quota.bytes === 0,
      'I13',
      () => `${talk.quota.parts} fragments are held for a peer that is gone`,
    )
  }

  #listen(talk: Talk): void {
    const { packetsReceived } = talk.connection.stats
    if (talk.listenedAt === packetsReceived) return
    talk.listenedAt = packetsReceived
    const streams = talk.session.streams[1 - this.#side]!
    for (let channel = 0; channel < streams.length; channel++) {
      const stream = streams[channel]!
      for (
        let length = talk.set.receive(channel, incoming);
        length >= 0;
        length = talk.set.receive(channel, incoming)
      ) {
        const number = stream.hear(incoming, length)
        this.#world.trace.note(this.node.index * 16 + channel, number)
        this.#world.counts.messages++
        if (length > MESSAGE_BYTES_MAX) this.#world.counts.large++
      }
    }
  }

  /** Checked on every wake: it makes no closures unless something is wrong. */
  #check(): void {
    const { connections } = this.endpoint
    const { pool, seats } = this.#world
    if (this.role === 'server' && connections.length > seats)
      throw new ViolationError('I15', `${connections.length} connections on ${seats} seats`)
    if (!isWithin(pool)) throw new ViolationError('I13', `${pool.parts} fragments of ${pool.bytes} bytes in all`)
    for (let at = 0; at < this.talks.length; at++) {
      const talk = this.talks[at]!
      const { quota, connection } = talk
      const { state } = connection
      if (connection.stats.pathMoves !== talk.pathMoves) {
        talk.pathMoves = connection.stats.pathMoves
        if (isHalf(talk)) passMark('a path moves while a large message is incomplete')
      }
      if (!isWithin(quota))
        throw new ViolationError('I13', `${quota.parts} fragments of ${quota.bytes} bytes of one peer`)
      if (state === talk.state) continue
      if (AGE[state] < AGE[talk.state]) throw new ViolationError('I16', `from ${talk.state} back to ${state}`)
      talk.state = state
    }
  }
}

/** Part of a large message is held, and the rest has not arrived. */
function isHalf({ quota }: Talk): boolean {
  return quota.parts > 0
}

function isWithin({ parts, bytes, limits }: FragmentQuota | FragmentPool): boolean {
  return parts >= 0 && bytes >= 0 && parts <= limits.partsMax && bytes <= limits.bytesMax
}
