/** The relays of a session as servers for ICE: STUN and TURN on their UDP port. */

import type { OfferedRelay } from '../core/client/rendezvous.ts'
import { turnCredentials } from '../core/nat/turn-credentials.ts'

/** A server that finds paths for WebRTC. */
export interface IceServer {
  readonly urls: string
  readonly username?: string
  readonly credential?: string
}

/** `isDirect`: whether direct paths are looked for; otherwise TURN alone. */
export function iceServersOf(relays: readonly OfferedRelay[], isDirect: boolean): IceServer[] {
  return relays.flatMap(({ address, turnToken }) => [
    ...(isDirect ? [{ urls: `stun:${address}` }] : []),
    ...(turnToken === undefined ? [] : [{ urls: `turn:${address}?transport=udp`, ...turnCredentials(turnToken) }]),
  ])
}
