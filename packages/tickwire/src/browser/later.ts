/**
 * The transports that a page loads when it tries them. Nothing else may import their files: a bundler puts a module
 * that is imported both ways into the first load.
 *
 * They are given what they need of the page (`portMaker`). If they imported it, a bundler would put it into a third
 * file, which the first load would fetch too.
 */

import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { CodePlan } from './code-rungs.ts'
import { portMaker } from './path-port.ts'
import type { RungSource } from './rungs.ts'

/** Offers a channel to the server that answers at `url` (http:// or https://); resolves once it is open. */
export async function openWebRtc(url: string, signal?: AbortSignal): Promise<DatagramPort> {
  const { openWebRtc: open } = await import('./webrtc.ts')
  return await open(portMaker, url, signal)
}

/**
 * Opens a session at `url` (https://) and resolves once datagrams can be sent to that address. `hashes`: SHA-256 of
 * certificates to accept in place of ones signed by an authority.
 */
export async function openWebTransport(
  url: string,
  hashes: readonly BufferSource[],
  signal?: AbortSignal,
): Promise<DatagramPort> {
  const { openWebTransport: open } = await import('./webtransport.ts')
  return await open(portMaker, url, hashes, signal)
}

/** The transports to a host that is known by a code. Rejects with a ConnectError. */
export async function openCodeRungs(plan: CodePlan): Promise<RungSource> {
  const { meetByCode } = await import('./code-rungs.ts')
  return await meetByCode(plan, portMaker)
}
