/**
 * A listener for WebRTC, of whichever library: it answers offers, keeps the connections, and makes a session of the one
 * channel that a page opens. A library is a `PeerDriver` for each connection.
 *
 * Closing a connection sends one SHUTDOWN at best and discards all state; a page that misses it notices only after 15
 * s. Closing a channel sends a reset, which is repeated until the page has confirmed it. So channels close first, and
 * their connections close when the page has done the same, or after a second.
 */

import { WEBRTC_BUFFERED_BYTES_MAX, WEBRTC_CLOSE_MS } from '../core/base/limits.ts'
import type { DatagramSession, WebRtcListenOptions, WebRtcListener } from './providers.ts'
import { CHANNEL_LABEL, type PendingOffer, PendingOffers } from './webrtc-session.ts'

/** A data channel of a library. */
export interface ChannelDriver {
  readonly label: string
  readonly isOpen: boolean
  readonly bufferedBytes: number
  readonly maxDatagramBytes: number
  onMessage: (message: Uint8Array) => void
  onClosed: () => void
  /** Sends a copy of the bytes. It may throw when the channel is closing. */
  send(bytes: Uint8Array): void
  close(): void
}

/** A connection of a library. Listeners are set before `answer` is called. */
export interface PeerDriver {
  /** The address that the page is reached at, once the connection has one. */
  readonly remoteIp: string | undefined
  onChannel: (channel: ChannelDriver) => void
  /** The connection failed, or the page closed it. */
  onEnded: () => void
  /** The SDP of the answer, with all candidates. It settles, also when the connection is closed meanwhile. */
  answer(offer: string): Promise<string>
  close(): void
}

export class PeerListener implements WebRtcListener {
  readonly #options: WebRtcListenOptions
  readonly #open: () => PeerDriver
  readonly #lingerMs: number
  readonly #peers: Map<PeerDriver, Session | undefined> = new Map()
  readonly #pending: PendingOffers
  #onEmpty: () => void = () => {}

  /** `open` makes a connection; `lingerMs` is the time that the library needs after the last one was closed. */
  constructor(options: WebRtcListenOptions, open: () => PeerDriver, lingerMs: number) {
    this.#options = options
    this.#open = open
    this.#lingerMs = lingerMs
    this.#pending = new PendingOffers(options.areLocalExempt ?? true)
  }

  async answer(offer: string, originIp: string): Promise<string> {
    const pending = this.#pending.add(originIp)
    try {
      const peer = this.#connect(originIp, pending)
      pending.onDropped = () => this.#drop(peer)
      return await peer.answer(offer)
    } catch (error) {
      pending.drop()
      throw error
    }
  }

  #connect(originIp: string, pending: PendingOffer): PeerDriver {
    const peer = this.#open()
    this.#peers.set(peer, undefined)
    const drop = (): void => {
      pending.settle()
      this.#drop(peer)
    }
    peer.onEnded = drop
    peer.onChannel = (channel) => {
      if (!this.#peers.has(peer)) return
      // A page has one channel. The library would keep each further one until the connection ends.
      if (channel.label !== CHANNEL_LABEL || this.#peers.get(peer) !== undefined) return drop()
      pending.settle()
      const session = new Session(channel, peer.remoteIp ?? originIp, () => setTimeout(drop, WEBRTC_CLOSE_MS).unref())
      this.#peers.set(peer, session)
      this.#options.onSession(session)
    }
    return peer
  }

  async close(): Promise<void> {
    for (const [peer, session] of [...this.#peers]) {
      if (session === undefined) this.#drop(peer)
      else session.close()
    }
    if (this.#peers.size > 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, WEBRTC_CLOSE_MS)
        this.#onEmpty = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    for (const peer of [...this.#peers.keys()]) this.#drop(peer)
    await new Promise((resolve) => setTimeout(resolve, this.#lingerMs))
  }

  #drop(peer: PeerDriver): void {
    const session = this.#peers.get(peer)
    if (!this.#peers.delete(peer)) return
    peer.close()
    session?.end()
    if (this.#peers.size === 0) this.#onEmpty()
  }
}

class Session implements DatagramSession {
  readonly originIp: string
  onDatagram: (bytes: Uint8Array) => void = () => {}
  onClosed: () => void = () => {}
  readonly #channel: ChannelDriver
  readonly #part: () => void
  #isOver = false

  /** `part` is called once the channel has begun to close. */
  constructor(channel: ChannelDriver, originIp: string, part: () => void) {
    this.originIp = originIp
    this.#channel = channel
    this.#part = part
    channel.onMessage = (message) => {
      if (!this.#isOver) this.onDatagram(message)
    }
    channel.onClosed = () => this.close()
  }

  get maxDatagramBytes(): number {
    return this.#channel.maxDatagramBytes
  }

  send(bytes: Uint8Array, length: number): 'sent' | 'congested' | 'closed' {
    if (this.#isOver || !this.#channel.isOpen) return 'closed'
    if (this.#channel.bufferedBytes > WEBRTC_BUFFERED_BYTES_MAX) return 'congested'
    try {
      this.#channel.send(bytes.subarray(0, length))
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

  /** The connection is closed already. */
  end(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.onClosed()
  }
}
