/**
 * The key by which limits count an address: the part that its owner cannot change at will.
 *
 * An IPv4 address counts as itself. Of an IPv6 address the first 64 bits count, because a household gets at least one
 * whole /64. One host has many spellings (`::ffff:1.2.3.4` on a dual-stack socket, NAT64, 6to4, Teredo). All of them
 * count as the embedded IPv4 address. Otherwise the owner of one IPv4 address would have 65,536 counters.
 *
 * ```
 * 1.2.3.4:5678              family 4   high 0            low 0x01020304
 * [2001:db8:1:2:3::4]:5678  family 6   high 0x20010db8   low 0x00010002
 * ```
 *
 * Invariant: two spellings of one address have the same key. Text that is not an address has no key. Forms that parsers
 * disagree about (octal, hexadecimal or short IPv4) are not accepted as addresses.
 *
 * This file does not decide which addresses are exempt: `isLocal` only describes the address, and the caller decides.
 */

/** The kind of network that an address belongs to. Only `public` addresses are reachable from everywhere. */
export type OriginScope =
  | 'public' | 'private' | 'loopback' | 'link-local' | 'shared' | 'multicast' | 'unspecified' | 'reserved'

/** The key that limits count by. Reused. */
export class OriginKey {
  family: 4 | 6 = 4
  /** The upper 32 of the 64 counted bits; 0 for IPv4. */
  high: number = 0
  low: number = 0
  scope: OriginScope = 'public'
  /** The IPv4 address was embedded in an IPv6 address of a tunnel or a translator. */
  isEmbedded: boolean = false

  /**
   * The same machine, or its own network. Never true of an embedded address: any host may send from the 6to4 spelling
   * of 127.0.0.1, but only this machine from 127.0.0.1 itself.
   */
  get isLocal(): boolean {
    if (this.isEmbedded) return false
    return this.scope === 'loopback' || this.scope === 'private' || this.scope === 'link-local'
  }
}

const words = new Uint16Array(8)

/**
 * Writes the key of `1.2.3.4:5678`, `[::1]:5678`, or either without its port into `out`. Returns undefined when the
 * text is not such an address. A caller that needs a key for every packet passes its own `out`. @hot
 */
export function originKey(address: string, out: OriginKey = new OriginKey()): OriginKey | undefined {
  const hostEnd = hostEndOf(address)
  if (hostEnd < 0) return undefined
  const hostStart = address.charCodeAt(0) === 0x5b ? 1 : 0
  const family = readIp(address, hostStart, hostEnd, words)
  if (family === 0) return undefined
  out.family = family
  out.isEmbedded = false
  if (family === 4) {
    out.high = 0
    out.low = joined(words[0], words[1])
    out.scope = scopeOf4(out.low)
  } else {
    fill6(out)
  }
  return out
}

/**
 * The end of the host in `host`, `host:port` or `[host]:port`; -1 when the brackets or the port are invalid. The host
 * starts at 1 after a bracket, at 0 otherwise. @hot
 */
export function hostEndOf(address: string): number {
  const { length } = address
  if (address.charCodeAt(0) === 0x5b) {
    const end = address.indexOf(']')
    if (end < 0) return -1
    return end === length - 1 || (address.charCodeAt(end + 1) === 0x3a && portAt(address, end + 2) > 0) ? end : -1
  }
  const colon = address.indexOf(':')
  if (colon < 0) return length
  // Two colons without brackets: an IPv6 address without a port.
  if (address.indexOf(':', colon + 1) >= 0) return length
  return portAt(address, colon + 1) > 0 ? colon : -1
}

/** The port at the end of `address`, from `start`; 0 unless it is 1 to 65535 in canonical decimal form. @hot */
export function portAt(address: string, start: number): number {
  const { length } = address
  if (start >= length || length - start > 5 || address.charCodeAt(start) === 0x30) return 0
  let port = 0
  for (let at = start; at < length; at++) {
    const digit = address.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) return 0
    port = port * 10 + digit
  }
  return port <= 65_535 ? port : 0
}

/**
 * Reads the IP address at `text[start, end)` into 16-bit words: two for IPv4, eight for IPv6. Returns its family, or 0
 * when the text is not an IP address. IPv4 mapped into IPv6 is IPv4. A zone (`%eth0`) is skipped. @hot
 */
export function readIp(text: string, start: number, end: number, out: Uint16Array): 0 | 4 | 6 {
  const zone = text.indexOf('%', start)
  const hasZone = zone >= start && zone < end
  if (hasZone && !isZone(text, zone + 1, end)) return 0
  const stop = hasZone ? zone : end
  if (readIpv4(text, start, stop, out, 0)) return hasZone ? 0 : 4
  if (!readIpv6(text, start, stop, out)) return 0
  if (hasZone || (out[0] | out[1] | out[2] | out[3] | out[4]) !== 0 || out[5] !== 0xffff) return 6
  out[0] = out[6]
  out[1] = out[7]
  return 4
}

/** Four decimal numbers up to 255, without leading zeros, none missing. */
function readIpv4(text: string, start: number, end: number, out: Uint16Array, at: number): boolean {
  let parts = 0
  let value = -1
  let high = 0
  let low = 0
  if (end - start > 15) return false
  for (let index = start; index <= end; index++) {
    const code = index < end ? text.charCodeAt(index) : 0x2e
    if (code === 0x2e) {
      if (value < 0 || parts === 4) return false
      if (parts < 2) high = (high << 8) | value
      else low = (low << 8) | value
      parts++
      value = -1
    } else {
      const digit = code - 0x30
      if (digit < 0 || digit > 9 || value === 0) return false
      value = value < 0 ? digit : value * 10 + digit
      if (value > 255) return false
    }
  }
  if (parts !== 4) return false
  out[at] = high
  out[at + 1] = low
  return true
}

/** Eight hexadecimal groups. One run of zero groups may be `::`, and the last two groups may be written as IPv4. */
function readIpv6(text: string, start: number, end: number, out: Uint16Array): boolean {
  let count = 0
  let gap = -1
  let at = start
  if (end - start > 45) return false
  if (text.charCodeAt(at) === 0x3a) {
    if (end - at < 2 || text.charCodeAt(at + 1) !== 0x3a) return false
    gap = 0
    at += 2
  }
  while (at < end) {
    if (count === 8) return false
    const groupEnd = groupEndOf(text, at, end)
    if (groupEnd < end && text.charCodeAt(groupEnd) === 0x2e) {
      if (count > 6 || !readIpv4(text, at, end, out, count)) return false
      count += 2
      break
    }
    const value = groupAt(text, at, groupEnd)
    if (value < 0) return false
    out[count++] = value
    at = groupEnd
    if (at === end) break
    if (text.charCodeAt(at++) !== 0x3a || at === end) return false
    if (text.charCodeAt(at) === 0x3a) {
      if (gap >= 0) return false
      gap = count
      at++
    }
  }
  if (gap < 0) return count === 8
  if (count === 8) return false
  const tail = count - gap
  for (let index = 0; index < tail; index++) out[7 - index] = out[count - 1 - index]
  for (let index = gap; index < 8 - tail; index++) out[index] = 0
  return true
}

function groupEndOf(text: string, start: number, end: number): number {
  let at = start
  while (at < end && text.charCodeAt(at) !== 0x3a && text.charCodeAt(at) !== 0x2e) at++
  return at
}

/** Reads one to four hexadecimal digits; -1 when there are others. */
function groupAt(text: string, start: number, end: number): number {
  if (end === start || end - start > 4) return -1
  let value = 0
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    const letter = code | 0x20
    const digit = code >= 0x30 && code <= 0x39 ? code - 0x30 : letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
    if (digit < 0) return -1
    value = (value << 4) | digit
  }
  return value
}

/** An interface's name: letters, digits, dot, dash, underscore. */
function isZone(text: string, start: number, end: number): boolean {
  if (end === start || end - start > 32) return false
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    const isWord = (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a)
    if (!isWord && code !== 0x2d && code !== 0x2e && code !== 0x5f) return false
  }
  return true
}

function joined(high: number, low: number): number {
  return ((high << 16) | low) >>> 0
}

/** Fills the key from the eight words: the embedded IPv4 address if there is one, else the first 64 bits. */
function fill6(out: OriginKey): void {
  const inner = embeddedIpv4()
  if (inner >= 0) {
    out.family = 4
    out.isEmbedded = true
    out.high = 0
    out.low = inner
    out.scope = scopeOf4(inner)
    return
  }
  out.high = joined(words[0], words[1])
  out.low = joined(words[2], words[3])
  out.scope = scopeOf6()
}

/** The IPv4 address embedded in the eight words, or -1. */
function embeddedIpv4(): number {
  const last = joined(words[6], words[7])
  const isUpperZero = (words[0] | words[1] | words[2] | words[3]) === 0
  // IPv4-compatible, ::1.2.3.4; but :: and ::1 are not IPv4.
  if (isUpperZero && (words[4] | words[5]) === 0) return last > 1 ? last : -1
  // IPv4-translated, ::ffff:0:1.2.3.4.
  if (isUpperZero && words[4] === 0xffff && words[5] === 0) return last
  // NAT64: the well-known prefix 64:ff9b::1.2.3.4, and the local-use prefix 64:ff9b:1:...
  if (words[0] === 0x64 && words[1] === 0xff9b) {
    const isWellKnown = (words[2] | words[3] | words[4] | words[5]) === 0
    if (isWellKnown || words[2] === 1) return last
  }
  // 6to4: 2002:, then the address.
  if (words[0] === 0x2002) return joined(words[1], words[2])
  // Teredo: 2001:0:, and the client's address inverted at the end.
  if (words[0] === 0x2001 && words[1] === 0) return ~last >>> 0
  return -1
}

/** [prefix, bits, scope] of IPv4. The first match applies. */
const SCOPES_4: readonly (readonly [number, number, OriginScope])[] = [
  [0x0000_0000, 8, 'unspecified'],
  [0x0a00_0000, 8, 'private'],
  [0x6440_0000, 10, 'shared'],
  [0x7f00_0000, 8, 'loopback'],
  [0xa9fe_0000, 16, 'link-local'],
  [0xac10_0000, 12, 'private'],
  [0xc000_0000, 24, 'reserved'],
  [0xc000_0200, 24, 'reserved'],
  [0xc0a8_0000, 16, 'private'],
  [0xc612_0000, 15, 'reserved'],
  [0xc633_6400, 24, 'reserved'],
  [0xcb00_7100, 24, 'reserved'],
  [0xe000_0000, 4, 'multicast'],
  [0xf000_0000, 4, 'reserved'],
]

function scopeOf4(address: number): OriginScope {
  for (let index = 0; index < SCOPES_4.length; index++) {
    const row = SCOPES_4[index]
    if ((address ^ row[0]) >>> (32 - row[1]) === 0) return row[2]
  }
  return 'public'
}

function scopeOf6(): OriginScope {
  const first = words[0]
  if (first === 0 && middleWords() === 0)
    return words[7] === 1 ? 'loopback' : words[7] === 0 ? 'unspecified' : 'reserved'
  if ((first & 0xffc0) === 0xfe80) return 'link-local'
  if ((first & 0xfe00) === 0xfc00 || (first & 0xffc0) === 0xfec0) return 'private'
  if (first >= 0xff00) return 'multicast'
  if (first === 0x2001 && words[1] === 0xdb8) return 'reserved'
  if ((first & 0xfff0) === 0x3ff0) return 'reserved'
  return first >= 0x2000 && first < 0x4000 ? 'public' : 'reserved'
}

/** Words 1 to 6. */
function middleWords(): number {
  return words[1] | words[2] | words[3] | words[4] | words[5] | words[6]
}
