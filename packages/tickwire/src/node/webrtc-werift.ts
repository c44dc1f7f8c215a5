/**
 * WebRTC by werift: written in TypeScript, so that it installs wherever Node does. It is slower than node-datachannel
 * (a thousand datagrams a second cost a tenth of a core) and used if that one is not installed. For development
 * (docs/adr/0014-transport-providers.md).
 */

import { createRequire } from 'node:module'
import type { WebRtcListenOptions, WebRtcProvider } from './providers.ts'
import { type ChannelDriver, PeerListener, type PeerDriver } from './webrtc-listener.ts'

/** How long the abort of an association has to reach the page. */
const ABORT_MS = 100

interface Signal<T> {
  subscribe(listener: (value: T) => void): unknown
}

/** The part of werift that is used here. The package has types, but need not be installed. */
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
  readonly iceTransports: readonly {
    readonly connection: { readonly nominated?: { readonly remoteCandidate: { readonly host: string } } }
  }[]
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

/** The provider; undefined if werift is not installed. */
export function loadWeriftProvider(): WebRtcProvider | undefined {
  const load = createRequire(import.meta.url)
  try {
    const library: Werift = load('werift')
    return {
      name: 'werift',
      isForProduction: false,
      listen: (options) => new PeerListener(options, () => new WeriftPeer(library, options), ABORT_MS + 10),
    }
  } catch {
    return undefined
  }
}

class WeriftPeer implements PeerDriver {
  onChannel: (channel: ChannelDriver) => void = () => {}
  onEnded: () => void = () => {}
  readonly #peer: PeerConnection

  constructor(library: Werift, { ports, address = '127.0.0.1' }: WebRtcListenOptions) {
    this.#peer = new library.RTCPeerConnection({
      // It omits the loopback address unless named, and development uses it.
      iceServers: [], iceAdditionalHostAddresses: [address], ...(ports !== undefined && { icePortRange: ports }),
    })
    this.#peer.onDataChannel.subscribe((channel) => this.onChannel(new WeriftChannel(channel)))
    this.#peer.connectionStateChange.subscribe((state) => {
      if (state === 'failed' || state === 'closed' || state === 'disconnected') this.onEnded()
    })
  }

  get remoteIp(): string | undefined {
    return this.#peer.iceTransports[0]?.connection.nominated?.remoteCandidate.host
  }

  async answer(offer: string): Promise<string> {
    const peer = this.#peer
    await peer.setRemoteDescription({ type: 'offer', sdp: offer })
    await peer.setLocalDescription(await peer.createAnswer())
    if (peer.localDescription === undefined) throw new Error('no answer was made')
    return peer.localDescription.sdp
  }

  /** `close` ends encryption first, after which nothing is sent: the page would notice only after seconds. */
  close(): void {
    void this.#peer.sctpTransport?.stop().catch(() => {})
    setTimeout(() => void this.#peer.close().catch(() => {}), ABORT_MS)
  }
}

class WeriftChannel implements ChannelDriver {
  readonly label: string
  /** SCTP fragments messages longer than a packet, so any length works. */
  readonly maxDatagramBytes: number = 65_536
  onMessage: (message: Uint8Array) => void = () => {}
  onClosed: () => void = () => {}
  readonly #channel: DataChannel

  constructor(channel: DataChannel) {
    this.label = channel.label
    this.#channel = channel
    channel.onMessage.subscribe((message) => {
      if (typeof message !== 'string') this.onMessage(message)
    })
    channel.stateChanged.subscribe((state) => {
      if (state === 'closed') this.onClosed()
    })
  }

  get isOpen(): boolean {
    return this.#channel.readyState === 'open'
  }

  get bufferedBytes(): number {
    return this.#channel.bufferedAmount
  }

  send(bytes: Uint8Array): void {
    this.#channel.send(Buffer.from(bytes))
  }

  close(): void {
    this.#channel.close()
  }
}
