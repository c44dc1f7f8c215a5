/**
 * A port with relays that are reached by WebSocket, in a page or in a Worker (`core/nat/peer-port.ts`). It has no
 * direct paths: those of pages are data channels.
 */

import { DATAGRAM_BYTES_SAFE, RELAY_RETRY_MS } from '../core/base/limits.ts'
import type { OfferedRelay } from '../core/client/rendezvous.ts'
import type { CryptoProvider } from '../core/crypto/provider.ts'
import { createPortStats, type DatagramPort, type DatagramPortStats } from '../core/endpoint/datagram-port.ts'
import type { Candidate } from '../core/nat/candidates.ts'
import { type PeerIntroduction, type PeerLink, PeerPort } from '../core/nat/peer-port.ts'
import { RelayClient } from '../core/nat/relay-client.ts'
import { monotonicNow as now } from './clock.ts'
import { systemEntropy } from './entropy.ts'
import { BUFFERED_BYTES_MAX } from './path-port.ts'

const READY_LOOK_MS = 10
const DRAIN_MS_MAX = 1000
/** A relay whose socket closed is tried again after this time. */
const AGAIN_MS = 2000

export class PeerSockets implements DatagramPort {
  readonly maxDatagramBytes: number = DATAGRAM_BYTES_SAFE
  readonly stats: DatagramPortStats = createPortStats()
  readonly paths: PeerPort
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  /** Called when a relay has given another allocation than before. */
  onCandidates: () => void = () => {}
  readonly #sockets: Map<string, WebSocket> = new Map()
  readonly #timers: Set<ReturnType<typeof setTimeout>> = new Set()
  #timer: ReturnType<typeof setTimeout> | undefined
  #announced: string = ''
  #isClosed: boolean = false

  /** Opens a socket to each relay that has one. */
  constructor(relays: readonly OfferedRelay[], provider: CryptoProvider) {
    const urls = relays.flatMap(({ url, token }) => (url === undefined ? [] : [{ relay: url, token }]))
    this.paths = new PeerPort(urls.map(({ relay, token }) =>
      new RelayClient({ provider, entropy: systemEntropy, relay, token })))
    this.paths.onDatagram = (from, bytes, length) => {
      this.stats.received++
      this.onDatagram(from, bytes, length)
    }
    this.paths.onSend = (to, bytes, length) => this.#write(to, bytes, length)
    for (const { relay } of urls) this.#open(relay)
    this.#drain()
  }

  /** Resolves when a relay has answered; true if so. False when there is none, or after `ms`. */
  async ready(ms: number): Promise<boolean> {
    const { relays } = this.paths
    for (const end = now() + ms; now() < end && !this.#isClosed;) {
      if (relays.some(({ isReady }) => isReady)) return true
      if (relays.every(({ state }) => state === 'refused')) return false
      await new Promise((resolve) => setTimeout(resolve, READY_LOOK_MS))
    }
    return false
  }

  /** The allocations of this machine. */
  candidates(): Candidate[] {
    return this.paths.relays.filter(({ isReady }) => isReady)
      .map(({ relayed, allocation }) => ({ kind: 'relay', address: relayed, allocation }))
  }

  addPeer(introduction: PeerIntroduction): PeerLink {
    const link = this.paths.addPeer(now(), introduction)
    this.#drain()
    return link
  }

  addCandidates(name: string, candidates: readonly Candidate[]): void {
    this.paths.addCandidates(now(), name, candidates)
    this.#drain()
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    this.paths.send(to, bytes, length)
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    for (const timer of this.#timers) clearTimeout(timer)
    for (const socket of this.#sockets.values()) socket.close()
  }

  #open(url: string): void {
    if (this.#isClosed) return
    const socket = new WebSocket(url)
    socket.binaryType = 'arraybuffer'
    socket.onopen = () => {
      this.#sockets.set(url, socket)
      this.#drain()
    }
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (!(data instanceof ArrayBuffer)) return
      this.paths.handleDatagram(now(), url, new Uint8Array(data), data.byteLength)
      this.#drain()
    }
    socket.onclose = () => {
      if (this.#sockets.get(url) === socket) this.#sockets.delete(url)
      const timer = setTimeout(() => {
        this.#timers.delete(timer)
        this.#open(url)
      }, AGAIN_MS)
      this.#timers.add(timer)
    }
  }

  #write(url: string, bytes: Uint8Array, length: number): void {
    const socket = this.#sockets.get(url)
    if (socket === undefined || socket.readyState !== WebSocket.OPEN) this.stats.unreachable++
    else if (socket.bufferedAmount > BUFFERED_BYTES_MAX) this.stats.congested++
    else {
      socket.send(bytes.slice(0, length))
      this.stats.sent++
    }
  }

  #drain(): void {
    if (this.#isClosed) return
    const time = now()
    const next = this.paths.drain(time)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#drain(), Math.min(DRAIN_MS_MAX, Math.max(RELAY_RETRY_MS / 10, next - time)))
    const announcement = JSON.stringify(this.candidates())
    if (announcement === this.#announced) return
    this.#announced = announcement
    this.onCandidates()
  }
}
