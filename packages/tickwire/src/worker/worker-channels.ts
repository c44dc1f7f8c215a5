/**
 * The data channels of guests, in the Worker of a host: each is a path `rtc:N`. Either the browser transferred the
 * channel to the Worker, or the page passes its messages on.
 */

import { DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import { createPortStats, type DatagramPort, type DatagramPortStats } from '../core/endpoint/datagram-port.ts'
import type { HostReport } from '../browser/host-messages.ts'
import { BUFFERED_BYTES_MAX } from '../browser/path-port.ts'

export const CHANNEL_PREFIX = 'rtc:'

export class WorkerChannels implements DatagramPort {
  readonly maxDatagramBytes: number = DATAGRAM_BYTES_SAFE
  readonly stats: DatagramPortStats = createPortStats()
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  readonly #report: (report: HostReport) => void
  /** Channels by number; undefined for those that the page pipes. */
  readonly #channels: Map<number, RTCDataChannel | undefined> = new Map()

  constructor(report: (report: HostReport) => void) {
    this.#report = report
  }

  /** A channel has opened. */
  add(id: number, channel: RTCDataChannel | undefined): void {
    this.#channels.set(id, channel)
    if (channel === undefined) return
    channel.binaryType = 'arraybuffer'
    channel.onmessage = ({ data }: MessageEvent<unknown>) => this.receive(id, data)
    channel.onclose = () => this.remove(id)
  }

  receive(id: number, data: unknown): void {
    const bytes = data instanceof ArrayBuffer ? new Uint8Array(data) : data
    if (!(bytes instanceof Uint8Array) || bytes.length > this.maxDatagramBytes) this.stats.refused++
    else if (this.#channels.has(id)) {
      this.stats.received++
      this.onDatagram(CHANNEL_PREFIX + id, bytes, bytes.length)
    }
  }

  remove(id: number): void {
    if (this.#channels.delete(id)) this.onPathClosed(CHANNEL_PREFIX + id)
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    const id = Number(to.slice(CHANNEL_PREFIX.length))
    const channel = this.#channels.get(id)
    if (!this.#channels.has(id)) this.stats.unreachable++
    else if (channel === undefined) {
      this.#report({ name: 'send', id, bytes: bytes.slice(0, length) })
      this.stats.sent++
    } else if (channel.readyState !== 'open') this.stats.unreachable++
    else if (channel.bufferedAmount > BUFFERED_BYTES_MAX) this.stats.congested++
    else {
      channel.send(bytes.slice(0, length))
      this.stats.sent++
    }
  }

  close(): void {
    for (const id of [...this.#channels.keys()]) this.#report({ name: 'drop', id })
    this.#channels.clear()
  }
}
