/**
 * A WebRTC data channel as a datagram port in a browser: unordered and never repeated, the one path is the signalling URL.
 *
 * Signalling is one request: our offer goes as its body, the answer comes back with the server's addresses in it. We wait
 * for no candidates of our own: the server can be reached, and learns where we are when we knock.
 */

import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import { BUFFERED_BYTES_MAX, PathPort } from './path-port.ts'

/** As `node/webrtc-session.ts` has it. */
const CHANNEL_LABEL = 'tickwire'

/** How long the server is waited for that has been told, as it waits for us. */
const FAREWELL_MS_MAX = 1000

/** A browser doubts a connection after 5 s of nothing, and gives it up 10 s later. Of a server that is gone we wait for less. */
const DOUBT_MS_MAX = 3000

/** Offers a channel to the server whose answers come from `url` (http:// or https://); resolves once it is open. */
export async function openWebRtc(url: string, signal?: AbortSignal): Promise<DatagramPort> {
  const peer = new RTCPeerConnection()
  const channel = peer.createDataChannel(CHANNEL_LABEL, { ordered: false, maxRetransmits: 0 })
  channel.binaryType = 'arraybuffer'
  try {
    const opened = new Promise<void>((resolve, reject) => {
      channel.onopen = () => resolve()
      peer.onconnectionstatechange = () => {
        if (peer.connectionState === 'failed') reject(new Error('no way to the server was found: UDP may be blocked'))
      }
      signal?.addEventListener('abort', () => reject(new Error('no way to the server was found in time: UDP may be blocked')), { once: true })
    })
    // It may fail while we still signal; then it is reported by what we do next.
    opened.catch(() => {})
    await signalOffer(url, peer, signal)
    await opened
  } catch (error) {
    peer.close()
    throw error
  }
  const port = new PathPort(url, {
    send(bytes) {
      if (channel.readyState !== 'open') return 'closed'
      if (channel.bufferedAmount > BUFFERED_BYTES_MAX) return 'congested'
      channel.send(bytes)
      return 'sent'
    },
    close: () => {
      // The other side is told by the channel's reset, which is repeated until it has confirmed it; closing only the
      // connection would leave it guessing.
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
  const response = await fetch(url, { method: 'POST', body: peer.localDescription?.sdp ?? '', ...(signal && { signal }) })
  const text = await response.text()
  if (!response.ok) throw new Error(text.trim())
  await peer.setRemoteDescription({ type: 'answer', sdp: text })
}
