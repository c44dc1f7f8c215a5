/**
 * A port with several paths on a real UDP socket: direct ones, and through relays (`core/nat/peer-port.ts`).
 *
 * ```ts
 * const port = await openPeerPort({ relays: [{ address: '203.0.113.10:7777', token }] })
 * await port.ready()
 * signalling.send({ candidates: port.candidates('race') })
 * port.addPeer({ name: 'host', candidates, key, provider, isHost: true })
 * ```
 */

import { networkInterfaces } from 'node:os'
import { DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_SAFE, RELAY_RETRY_MS } from '../core/base/limits.ts'
import { canonicalAddress } from '../core/endpoint/canonical-address.ts'
import { type DatagramPort, type DatagramPortStats } from '../core/endpoint/datagram-port.ts'
import { type Candidate, type PathMode, announced, isReachable } from '../core/nat/candidates.ts'
import { type PeerIntroduction, type PeerLink, PeerPort } from '../core/nat/peer-port.ts'
import { RelayClient } from '../core/nat/relay-client.ts'
import { monotonicNow } from './clock.ts'
import { bestProvider } from './crypto.ts'
import { systemEntropy } from './entropy.ts'
import { type UdpPort, openUdp } from './udp.ts'
import { openWebSocket } from './websocket.ts'

/** How often the network of this machine is looked at. */
const NETWORK_LOOK_MS = 1000
const READY_LOOK_MS = 5

/** How such a port is opened. */
export interface PeerUdpOptions {
  /** The relay to use first, and its standby: `ip:port`, or `ws://…` where UDP is blocked, and a token for each. */
  readonly relays: readonly { readonly address: string; readonly token: Uint8Array }[]
  /** The UDP port. Default 0: any free port. */
  readonly port?: number
  /** Whether addresses on this machine are announced: for players on one machine. Default false. */
  readonly isLoopbackAnnounced?: boolean
}

/** Opens the socket, and asks the relays for an allocation. */
export async function openPeerPort(options: PeerUdpOptions): Promise<PeerUdpPort> {
  const socket = await openUdp({ port: options.port ?? 0, maxDatagramBytes: DATAGRAM_BYTES_MAX })
  const provider = bestProvider()
  const relays = options.relays.map(({ address, token }) =>
    new RelayClient({ provider, entropy: systemEntropy, relay: address, token }),
  )
  const port = new PeerUdpPort(socket, new PeerPort(relays), options.isLoopbackAnnounced)
  await Promise.all(relays.map(({ relay }) => (isWebSocket(relay) ? port.addWebSocket(relay) : undefined)))
  return port
}

/** A UDP socket with several paths. Made by `openPeerPort`. */
export class PeerUdpPort implements DatagramPort {
  readonly maxDatagramBytes: number = DATAGRAM_BYTES_SAFE
  readonly paths: PeerPort
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  /** Called when this machine can be reached at other addresses than before: another network, or another allocation. */
  onCandidates: () => void = () => {}
  /** Called when this machine has other addresses than before: connections of the old network may be dead. */
  onNetworkChange: () => void = () => {}
  readonly #socket: UdpPort
  /** The relays by WebSocket, by URL. */
  readonly #sockets: Map<string, DatagramPort> = new Map()
  #timer: NodeJS.Timeout | undefined
  readonly #watch: NodeJS.Timeout
  readonly #isLoopbackAnnounced: boolean
  #addresses: string
  #announced: string = ''
  #isClosed: boolean = false

  /** `isLoopbackAnnounced`: for players on one machine, and for tests. */
  constructor(socket: UdpPort, paths: PeerPort, isLoopbackAnnounced: boolean = false) {
    this.#socket = socket
    this.paths = paths
    this.#isLoopbackAnnounced = isLoopbackAnnounced
    this.#addresses = this.#ownAddresses().join()
    this.#watch = setInterval(() => this.#look(), NETWORK_LOOK_MS)
    this.#watch.unref()
    paths.onSend = (to, bytes, length) => (this.#sockets.get(to) ?? socket).send(to, bytes, length)
    paths.onDatagram = (from, bytes, length) => this.onDatagram(from, bytes, length)
    paths.onReach = () => this.#announce()
    socket.onDatagram = (from, bytes, length) => {
      paths.handleDatagram(monotonicNow(), from, bytes, length)
      this.#drain()
    }
    this.#drain()
  }

  get stats(): DatagramPortStats {
    return this.#socket.stats
  }

  /** Reaches a relay by WebSocket. When that is not possible, or ends, the relay is silent. */
  async addWebSocket(url: string): Promise<void> {
    const port = await openWebSocket(url, { maxDatagramBytes: DATAGRAM_BYTES_MAX }).catch(() => undefined)
    if (port === undefined) return
    this.#sockets.set(url, port)
    port.onDatagram = (from, bytes, length) => {
      this.paths.handleDatagram(monotonicNow(), from, bytes, length)
      this.#drain()
    }
    port.onPathClosed = () => this.#sockets.delete(url)
    this.#drain()
  }

  /** Resolves when every relay has answered, or after `ms`. Default 3000. */
  async ready(ms: number = 3000): Promise<void> {
    for (const end = monotonicNow() + ms; monotonicNow() < end;) {
      if (this.paths.relays.every(({ state }) => state !== 'asking')) return
      await new Promise((resolve) => setTimeout(resolve, RELAY_RETRY_MS / 10))
    }
  }

  /** Resolves when a relay has answered, or there is none, or after `ms`. Default 3000. */
  async readyOne(ms: number = 3000): Promise<void> {
    const { relays } = this.paths
    for (const end = monotonicNow() + ms; monotonicNow() < end;) {
      if (relays.some(({ isReady }) => isReady) || relays.every(({ state }) => state === 'refused')) return
      await new Promise((resolve) => setTimeout(resolve, READY_LOOK_MS))
    }
  }

  /** Looks for better paths again, now. */
  race(): void {
    this.paths.handleNetworkChange(monotonicNow())
    this.#drain()
  }

  /** The addresses of this peer that are announced: its own, those that relays see, and its allocations. */
  candidates(mode: PathMode): Candidate[] {
    const found: Candidate[] = this.#ownAddresses().map((address) => ({ kind: 'host', address }))
    for (const { isReady, seen, relayed, allocation } of this.paths.relays) {
      if (seen !== '') found.push({ kind: 'seen', address: seen })
      if (isReady) found.push({ kind: 'relay', address: relayed, allocation })
    }
    return announced(found, mode)
  }

  /** Adds a peer, and starts the race for a direct path. */
  addPeer(introduction: PeerIntroduction): PeerLink {
    const link = this.paths.addPeer(monotonicNow(), introduction)
    this.#drain()
    return link
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    this.paths.send(to, bytes, length)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearInterval(this.#watch)
    this.#socket.close()
    for (const port of this.#sockets.values()) port.close()
  }

  /** Where the socket is reached from outside, once a relay has said so; '' before. */
  get seen(): string {
    return this.paths.relays.find(({ seen }) => seen !== '')?.seen ?? ''
  }

  /** More candidates of a peer. */
  addCandidates(name: string, candidates: readonly Candidate[]): void {
    this.paths.addCandidates(monotonicNow(), name, candidates)
    this.#drain()
  }

  #ownAddresses(): string[] {
    return ownAddresses(Number(this.#socket.localAddress.split(':').pop()), this.#isLoopbackAnnounced)
  }

  /** Looks whether the network of this machine has changed. */
  #look(): void {
    const addresses = this.#ownAddresses().join()
    if (addresses === this.#addresses) return
    this.#addresses = addresses
    this.onNetworkChange()
    this.paths.handleNetworkChange(monotonicNow())
    this.#drain()
    this.#announce()
  }

  #announce(): void {
    const announcement = JSON.stringify(this.candidates('race'))
    if (announcement === this.#announced) return
    this.#announced = announcement
    this.onCandidates()
  }

  #drain(): void {
    if (this.#isClosed) return
    const now = monotonicNow()
    const next = this.paths.drain(now)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#drain(), Math.min(1000, Math.max(1, next - now)))
    this.#timer.unref()
  }
}

function isWebSocket(relay: string): boolean {
  return relay.startsWith('ws://') || relay.startsWith('wss://')
}

/** The addresses of this machine that others may have a path to, each with this port. */
function ownAddresses(port: number, isLoopbackAnnounced: boolean): string[] {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal }) => isLoopbackAnnounced || !internal)
    .map(({ address }) => canonicalAddress(address, port) ?? '')
    .filter((address) => isReachable(address, isLoopbackAnnounced))
    .slice(0, 4)
}
