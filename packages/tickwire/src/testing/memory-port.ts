/**
 * Memory links as datagram ports: a server and any number of clients in one process, each client on its own cable.
 *
 * Datagrams arrive when `deliver` is called, never inside `send`, as with a socket and its event loop.
 */

import { DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import type { Millis } from '../core/base/time.ts'
import { type DatagramPort, type DatagramPortStats, createPortStats } from '../core/endpoint/datagram-port.ts'
import { type LinkSide, MemoryLink, type Weather } from './memory-link.ts'

interface Cable {
  readonly link: MemoryLink
  readonly side: LinkSide
  readonly address: string
}

/** A network with one server port, and client ports by `openClient`. */
export class MemoryNetwork {
  readonly server: MemoryPort
  #ports: MemoryPort[]
  #now: () => Millis
  #seed: number
  #weather: Weather

  constructor(now: () => Millis, seed: number = 1, weather: Weather = {}) {
    this.#now = now
    this.#seed = seed
    this.#weather = weather
    this.server = new MemoryPort(now)
    this.#ports = [this.server]
  }

  /** A port that reaches the server under the address 'server'. */
  openClient(): MemoryPort {
    const number = this.#ports.length
    const link = new MemoryLink(this.#seed + number, this.#weather)
    const client = new MemoryPort(this.#now)
    this.#ports.push(client)
    this.server.plug({ link, side: 0, address: `memory:${number}` }, () => client.unplug('server'))
    client.plug({ link, side: 1, address: 'server' }, () => this.server.unplug(`memory:${number}`))
    return client
  }

  /** Delivers what has arrived by now. Returns the number of datagrams. */
  deliver(): number {
    return this.#ports.reduce((count, port) => count + port.deliver(), 0)
  }

  /** When the next datagram arrives at any port. */
  nextAt(): Millis {
    return Math.min(...this.#ports.map((port) => port.nextAt()))
  }
}

/** One port: the end of one or more cables. */
export class MemoryPort implements DatagramPort {
  readonly maxDatagramBytes: number = DATAGRAM_BYTES_SAFE
  readonly stats: DatagramPortStats = createPortStats()
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  #cables: Map<string, { readonly cable: Cable; readonly onClose: () => void }> = new Map()
  #incoming: Uint8Array = new Uint8Array(DATAGRAM_BYTES_MAX)
  #now: () => Millis

  constructor(now: () => Millis) {
    this.#now = now
  }

  plug(cable: Cable, onClose: () => void): void {
    this.#cables.set(cable.address, { cable, onClose })
  }

  /** What has arrived by now is delivered first. */
  unplug(address: string): void {
    const plugged = this.#cables.get(address)
    if (plugged === undefined) return
    this.#deliverFrom(plugged.cable)
    if (this.#cables.delete(address)) this.onPathClosed(address)
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    const plugged = this.#cables.get(to)
    if (length > this.maxDatagramBytes) this.stats.oversized++
    else if (plugged === undefined) this.stats.unreachable++
    else {
      this.stats.sent++
      plugged.cable.link.send(this.#now(), plugged.cable.side, bytes, length)
    }
  }

  close(): void {
    for (const [address, { onClose }] of [...this.#cables]) {
      this.unplug(address)
      onClose()
    }
  }

  deliver(): number {
    let count = 0
    for (const { cable } of [...this.#cables.values()]) count += this.#deliverFrom(cable)
    return count
  }

  nextAt(): Millis {
    let earliest = Infinity
    for (const { cable } of this.#cables.values()) earliest = Math.min(earliest, cable.link.nextAt(cable.side))
    return earliest
  }

  #deliverFrom({ address, link, side }: Cable): number {
    const now = this.#now()
    let count = 0
    for (let length = link.poll(now, side, this.#incoming); length >= 0; count++) {
      this.stats.received++
      this.onDatagram(address, this.#incoming, length)
      length = link.poll(now, side, this.#incoming)
    }
    return count
  }
}
