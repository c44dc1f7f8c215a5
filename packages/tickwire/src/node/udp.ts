/**
 * UDP as a datagram port: one socket, many peers.
 *
 * ```ts
 * const port = await openUdp({ port: 4000 })
 * port.onDatagram = (from, bytes, length) => port.send(from, bytes, length)
 * ```
 *
 * Addresses are `1.2.3.4:5678` and `[2001:db8::1]:5678`, in canonical form (`resolveUdp` makes one from a name). A
 * socket bound to `::`, the default, is dual-stack, and reports an IPv4 peer by its IPv4 address.
 *
 * Behind a trusted proxy that uses the PROXY protocol, an address combines the client's and the proxy's:
 * `1.2.3.4:5678@10.0.0.1:4000`. Clients are distinguished and counted by the first part, and answered through the
 * second.
 *
 * Invariants: network errors are counted and never thrown; nothing is queued here (while the kernel accepts no more,
 * datagrams are dropped and counted as congested); memory does not grow with the number of senders.
 *
 * It does not set "don't fragment", because Node cannot: a datagram longer than the path MTU is fragmented.
 * `maxDatagramBytes` is 1200 by default, which fits every path.
 */

import { type RemoteInfo, type Socket, createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { ConfigError } from '../core/base/assert.ts'
import { DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import { type DatagramPort, type DatagramPortStats, createPortStats } from '../core/endpoint/datagram-port.ts'
import { canonicalAddress } from '../core/endpoint/canonical-address.ts'
import { PROXY_DATAGRAM, readProxyHeader } from './proxy-header.ts'
import { TrustedProxies } from './trusted-proxies.ts'
import { UdpAddressBook, type UdpFamily } from './udp-addresses.ts'

/** Kernel buffer for a second's worth of datagrams: with the default of 208 KiB, a burst is lost unnoticed. */
const BUFFER_BYTES = 4 * 1024 * 1024
/** If the system refuses even a buffer of this size, its own size is kept. */
const BUFFER_BYTES_MIN = 65_536
/** One in this many sends has a callback, to see lasting errors: a callback costs a tenth of the send. */
const SENDS_PER_CHECK = 64

/** Separates a client's address from that of its proxy: `198.51.100.7:5000@10.0.0.1:4000`. */
const VIA = '@'

/** How a UDP port is opened. */
export interface UdpOptions {
  /** Default 0: any free port. */
  readonly port?: number
  /** A numeric address of this machine. `::`, the default: all of them, both families. */
  readonly address?: string
  /** The longest datagram it sends. 1200, the default, to 1500. */
  readonly maxDatagramBytes?: number
  /**
   * Requested size of the kernel buffers, each way. Default 4 MiB; `recvBufferBytes` and `sendBufferBytes` are what was
   * granted.
   */
  readonly bufferBytes?: number
  /**
   * Proxies whose PROXY protocol (version 2, before each datagram) is trusted: addresses or networks. Default: none.
   */
  readonly trustedProxies?: readonly string[]
}

/** Opens a socket. Throws `ConfigError` when the port is taken or the address is not this machine's. */
export async function openUdp(options: UdpOptions = {}): Promise<UdpPort> {
  const { port = 0, address, maxDatagramBytes = DATAGRAM_BYTES_SAFE, bufferBytes = BUFFER_BYTES } = options
  const proxies = new TrustedProxies(options.trustedProxies)
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    throw new ConfigError('port', `invalid port (expected 0 to 65535, got ${port})`, 'give a port in this range.')
  if (address !== undefined && isIP(address) === 0) {
    throw new ConfigError(
      'address',
      `not a numeric address (got ${JSON.stringify(address)})`,
      'give one such as 127.0.0.1 or ::.',
    )
  }
  if (!(maxDatagramBytes >= DATAGRAM_BYTES_SAFE && maxDatagramBytes <= DATAGRAM_BYTES_MAX)) {
    throw new ConfigError(
      'maxDatagramBytes',
      `invalid size (expected ${DATAGRAM_BYTES_SAFE} to ${DATAGRAM_BYTES_MAX} bytes, got ${maxDatagramBytes})`,
      'give a size in this range.',
    )
  }
  const open = async (host: string): Promise<UdpPort> =>
    new UdpPort(await bind(port, host), familyOf(host), maxDatagramBytes, bufferBytes, proxies)
  if (address !== undefined) return open(address)
  return open('::').catch((error: NodeJS.ErrnoException) => {
    // These are the two errors of a machine without IPv6.
    if (error.code === 'EAFNOSUPPORT' || error.code === 'EADDRNOTAVAIL') return open('0.0.0.0')
    throw error
  })
}

/** The canonical address of a host, by name or number. Queries the resolver once; throws when the host is unknown. */
export async function resolveUdp(host: string, port: number, family?: 4 | 6): Promise<string> {
  const { address } = await lookup(host, { family: family ?? 0 })
  const text = canonicalAddress(address, port)
  if (text === undefined) throw new ConfigError(
    'port',
    `invalid port (expected 1 to 65535, got ${port})`,
    'give a port in this range.',
  )
  return text
}

/** An open UDP socket. Made by `openUdp`. */
export class UdpPort implements DatagramPort {
  readonly maxDatagramBytes: number
  readonly stats: DatagramPortStats = createPortStats()
  /** Count of each system error, by code, such as `ENETUNREACH`. Send errors are counted only for checked sends. */
  readonly errorCodes: Map<string, number> = new Map()
  /** The address that it listens on: `[::]:4000`. */
  readonly localAddress: string
  /** The buffer size that the kernel granted, each way. */
  readonly recvBufferBytes: number
  /** The size of the send buffer that the kernel granted, in bytes. */
  readonly sendBufferBytes: number
  /** Resolves once the socket is closed and its port number free. */
  readonly closed: Promise<void>
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  #socket: Socket
  #addresses: UdpAddressBook
  readonly #proxies: TrustedProxies
  #isClosed: boolean = false
  #sendsToCheck: number = 0
  /** A copy, because the kernel may take a datagram later and callers reuse their bytes at once. */
  #outgoing: Buffer = Buffer.alloc(DATAGRAM_BYTES_MAX)
  /** Views of `#outgoing`, so that sending allocates none: Node sends whole views only. Indexed by length. */
  #views: (Buffer | undefined)[] = new Array<Buffer | undefined>(DATAGRAM_BYTES_MAX + 1).fill(undefined)

  constructor(
    socket: Socket,
    family: UdpFamily,
    maxDatagramBytes: number,
    bufferBytes: number,
    proxies: TrustedProxies = new TrustedProxies(),
  ) {
    this.#proxies = proxies
    this.#socket = socket
    this.#addresses = new UdpAddressBook(family)
    this.maxDatagramBytes = maxDatagramBytes
    const { address, port } = socket.address()
    this.localAddress = canonicalAddress(address, port) ?? ''
    this.recvBufferBytes = grow(
      bufferBytes,
      (bytes) => socket.setRecvBufferSize(bytes),
      () => socket.getRecvBufferSize(),
    )
    this.sendBufferBytes = grow(
      bufferBytes,
      (bytes) => socket.setSendBufferSize(bytes),
      () => socket.getSendBufferSize(),
    )
    this.closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', (error) => this.#countError(error))
    socket.on('message', (bytes, source) => this.#receive(bytes, source))
  }

  /** The client behind an address. Limits count by it. */
  originOf(address: string): string {
    const via = address.indexOf(VIA)
    return via < 0 ? address : address.slice(0, via)
  }

  /** @hot */
  send(to: string, bytes: Uint8Array, length: number): void {
    if (length > this.maxDatagramBytes) {
      this.stats.oversized++
      return
    }
    const target = this.#isClosed ? undefined : this.#addresses.ofText(this.#proxies.isEmpty ? to : hopOf(to))
    if (target === undefined) {
      this.stats.unreachable++
      return
    }
    // The kernel accepts no more, and a datagram waits in the only buffer, which must not be overwritten.
    if (this.#socket.getSendQueueCount() > 0) {
      this.stats.congested++
      return
    }
    this.stats.sent++
    const view = this.#fill(bytes, length)
    if (target.isTried && --this.#sendsToCheck > 0) {
      this.#socket.send(view, target.port, target.host)
      return
    }
    target.isTried = true
    if (this.#sendsToCheck <= 0) this.#sendsToCheck = SENDS_PER_CHECK
    this.#socket.send(view, target.port, target.host, this.#onSent)
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#socket.close()
  }

  /** Keeps the process alive while the port is open, which is the default. */
  ref(): void {
    this.#socket.ref()
  }

  /** Lets the process end while the port is open. */
  unref(): void {
    this.#socket.unref()
  }

  /** Copies the bytes into the buffer of this port, and returns a view of exactly that length. */
  #fill(bytes: Uint8Array, length: number): Buffer {
    // Copying a whole packet buffer costs less than making a view of its front.
    this.#outgoing.set(bytes.length <= DATAGRAM_BYTES_MAX ? bytes : bytes.subarray(0, length))
    const known = this.#views[length]
    if (known !== undefined) return known
    const view = this.#outgoing.subarray(0, length)
    this.#views[length] = view
    return view
  }

  #receive(bytes: Buffer, source: RemoteInfo): void {
    const from = bytes.length > DATAGRAM_BYTES_MAX ? undefined : this.#addresses.ofSource(source.address, source.port)
    if (from === undefined) {
      this.stats.refused++
      return
    }
    if (!this.#proxies.isEmpty && this.#proxies.has(source.address)) {
      this.#receiveProxied(from.text, bytes)
      return
    }
    this.stats.received++
    this.onDatagram(from.text, bytes, bytes.length)
  }

  /** A datagram from a trusted proxy: its client gets an address of its own, and is answered through the proxy. */
  #receiveProxied(proxy: string, bytes: Buffer): void {
    const header = readProxyHeader(bytes, PROXY_DATAGRAM)
    if (header === 'broken' || header === 'more') {
      this.stats.refused++
      return
    }
    this.stats.received++
    if (header === 'none') this.onDatagram(proxy, bytes, bytes.length)
    else {
      const payload = bytes.subarray(header.byteLength)
      this.onDatagram(header.source === undefined ? proxy : `${header.source}${VIA}${proxy}`, payload, payload.length)
    }
  }

  #onSent = (error: Error | null): void => {
    if (error === null) return
    this.#countError(error)
    // After an error, the next send is checked too, until one succeeds.
    this.#sendsToCheck = 0
  }

  #countError(error: NodeJS.ErrnoException): void {
    const code = error.code ?? 'unknown'
    this.stats.errors++
    this.errorCodes.set(code, (this.errorCodes.get(code) ?? 0) + 1)
  }
}

/** Where a datagram to an address is sent: to the proxy of its client, if there is one. */
function hopOf(address: string): string {
  return address.slice(address.indexOf(VIA) + 1)
}

function familyOf(host: string): UdpFamily {
  if (isIP(host) === 4) return 'ipv4'
  return canonicalAddress(host, 1) === '[::]:1' ? 'both' : 'ipv6'
}

function bind(port: number, address: string): Promise<Socket> {
  const socket = createSocket({
    type: isIP(address) === 4 ? 'udp4' : 'udp6',
    // Node calls this for every datagram. Its own lookup answers in a later turn, when the buffer has been reused.
    lookup: (host, _options, callback) => callback(null, host, 0),
  })
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException): void => {
      socket.close()
      reject(explain(error, port, address))
    }
    socket.once('error', refuse)
    socket.bind({ port, address, exclusive: true }, () => {
      socket.off('error', refuse)
      resolve(socket)
    })
  })
}

function explain(error: NodeJS.ErrnoException, port: number, address: string): Error {
  if (error.code === 'EADDRINUSE') {
    return new ConfigError(
      'port',
      `${port} is in use by another program`,
      'stop that program, or give another port; 0 takes any free port.',
    )
  }
  if (error.code === 'EACCES') return new ConfigError(
    'port',
    `${port} needs administrator rights`,
    'give a port from 1024 on.',
  )
  if (error.code === 'EADDRNOTAVAIL' && address !== '::') {
    return new ConfigError(
      'address',
      `${address} is not an address of this machine`,
      'give one of this machine, or leave it out for all.',
    )
  }
  return error
}

/** Asks for a buffer of `bytes`, then for half, until the system agrees. Returns the size that was granted. */
function grow(bytes: number, set: (bytes: number) => void, get: () => number): number {
  for (let asked = bytes; asked >= BUFFER_BYTES_MIN; asked /= 2) {
    try {
      set(Math.floor(asked))
      break
    } catch {
      // Some systems refuse sizes above their limit; others reduce them silently.
    }
  }
  // Linux doubles the requested size for its own bookkeeping, and reports the sum.
  return process.platform === 'linux' ? get() / 2 : get()
}
