/**
 * A data channel to another player: the descriptions go by signalling, with all candidates that were found in time.
 *
 * A page finds its own candidates by the STUN and TURN servers that it is given. With `isRelayOnly`, only TURN is used,
 * so the other player learns no address.
 */

import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { IceServer } from './ice-servers.ts'
import type { PortMaker } from './path-port.ts'
import { answerChannel, carryChannel, gathered, openChannel, playerConnection } from './rtc-channel.ts'

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

const OPEN_MS = 10_000
const PAIR_LOOK_MS = 1000

/** Opens a channel. Rejects with the reason. */
export async function openPeerChannel(maker: PortMaker, options: PeerChannelOptions): Promise<PeerChannel> {
  if (typeof RTCPeerConnection === 'undefined') throw new Error('this browser does not have it')
  const { iceServers, isRelayOnly, signal, exchange } = options
  const peer = playerConnection(iceServers, isRelayOnly)
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), OPEN_MS)
  signal.addEventListener('abort', () => limit.abort(), { once: true })
  const channel = await openChannel(peer, limit.signal, async () => {
    await peer.setLocalDescription(await peer.createOffer())
    await gathered(peer)
    await peer.setRemoteDescription({ type: 'answer', sdp: await exchange(peer.localDescription?.sdp ?? '') })
  })
  clearTimeout(timer)
  return peerChannel(maker, options, peer, channel)
}

/** Answers the offer of another player; `onChannel` gets its channel when that is open. Rejects on an invalid offer. */
export async function answerPeerChannel(
  maker: PortMaker, options: Omit<PeerChannelOptions, 'exchange' | 'signal'>, sdp: string,
  onChannel: (channel: PeerChannel) => void,
): Promise<string> {
  const peer = playerConnection(options.iceServers, options.isRelayOnly)
  const adopt = (channel: RTCDataChannel): void => {
    const take = (): void => onChannel(peerChannel(maker, options, peer, channel))
    if (channel.readyState === 'open') take()
    else channel.onopen = take
  }
  try {
    return await answerChannel(peer, sdp, adopt, () => peer.close())
  } catch (error) {
    peer.close()
    throw error
  }
}

function peerChannel(
  maker: PortMaker, { isRelayOnly, address }: Pick<PeerChannelOptions, 'isRelayOnly' | 'address'>,
  peer: RTCPeerConnection, channel: RTCDataChannel,
): PeerChannel {
  let isRelayed = false
  const look = async (): Promise<void> => { isRelayed = await usesRelay(peer).catch(() => undefined) ?? isRelayed }
  void look()
  const looking = setInterval(() => void look(), PAIR_LOOK_MS)
  const port = carryChannel(maker, address, peer, channel, () => clearInterval(looking))
  // With `isRelayOnly` there are no other candidates, whatever the statistics say by now.
  return { port, address, isRelayed: () => isRelayOnly || isRelayed }
}

/** Whether the pair of candidates in use goes through TURN, on either side. Undefined: no pair is known yet. */
async function usesRelay(peer: RTCPeerConnection): Promise<boolean | undefined> {
  const stats = await peer.getStats()
  for (const report of stats.values()) {
    if (report.type !== 'candidate-pair' || report.state !== 'succeeded' || report.nominated !== true) continue
    const ends = [report.localCandidateId, report.remoteCandidateId].map((id: string) => stats.get(id))
    return ends.some((end) => end?.candidateType === 'relay')
  }
  return undefined
}
