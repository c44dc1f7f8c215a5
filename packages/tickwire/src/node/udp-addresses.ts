/**
 * Addresses of a UDP socket as strings with one spelling each: `1.2.3.4:5678`, `[2001:db8::1]:5678`.
 *
 * Node gives host and port of every datagram, and takes them to answer; the engine uses one string. The address book
 * keeps both forms, so that a further datagram of a known peer costs a comparison and no new string. IPv4 mapped into
 * IPv6 (`::ffff:1.2.3.4`, which a dual-stack socket reports) becomes plain IPv4.
 *
 * Invariant: the book has a fixed number of entries. A flood of forged senders replaces entries and never adds one. A
 * peer whose entry was replaced gets a new one with its next datagram.
 *
 * It does not resolve names: `resolveUdp` does that, once, outside the hot path.
 */

import { canonicalAddress } from '../core/endpoint/canonical-address.ts'
import { hostEndOf, portAt } from '../core/endpoint/origin-key.ts'

/** Pairs of entries in the book. Host and port select the pair: two peers with equal hashes do not evict each other. */
const PAIRS = 2048
/**
 * Characters at the end of a host that are hashed: neighbours differ there. IPv4 hosts have at least seven characters.
 */
const TAIL_CHARS = 6
const MAPPED = '::ffff:'

/** Which addresses a socket can reach. */
export type UdpFamily = 'ipv4' | 'ipv6' | 'both'

/** One peer, in both forms. Overwritten when another peer takes the entry. */
export class UdpAddress {
  /** The engine's form: `1.2.3.4:5678`. */
  text: string = ''
  /** The socket's form: `1.2.3.4`, or `::ffff:1.2.3.4` on a dual-stack socket. */
  host: string = ''
  port: number = 0
  /** Whether the result of a send to it has been checked. */
  isTried: boolean = false
}

/** The peers that a socket knows. */
export class UdpAddressBook {
  #family: UdpFamily
  #places: (UdpAddress | undefined)[] = new Array<UdpAddress | undefined>(PAIRS * 2).fill(undefined)
  /** Which entry was used last, and so stays. Indexed by pair. */
  #last: Uint8Array = new Uint8Array(PAIRS)

  constructor(family: UdpFamily) {
    this.#family = family
  }

  /** The sender of a datagram, by Node's host and port; undefined when it cannot be answered. @hot */
  ofSource(host: string, port: number): UdpAddress | undefined {
    const pair = pairOf(host, 0, host.length, port)
    for (let way = 0; way < 2; way++) {
      const place = this.#places[pair * 2 + way]
      if (place !== undefined && place.port === port && place.host === host) {
        this.#last[pair] = way
        return place
      }
    }
    const text = port > 0 ? canonicalAddress(host, port) : undefined
    return text === undefined ? undefined : this.#write(pair, text, host, port)
  }

  /** The peer of `text`; undefined when it is not a canonical address, or not one that this socket reaches. @hot */
  ofText(text: string): UdpAddress | undefined {
    const colon = text.lastIndexOf(':')
    const port = portAt(text, colon + 1)
    const isBracketed = text.charCodeAt(0) === 0x5b
    const pair = pairOf(text, isBracketed ? 1 : 0, isBracketed ? colon - 1 : colon, port)
    for (let way = 0; way < 2; way++) {
      const place = this.#places[pair * 2 + way]
      if (place !== undefined && place.text === text) {
        this.#last[pair] = way
        return place
      }
    }
    const host = this.#hostIn(text)
    return host === undefined || port === 0 ? undefined : this.#write(pair, text, host, port)
  }

  /** The host of a canonical address, in the socket's form. */
  #hostIn(text: string): string | undefined {
    const end = hostEndOf(text)
    const isBracketed = text.startsWith('[')
    if (end < 0 || end === text.length) return undefined
    const host = text.slice(isBracketed ? 1 : 0, end)
    if (canonicalAddress(host, Number(text.slice(text.lastIndexOf(':') + 1))) !== text) return undefined
    if (isBracketed) return this.#family === 'ipv4' ? undefined : host
    if (this.#family === 'both') return MAPPED + host
    return this.#family === 'ipv4' ? host : undefined
  }

  #write(pair: number, text: string, host: string, port: number): UdpAddress {
    const way = 1 - (this.#last[pair] ?? 0)
    const index = pair * 2 + way
    const place = this.#places[index] ?? new UdpAddress()
    this.#places[index] = place
    this.#last[pair] = way
    place.text = text
    place.host = host
    place.port = port
    place.isTried = false
    return place
  }
}

/** The pair of the host at `text[start, end)`. */
function pairOf(text: string, start: number, end: number, port: number): number {
  let hash = port
  for (let at = Math.max(start, end - TAIL_CHARS); at < end; at++) hash = Math.imul(hash, 31) + text.charCodeAt(at)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d)
  return (hash ^ (hash >>> 13)) & (PAIRS - 1)
}
