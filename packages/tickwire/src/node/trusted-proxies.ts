/**
 * Which proxies are trusted to say where a client is: a list of addresses and networks (CIDR), IPv4 and IPv6.
 *
 * ```
 * X-Forwarded-For: 6.6.6.6, 198.51.100.7, 10.0.0.2     from 10.0.0.1, trusted 10.0.0.0/8: the client is 198.51.100.7
 *                  │        │             └ a trusted hop: it saw the next one to the left
 *                  │        └ the rightmost untrusted hop: seen by a trusted one
 *                  └ claimed by the client itself: never trusted
 * ```
 *
 * From any other address, neither the header nor the PROXY protocol is trusted.
 */

import { ConfigError } from '../core/base/assert.ts'
import { TRUSTED_PROXIES_MAX } from '../core/base/limits.ts'
import { originKey, readIp } from '../core/endpoint/origin-key.ts'

interface Network {
  readonly family: 4 | 6
  readonly words: Uint16Array
  readonly bits: number
}

const WORD_BITS = 16

/** A list of trusted proxies. */
export class TrustedProxies {
  readonly #networks: readonly Network[]
  readonly #words: Uint16Array = new Uint16Array(8)

  /** Throws ConfigError for an entry that is not a network. */
  constructor(list: readonly string[] = []) {
    if (list.length > TRUSTED_PROXIES_MAX) {
      throw new ConfigError(
        'trustedProxies',
        `too many networks (expected at most ${TRUSTED_PROXIES_MAX}, got ${list.length})`,
        'merge networks.',
      )
    }
    this.#networks = list.map((text, index) => parseNetwork(text, `trustedProxies[${index}]`))
  }

  /** Whether no proxy is trusted. */
  get isEmpty(): boolean {
    return this.#networks.length === 0
  }

  /** Whether a numeric address belongs to a trusted proxy. */
  has(ip: string): boolean {
    if (this.isEmpty) return false
    const family = readIp(ip, 0, ip.length, this.#words)
    return family !== 0 && this.#networks.some((network) => network.family === family && isInside(this.#words, network))
  }

  /** The address of a request's client: `peer`, or the address that trusted proxies report. */
  clientOf(peer: string, forwardedFor: string | undefined): string {
    if (forwardedFor === undefined || !this.has(peer)) return peer
    const hops = forwardedFor.split(',')
    let client = peer
    for (let at = hops.length - 1; at >= 0; at--) {
      const hop = (hops[at] ?? '').trim()
      // A trusted proxy sent something that is not an address. The hops to the left of it cannot be trusted.
      if (originKey(hop) === undefined) return client
      client = hop
      if (!this.has(hostOf(hop))) return client
    }
    return client
  }
}

/** A hop without its port and brackets. */
function hostOf(hop: string): string {
  if (hop.startsWith('[')) return hop.slice(1, hop.indexOf(']'))
  const colon = hop.indexOf(':')
  return colon >= 0 && hop.indexOf(':', colon + 1) < 0 ? hop.slice(0, colon) : hop
}

function parseNetwork(text: string, path: string): Network {
  const [host = '', size, ...rest] = text.split('/')
  const words = new Uint16Array(8)
  const family = readIp(host, 0, host.length, words)
  const bitsMax = family === 4 ? 32 : 128
  const bits = size === undefined ? bitsMax : /^\d{1,3}$/.test(size) ? Number(size) : NaN
  if (family === 0 || rest.length > 0 || !(bits <= bitsMax)) {
    throw new ConfigError(
      path,
      `not an address or a network (got "${text}")`,
      'write one such as "10.0.0.1", "10.0.0.0/8" or "fd00::/8".',
    )
  }
  return { family, words, bits }
}

function isInside(words: Uint16Array, network: Network): boolean {
  for (let at = 0; at * WORD_BITS < network.bits; at++) {
    const free = Math.max(0, (at + 1) * WORD_BITS - network.bits)
    if ((words[at] ?? 0) >>> free !== (network.words[at] ?? 0) >>> free) return false
  }
  return true
}
