/**
 * WebRTC by libdatachannel, through node-datachannel.
 *
 * A page offers, we answer with all our candidates, and it comes to us: a server that can be reached needs neither STUN nor
 * candidates of the page's. The page makes one data channel, `tickwire`, unordered and never repeated.
 *
 * Its SCTP has been seen to stall for good after a burst beyond 10,000 messages a second, with the channel still "open":
 * so little may wait in it, and a page that hears nothing for a while climbs down by itself (`browser/ladder.ts`).
 *
 * A connection that is closed sends one SHUTDOWN at best and forgets all; a page that misses it is told nothing for 15 s. A
 * channel that is closed is reset, which is repeated until the page has confirmed it: so channels close first, and their
 * connections when the page has hung up, or after a second.
 */

import { createRequire } from 'node:module'
import type { DatagramSession, WebRtcListenOptions, WebRtcListener, WebRtcProvider } from './providers.ts'
import { CHANNEL_LABEL, FAREWELL_MS_MAX, PENDING_MAX, PENDING_MS, BUFFERED_BYTES_MAX } from './webrtc-session.ts'

/** What we use of node-datachannel, which brings types of its own, but need not be installed. */
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
  }) => PeerConnection
}

/** The provider; undefined where node-datachannel is not installed, or not for this machine. */
export function loadDataChannelProvider(): WebRtcProvider | undefined {
  const load = createRequire(import.meta.url)
  try {
    const library: NodeDataChannel = load('node-datachannel')
    return { name: `node-datachannel, libdatachannel ${library.getLibraryVersion()}`, isForProduction: true, listen: (options) => new DataChannelListener(library, options) }
  } catch {
    return undefined
  }
}

class DataChannelListener implements WebRtcListener {
  readonly #library: NodeDataChannel
  readonly #options: WebRtcListenOptions
  readonly #peers: Map<PeerConnection, Channel | undefined> = new Map()
  #pending = 0
  #onEmpty: () => void = () => {}

  constructor(library: NodeDataChannel, options: WebRtcListenOptions) {
    this.#library = library
    this.#options = options
  }

  async answer(offer: string): Promise<string> {
    if (this.#pending >= PENDING_MAX) throw new Error('too many are opening a channel at once')
    this.#pending++
    const { address, ports } = this.#options
    const peer = new this.#library.PeerConnection('tickwire', {
      iceServers: [],
      ...(address !== undefined && { bindAddress: address }),
      ...(ports !== undefined && { portRangeBegin: ports[0], portRangeEnd: ports[1], enableIceUdpMux: ports[0] === ports[1] }),
    })
    this.#peers.set(peer, undefined)
    let isPending = true
    const settle = (): void => {
      if (isPending) this.#pending--
      isPending = false
      clearTimeout(timer)
    }
    const drop = (): void => {
      settle()
      this.#drop(peer)
    }
    const timer = setTimeout(drop, PENDING_MS)
    timer.unref()
    peer.onDataChannel((channel) => {
      if (channel.getLabel() !== CHANNEL_LABEL || !isPending) return
      settle()
      const session = new Channel(channel, peer.getSelectedCandidatePair()?.remote.address ?? '', () => setTimeout(drop, FAREWELL_MS_MAX).unref())
      this.#peers.set(peer, session)
      this.#options.onSession(session)
    })
    peer.onStateChange((state) => {
      if (state === 'failed' || state === 'closed' || state === 'disconnected') drop()
    })
    try {
      return await describe(peer, offer)
    } catch (error) {
      drop()
      throw error
    }
  }

  async close(): Promise<void> {
    for (const [peer, session] of [...this.#peers]) {
      if (session === undefined) this.#drop(peer)
      else session.close()
    }
    if (this.#peers.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, FAREWELL_MS_MAX)
        this.#onEmpty = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    for (const peer of [...this.#peers.keys()]) this.#drop(peer)
    // The library tells of closed connections from threads of its own, a moment later.
    await new Promise((resolve) => setTimeout(resolve, 20))
  }

  #drop(peer: PeerConnection): void {
    const session = this.#peers.get(peer)
    if (!this.#peers.delete(peer)) return
    peer.close()
    session?.close()
    if (this.#peers.size === 0) this.#onEmpty()
  }
}

function describe(peer: PeerConnection, offer: string): Promise<string> {
  return new Promise((resolve, reject) => {
    peer.onGatheringStateChange((state) => {
      if (state !== 'complete') return
      const sdp = peer.localDescription()?.sdp
      if (sdp === undefined) reject(new Error('no answer was made'))
      else resolve(sdp)
    })
    peer.setRemoteDescription(offer, 'offer')
  })
}

class Channel implements DatagramSession {
  readonly originIp: string
  onDatagram: (bytes: Uint8Array) => void = () => {}
  onClosed: () => void = () => {}
  readonly #channel: DataChannel
  readonly #part: () => void
  #isOver = false

  /** `part` is called once the channel has begun to close. */
  constructor(channel: DataChannel, originIp: string, part: () => void) {
    this.originIp = originIp
    this.#channel = channel
    this.#part = part
    channel.onMessage((message) => {
      if (message instanceof Uint8Array) this.onDatagram(message)
      else if (message instanceof ArrayBuffer) this.onDatagram(new Uint8Array(message))
    })
    channel.onError(() => this.close())
    channel.onClosed(() => this.close())
  }

  get maxDatagramBytes(): number {
    return this.#channel.maxMessageSize()
  }

  send(bytes: Uint8Array, length: number): 'sent' | 'congested' | 'closed' {
    if (this.#isOver || !this.#channel.isOpen()) return 'closed'
    if (this.#channel.bufferedAmount() > BUFFERED_BYTES_MAX) return 'congested'
    try {
      // It says whether it went at once; what did not waits, and counts as buffered.
      this.#channel.sendMessageBinary(bytes.subarray(0, length))
      return 'sent'
    } catch {
      return 'closed'
    }
  }

  close(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#channel.close()
    this.#part()
    this.onClosed()
  }
}
