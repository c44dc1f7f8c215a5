/**
 * How each rung of the ladder is opened, or why it cannot be: the page's own limits first, then what the server offers.
 */

import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { Offers, Rung } from './offers.ts'
import { openWebRtc } from './webrtc.ts'
import { openWebSocket } from './websocket.ts'
import { openWebTransport } from './webtransport.ts'

/** An open transport, and the address its port knows the server by. */
export interface OpenRung {
  readonly port: DatagramPort
  readonly address: string
}

/** A rung may cost a player this much, and then the next has its turn. */
export const RUNG_MS_MAX = 2000

const MATCH_PATH = '/tickwire'

/** Opens one rung of the server at `base`, within its time. Rejects with the reason. */
export async function openRung(rung: Rung, base: URL, offers: Promise<Offers>, signal: AbortSignal): Promise<OpenRung> {
  const problem = problemOfPage(rung)
  if (problem !== undefined) throw new Error(problem)
  if (rung === 'websocket') {
    const address = new URL(MATCH_PATH, base.href.replace(/^http/, 'ws')).href
    return { port: await inTime(signal, (limit) => openWebSocket(address, limit)), address }
  }
  const { webtransport, webrtc, missing } = await offers
  if (rung === 'webtransport' && webtransport !== undefined) {
    const { url, hashes } = webtransport
    return { port: await inTime(signal, (limit) => openWebTransport(url, hashes, limit)), address: url }
  }
  if (rung === 'webrtc' && webrtc !== undefined) {
    return { port: await inTime(signal, (limit) => openWebRtc(webrtc.url, limit)), address: webrtc.url }
  }
  throw new Error(missing[rung] ?? 'the server does not offer it')
}

/** What this page may not have, whatever the server offers. */
function problemOfPage(rung: Rung): string | undefined {
  if (rung === 'webtransport' && typeof WebTransport === 'undefined') {
    return isSecureContext ? 'this browser does not have it' : 'browsers allow it only to pages from https or localhost'
  }
  if (rung === 'webrtc' && typeof RTCPeerConnection === 'undefined') return 'this browser does not have it'
  return undefined
}

async function inTime(signal: AbortSignal, open: (limit: AbortSignal) => Promise<DatagramPort>): Promise<DatagramPort> {
  const limit = new AbortController()
  const stop = (): void => limit.abort()
  const timer = setTimeout(stop, RUNG_MS_MAX)
  signal.addEventListener('abort', stop, { once: true })
  const late = new Promise<never>((_, reject) => {
    limit.signal.addEventListener('abort', () => reject(new Error(`it did not open within ${RUNG_MS_MAX / 1000} s: UDP may be blocked`)), { once: true })
  })
  try {
    return await Promise.race([open(limit.signal), late])
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}
