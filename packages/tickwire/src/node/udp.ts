/**
 * UDP as a datagram port: one socket, many peers.
 *
 * ```ts
 * const port = await openUdp({ port: 4000 })
 * port.onDatagram = (from, bytes, length) => port.send(from, bytes, length)
 * ```
 *
 * Addresses are `1.2.3.4:5678` and `[2001:db8::1]:5678`, one spelling each (`resolveUdp` makes one of a name). A socket
 * bound to `::`, the default, speaks both families, and calls an IPv4 peer by his IPv4 address.
 *
 * Invariants: whatever the network does is counted and never thrown; nothing is queued here (while the kernel takes no
 * more, datagrams are dropped and counted as congested); memory does not grow with the number of senders.
 *
 * It does not set "don't fragment", for Node has no way to: a datagram longer than the path's packet is cut up and put
 * together by routers. `maxDatagramBytes` is 1200 unless said, and that fits every path.
 */

import { type RemoteInfo, type Socket, createSocket } from 'node:dgram'
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { ConfigError } from '../core/base/assert.ts'
import { DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import { type DatagramPort, type DatagramPortStats, createPortStats } from '../core/endpoint/datagram-port.ts'
import { UdpAddressBook, type UdpFamily, canonicalAddress } from './udp-addresses.ts'

/** Room in the kernel for a second's worth of datagrams: with its default of 208 KiB a burst is lost unseen. */
const BUFFER_BYTES = 4 * 1024 * 1024
/** Below this a system that refuses large buffers is left with its own. */
const BUFFER_BYTES_MIN = 65_536
/** Every so many sends, one is watched to its end: a callback costs a tenth of the send, and errors that stay are seen. */
const SENDS_PER_CHECK = 64

/** How a UDP port is opened. */
export interface UdpOptions {
  /** 0, the default, takes any that is free. */
  readonly port?: number
  /** A numeric address of this machine. `::`, the default: all of them, both families. */
  readonly address?: string
  /** The longest datagram it sends. 1200, the default, to 1500. */
  readonly maxDatagramBytes?: number
  /** Kernel buffers to ask for, each way. 4 MiB unless said; `recvBufferBytes` and `sendBufferBytes` tell what came of it. */
  readonly bufferBytes?: number
}

/** Opens a socket. Throws `ConfigError` when the port is taken or the address is not this machine's. */
export async function openUdp(options: UdpOptions = {}): Promise<UdpPort> {
  const { port = 0, address, maxDatagramBytes = DATAGRAM_BYTES_SAFE, bufferBytes = BUFFER_BYTES } = options
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new ConfigError('port', `is ${port}`, 'Give 0 to 65535.')
  if (address !== undefined && isIP(address) === 0) {
    throw new ConfigError('address', `is ${JSON.stringify(address)}, no numeric address`, 'Give one such as 127.0.0.1 or ::.')
  }
  if (!(maxDatagramBytes >= DATAGRAM_BYTES_SAFE && maxDatagramBytes <= DATAGRAM_BYTES_MAX)) {
    throw new ConfigError('maxDatagramBytes', `is ${maxDatagramBytes}`, `Give ${DATAGRAM_BYTES_SAFE} to ${DATAGRAM_BYTES_MAX}.`)
  }
  const open = async (host: string): Promise<UdpPort> =>
    new UdpPort(await bind(port, host), familyOf(host), maxDatagramBytes, bufferBytes)
  if (address !== undefined) return open(address)
  return open('::').catch((error: NodeJS.ErrnoException) => {
    // A machine without IPv6 says so in one of these two ways.
    if (error.code === 'EAFNOSUPPORT' || error.code === 'EADDRNOTAVAIL') return open('0.0.0.0')
    throw error
  })
}

/** The address of a host by name or number, as a UDP port spells it. Asks the resolver once; throws when it knows no such host. */
export async function resolveUdp(host: string, port: number, family?: 4 | 6): Promise<string> {
  const { address } = await lookup(host, { family: family ?? 0 })
  const text = canonicalAddress(address, port)
  if (text === undefined) throw new ConfigError('port', `is ${port}`, 'Give 1 to 65535.')
  return text
}

/** An open UDP socket. Made by `openUdp`. */
export class UdpPort implements DatagramPort {
  readonly maxDatagramBytes: number
  readonly stats: DatagramPortStats = createPortStats()
  /** How often the system said which error, by its code, such as `ENETUNREACH`. Of errors of sending, those that were watched. */
  readonly errorCodes: Map<string, number> = new Map()
  /** Where it listens: `[::]:4000`. */
  readonly localAddress: string
  /** What the kernel grants, each way. */
  readonly recvBufferBytes: number
  readonly sendBufferBytes: number
  /** Resolves once the socket is closed and its port number free. */
  readonly closed: Promise<void>
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  #socket: Socket
  #addresses: UdpAddressBook
  #isClosed: boolean = false
  #sendsToCheck: number = 0
  /** Ours, since the kernel may take a datagram later and callers reuse their bytes at once. */
  #outgoing: Buffer = Buffer.alloc(DATAGRAM_BYTES_MAX)
  /** By length, so that sending makes no view: Node takes whole ones only. */
  #views: (Buffer | undefined)[] = new Array<Buffer | undefined>(DATAGRAM_BYTES_MAX + 1).fill(undefined)

  constructor(socket: Socket, family: UdpFamily, maxDatagramBytes: number, bufferBytes: number) {
    this.#socket = socket
    this.#addresses = new UdpAddressBook(family)
    this.maxDatagramBytes = maxDatagramBytes
    const { address, port } = socket.address()
    this.localAddress = canonicalAddress(address, port) ?? ''
    this.recvBufferBytes = grow(bufferBytes, (bytes) => socket.setRecvBufferSize(bytes), () => socket.getRecvBufferSize())
    this.sendBufferBytes = grow(bufferBytes, (bytes) => socket.setSendBufferSize(bytes), () => socket.getSendBufferSize())
    this.closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', (error) => this.#countError(error))
    socket.on('message', (bytes, source) => this.#receive(bytes, source))
  }

  /** @hot */
  send(to: string, bytes: Uint8Array, length: number): void {
    if (length > this.maxDatagramBytes) {
      this.stats.oversized++
      return
    }
    const target = this.#isClosed ? undefined : this.#addresses.ofText(to)
    if (target === undefined) {
      this.stats.unreachable++
      return
    }
    // The kernel took no more, and what waits lies in our one buffer: it must not be written over.
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

  /** Keeps the process alive while the port is open, as it does unless told otherwise. */
  ref(): void {
    this.#socket.ref()
  }

  /** Lets the process end while the port is open. */
  unref(): void {
    this.#socket.unref()
  }

  /** The bytes in our own buffer, as a view of just that length. */
  #fill(bytes: Uint8Array, length: number): Buffer {
    // Copying all of a packet buffer costs less than making a view of its front.
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
    this.stats.received++
    this.onDatagram(from.text, bytes, bytes.length)
  }

  #onSent = (error: Error | null): void => {
    if (error === null) return
    this.#countError(error)
    // Where one fails others do: the next one is watched too, until one does not.
    this.#sendsToCheck = 0
  }

  #countError(error: NodeJS.ErrnoException): void {
    const code = error.code ?? 'unknown'
    this.stats.errors++
    this.errorCodes.set(code, (this.errorCodes.get(code) ?? 0) + 1)
  }
}

function familyOf(host: string): UdpFamily {
  if (isIP(host) === 4) return 'ipv4'
  return canonicalAddress(host, 1) === '[::]:1' ? 'both' : 'ipv6'
}

function bind(port: number, address: string): Promise<Socket> {
  const socket = createSocket({
    type: isIP(address) === 4 ? 'udp4' : 'udp6',
    // Node asks this for every datagram. Its own answers in a later turn, when our buffer holds something else.
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
    return new ConfigError('port', `${port} is in use by another program`, 'Stop that one, or give another port; 0 takes any that is free.')
  }
  if (error.code === 'EACCES') return new ConfigError('port', `${port} is not for everybody`, 'Give one from 1024 on.')
  if (error.code === 'EADDRNOTAVAIL' && address !== '::') {
    return new ConfigError('address', `${address} is not an address of this machine`, 'Give one that is, or none for all of them.')
  }
  return error
}

/** Asks for a buffer of `bytes`, then for half, until the system agrees; what it grants in the end. */
function grow(bytes: number, set: (bytes: number) => void, get: () => number): number {
  for (let asked = bytes; asked >= BUFFER_BYTES_MIN; asked /= 2) {
    try {
      set(Math.floor(asked))
      break
    } catch {
      // Some systems refuse what is above their limit, others cut it down without a word.
    }
  }
  // Linux adds its own bookkeeping to what was asked for, and reports both together.
  return process.platform === 'linux' ? get() / 2 : get()
}
