/**
 * One connection, many paths: a port that reaches peers directly or through relays.
 *
 * It stands between an endpoint and a socket. Data goes by relay from the first moment, and by the direct path as soon
 * as the race has found one. If a path falls silent, the next one carries the data: the connection above it stays, and
 * its own path check (`connection/path-check.ts`) makes the other side follow.
 *
 * ```
 * guest's endpoint ── peer/host ──▶ PeerPort ──▶ 198.51.100.7:4000       direct
 *                                          └──▶ relay: channel data     else by the first relay that answers
 * host's endpoint ◀── 192.0.2.9:31000, relay/0/<allocation> ── PeerPort
 * ```
 *
 * A guest has one address for its host, `peer/NAME`, whatever the path, and so have peers of a mesh for each other. A
 * host sees each path of a guest as an address.
 *
 * It has no socket and no clock: `onSend` gives datagrams out, `onDatagram` gives them to the endpoint.
 */

import { DATAGRAM_BYTES_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { type Transmit, createTransmit } from '../connection/transmit.ts'
import { PACKET_TYPE, readUint32 } from '../packet/header.ts'
import type { Candidate } from './candidates.ts'
import { PathRace, type PathRaceConfig, type PathReason } from './path-race.ts'
import { CHANNEL_HEAD_BYTES, type RelayClient, channelOf } from './relay-client.ts'
import { isRelayControl } from './relay-wire.ts'

const NO_BYTES = new Uint8Array(0)

/** A peer, as signalling introduces it. */
export interface PeerIntroduction extends PathRaceConfig {
  /** The name by which this port knows the peer. */
  readonly name: string
  /** Its candidates, checked. */
  readonly candidates: readonly Candidate[]
  /**
   * Whether the endpoint knows this peer by one address, `peer/NAME`. True for the host of a guest, and for peers of a
   * mesh.
   */
  readonly isHost: boolean
}

/** Which path carries data to a peer. */
export type PathKind = 'direct' | 'relay' | 'none'

/** One peer. */
export class PeerLink {
  /** The name by which the port knows the peer. */
  readonly name: string
  /** Whether the endpoint knows it by one address. */
  readonly isHost: boolean
  /** The race for a direct path. */
  readonly race: PathRace
  /** The allocations of the peer. Indexed by relay; '' when it has none there. */
  readonly allocations: string[]
  /** Its newest candidates: which relay they name is known once that relay has answered. */
  candidates: readonly Candidate[]
  /** The id of the connection whose packets relays let pass: its low half. */
  connectionLo: number = 0
  /** Its high half. */
  connectionHi: number = 0

  /** The path by which the last packet of a handshake came from the host; '' before. */
  challengedBy: string = ''
  /** The last request to the host, until something else is sent; else empty. */
  knock: Uint8Array = NO_BYTES
  #knockedAt: string = ''

  constructor(introduction: PeerIntroduction, relays: readonly RelayClient[]) {
    this.name = introduction.name
    this.isHost = introduction.isHost
    this.race = new PathRace(introduction)
    this.candidates = introduction.candidates
    this.allocations = relays.map((client) => allocationOn(client, introduction.candidates))
  }

  /** Remembers a request: it may have gone to a relay on which the host has not bound this peer yet, and be lost. */
  keepKnock(bytes: Uint8Array, length: number): void {
    if (this.isHost && bytes[4] === PACKET_TYPE.handshake) this.knock = bytes.slice(0, length)
    else if (this.knock.length > 0) this.knock = NO_BYTES
    this.#knockedAt = this.race.direct
  }

  /** Whether the packet must be sent again, because a direct path has been found. Once for each path. */
  takesKnock(direct: string): boolean {
    const isDue = this.knock.length > 0 && this.#knockedAt !== direct
    this.#knockedAt = direct
    return isDue
  }
}

/** Several paths behind one port. */
export class PeerPort {
  /** Called for every datagram that must be sent to a real address. */
  onSend: (to: string, bytes: Uint8Array, length: number) => void = () => {}
  /** Called when a relay sees this machine at another address than before, or has given it another allocation. */
  onReach: () => void = () => {}
  /** Called for every datagram for the endpoint. */
  onDatagram: (from: string, bytes: Uint8Array, length: number) => void = () => {}
  /** The relays, in the order in which they are used. */
  readonly relays: readonly RelayClient[]
  /** The peers, by name. */
  readonly peers: Map<string, PeerLink> = new Map()
  #out: Transmit = createTransmit()
  #wrapped: Uint8Array = new Uint8Array(DATAGRAM_BYTES_MAX)
  #inner: Uint8Array = new Uint8Array(DATAGRAM_BYTES_MAX)
  #now: Millis = 0

  /** `relays`: the one to use first, and its standby. */
  constructor(relays: readonly RelayClient[]) {
    this.relays = relays
    for (const client of relays) client.isWatched = true
  }

  /** Adds a peer and starts the race. */
  addPeer(now: Millis, introduction: PeerIntroduction): PeerLink {
    const link = new PeerLink(introduction, this.relays)
    this.peers.set(link.name, link)
    link.race.start(now, introduction.candidates)
    this.#bindAll(link)
    return link
  }

  /** More candidates of a peer: it has another network, or a new allocation on a relay. */
  addCandidates(now: Millis, name: string, candidates: readonly Candidate[]): void {
    const link = this.peers.get(name)
    if (link === undefined) return
    link.race.start(now, candidates)
    link.candidates = candidates
    this.relays.forEach((client, index) => {
      const allocation = allocationOn(client, candidates)
      if (allocation !== '') link.allocations[index] = allocation
    })
    this.#bindAll(link)
  }

  /** Forgets a peer. */
  removePeer(name: string): void {
    this.peers.delete(name)
  }

  /** Which path carries data to a peer now, and why. */
  pathTo(link: PeerLink): { readonly kind: PathKind; readonly reason: PathReason; readonly relay: string } {
    const { race } = link
    const index = race.direct === '' ? this.#relayFor(link) : -1
    const kind = race.direct !== '' ? 'direct' : index < 0 ? 'none' : 'relay'
    return { kind, reason: race.reason, relay: index < 0 ? '' : this.relays[index].relay }
  }

  /** The network of this machine changed: every path is proven again. */
  handleNetworkChange(now: Millis): void {
    for (const client of this.relays) client.handleNetworkChange(now)
    for (const link of this.peers.values()) link.race.handleNetworkChange(now)
  }

  /** Sends for the endpoint: to `peer/NAME`, `relay/INDEX/ALLOCATION`, or a real address. */
  send(to: string, bytes: Uint8Array, length: number): void {
    if (to.startsWith('peer/')) {
      const link = this.peers.get(to.slice(5))
      if (link === undefined) return
      link.keepKnock(bytes, length)
      // A challenge is tied to the path that it came by, and so is its answer.
      if (bytes[4] === PACKET_TYPE.challengeResponse && link.challengedBy !== '') {
        this.send(link.challengedBy, bytes, length)
        return
      }
      if (link.race.direct !== '') this.onSend(link.race.direct, bytes, length)
      else this.#sendByRelay(link, this.#relayFor(link), bytes, length)
      return
    }
    if (!to.startsWith('relay/')) {
      this.onSend(to, bytes, length)
      return
    }
    const [, index = '', allocation = ''] = to.split('/')
    const client = this.relays[Number(index)]
    const peer = client?.peers.get(allocation)
    if (client === undefined || peer === undefined) return
    const size = client.wrap(peer, bytes, length, this.#wrapped)
    if (size > 0) this.onSend(client.relay, this.#wrapped, size)
  }

  /** A datagram arrived from a real address. */
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    this.#now = now
    for (let index = 0; index < this.relays.length; index++) {
      const client = this.relays[index]
      if (client.relay !== from) continue
      const { seen, allocation } = client
      if (client.handleDatagram(now, bytes, length)) this.#handleRelayed(client, index, bytes, length)
      if (client.seen !== seen || client.allocation !== allocation) this.#handleReach(now, client.seen !== seen)
      return
    }
    if (isRelayControl(bytes, length)) {
      for (const { race } of this.peers.values()) if (race.handleDatagram(now, from, bytes, length)) return
      return
    }
    let hasGuests = this.peers.size === 0
    for (const link of this.peers.values()) {
      hasGuests ||= !link.isHost
      // Only a path that a probe has proven may stand for the peer.
      if (!link.isHost || !link.race.hasProven(from)) continue
      this.#deliver(link, from, bytes, length)
      return
    }
    if (hasGuests) this.onDatagram(from, bytes, length)
  }

  /** Sends what is due: probes, replies, relay control. Returns when it must be called next. */
  drain(now: Millis): Millis {
    this.#now = now
    for (const link of this.peers.values()) {
      this.#bindAll(link)
      const { direct } = link.race
      if (direct !== '' && link.takesKnock(direct)) this.onSend(direct, link.knock, link.knock.length)
    }
    let next = Infinity
    for (const client of this.relays) {
      while (client.pollTransmit(now, this.#out)) this.onSend(this.#out.to, this.#out.bytes, this.#out.length)
      next = Math.min(next, client.pollTimeout(now))
    }
    for (const { race } of this.peers.values()) {
      while (race.pollTransmit(now, this.#out)) this.onSend(this.#out.to, this.#out.bytes, this.#out.length)
      next = Math.min(next, race.pollTimeout(now))
    }
    return next
  }

  /** Where no direct path was found, the new address may have one. */
  #handleReach(now: Millis, isMoved: boolean): void {
    for (const { race } of this.peers.values())
      if (isMoved && race.state === 'relayed') race.handleNetworkChange(now)
    this.onReach()
  }

  #handleRelayed(client: RelayClient, index: number, bytes: Uint8Array, length: number): void {
    const peer = client.peerOf(channelOf(bytes))
    if (peer === undefined) return
    for (let at = CHANNEL_HEAD_BYTES; at < length; at++) this.#inner[at - CHANNEL_HEAD_BYTES] = bytes[at]
    const size = length - CHANNEL_HEAD_BYTES
    for (const link of this.peers.values()) {
      if (link.allocations[index] !== peer.allocation) continue
      this.#deliver(link, `relay/${index}/${peer.allocation}`, this.#inner, size)
      return
    }
  }

  #deliver(link: PeerLink, from: string, bytes: Uint8Array, length: number): void {
    if (link.isHost && bytes[4] === PACKET_TYPE.handshake) link.challengedBy = from
    if (link.isHost) this.#learnConnection(link, bytes, length)
    this.onDatagram(link.isHost ? `peer/${link.name}` : from, bytes, length)
  }

  /** A standby relay has not seen the handshake: it learns the connection from a Bind. */
  #learnConnection(link: PeerLink, bytes: Uint8Array, length: number): void {
    if (length < 13 || bytes[4] > PACKET_TYPE.disconnect) return
    const lo = readUint32(bytes, 5)
    const hi = readUint32(bytes, 9)
    if ((lo | hi) === 0 || (lo === link.connectionLo && hi === link.connectionHi)) return
    link.connectionLo = lo
    link.connectionHi = hi
    this.#bindAll(link)
  }

  #bindAll(link: PeerLink): void {
    this.relays.forEach((client, index) => {
      if (link.allocations[index] === '') link.allocations[index] = allocationOn(client, link.candidates)
      const allocation = link.allocations[index]
      if (allocation !== '' && allocation !== undefined) client.bind(allocation, link.connectionLo, link.connectionHi)
    })
  }

  /** The first relay that answers and leads to the peer; -1 when there is none. */
  #relayFor(link: PeerLink): number {
    let fallback = -1
    for (let index = 0; index < this.relays.length; index++) {
      const client = this.relays[index]
      const peer = client.peers.get(link.allocations[index])
      if (!client.isReady || peer === undefined || peer.channel === 0) continue
      if (client.state === 'ready' && !client.isSilent(this.#now)) return index
      fallback = index
    }
    return fallback
  }

  #sendByRelay(link: PeerLink, index: number, bytes: Uint8Array, length: number): void {
    if (index >= 0) this.send(`relay/${index}/${link.allocations[index]}`, bytes, length)
  }
}

function allocationOn(client: RelayClient, candidates: readonly Candidate[]): string {
  for (const candidate of candidates) {
    if (candidate.kind !== 'relay') continue
    if (candidate.address === client.relay || candidate.address === client.relayed) return candidate.allocation
  }
  return ''
}
