/**
 * Signalling by connections on real sockets: direct to an address, or through a packet relay.
 *
 * ```ts
 * const host = await openDirectSignaling({ name: 'host', port: 4001, guestsMax: 8 })
 * const guest = await openDirectSignaling({ name: 'ann', peers: { host: '192.168.1.5:4001' } })
 * guest.send('host', offer)
 * ```
 *
 * Through a relay both members name each other's allocation, which they have from elsewhere: a link, or an earlier
 * offer. It goes on when a rendezvous is gone.
 */

import { ConfigError } from '../core/base/assert.ts'
import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import { LineSignaling } from '../core/nat/line-signaling.ts'
import type { Signal, Signaling } from '../core/nat/signaling.ts'
import { monotonicNow } from './clock.ts'
import { bestProvider } from './crypto.ts'
import { systemEntropy } from './entropy.ts'
import { type PeerUdpPort, openPeerPort } from './nat-port.ts'
import { openUdp } from './udp.ts'

/** Bytes of the key of probes. Relayed signalling sends none. */
const NO_PROBE_KEY = new Uint8Array(16)

/** How a member signals to others at known addresses. */
export interface DirectSignalingOptions {
  /** The name of this member: letters, digits, `_`, `.` and `-`. */
  readonly name: string
  /** Members to connect to, by name: `ip:port`. Default: none. */
  readonly peers?: { readonly [name: string]: string }
  /** How many members may connect to this one. Default 0. */
  readonly guestsMax?: number
  /** The UDP port. Default 0: any free port. */
  readonly port?: number
  /** A numeric address of this machine. Default: all of them. */
  readonly address?: string
  /** 32 secret bytes: the seed of this member's identity key. Default: random. */
  readonly identity?: Uint8Array
  /** Whether candidates on this machine are kept: for tests. Default false. */
  readonly isLoopbackAllowed?: boolean
}

/** How a member signals through a relay. */
export interface RelaySignalingOptions extends Omit<DirectSignalingOptions, 'peers' | 'port' | 'address'> {
  /** The relay, `ip:port`, and a relay token. All members have tokens of one session. */
  readonly relay: { readonly address: string; readonly token: Uint8Array }
}

/** Signalling on a real socket. */
export interface SocketSignaling extends Signaling {
  /** The address of its socket. */
  readonly localAddress: string
  /** Resolves when the socket is closed. */
  readonly closed: Promise<void>
}

/** Signalling through a relay: members are added once their allocations are known. */
export interface RelaySignaling extends SocketSignaling {
  /** The allocation of this member: 16 hexadecimal digits. Give it to the others. */
  readonly allocation: string
  /** Adds a member. One side of each pair connects. */
  addPeer(name: string, allocation: string, connects: boolean): void
}

/** Signals to addresses. Throws `ConfigError` on invalid options. */
export async function openDirectSignaling(options: DirectSignalingOptions): Promise<SocketSignaling> {
  const { peers = {}, port: number = 0, address, ...config } = options
  const port = await openUdp({ port: number, ...(address !== undefined && { address }) })
  const line = new LineSignaling({ provider: bestProvider(), entropy: systemEntropy, ...config })
  const socket = new LineSocket(line, port, port.localAddress)
  for (const [name, to] of Object.entries(peers)) socket.connect(name, to)
  return socket
}

/** Signals through a relay. Resolves once the relay has answered; throws `ConfigError` when it refuses. */
export async function openRelaySignaling(options: RelaySignalingOptions): Promise<RelaySignaling> {
  const { relay, ...config } = options
  const port = await openPeerPort({ relays: [relay] })
  await port.ready()
  const client = port.paths.relays[0]
  if (client?.isReady !== true) {
    port.close()
    const problem = `no allocation on ${relay.address} (${client?.refusal ?? 'no answer'})`
    throw new ConfigError('signaling.relay', problem, 'use another relay, or a new token.')
  }
  const line = new LineSignaling({ provider: bestProvider(), entropy: systemEntropy, ...config })
  return new RelayLineSocket(line, port, relay.address, client.allocation)
}

class LineSocket implements SocketSignaling {
  readonly localAddress: string
  readonly closed: Promise<void>
  protected readonly line: LineSignaling
  readonly #port: DatagramPort
  #timer: NodeJS.Timeout | undefined
  #isClosing: boolean = false
  #end: () => void = () => {}

  constructor(line: LineSignaling, port: DatagramPort, localAddress: string) {
    this.line = line
    this.#port = port
    this.localAddress = localAddress
    this.closed = new Promise((resolve) => {
      this.#end = resolve
    })
    line.onDue = () => this.#wake(0)
    port.onDatagram = (from, bytes, length) => {
      line.handleDatagram(monotonicNow(), from, bytes, length)
      this.#wake(0)
    }
  }

  get onArrival(): () => void {
    return this.line.onArrival
  }

  set onArrival(listener: () => void) {
    this.line.onArrival = listener
  }

  connect(name: string, address: string): void {
    this.line.connect(monotonicNow(), name, address)
  }

  send(peer: string, signal: Signal): void {
    this.line.send(peer, signal)
  }

  poll(): readonly [string, Signal] | undefined {
    return this.line.poll()
  }

  close(): void {
    if (this.#isClosing) return
    this.#isClosing = true
    this.line.close(monotonicNow())
  }

  #wake(afterMs: number): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#drain(), afterMs)
    if (!this.#isClosing) this.#timer.unref()
  }

  #drain(): void {
    const now = monotonicNow()
    const next = this.line.drain(now, this.#port)
    if (this.#isClosing && this.line.peers.length === 0) {
      clearTimeout(this.#timer)
      this.#port.close()
      this.#end()
    } else if (next < Infinity) this.#wake(Math.min(1000, Math.max(1, next - now)))
  }
}

class RelayLineSocket extends LineSocket implements RelaySignaling {
  readonly allocation: string
  readonly #paths: PeerUdpPort
  readonly #relay: string

  constructor(line: LineSignaling, port: PeerUdpPort, relay: string, allocation: string) {
    super(line, port, relay)
    this.#paths = port
    this.#relay = relay
    this.allocation = allocation
  }

  addPeer(name: string, allocation: string, connects: boolean): void {
    this.#paths.addPeer({
      name, candidates: [{ kind: 'relay', address: this.#relay, allocation }], key: NO_PROBE_KEY,
      provider: bestProvider(), mode: 'relay-only', isHost: connects,
    })
    if (connects) this.connect(name, `peer/${name}`)
  }
}
