/**
 * What a server offers a page: which transports, where, and why one is missing. The answer to GET /tickwire/info.
 *
 * ```json
 * { "webtransport": { "port": 4000, "path": "/tickwire", "hashes": ["…base64"] }, "webrtc": { "path": "/tickwire/rtc" },
 *   "websocket": { "path": "/tickwire" }, "missing": { "webrtc": "no provider is installed" }, "identity": "…" }
 * ```
 *
 * It comes from the network: what is not of the shape is as if it were not said.
 */

/** The three ways of a browser, best first. */
export const RUNGS = ['webtransport', 'webrtc', 'websocket'] as const

export type Rung = (typeof RUNGS)[number]

/** What a server offers. */
export interface Offers {
  readonly webtransport?: { readonly url: string; readonly hashes: readonly Uint8Array<ArrayBuffer>[] }
  readonly webrtc?: { readonly url: string }
  /** Why a rung is not offered, by name. */
  readonly missing: { readonly [rung: string]: string }
  /** The server's identity key, as text. Only as good as the connection it came over. */
  readonly identity?: string
}

const INFO_PATH = '/tickwire/info'
/** A page that is not told is none the worse: there is always WebSocket. */
const NOTHING: Offers = { missing: {} }

/** Asks the server at `base`. Never rejects: whoever cannot be asked offers WebSocket. */
export async function fetchOffers(base: URL, signal: AbortSignal): Promise<Offers> {
  try {
    const response = await fetch(new URL(INFO_PATH, base), { signal })
    return response.ok ? readOffers(await response.json(), base) : NOTHING
  } catch {
    return NOTHING
  }
}

function readOffers(told: unknown, base: URL): Offers {
  const info = fieldsOf(told)
  const { port, path, hashes } = fieldsOf(info.webtransport)
  const { path: signalling } = fieldsOf(info.webrtc)
  const isOffered = typeof port === 'number' && typeof path === 'string' && Array.isArray(hashes)
  return {
    ...(isOffered && { webtransport: { url: `https://${base.hostname}:${port}${path}`, hashes: hashes.map(String).map(bytesOf) } }),
    ...(typeof signalling === 'string' && { webrtc: { url: new URL(signalling, base).href } }),
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
