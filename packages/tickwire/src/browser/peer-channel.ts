/**
 * A data channel to another player: the descriptions go by signalling, with all candidates that were found in time.
 *
 * A page finds its own candidates by the STUN and TURN servers that it is given. With `isRelayOnly`, only TURN is used,
 * so the other player learns no address.
 */

import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { IceServer } from './ice-servers.ts'
import type { PortMaker } from './path-port.ts'
import { gathered, carryChannel } from './rtc-channel.ts'

/** How a channel to another player is opened. */
export interface PeerChannelOptions {
  readonly iceServers: readonly IceServer[]
  readonly isRelayOnly: boolean
  readonly signal: AbortSignal
  /** The address of its only path. */
  readonly address: string
  /** Sends the description of this page, and resolves with that of the other one. */
  exchange(sdp: string): Promise<string>
}

/** An open channel. */
export interface PeerChannel {
  readonly port: DatagramPort
  readonly address: string
  /** Whether data goes through TURN, as far as is known. */
  isRelayed(): boolean
}

const CHANNEL_LABEL = 'tickwire'
const OPEN_MS = 10_000
const PAIR_LOOK_MS = 1000

/** Opens a channel. Rejects with the reason. */
export async function openPeerChannel(maker: PortMaker, options: PeerChannelOptions): Promise<PeerChannel> {
  if (typeof RTCPeerConnection === 'undefined') throw new Error('this browser does not have it')
  const { iceServers, isRelayOnly, signal, address, exchange } = options
  const peer = new RTCPeerConnection({
    iceServers: iceServers.map((server) => ({ ...server })), iceTransportPolicy: isRelayOnly ? 'relay' : 'all',
  })
  const channel = peer.createDataChannel(CHANNEL_LABEL, { ordered: false, maxRetransmits: 0 })
  try {
    const opened = new Promise<void>((resolve, reject) => {
      const fail = (): void => reject(new Error('no path was found: UDP may be blocked'))
      channel.onopen = () => resolve()
      peer.onconnectionstatechange = () => {
        if (peer.connectionState === 'failed') fail()
      }
      setTimeout(fail, OPEN_MS)
      signal.addEventListener('abort', fail, { once: true })
    })
    opened.catch(() => {})
    await peer.setLocalDescription(await peer.createOffer())
    await gathered(peer)
    await peer.setRemoteDescription({ type: 'answer', sdp: await exchange(peer.localDescription?.sdp ?? '') })
    await opened
  } catch (error) {
    peer.close()
    throw error
  }
  let isRelayed = isRelayOnly
  const look = async (): Promise<void> => { isRelayed = await usesRelay(peer).catch(() => isRelayed) }
  void look()
  const timer = setInterval(() => void look(), PAIR_LOOK_MS)
  const port = carryChannel(maker, address, peer, channel, () => clearInterval(timer))
  return { port, address, isRelayed: () => isRelayed }
}

/** Whether the pair of candidates in use goes through TURN, on either side. */
async function usesRelay(peer: RTCPeerConnection): Promise<boolean> {
  const stats = await peer.getStats()
  for (const report of stats.values()) {
    if (report.type !== 'candidate-pair' || report.state !== 'succeeded' || report.nominated !== true) continue
    const ends = [report.localCandidateId, report.remoteCandidateId].map((id: string) => stats.get(id))
    return ends.some((end) => end?.candidateType === 'relay')
  }
  return false
}
