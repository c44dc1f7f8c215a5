/**
 * The header of the PROXY protocol, version 2. A proxy writes it before the first byte of a TCP connection, and before
 * the payload of each UDP datagram, to state the client's address.
 *
 * ```
 *  0            12        13           14       16
 * ┌────────────┬─────────┬────────────┬────────┬──────────────────────────────────────────────┬──────┐
 * │ signature  │ 2 │ cmd │ fam │ prot │ length │ source, destination, ports (12 or 36), TLVs   │ ...  │
 * └────────────┴─────────┴────────────┴────────┴──────────────────────────────────────────────┴──────┘
 * ```
 *
 * Numbers are big-endian. Command 0 (LOCAL) is sent by the proxy for itself and names no client. Families other than
 * IPv4 and IPv6 name no client either. TLVs are skipped. `trusted-proxies.ts` decides whether a header is trusted.
 */

import { PROXY_HEADER_BYTES_MAX } from '../core/base/limits.ts'
import { canonicalAddress } from '../core/endpoint/canonical-address.ts'

const SIGNATURE = Uint8Array.of(0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a)
const HEAD_BYTES = 16
const PROXY = 1
const INET = 1
const INET6 = 2

/** Transport protocols in the header. */
export const PROXY_STREAM = 1
export const PROXY_DATAGRAM = 2

/** A parsed header. `source` is undefined if it names no client. */
export interface ProxyHeader {
  readonly source: string | undefined
  /** Length of the header, in bytes. */
  readonly byteLength: number
}

/**
 * Parses the header at the front of `bytes`. 'none': they begin with something else. 'more': they may be the beginning
 * of a header. 'broken': the header is malformed or too long.
 */
export function readProxyHeader(bytes: Uint8Array, protocol: number): ProxyHeader | 'none' | 'more' | 'broken' {
  for (let at = 0; at < SIGNATURE.length && at < bytes.length; at++) if (bytes[at] !== SIGNATURE[at]) return 'none'
  if (bytes.length < HEAD_BYTES) return 'more'
  const [versionAndCommand = 0, familyAndProtocol = 0, high = 0, low = 0] = bytes.subarray(SIGNATURE.length, HEAD_BYTES)
  const command = versionAndCommand & 15
  const byteLength = HEAD_BYTES + high * 256 + low
  if (versionAndCommand >>> 4 !== 2 || command > PROXY || byteLength > PROXY_HEADER_BYTES_MAX) return 'broken'
  if (bytes.length < byteLength) return 'more'
  const family = familyAndProtocol >>> 4
  if (command !== PROXY || (family !== INET && family !== INET6)) return { source: undefined, byteLength }
  const ipBytes = family === INET ? 4 : 16
  if ((familyAndProtocol & 15) !== protocol || byteLength < HEAD_BYTES + 2 * ipBytes + 4) return 'broken'
  const source = sourceAt(bytes, ipBytes)
  return source === undefined ? 'broken' : { source, byteLength }
}

function sourceAt(bytes: Uint8Array, ipBytes: number): string | undefined {
  const ip = bytes.subarray(HEAD_BYTES, HEAD_BYTES + ipBytes)
  const portAt = HEAD_BYTES + 2 * ipBytes
  const port = (bytes[portAt] ?? 0) * 256 + (bytes[portAt + 1] ?? 0)
  const host =
    ipBytes === 4
      ? ip.join('.')
      : Array.from({ length: 8 }, (_, word) => ((ip[2 * word] ?? 0) * 256 + (ip[2 * word + 1] ?? 0)).toString(16)).join(
          ':',
        )
  return canonicalAddress(host, port)
}
