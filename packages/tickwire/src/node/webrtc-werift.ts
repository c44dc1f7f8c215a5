/**
 * WebRTC by werift: all of it in TypeScript, so that it installs wherever Node does. Slower than node-datachannel (a
 * thousand datagrams a second cost a tenth of a core) and taken where that one is not installed. For development
 * (docs/adr/0014-transport-providers.md).
 */

import { createRequire } from 'node:module'
import type { DatagramSession, WebRtcListenOptions, WebRtcListener, WebRtcProvider } from './providers.ts'
import { BUFFERED_BYTES_MAX, CHANNEL_LABEL, FAREWELL_MS_MAX, PENDING_MAX, PENDING_MS } from './webrtc-session.ts'

/** How long the end of an association has to reach the page. */
const ABORT_MS = 100

interface Signal<T> {
  subscribe(listener: (value: T) => void): unknown
}

/** What we use of werift, which brings types of its own, but need not be installed. */
interface DataChannel {
  readonly label: string
  readonly readyState: string
  readonly bufferedAmount: number
  readonly onMessage: Signal<string | Buffer>
  readonly stateChanged: Signal<string>
  send(bytes: Buffer): void
  close(): void
}

interface PeerConnection {
  readonly onDataChannel: Signal<DataChannel>
  readonly connectionStateChange: Signal<string>
  readonly sctpTransport?: { stop(): Promise<void> }
  readonly localDescription: { readonly sdp: string } | undefined
  readonly iceTransports: readonly { readonly connection: { readonly nominated?: { readonly remoteCandidate: { readonly host: string } } } }[]
  setRemoteDescription(offer: { readonly type: 'offer'; readonly sdp: string }): Promise<void>
  createAnswer(): Promise<object>
  setLocalDescription(answer: object): Promise<unknown>
  close(): Promise<void>
}

interface Werift {
  RTCPeerConnection: new (config: {
    readonly iceServers: readonly string[]
    readonly iceAdditionalHostAddresses: readonly string[]
    readonly icePortRange?: readonly [number, number]
  }) => PeerConnection
}

/** The provider; undefined where werift is not installed. */
export function loadWeriftProvider(): WebRtcProvider | undefined {
  const load = createRequire(import.meta.url)
  try {
    const library: Werift = load('werift')
    return { name: 'werift', isForProduction: false, listen: (options) => new WeriftListener(library, options) }
  } catch {
    return undefined
  }
}

class WeriftListener implements WebRtcListener {
  readonly #library: Werift
  readonly #options: WebRtcListenOptions
  readonly #peers: Set<PeerConnection> = new Set()
  readonly #drops: Set<() => void> = new Set()
  readonly #sessions: Set<Channel> = new Set()
  #pending = 0

  constructor(library: Werift, options: WebRtcListenOptions) {
    this.#library = library
    this.#options = options
  }

  async answer(offer: string): Promise<string> {
    if (this.#pending >= PENDING_MAX) throw new Error('too many are opening a channel at once')
    this.#pending++
    const { ports, address = '127.0.0.1' } = this.#options
    const peer = new this.#library.RTCPeerConnection({
      // It leaves the loopback out unless it is named, and development happens there.
      iceServers: [], iceAdditionalHostAddresses: [address], ...(ports !== undefined && { icePortRange: ports }),
    })
    this.#peers.add(peer)
    let isPending = true
    const settle = (): void => {
      if (isPending) this.#pending--
      isPending = false
      clearTimeout(timer)
    }
    let session: Channel | undefined
    const drop = (): void => {
      settle()
      this.#drops.delete(drop)
      if (session !== undefined) this.#sessions.delete(session)
      session?.end()
      if (!this.#peers.delete(peer)) return
      // Closing ends encryption first, and then nothing more is said: the page would be left guessing for seconds.
      void peer.sctpTransport?.stop().catch(() => {})
      setTimeout(() => void peer.close().catch(() => {}), ABORT_MS)
    }
    this.#drops.add(drop)
    const timer = setTimeout(drop, PENDING_MS)
    timer.unref()
    peer.onDataChannel.subscribe((channel) => {
      if (channel.label !== CHANNEL_LABEL || !isPending) return
      settle()
      const ip = peer.iceTransports[0]?.connection.nominated?.remoteCandidate.host ?? ''
      session = new Channel(channel, ip, () => setTimeout(drop, FAREWELL_MS_MAX).unref())
      this.#sessions.add(session)
      this.#options.onSession(session)
    })
    peer.connectionStateChange.subscribe((state) => {
      if (state === 'failed' || state === 'closed' || state === 'disconnected') drop()
    })
    try {
      await peer.setRemoteDescription({ type: 'offer', sdp: offer })
      await peer.setLocalDescription(await peer.createAnswer())
      if (peer.localDescription === undefined) throw new Error('no answer was made')
      return peer.localDescription.sdp
    } catch (error) {
      drop()
      throw error
    }
  }

  async close(): Promise<void> {
    for (const session of [...this.#sessions]) session.close()
    for (let waitedMs = 0; this.#sessions.size > 0 && waitedMs < FAREWELL_MS_MAX; waitedMs += 10) await new Promise((resolve) => setTimeout(resolve, 10))
    for (const drop of [...this.#drops]) drop()
    await new Promise((resolve) => setTimeout(resolve, ABORT_MS + 10))
  }
}

class Channel implements DatagramSession {
  readonly originIp: string
  /** What a datagram channel carries is up to us: SCTP cuts up what is longer than a packet. */
  readonly maxDatagramBytes: number = 65_536
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
    channel.onMessage.subscribe((message) => {
      if (typeof message !== 'string' && !this.#isOver) this.onDatagram(message)
    })
    channel.stateChanged.subscribe((state) => {
      if (state === 'closed') this.close()
    })
  }

  send(bytes: Uint8Array, length: number): 'sent' | 'congested' | 'closed' {
    if (this.#isOver || this.#channel.readyState !== 'open') return 'closed'
    if (this.#channel.bufferedAmount > BUFFERED_BYTES_MAX) return 'congested'
    try {
      this.#channel.send(Buffer.from(bytes.subarray(0, length)))
      return 'sent'
    } catch {
      return 'closed'
    }
  }

  close(): void {
    if (this.#isOver) return
    this.#channel.close()
    this.#part()
    this.end()
  }

  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.onClosed()
  }
}
