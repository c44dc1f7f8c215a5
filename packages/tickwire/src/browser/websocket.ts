/**
 * WebSocket as a datagram port in a browser: one binary message is one datagram. Its only path is the URL.
 *
 * The stream below is reliable and ordered, so queued data arrives late: when the socket has 16 KiB unsent, datagrams
 * are dropped, as a congested router would. It mirrors the client half of `node/websocket.ts`.
 */

import { type DatagramPort } from '../core/endpoint/datagram-port.ts'
import { BUFFERED_BYTES_MAX, PathPort } from './path-port.ts'

/** Opens a socket to `url` (ws:// or wss://) and resolves once datagrams can be sent to that address. */
export function openWebSocket(url: string, signal?: AbortSignal): Promise<DatagramPort> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url)
    socket.binaryType = 'arraybuffer'
    // A browser reports that a socket failed, but never why: otherwise pages could scan a visitor's network.
    const fail = (): void => reject(new Error(`no WebSocket at ${url}`))
    const abort = (): void => {
      socket.close()
      fail()
    }
    socket.onerror = fail
    signal?.addEventListener('abort', abort, { once: true })
    socket.onopen = () => {
      signal?.removeEventListener('abort', abort)
      const port = new PathPort(url, {
        send(bytes) {
          if (socket.readyState !== WebSocket.OPEN) return 'closed'
          if (socket.bufferedAmount > BUFFERED_BYTES_MAX) return 'congested'
          socket.send(bytes)
          return 'sent'
        },
        close: () => socket.close(),
      })
      socket.onerror = () => port.stats.errors++
      socket.onclose = () => port.end()
      socket.onmessage = (event: MessageEvent<unknown>) => port.receive(event.data)
      resolve(port)
    }
  })
}
