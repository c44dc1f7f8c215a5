/**
 * Reduces an SDP offer to what a data channel needs.
 *
 * ICE sends checks to every candidate that an offer names, before anything is proven: 150 packets for one offer, to any
 * address, also inside the server's own network. A server that can be reached needs none of them, because the page
 * sends first. So only lines from the list below pass, all addresses are replaced, and nothing else in an offer can
 * make the server send or resolve anything.
 */

import { CANDIDATES_MAX } from '../core/base/limits.ts'
import { canonicalAddress } from '../core/endpoint/canonical-address.ts'
import { isReachable } from '../core/nat/candidates.ts'

/** Attributes that describe keys, the ICE credentials and the data channel. */
const ATTRIBUTES: ReadonlySet<string> = new Set([
  'group',
  'msid-semantic',
  'extmap-allow-mixed',
  'mid',
  'ice-ufrag',
  'ice-pwd',
  'ice-options',
  'fingerprint',
  'setup',
  'sctp-port',
  'sctpmap',
  'max-message-size',
  'sendrecv',
])

const CANDIDATE = /^a=candidate:\S+ 1 udp \d+ (\S+) ([1-9]\d{0,4}) typ (?:host|srflx|prflx|relay)(?: .*)?$/i

/**
 * The same for an offer of another player: both sides are behind routers, so candidates are needed. They are checked as
 * those of signalling: addresses that a player may have, and few of them.
 */
export function sanitizePeerOffer(offer: string, isLoopbackAllowed: boolean): string {
  const kept: string[] = []
  for (const line of offer.split(/\r?\n/)) {
    const [, ip = '', port = ''] = CANDIDATE.exec(line) ?? []
    const address = ip === '' ? undefined : canonicalAddress(ip, Number(port))
    // Only one spelling: a library may read another one differently.
    const isPlain = address === `${ip}:${port}` || address === `[${ip}]:${port}`
    if (address === undefined || !isPlain || kept.length >= CANDIDATES_MAX) continue
    if (!isReachable(address, isLoopbackAllowed)) continue
    kept.push(line)
  }
  return `${sanitizeOffer(offer)}${kept.map((line) => `${line}\r\n`).join('')}a=end-of-candidates\r\n`
}

/** The offer without candidates and addresses. Throws if it has no data channel, or any other media. */
export function sanitizeOffer(offer: string): string {
  const lines: string[] = []
  let sections = 0
  for (const line of offer.split(/\r?\n/)) {
    if (/^[vst]=/.test(line)) lines.push(line)
    else if (line.startsWith('o=')) lines.push(line.replace(/ IN IP[46] \S+$/, ' IN IP4 0.0.0.0'))
    else if (line.startsWith('m=')) {
      const [, protocol = ''] = /^m=application \d+ (\S+) webrtc-datachannel$/.exec(line) ?? []
      if (protocol === '' || ++sections > 1) throw new Error('an offer has one section, and that is for data channels')
      lines.push(`m=application 9 ${protocol} webrtc-datachannel`, 'c=IN IP4 0.0.0.0')
    } else if (line.startsWith('a=') && ATTRIBUTES.has(nameOf(line))) lines.push(line)
  }
  if (sections === 0) throw new Error('an offer has a section for data channels')
  return `${lines.join('\r\n')}\r\n`
}

function nameOf(line: string): string {
  const colon = line.indexOf(':')
  return line.slice(2, colon < 0 ? undefined : colon)
}
