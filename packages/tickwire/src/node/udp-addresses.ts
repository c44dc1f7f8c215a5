/**
 * Addresses of a UDP socket as strings with one spelling each: `1.2.3.4:5678`, `[2001:db8::1]:5678`.
 *
 * Node hands out host and port of every datagram, and wants them back to answer; the engine wants one string. The book
 * remembers both forms, so that a peer who is heard again costs a comparison and no new string. IPv4 mapped into IPv6
 * (`::ffff:1.2.3.4`, what a socket for both families says) is plain IPv4 on our side.
 *
 * Invariant: the book has a fixed number of places. A flood of made-up senders turns pages over and never adds one; who
 * is pushed out is written down again at his next datagram.
 *
 * It does not resolve names: `resolveUdp` does, once, before there is anything to be fast about.
 */

import { hostEndOf, portAt, readIp } from '../core/endpoint/origin-key.ts'

/** Places in the book, in pairs: a peer finds his by host and port, and two who share it do not push each other out. */
const PAIRS = 2048
/** The end of a host differs most between neighbours; IPv4 hosts have at least seven characters. */
const TAIL_CHARS = 6
const MAPPED = '::ffff:'

/** Which addresses a socket can reach. */
export type UdpFamily = 'ipv4' | 'ipv6' | 'both'

/** One peer, in both forms. Filled again when somebody else gets the place. */
export class UdpAddress {
  /** Ours: `1.2.3.4:5678`. */
  text: string = ''
  /** The socket's: `1.2.3.4`, or `::ffff:1.2.3.4` where it speaks both families. */
  host: string = ''
  port: number = 0
  /** Whether a send to it has been watched to its end. */
  isTried: boolean = false
}

/** The peers a socket knows. */
export class UdpAddressBook {
  #family: UdpFamily
  #places: (UdpAddress | undefined)[] = new Array<UdpAddress | undefined>(PAIRS * 2).fill(undefined)
  /** Of each pair: which was used last, and so stays. */
  #last: Uint8Array = new Uint8Array(PAIRS)

  constructor(family: UdpFamily) {
    this.#family = family
  }

  /** Who sent a datagram, by what Node says; undefined when nobody can be answered there. @hot */
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

  /** Whom `text` means; undefined when it is not an address in its one spelling, or not one this socket reaches. @hot */
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

  /** The host of a canonical address in the socket's words. */
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

const words = new Uint16Array(8)

/** The one spelling of a numeric host and a port; undefined when the host is not numeric or the port not from 1 to 65535. */
export function canonicalAddress(host: string, port: number): string | undefined {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return undefined
  const family = readIp(host, 0, host.length, words)
  if (family === 0) return undefined
  if (family === 4) return `${high(0)}.${low(0)}.${high(1)}.${low(1)}:${port}`
  const zone = host.indexOf('%')
  return `[${shortestIpv6()}${zone < 0 ? '' : host.slice(zone)}]:${port}`
}

/** As RFC 5952 has it: lower case, no leading zeros, the longest run of zeros (the first of equals, at least two) as `::`. */
function shortestIpv6(): string {
  let runStart = -1
  let runLength = 1
  for (let start = 0; start < 8; start++) {
    let end = start
    while (end < 8 && words[end] === 0) end++
    if (end - start > runLength) {
      runStart = start
      runLength = end - start
    }
  }
  const groups = Array.from(words, (word) => word.toString(16))
  if (runStart < 0) return groups.join(':')
  return `${groups.slice(0, runStart).join(':')}::${groups.slice(runStart + runLength).join(':')}`
}

function high(index: number): number {
  return (words[index] ?? 0) >>> 8
}

function low(index: number): number {
  return (words[index] ?? 0) & 0xff
}

/** The place of the host at `text[start, end)`. */
function pairOf(text: string, start: number, end: number, port: number): number {
  let hash = port
  for (let at = Math.max(start, end - TAIL_CHARS); at < end; at++) hash = Math.imul(hash, 31) + text.charCodeAt(at)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d)
  return (hash ^ (hash >>> 13)) & (PAIRS - 1)
}
