/**
 * WebRTC by libdatachannel, through node-datachannel.
 *
 * A page sends an offer, the server answers with all its candidates, and the page connects: a reachable server needs
 * neither STUN nor the page's candidates. The page makes one data channel, `tickwire`, unordered and without
 * retransmissions.
 *
 * The SCTP of libdatachannel has been seen to stall for good after a burst beyond 10,000 messages a second, with the
 * channel still "open". So little may be buffered in it, and a page that receives nothing for a while falls back to
 * another transport (`browser/ladder.ts`).
 */

import { createRequire } from 'node:module'
import { WEBRTC_MESSAGE_BYTES_MAX } from '../core/base/limits.ts'
import type { WebRtcListenOptions, WebRtcProvider } from './providers.ts'
import { type ChannelDriver, PeerListener, type PeerDriver } from './webrtc-listener.ts'

/** The library reports closed connections from its own threads, a moment later. */
const LINGER_MS = 20

/** The part of node-datachannel that is used here. The package has types, but need not be installed. */
interface DataChannel {
  getLabel(): string
  close(): void
  sendMessageBinary(bytes: Uint8Array): boolean
  isOpen(): boolean
  bufferedAmount(): number
  maxMessageSize(): number
  onOpen(listener: () => void): void
  onClosed(listener: () => void): void
  onError(listener: (error: string) => void): void
  onMessage(listener: (message: unknown) => void): void
}

interface PeerConnection {
  close(): void
  setRemoteDescription(sdp: string, type: 'offer'): void
  localDescription(): { readonly sdp: string } | null
  onStateChange(listener: (state: string) => void): void
  onGatheringStateChange(listener: (state: string) => void): void
  onDataChannel(listener: (channel: DataChannel) => void): void
  getSelectedCandidatePair(): { readonly remote: { readonly address: string } } | null
}

interface NodeDataChannel {
  getLibraryVersion(): string
  PeerConnection: new (name: string, config: {
    readonly iceServers: readonly string[]
    readonly bindAddress?: string
    readonly portRangeBegin?: number
    readonly portRangeEnd?: number
    readonly enableIceUdpMux?: boolean
    readonly maxMessageSize?: number
  }) => PeerConnection
}

/** The provider; undefined if node-datachannel is not installed, or not built for this machine. */
export function loadDataChannelProvider(): WebRtcProvider | undefined {
  const load = createRequire(import.meta.url)
  try {
    const library: NodeDataChannel = load('node-datachannel')
    return {
      name: `node-datachannel, libdatachannel ${library.getLibraryVersion()}`,
      isForProduction: true,
      listen: (options) => new PeerListener(options, () => new DataChannelPeer(library, options), LINGER_MS),
    }
  } catch {
    return undefined
  }
}

class DataChannelPeer implements PeerDriver {
  onChannel: (channel: ChannelDriver) => void = () => {}
  onEnded: () => void = () => {}
  readonly #peer: PeerConnection
  #refuse: (error: Error) => void = () => {}

  constructor(library: NodeDataChannel, { address, ports, iceServers = [] }: WebRtcListenOptions) {
    this.#peer = new library.PeerConnection('tickwire', {
      iceServers, maxMessageSize: WEBRTC_MESSAGE_BYTES_MAX,
      ...(address !== undefined && { bindAddress: address }),
      ...(ports !== undefined && {
        portRangeBegin: ports[0],
        portRangeEnd: ports[1],
        enableIceUdpMux: ports[0] === ports[1],
      }),
    })
    this.#peer.onDataChannel((channel) => this.onChannel(new LibraryChannel(channel)))
    this.#peer.onStateChange((state) => {
      if (state === 'failed' || state === 'closed' || state === 'disconnected') this.onEnded()
    })
  }

  get remoteIp(): string | undefined {
    return this.#peer.getSelectedCandidatePair()?.remote.address
  }

  answer(offer: string): Promise<string> {
    const peer = this.#peer
    return new Promise((resolve, reject) => {
      // A connection that is closed before it has gathered its candidates never says so.
      this.#refuse = reject
      peer.onGatheringStateChange((state) => {
        if (state !== 'complete') return
        const sdp = peer.localDescription()?.sdp
        if (sdp === undefined) reject(new Error('no answer was made'))
        else resolve(sdp)
      })
      peer.setRemoteDescription(offer, 'offer')
    })
  }

  close(): void {
    this.#peer.close()
    this.#refuse(new Error('the channel took too long to open'))
  }
}

class LibraryChannel implements ChannelDriver {
  readonly label: string
  onMessage: (message: Uint8Array) => void = () => {}
  onClosed: () => void = () => {}
  readonly #channel: DataChannel

  constructor(channel: DataChannel) {
    this.label = channel.getLabel()
    this.#channel = channel
    channel.onMessage((message) => {
      if (message instanceof Uint8Array) this.onMessage(message)
      else if (message instanceof ArrayBuffer) this.onMessage(new Uint8Array(message))
    })
    channel.onError(() => this.onClosed())
    channel.onClosed(() => this.onClosed())
  }

  get isOpen(): boolean {
    return this.#channel.isOpen()
  }

  get bufferedBytes(): number {
    return this.#channel.bufferedAmount()
  }

  get maxDatagramBytes(): number {
    return this.#channel.maxMessageSize()
  }

  send(bytes: Uint8Array): void {
    // The return value says whether it was sent at once; otherwise it waits, and counts as buffered.
    this.#channel.sendMessageBinary(bytes)
  }

  close(): void {
    this.#channel.close()
  }
}
