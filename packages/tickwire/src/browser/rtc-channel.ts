/** A WebRTC data channel as a datagram port: to a server, or to another player. Unordered, without retransmissions. */

import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { IceServer } from './ice-servers.ts'
import type { PortMaker } from './path-port.ts'

/** Must equal the label in `node/webrtc-session.ts`. */
export const CHANNEL_LABEL = 'tickwire'

/** A connection without a channel is given up after this time. */
const OPEN_MS = 15_000
/** How long candidates are waited for. Those that come later are not announced; the other side may still be found. */
const GATHER_MS = 700
/** Grace period after closing the channel, in ms; a server has the same. */
const FAREWELL_MS_MAX = 1000
/** A browser reports `disconnected` after 5 s of silence, and `failed` 10 s later. We wait this long in between. */
const DOUBT_MS_MAX = 3000

/** Opens a channel: `describe` gives the offer to the other side, and takes its answer. Rejects with the reason. */
export async function openChannel(
  peer: RTCPeerConnection, signal: AbortSignal | undefined, describe: () => Promise<void>,
): Promise<RTCDataChannel> {
  const channel = peer.createDataChannel(CHANNEL_LABEL, { ordered: false, maxRetransmits: 0 })
  const opened = new Promise<void>((resolve, reject) => {
    const fail = (): void => reject(new Error('no path was found: UDP may be blocked'))
    channel.onopen = () => resolve()
    peer.onconnectionstatechange = () => {
      if (peer.connectionState === 'failed') fail()
    }
    signal?.addEventListener('abort', fail, { once: true })
  })
  // It may reject during signalling; the `await` below then reports it.
  opened.catch(() => {})
  try {
    await describe()
    await opened
    return channel
  } catch (error) {
    peer.close()
    throw error
  }
}

/**
 * Answers the offer of another player, and returns the answer. `onChannel` gets its channel; `onNone` is called when
 * none comes in time, or another one.
 */
export async function answerChannel(
  peer: RTCPeerConnection, sdp: string, onChannel: (channel: RTCDataChannel) => void, onNone: () => void,
): Promise<string> {
  const late = setTimeout(onNone, OPEN_MS)
  peer.ondatachannel = ({ channel }) => {
    clearTimeout(late)
    if (channel.label === CHANNEL_LABEL) onChannel(channel)
    else onNone()
  }
  await peer.setRemoteDescription({ type: 'offer', sdp })
  await peer.setLocalDescription(await peer.createAnswer())
  await gathered(peer)
  return peer.localDescription?.sdp ?? ''
}

/** A connection to another player. With `isRelayOnly`, only TURN is used, so that player learns no address. */
export function playerConnection(iceServers: readonly IceServer[], isRelayOnly: boolean): RTCPeerConnection {
  return new RTCPeerConnection({
    iceServers: iceServers.map((server) => ({ ...server })), iceTransportPolicy: isRelayOnly ? 'relay' : 'all',
  })
}

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
  onEnd: () => void = () => {},
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
      // The channel's reset notifies the other side, and is repeated until it is confirmed. Closing only the connection
      // would leave the other side to time out.
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
