/**
 * The transports that a server offers: which, where, and why one is missing. The answer to GET /tickwire/info.
 *
 * ```json
 * { "webtransport": { "port": 4000, "path": "/tickwire", "hashes": ["…base64"] }, "webrtc": { "path": "/tickwire/rtc"
 * },
 *   "websocket": { "path": "/tickwire" }, "missing": { "webrtc": "no provider is installed" }, "identity": "…" }
 * ```
 *
 * It comes from the network: fields of the wrong shape are ignored.
 */

import type { Diagnosis } from '../core/client/platform.ts'

/** The three transports of a browser, best first. */
export const RUNGS = ['webtransport', 'webrtc', 'websocket'] as const

/** A transport of a browser: `webtransport`, `webrtc` or `websocket`. */
export type Rung = (typeof RUNGS)[number]

/** What a server offers. */
export interface Offers {
  readonly webtransport?: { readonly url: string; readonly hashes: readonly Uint8Array<ArrayBuffer>[] }
  readonly webrtc?: { readonly url: string }
  /** Why a transport is not offered. Keyed by transport. */
  readonly missing: { readonly [rung: string]: string }
  /** The server's identity key, as text. As trustworthy as the connection it came over. */
  readonly identity?: string
}

/** Relative to the address of the server. */
const INFO_PATH = 'tickwire/info'
/** Used without an answer: WebSocket is always available. */
const NOTHING: Offers = { missing: {} }

const DIAGNOSE_MS = 2000

/** Asks what answers at `base`, after a failure. Never rejects. */
export async function diagnose(base: URL): Promise<Diagnosis> {
  const url = new URL(INFO_PATH, base)
  const signal = AbortSignal.timeout(DIAGNOSE_MS)
  try {
    const response = await fetch(url, { signal })
    const { refused, upMs, websocket } = fieldsOf(await response.json().catch(() => undefined))
    if (refused === 'origin') return { kind: 'origin', origin: globalThis.location?.origin ?? '' }
    if (websocket !== undefined) return { kind: 'server', upMs: typeof upMs === 'number' ? upMs : 0 }
    // A proxy whose server is down answers with an error of the gateway.
    return response.status >= 500 ? { kind: 'down' } : { kind: 'other-service' }
  } catch {
    // A service without CORS cannot be read, but it answers.
    const isThere = await fetch(url, { mode: 'no-cors', signal }).then(() => true, () => false)
    return { kind: isThere ? 'other-service' : 'down' }
  }
}

/** Asks the server at `base`, with a query. Never rejects: if there is no answer, WebSocket is assumed. */
export async function fetchOffers(base: URL, query: string, signal: AbortSignal): Promise<Offers> {
  try {
    const response = await fetch(new URL(`${INFO_PATH}?${query}`, base), { signal })
    return response.ok ? readOffers(await response.json(), base) : NOTHING
  } catch {
    return NOTHING
  }
}

function readOffers(body: unknown, base: URL): Offers {
  const info = fieldsOf(body)
  const { port, path, hashes } = fieldsOf(info.webtransport)
  const { path: signalling } = fieldsOf(info.webrtc)
  const isOffered = typeof port === 'number' && typeof path === 'string' && Array.isArray(hashes)
  return {
    ...(isOffered && {
      webtransport: { url: `https://${base.hostname}:${port}${path}`, hashes: hashes.map(String).map(bytesOf) },
    }),
    ...(typeof signalling === 'string' && { webrtc: { url: new URL(signalling.replace(/^\//, ''), base).href } }),
    missing: Object.fromEntries(Object.entries(fieldsOf(info.missing)).map(([rung, why]) => [rung, String(why)])),
    ...(typeof info.identity === 'string' && { identity: info.identity }),
  }
}

function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {}
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0))
}
