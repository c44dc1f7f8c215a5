/**
 * Requests between the processes of a fleet: game servers and fleet services have one secret, and every request between
 * them is signed with it.
 *
 * ```
 * x-tickwire-fleet: SECONDS.MAC      MAC = HMAC-SHA-256(secret, "tickwire/v1/fleet" LF path LF SECONDS LF body), hex
 * ```
 *
 * A copied request is refused after two minutes; before, it has no second effect, because requests have ids. Without a
 * secret, only requests from this machine are accepted.
 */

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { FLEET_BODY_BYTES_MAX } from '../core/base/limits-fleet.ts'
import { isLoopbackHost } from './page-origin.ts'

/** The name of the header with the signature. */
export const FLEET_HEADER = 'x-tickwire-fleet'
/** Clocks of machines may differ by a minute, and a request may wait. */
const SKEW_SECONDS = 120

/** The header that signs a request. Empty without a secret. `path`: with its query. */
export function signFleetRequest(secret: string | undefined, path: string, body: string): { [name: string]: string } {
  if (secret === undefined || secret === '') return {}
  const seconds = Math.floor(Date.now() / 1000)
  return { [FLEET_HEADER]: `${seconds}.${macOf(secret, path, seconds, body).toString('hex')}` }
}

/** Whether a request comes from the fleet: signed, or without a secret from this machine. */
export function isFleetRequest(secret: string | undefined, request: IncomingMessage, body: string): boolean {
  if (secret === undefined || secret === '') return isFromHere(request)
  const [, digits = '', mac = ''] = /^(\d{1,12})\.([0-9a-f]{64})$/.exec(String(request.headers[FLEET_HEADER])) ?? []
  const seconds = Number(digits)
  const isRecent = digits !== '' && Math.abs(Date.now() / 1000 - seconds) <= SKEW_SECONDS
  return isRecent && timingSafeEqual(Buffer.from(mac, 'hex'), macOf(secret, request.url ?? '', seconds, body))
}

/** Not through a proxy: all its requests come from this machine. Not for a name that a page chose. */
function isFromHere({ socket: { remoteAddress = '' }, headers }: IncomingMessage): boolean {
  const isLocal = /^(?:::ffff:)?127\.|^::1$/.test(remoteAddress)
  return isLocal && headers['x-forwarded-for'] === undefined && isLoopbackHost(headers.host)
}

/** The body of a request as text; undefined when it is too long. */
export async function readFleetBody(
  request: IncomingMessage, bytesMax: number = FLEET_BODY_BYTES_MAX,
): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += (chunk as Buffer).length
    if (size > bytesMax) return undefined
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function macOf(secret: string, path: string, seconds: number, body: string): Buffer {
  return createHmac('sha256', secret).update(`tickwire/v1/fleet\n${path}\n${seconds}\n`).update(body).digest()
}
