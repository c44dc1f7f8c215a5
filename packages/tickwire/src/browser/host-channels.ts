/**
 * The page's part of the data channels of a hosted match: only a page can answer a WebRTC offer. An open channel goes
 * into the Worker where the browser can transfer it; otherwise the page pipes its messages, which are events and not
 * throttled when the page is hidden.
 */

import { GUEST_OFFERS_MAX } from '../core/base/limits.ts'
import type { HostCommand, HostReport } from './host-messages.ts'
import { BUFFERED_BYTES_MAX } from './path-port.ts'
import { answerChannel, playerConnection, watchConnection } from './rtc-channel.ts'

type Offer = HostReport & { readonly name: 'offer' }

export class HostChannels {
  readonly #send: (command: HostCommand, transfer?: readonly Transferable[]) => void
  readonly #peers: Map<number, RTCPeerConnection> = new Map()
  /** Channels that the page pipes, by number. */
  readonly #piped: Map<number, RTCDataChannel> = new Map()
  #count: number = 0

  constructor(send: (command: HostCommand, transfer?: readonly Transferable[]) => void) {
    this.#send = send
  }

  /** Answers the offer of a guest. */
  answer(offer: Offer): void {
    this.#answer(offer).catch(() => this.#send({ name: 'answer', guest: offer.guest, sdp: undefined }))
  }

  send(id: number, bytes: Uint8Array): void {
    const channel = this.#piped.get(id)
    if (channel?.readyState === 'open' && channel.bufferedAmount <= BUFFERED_BYTES_MAX)
      channel.send(bytes as Uint8Array<ArrayBuffer>)
  }

  drop(id: number): void {
    this.#peers.get(id)?.close()
    this.#forget(id)
  }

  close(): void {
    for (const id of [...this.#peers.keys()]) this.drop(id)
  }

  async #answer({ guest, sdp, iceServers, isRelayOnly }: Offer): Promise<void> {
    if (this.#peers.size >= GUEST_OFFERS_MAX) throw new Error('too many channels')
    const peer = playerConnection(iceServers, isRelayOnly)
    const id = ++this.#count
    this.#peers.set(id, peer)
    const answer = await answerChannel(peer, sdp, (channel) => this.#adopt(id, peer, channel), () => this.drop(id))
    this.#send({ name: 'answer', guest, sdp: answer })
  }

  #adopt(id: number, peer: RTCPeerConnection, channel: RTCDataChannel): void {
    const end = (): void => {
      this.#forget(id)
      this.#send({ name: 'gone', id })
    }
    try {
      this.#send({ name: 'channel', id, channel }, [channel as unknown as Transferable])
      watchConnection(peer, undefined, end)
    } catch {
      channel.binaryType = 'arraybuffer'
      this.#piped.set(id, channel)
      this.#send({ name: 'channel', id, channel: undefined })
      channel.onmessage = ({ data }: MessageEvent<unknown>) => {
        if (data instanceof ArrayBuffer) this.#send({ name: 'message', id, bytes: new Uint8Array(data) })
      }
      watchConnection(peer, channel, end)
    }
  }

  #forget(id: number): void {
    this.#peers.delete(id)
    this.#piped.delete(id)
  }
}
