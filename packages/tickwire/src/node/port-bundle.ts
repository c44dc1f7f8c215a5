/**
 * Several datagram ports as one. A port handles the addresses that begin with its prefix; the port with the empty
 * prefix handles all others. So one match is played over all of them, and a connection can migrate between them.
 *
 * ```
 * ws:7     rtc:3     wt:12     1.2.3.4:5678 and [2001:db8::1]:5678 (UDP)
 * ```
 *
 * Prefixes are part of the addresses that the ports themselves make: nothing is cut or joined per datagram.
 */

import { DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import { type DatagramPort, type DatagramPortStats, createPortStats } from '../core/endpoint/datagram-port.ts'

/** A port that may know the IP address behind each of its addresses. */
export interface BundledPort extends DatagramPort {
  /** The IP address behind an address, for limits. */
  originOf?(address: string): string
  /** Closes paths that have not been in `used` since `before`. A port without paths, such as UDP, does not need it. */
  closeUnused?(used: ReadonlySet<string>, before: number): void
}

/** A port of a bundle. */
export interface BundleMember {
  /** The beginning of its addresses. The port with the empty prefix gets all others. */
  readonly prefix: string
  /** The port. */
  readonly port: BundledPort
}

/** Several datagram ports as one. */
export class PortBundle implements DatagramPort {
  readonly maxDatagramBytes: number = DATAGRAM_BYTES_SAFE
  /** Its ports, the longest prefix first. */
  readonly members: readonly BundleMember[]
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  #onDatagram: DatagramPort['onDatagram'] = () => {}
  readonly #own: DatagramPortStats = createPortStats()

  constructor(members: readonly BundleMember[]) {
    // The empty prefix matches everything, so it is tried last.
    this.members = members.toSorted((a, b) => b.prefix.length - a.prefix.length)
    for (const { port } of members) port.onPathClosed = (address) => this.onPathClosed(address)
  }

  get onDatagram(): DatagramPort['onDatagram'] {
    return this.#onDatagram
  }

  /** Every port calls it directly. */
  set onDatagram(handle: DatagramPort['onDatagram']) {
    this.#onDatagram = handle
    for (const { port } of this.members) port.onDatagram = handle
  }

  /** The sum of all ports' counters. */
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

  /** The IP address behind an address of any port; the address itself when its port does not know. */
  originOf(address: string): string {
    return this.#portOf(address)?.originOf?.(address) ?? address
  }

  /** Closes paths that have not been in `used` since `before`, on every port. */
  closeUnused(used: ReadonlySet<string>, before: number): void {
    for (const { port } of this.members) port.closeUnused?.(used, before)
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
