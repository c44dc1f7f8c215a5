/**
 * The one spelling of an address: `1.2.3.4:5678`, `[2001:db8::1]:5678`. Two equal addresses are equal strings.
 *
 * IPv4 mapped into IPv6 (`::ffff:1.2.3.4`, which a dual-stack socket reports) becomes plain IPv4.
 */

import { readIp } from './origin-key.ts'

const words = new Uint16Array(8)

/** The canonical address of a numeric host and a port; undefined if the host is not numeric or the port is invalid. */
export function canonicalAddress(host: string, port: number): string | undefined {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return undefined
  const family = readIp(host, 0, host.length, words)
  if (family === 0) return undefined
  const zone = host.indexOf('%')
  return addressOfWords(family, words, port, zone < 0 ? '' : host.slice(zone))
}

/** The canonical address of 16-bit words, two for IPv4 and eight for IPv6, and a port. */
export function addressOfWords(family: 4 | 6, source: Uint16Array, port: number, zone: string = ''): string {
  if (family === 6) return `[${shortestIpv6(source)}${zone}]:${port}`
  return `${source[0] >>> 8}.${source[0] & 0xff}.${source[1] >>> 8}.${source[1] & 0xff}:${port}`
}

/** As RFC 5952: lower case, no leading zeros, the longest run of zeros (the first of equals, at least two) as `::`. */
function shortestIpv6(source: Uint16Array): string {
  let runStart = -1
  let runLength = 1
  for (let start = 0; start < 8; start++) {
    let end = start
    while (end < 8 && source[end] === 0) end++
    if (end - start > runLength) {
      runStart = start
      runLength = end - start
    }
  }
  const groups = Array.from(source.subarray(0, 8), (word) => word.toString(16))
  if (runStart < 0) return groups.join(':')
  return `${groups.slice(0, runStart).join(':')}::${groups.slice(runStart + runLength).join(':')}`
}
