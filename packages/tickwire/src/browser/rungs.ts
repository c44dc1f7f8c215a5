/**
 * Opens each transport of the ladder, or says why it cannot: the page's own limits first, then what the server offers.
 *
 * WebTransport and WebRTC are loaded when the page has them and the server offers them (`later.ts`). WebSocket is part
 * of the page: every page opens one at once.
 */

import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { Offers, Rung } from './offers.ts'
import { openWebRtc, openWebTransport } from './later.ts'
import { openWebSocket } from './websocket.ts'

/** An open transport, and the server's address on its port. */
export interface OpenRung {
  readonly port: DatagramPort
  readonly address: string
}

/** Time limit for opening a transport. Then the next one is used. */
export const RUNG_MS_MAX = 2000

/** Relative to the address of the server. */
const MATCH_PATH = 'tickwire'

/** Opens a transport to the server at `base`, within its time limit. Rejects with the reason. */
export async function openRung(
  rung: Rung, base: URL, query: string, offers: Promise<Offers>, signal: AbortSignal,
): Promise<OpenRung> {
  const problem = problemOfPage(rung)
  if (problem !== undefined) throw new Error(problem)
  if (rung === 'websocket') {
    const address = new URL(`${MATCH_PATH}?${query}`, base.href.replace(/^http/, 'ws')).href
    return { port: await inTime(rung, signal, (limit) => openWebSocket(address, limit)), address }
  }
  const { webtransport, webrtc, missing } = await offers
  if (rung === 'webtransport' && webtransport !== undefined) {
    const { url, hashes } = webtransport
    return { port: await inTime(rung, signal, (limit) => openWebTransport(url, hashes, limit)), address: url }
  }
  if (rung === 'webrtc' && webrtc !== undefined) {
    return { port: await inTime(rung, signal, (limit) => openWebRtc(webrtc.url, limit)), address: webrtc.url }
  }
  throw new Error(missing[rung] ?? 'the server does not offer it')
}

/** Why this page cannot use a transport, whatever the server offers. */
function problemOfPage(rung: Rung): string | undefined {
  if (rung === 'webtransport' && typeof WebTransport === 'undefined') {
    return isSecureContext ? 'this browser does not have it' : 'browsers allow it only to pages from https or localhost'
  }
  if (rung === 'webrtc' && typeof RTCPeerConnection === 'undefined') return 'this browser does not have it'
  return undefined
}

async function inTime(
  rung: Rung,
  signal: AbortSignal,
  open: (limit: AbortSignal) => Promise<DatagramPort>,
): Promise<DatagramPort> {
  const limit = new AbortController()
  const hint = rung === 'websocket' ? '' : ': UDP may be blocked'
  const stop = (): void => limit.abort()
  const timer = setTimeout(stop, RUNG_MS_MAX)
  signal.addEventListener('abort', stop, { once: true })
  const late = new Promise<never>((_, reject) => {
    limit.signal.addEventListener(
      'abort',
      () => reject(new Error(`it did not open within ${RUNG_MS_MAX / 1000} s${hint}`)),
      { once: true },
    )
  })
  try {
    return await Promise.race([open(limit.signal), late])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
