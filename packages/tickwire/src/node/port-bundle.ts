/**
 * Several datagram ports as one: each has the addresses that begin with its prefix, and one, with the empty prefix, all
 * others. So one match is played over all of them, and a connection can go from one to another.
 *
 * ```
 * ws:7     rtc:3     wt:12     1.2.3.4:5678 and [2001:db8::1]:5678 (UDP)
 * ```
 *
 * Prefixes are part of the addresses that the ports themselves make: nothing is cut or joined for a datagram.
 */

import { DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import { type DatagramPort, type DatagramPortStats, createPortStats } from '../core/endpoint/datagram-port.ts'

/** A port that may know which IP address stands behind an address of its own. */
export interface BundledPort extends DatagramPort {
  originOf?(address: string): string
}

export interface BundleMember {
  readonly prefix: string
  readonly port: BundledPort
}

export class PortBundle implements DatagramPort {
  readonly maxDatagramBytes: number = DATAGRAM_BYTES_SAFE
  readonly members: readonly BundleMember[]
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  readonly #own: DatagramPortStats = createPortStats()

  constructor(members: readonly BundleMember[]) {
    // The empty prefix fits everything, so it is asked last.
    this.members = members.toSorted((a, b) => b.prefix.length - a.prefix.length)
    for (const { port } of members) {
      port.onDatagram = (from, bytes, length) => this.onDatagram(from, bytes, length)
      port.onPathClosed = (address) => this.onPathClosed(address)
    }
  }

  /** What all of them counted together. */
  get stats(): DatagramPortStats {
    const sum = { ...this.#own }
    for (const { port: { stats } } of this.members) {
      for (const name of Object.keys(sum)) if (isCounter(name)) sum[name] += stats[name]
    }
    return sum
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    const port = this.#portOf(to)
    if (port === undefined) this.#own.unreachable++
    else port.send(to, bytes, length)
  }

  close(): void {
    for (const { port } of this.members) port.close()
  }

  /** The IP address behind an address of any of them; the address itself when nobody knows better. */
  originOf(address: string): string {
    return this.#portOf(address)?.originOf?.(address) ?? address
  }

  #portOf(address: string): BundledPort | undefined {
    for (const { prefix, port } of this.members) if (address.startsWith(prefix)) return port
    return undefined
  }
}

const COUNTERS = createPortStats()

function isCounter(name: string): name is keyof DatagramPortStats {
  return name in COUNTERS
}
