/**
 * The datagrams that cross the network, watched at both ends: I5 to I8 and I14.
 *
 * Every datagram that is sent is remembered by its hash. For every datagram that arrives it is known whether it was
 * sent like that, by which node, and whether it took effect before. A changed one must not change open connections.
 */

import { hashBytes } from '../../packages/tickwire/src/core/base/hash.ts'
import { KEY_OVERLAP_MS } from '../../packages/tickwire/src/core/base/limits.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { HandshakeMessage, readHandshake } from '../../packages/tickwire/src/core/connection/handshake.ts'
import type { Endpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { PACKET_TYPE, PacketHeader, readHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import { DatagramRecord } from './invariants-record.ts'
import { ViolationError, hold } from './invariants.ts'
import type { Trace } from './trace.ts'

/** The newest epoch that a receiver has seen, and when it saw it first. */
interface Epochs {
  newest: number
  since: number
}

/** Watches all datagrams of one world. */
export class DatagramWatch {
  /** Counts for the tests of the tests. */
  readonly counts = { changedDelivered: 0, replaysDelivered: 0, rekeys: 0, accepted: 0 }
  readonly #trace: Trace
  readonly #hash = new Uint32Array(2)
  readonly #header = new PacketHeader()
  readonly #record = new DatagramRecord()
  /** By sender, then by connection: the last sequence it sealed. */
  readonly #sequences: Map<number, number>[] = []
  readonly #epochs = new Map<Connection, Epochs>()

  constructor(trace: Trace) {
    this.#trace = trace
  }

  /** Node `sender` sends a datagram. */
  handleSent(now: number, sender: number, bytes: Uint8Array, length: number): void {
    hashBytes(bytes, 0, length, length, this.#hash, 0)
    const low = this.#hash[0]!
    const high = this.#hash[1]!
    this.#trace.note(sender, low)
    this.#trace.note(length, high)
    this.#trace.noteTime(now)
    this.#record.add(low, high, sender)
    const header = this.#header
    if (readHeader(bytes, length, header) !== 'ok') throw new ViolationError('I5', 'a packet without a header was sent')
    if (header.type === PACKET_TYPE.handshake || header.type === PACKET_TYPE.challengeResponse) return
    const sequences = this.#sequences[sender] ??= new Map<number, number>()
    const who = nameOf(header)
    const before = sequences.get(who) ?? 0
    if (header.sequence <= before)
      throw new ViolationError('I5', `packet ${header.sequence} was sealed after ${before}`)
    sequences.set(who, header.sequence)
  }

  /** Hands a datagram to an endpoint and checks its effect. `local` is the receiver's clock. */
  deliver(
    local: number,
    receiver: number,
    endpoint: Pick<Endpoint, 'connections' | 'handleDatagram'>,
    from: string,
    bytes: Uint8Array,
    length: number,
  ): void {
    hashBytes(bytes, 0, length, length, this.#hash, 0)
    const place = this.#record.find(this.#hash[0]!, this.#hash[1]!)
    const { connections } = endpoint
    if (place < 0) {
      this.counts.changedDelivered++
      const before = digestOf(connections)
      endpoint.handleDatagram(local, from, bytes, length)
      const after = digestOf(connections)
      hold(
        before === after,
        'I7',
        () => `a changed datagram of ${length} bytes changed an open connection: ${before} became ${after}`,
      )
      return
    }
    const isReplay = this.#record.isAcceptedAt(place)
    if (isReplay) this.counts.replaysDelivered++
    let before = 0
    for (let at = 0; at < connections.length; at++) before += connections[at]!.stats.packetsReceived
    // The packet is opened in place, so its header must be read before.
    const isPacket = readHeader(bytes, length, this.#header) === 'ok'
    endpoint.handleDatagram(local, from, bytes, length)
    let after = 0
    for (let at = 0; at < connections.length; at++) after += connections[at]!.stats.packetsReceived
    if (after === before) return
    this.counts.accepted++
    hold(isPacket && after === before + 1, 'I7', () => `one datagram counted ${after - before} times`)
    hold(this.#record.senderAt(place) !== receiver, 'I6', () => 'accepted its own packet')
    hold(!isReplay, 'I7', () => `packet ${this.#header.sequence} took effect twice`)
    this.#record.acceptAt(place)
    this.#checkEpoch(local, connections)
  }

  /** The newest epoch that a connection has seen. */
  epochOf(connection: Connection): number | undefined {
    return this.#epochs.get(connection)?.newest
  }

  /** The connection is closed. */
  forget(connection: Connection): void {
    this.#epochs.delete(connection)
  }

  #checkEpoch(local: number, connections: readonly Connection[]): void {
    const { idLo, idHi, epoch } = this.#header
    const connection = connections.find((one) => one.idLo === idLo && one.idHi === idHi)
    hold(connection !== undefined, 'I6', () => 'a packet was accepted by a connection that it does not name')
    if (connection === undefined) return
    const known = this.#epochs.get(connection)
    if (known === undefined) this.#epochs.set(connection, { newest: epoch, since: local })
    else if (epoch === ((known.newest + 1) & 0xff)) {
      this.counts.rekeys++
      known.newest = epoch
      known.since = local
    } else if (epoch !== known.newest) {
      hold(epoch === ((known.newest - 1) & 0xff), 'I8', () => `epoch ${epoch} was accepted in epoch ${known.newest}`)
      hold(
        local < known.since + KEY_OVERLAP_MS,
        'I8',
        () => `epoch ${epoch} was accepted ${local - known.since} ms after ${known.newest}`,
      )
    }
  }
}

/**
 * What a server sends to addresses that have proven nothing: no more bytes than came from there, and no Accepted or
 * refusal where it sent no challenge.
 */
export class AddressWatch {
  readonly #in = new Map<string, number>()
  readonly #out = new Map<string, number>()
  readonly #proven = new Set<string>()
  /** The addresses that were challenged, and for which key. */
  readonly #asked = new Set<string>()
  readonly #header = new PacketHeader()
  readonly #words = new HandshakeMessage()

  handleReceived(from: string, length: number): void {
    if (!this.#proven.has(from)) this.#in.set(from, (this.#in.get(from) ?? 0) + length)
  }

  handleSent(to: string, bytes: Uint8Array, length: number, connections: readonly Connection[]): void {
    if (readHeader(bytes, length, this.#header) === 'ok' && this.#header.type === PACKET_TYPE.handshake)
      this.#checkAsked(to, bytes, length)
    if (this.#proven.has(to)) return
    if (connections.some(({ address }) => address === to)) {
      this.#proven.add(to)
      return
    }
    const out = (this.#out.get(to) ?? 0) + length
    const came = this.#in.get(to) ?? 0
    hold(out <= came, 'I14', () => `${to} got ${out} bytes for ${came}`)
    this.#out.set(to, out)
  }

  /** A client that is accepted or refused has returned, from its address, what was sent to that address. */
  #checkAsked(to: string, bytes: Uint8Array, length: number): void {
    const kind = readHandshake(this.#header, bytes, length, this.#words)
    const who = `${to} ${this.#words.saltLo} ${this.#words.saltHi}`
    if (kind === 'challenge') this.#asked.add(who)
    else if (kind === 'accepted' || kind === 'refused')
      hold(this.#asked.has(who), 'I14', () => `${kind} went to ${to}, which was never challenged`)
  }
}

/** A connection, as a small number. */
function nameOf(header: PacketHeader): number {
  return (header.idLo ^ Math.imul(header.idHi, 0x9e37_79b1)) & 0x3fff_ffff
}

/**
 * What an unauthentic datagram must not change. Handshakes are in the clear, so only open connections count. Deadlines
 * do not count: time passes while a datagram arrives, and old keys may be discarded at that moment.
 */
function digestOf(connections: readonly Connection[]): string {
  let text = ''
  for (const connection of connections) {
    if (!connection.isOpen && connection.state !== 'disconnecting') continue
    const { packetsReceived, bytesReceived, packetsDelivered, packetsLost, packetsNotAcked, pathMoves } =
      connection.stats
    text += `${connection.id} ${connection.state} ${connection.address} ${packetsReceived} ${bytesReceived} `
    text += `${packetsDelivered} ${packetsLost} ${packetsNotAcked} ${pathMoves} `
    text += `${connection.rtt.samples} ${connection.rtt.smoothedMs};`
  }
  return text
}
