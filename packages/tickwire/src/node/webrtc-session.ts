/**
 * What every provider of WebRTC holds to.
 */

/** The one channel a page opens. */
export const CHANNEL_LABEL = 'tickwire'

/** What may wait in a channel: what waits longer is late, and so is dropped instead. */
export const BUFFERED_BYTES_MAX = 16_384

/** Offers that were answered and whose channel has not opened: so many at once, each for so long. */
export const PENDING_MAX = 64
export const PENDING_MS = 10_000

/** How long a page is waited for that has been told, until its connection is closed all the same. */
export const FAREWELL_MS_MAX = 1000

/** Names of the SDP an answer consists of. Where the server is known by other addresses, those stand in its candidates. */
export function announce(sdp: string, addresses: readonly string[]): string {
  if (addresses.length === 0) return sdp
  const seen = new Set<string>()
  return sdp.split('\r\n').flatMap((line) => {
    const match = /^(a=candidate:\S+ \d+ udp \d+ )(\S+)( \d+ typ host.*)$/i.exec(line)
    if (match === null) return line.startsWith('a=candidate:') ? [] : [line]
    const [, head = '', , tail = ''] = match
    return addresses.map((address) => `${head}${address}${tail}`).filter((candidate) => {
      // One candidate for each port: what differs otherwise are the addresses that are replaced.
      const key = candidate.replace(/^a=candidate:\S+ \d+ udp \d+ /i, '')
      return seen.has(key) ? false : seen.add(key)
    })
  }).join('\r\n')
}
