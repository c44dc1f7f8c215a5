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

/** How such a port is opened. */
export interface PeerUdpOptions {
  /** The relay to use first, and its standby: `ip:port`, and a relay token for each. */
  readonly relays: readonly { readonly address: string; readonly token: Uint8Array }[]
  /** The UDP port. Default 0: any free port. */
  readonly port?: number
}

/** Opens the socket, and asks the relays for an allocation. */
export async function openPeerPort(options: PeerUdpOptions): Promise<PeerUdpPort> {
  const socket = await openUdp({ port: options.port ?? 0, maxDatagramBytes: DATAGRAM_BYTES_MAX })
  const provider = bestProvider()
  const relays = options.relays.map(({ address, token }) =>
    new RelayClient({ provider, entropy: systemEntropy, relay: address, token }),
  )
  return new PeerUdpPort(socket, new PeerPort(relays))
}

/** A UDP socket with several paths. Made by `openPeerPort`. */
export class PeerUdpPort implements DatagramPort {
  readonly maxDatagramBytes: number = DATAGRAM_BYTES_SAFE
  readonly paths: PeerPort
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  readonly #socket: UdpPort
  #timer: NodeJS.Timeout | undefined
  #isClosed: boolean = false

  constructor(socket: UdpPort, paths: PeerPort) {
    this.#socket = socket
    this.paths = paths
    paths.onSend = (to, bytes, length) => socket.send(to, bytes, length)
    paths.onDatagram = (from, bytes, length) => this.onDatagram(from, bytes, length)
    socket.onDatagram = (from, bytes, length) => {
      paths.handleDatagram(monotonicNow(), from, bytes, length)
      this.#drain()
    }
    this.#drain()
  }

  get stats(): DatagramPortStats {
    return this.#socket.stats
  }

  /** Resolves when every relay has answered, or after `ms`. Default 3000. */
  async ready(ms: number = 3000): Promise<void> {
    for (const end = monotonicNow() + ms; monotonicNow() < end;) {
      if (this.paths.relays.every(({ state }) => state !== 'asking')) return
      await new Promise((resolve) => setTimeout(resolve, RELAY_RETRY_MS / 10))
    }
  }

  /** The addresses of this peer that are announced: its own, those that relays see, and its allocations. */
  candidates(mode: PathMode): Candidate[] {
    const found: Candidate[] = ownAddresses(Number(this.#socket.localAddress.split(':').pop()))
      .map((address) => ({ kind: 'host', address }))
    for (const { isReady, seen, relay, allocation } of this.paths.relays) {
      if (!isReady) continue
      if (seen !== '') found.push({ kind: 'seen', address: seen })
      found.push({ kind: 'relay', address: relay, allocation })
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
    this.#socket.close()
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

/** The addresses of this machine that others may have a path to, each with this port. */
function ownAddresses(port: number): string[] {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal }) => !internal)
    .map(({ address }) => canonicalAddress(address, port) ?? '')
    .filter((address) => isReachable(address))
    .slice(0, 4)
}
