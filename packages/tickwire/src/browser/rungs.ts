/**
 * Opens each transport of the ladder, or says why it cannot: the page's own limits first, then what the server offers.
 *
 * WebTransport and WebRTC are loaded when the page has them and the server offers them (`later.ts`). WebSocket is part
 * of the page: every page opens one at once.
 */

import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { PathName } from '../core/client/client-link.ts'
import { fetchOffers, type Offers, type Rung } from './offers.ts'
import { openWebRtc, openWebTransport } from './later.ts'
import { openWebSocket } from './websocket.ts'

/** An open transport, and the server's address on its port. */
export interface OpenRung {
  readonly port: DatagramPort
  readonly address: string
}

/** Where the transports of a ladder lead, and how they are opened: a server, or a player that is known by a code. */
export interface RungSource {
  /** The address of the server, whichever transport is used. */
  readonly address: string
  /** Called before transports other than WebSocket are tried. `query` says which seat will be asked for. */
  prepare(query: string): void
  /** Opens a transport, within its time limit. Rejects with the reason. */
  open(rung: Rung, query: string, signal: AbortSignal): Promise<OpenRung>
  /** The identity key that the server states, as text. */
  identity(): Promise<string | undefined>
  /** How data reaches the server by an open transport. */
  pathOf(open: OpenRung): PathName
  /** Why it is this path. Undefined: because the server was named by its address. */
  readonly pathReason: string | undefined
  /** Nothing is opened any more. */
  close(): void
}

/** The transports of the server at `base`. */
export function serverRungs(base: URL): RungSource {
  let offers: Promise<Offers> = Promise.resolve({ missing: {} })
  return {
    address: base.origin,
    prepare: (query) => { offers = fetchOffers(base, query, AbortSignal.timeout(RUNG_MS_MAX)) },
    open: (rung, query, signal) => openRung(rung, base, query, offers, signal),
    identity: async () => (await offers).identity,
    pathOf: () => 'direct',
    pathReason: 'the server was named by its address',
    close: () => {},
  }
}

/** Time limit for opening a transport. Then the next one is used. */
const RUNG_MS_MAX = 2000

/** Relative to the address of the server. */
const MATCH_PATH = 'tickwire'

/** Opens a transport to the server at `base`, within its time limit. Rejects with the reason. */
async function openRung(
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
