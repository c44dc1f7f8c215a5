/**
 * WebRTC for guests in pages, without a server in the middle: the offer comes by signalling, and both sides look for a
 * path by ICE, with the relays as STUN and TURN servers.
 */

import { PATHS_MAX } from '../core/base/limits.ts'
import type { OfferedRelay } from '../core/client/rendezvous.ts'
import { turnCredentials } from '../core/nat/turn-credentials.ts'
import { findWebRtc } from './providers-search.ts'
import type { WebRtcListener } from './providers.ts'
import { SessionPort } from './session-port.ts'
import { sanitizePeerOffer } from './webrtc-offer.ts'

const PREFIX = 'peer-rtc:'

export class HostRtc {
  readonly prefix: string = PREFIX
  readonly port: SessionPort = new SessionPort(PREFIX, PATHS_MAX)
  readonly #listener: WebRtcListener
  readonly #isLocal: boolean

  private constructor(listen: (port: SessionPort) => WebRtcListener, isLocal: boolean) {
    this.#listener = listen(this.port)
    this.#isLocal = isLocal
  }

  /** Undefined when no library for WebRTC is installed. */
  static open(relays: readonly OfferedRelay[], isLocal: boolean): HostRtc | undefined {
    const found = findWebRtc()
    if ('missing' in found) return undefined
    const iceServers = relays.flatMap(({ address, turnToken }) => {
      if (turnToken === undefined) return [`stun:${address}`]
      const { username, credential } = turnCredentials(turnToken)
      return [`stun:${address}`, `turn:${username}:${credential}@${address}`]
    })
    const { provider } = found
    return new HostRtc(
      (port) => provider.listen({ iceServers, onSession: (session) => port.adopt(session) }), isLocal,
    )
  }

  /** Answers an offer with all candidates of this machine. Undefined when the offer is invalid. */
  async answer(guest: string, sdp: string): Promise<string | undefined> {
    try {
      return await this.#listener.answer(sanitizePeerOffer(sdp, this.#isLocal), guest)
    } catch {
      return undefined
    }
  }

  async close(): Promise<void> {
    this.port.close()
    await this.#listener.close()
  }
}
