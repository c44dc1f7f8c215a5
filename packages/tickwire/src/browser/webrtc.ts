/**
 * A WebRTC data channel as a datagram port in a browser: unordered and without retransmissions. Its only path is the
 * signalling URL.
 *
 * Signalling is one request: its body is the page's offer, the response is the answer with the server's addresses. The
 * page gathers no candidates: the server is reachable, and learns the page's address from its first packet.
 */

import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { PortMaker } from './path-port.ts'

/** Must equal the label in `node/webrtc-session.ts`. */
const CHANNEL_LABEL = 'tickwire'

/** Grace period after closing the channel, in ms; the server has the same. */
const FAREWELL_MS_MAX = 1000

/** A browser reports `disconnected` after 5 s of silence, and `failed` 10 s later. We wait this long in between. */
const DOUBT_MS_MAX = 3000

/** Offers a channel to the server that answers at `url` (http:// or https://); resolves once it is open. */
export async function openWebRtc(
  { makePort, bufferedBytesMax }: PortMaker,
  url: string,
  signal?: AbortSignal,
): Promise<DatagramPort> {
  const peer = new RTCPeerConnection()
  const channel = peer.createDataChannel(CHANNEL_LABEL, { ordered: false, maxRetransmits: 0 })
  channel.binaryType = 'arraybuffer'
  try {
    const opened = new Promise<void>((resolve, reject) => {
      channel.onopen = () => resolve()
      peer.onconnectionstatechange = () => {
        if (peer.connectionState === 'failed') reject(new Error('no path to the server was found: UDP may be blocked'))
      }
      signal?.addEventListener(
        'abort',
        () => reject(new Error('no path to the server was found in time: UDP may be blocked')),
        { once: true },
      )
    })
    // It may reject during signalling; the `await` below then reports it.
    opened.catch(() => {})
    await signalOffer(url, peer, signal)
    await opened
  } catch (error) {
    peer.close()
    throw error
  }
  const port = makePort(url, {
    send(bytes) {
      if (channel.readyState !== 'open') return 'closed'
      if (channel.bufferedAmount > bufferedBytesMax) return 'congested'
      channel.send(bytes)
      return 'sent'
    },
    close: () => {
      // The channel's reset notifies the server, and is repeated until the server confirms it. Closing only the
      // connection would leave the server to time out.
      channel.close()
      setTimeout(() => peer.close(), FAREWELL_MS_MAX)
    },
  })
  channel.onmessage = (event: MessageEvent<unknown>) => port.receive(event.data)
  channel.onerror = () => port.stats.errors++
  const end = (): void => {
    clearTimeout(doubt)
    peer.close()
    port.end()
  }
  let doubt: ReturnType<typeof setTimeout> | undefined
  channel.onclosing = end
  channel.onclose = end
  peer.onconnectionstatechange = () => {
    clearTimeout(doubt)
    if (peer.connectionState === 'disconnected') doubt = setTimeout(end, DOUBT_MS_MAX)
    else if (peer.connectionState === 'failed' || peer.connectionState === 'closed') end()
  }
  return port
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
