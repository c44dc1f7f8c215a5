/** Parts of WebRTC that both sides of a channel between two players need. */

import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { PortMaker } from './path-port.ts'

/** How long candidates are waited for. Those that come later are not announced; the other side may still be found. */
const GATHER_MS = 700
/** Grace period after closing the channel, in ms. */
const FAREWELL_MS_MAX = 1000
/** A browser reports `disconnected` after 5 s of silence, and `failed` 10 s later. We wait this long in between. */
const DOUBT_MS_MAX = 3000

/** Resolves when all candidates of this page are known, or after a while. */
export function gathered(peer: RTCPeerConnection): Promise<void> {
  return new Promise((resolve) => {
    if (peer.iceGatheringState === 'complete') return resolve()
    setTimeout(resolve, GATHER_MS)
    peer.addEventListener('icegatheringstatechange', () => {
      if (peer.iceGatheringState === 'complete') resolve()
    })
  })
}

/** Calls `end` once, when the connection has ended. */
export function watchConnection(peer: RTCPeerConnection, channel: RTCDataChannel | undefined, end: () => void): void {
  let doubt: ReturnType<typeof setTimeout> | undefined
  let isOver = false
  const finish = (): void => {
    if (isOver) return
    isOver = true
    clearTimeout(doubt)
    peer.close()
    end()
  }
  if (channel !== undefined) {
    channel.onclosing = finish
    channel.onclose = finish
  }
  peer.onconnectionstatechange = () => {
    clearTimeout(doubt)
    if (peer.connectionState === 'disconnected') doubt = setTimeout(finish, DOUBT_MS_MAX)
    else if (peer.connectionState === 'failed' || peer.connectionState === 'closed') finish()
  }
}

/** An open channel as a port. `onEnd` is called once. */
export function carryChannel(
  { makePort, bufferedBytesMax }: PortMaker, address: string, peer: RTCPeerConnection, channel: RTCDataChannel,
  onEnd: () => void,
): DatagramPort {
  channel.binaryType = 'arraybuffer'
  const port = makePort(address, {
    send(bytes) {
      if (channel.readyState !== 'open') return 'closed'
      if (channel.bufferedAmount > bufferedBytesMax) return 'congested'
      channel.send(bytes)
      return 'sent'
    },
    close: () => {
      // The channel's reset notifies the other side, and is repeated until it is confirmed.
      channel.close()
      setTimeout(() => peer.close(), FAREWELL_MS_MAX)
    },
  })
  channel.onmessage = (event: MessageEvent<unknown>) => port.receive(event.data)
  channel.onerror = () => port.stats.errors++
  watchConnection(peer, channel, () => {
    onEnd()
    port.end()
  })
  return port
}
