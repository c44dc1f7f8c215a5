/**
 * WebSocket as a datagram port in a browser: one binary message is one datagram, the one path is the URL.
 *
 * The stream below is reliable and ordered, so what queues is late: when the socket has 64 KiB unsent, datagrams are
 * dropped, as a congested router would. The twin of the client half of `node/websocket.ts`.
 */

import { DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import { type DatagramPort, type DatagramPortStats, createPortStats } from '../core/endpoint/datagram-port.ts'

const BUFFERED_BYTES_MAX = 65_536

/** Opens a socket to `url` (ws:// or wss://) and resolves once datagrams can be sent to that address. */
export function openWebSocket(url: string): Promise<DatagramPort> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url)
    socket.binaryType = 'arraybuffer'
    // A browser tells a page that it failed, never why: that would let pages scan a visitor's network.
    socket.onerror = () => reject(new Error(`no WebSocket at ${url}`))
    socket.onopen = () => resolve(new WebSocketPort(url, socket))
  })
}

class WebSocketPort implements DatagramPort {
  readonly maxDatagramBytes: number = DATAGRAM_BYTES_SAFE
  readonly stats: DatagramPortStats = createPortStats()
  onDatagram: DatagramPort['onDatagram'] = () => {}
  onPathClosed: DatagramPort['onPathClosed'] = () => {}
  #url: string
  #socket: WebSocket

  constructor(url: string, socket: WebSocket) {
    this.#url = url
    this.#socket = socket
    socket.onerror = () => this.stats.errors++
    socket.onclose = () => this.onPathClosed(url)
    socket.onmessage = (event: MessageEvent<unknown>) => this.#handleMessage(event.data)
  }

  send(to: string, bytes: Uint8Array, length: number): void {
    if (length > this.maxDatagramBytes) this.stats.oversized++
    else if (to !== this.#url || this.#socket.readyState !== WebSocket.OPEN) this.stats.unreachable++
    else if (this.#socket.bufferedAmount > BUFFERED_BYTES_MAX) this.stats.congested++
    else {
      this.stats.sent++
      this.#socket.send(bytes.slice(0, length))
    }
  }

  close(): void {
    this.#socket.close()
  }

  #handleMessage(data: unknown): void {
    if (!(data instanceof ArrayBuffer) || data.byteLength > this.maxDatagramBytes) {
      this.stats.refused++
      return
    }
    this.stats.received++
    this.onDatagram(this.#url, new Uint8Array(data), data.byteLength)
  }
}
