/**
 * A WebRTC data channel to a server. Its only path is the signalling URL.
 *
 * Signalling is one request: its body is the page's offer, the response is the answer with the server's addresses. The
 * page gathers no candidates: the server is reachable, and learns the page's address from its first packet.
 */

import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { PortMaker } from './path-port.ts'
import { carryChannel, openChannel } from './rtc-channel.ts'

/** Offers a channel to the server that answers at `url` (http:// or https://); resolves once it is open. */
export async function openWebRtc(maker: PortMaker, url: string, signal?: AbortSignal): Promise<DatagramPort> {
  const peer = new RTCPeerConnection()
  const channel = await openChannel(peer, signal, () => signalOffer(url, peer, signal))
  return carryChannel(maker, url, peer, channel)
}

async function signalOffer(url: string, peer: RTCPeerConnection, signal: AbortSignal | undefined): Promise<void> {
  await peer.setLocalDescription(await peer.createOffer())
  const response = await fetch(url, {
    method: 'POST',
    body: peer.localDescription?.sdp ?? '',
    ...(signal && { signal }),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(text.trim())
  await peer.setRemoteDescription({ type: 'answer', sdp: text })
}
