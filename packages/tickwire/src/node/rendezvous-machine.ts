/** Requests and sockets for a rendezvous, on Node. */

import { WebSocket } from 'ws'
import { SIGNAL_CHARS_MAX } from '../core/base/limits.ts'
import type { RendezvousMachine } from '../core/client/rendezvous.ts'
import type { TextSocket } from '../core/nat/rendezvous-signaling.ts'

const ASK_MS = 5000
/** A message of signalling is JSON in JSON. */
const SOCKET_BYTES_MAX = 8 * SIGNAL_CHARS_MAX

export const nodeRendezvous: RendezvousMachine = {
  async ask(method, url, body) {
    const response = await fetch(url, {
      method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(ASK_MS),
    })
    return { status: response.status, body: await response.json().catch(() => undefined) }
  },
  openText: (url) => new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { handshakeTimeout: ASK_MS, maxPayload: SOCKET_BYTES_MAX })
    socket.once('error', () => reject(new Error(`no WebSocket at ${url}`)))
    socket.once('open', () => resolve(textSocket(socket)))
  }),
}

function textSocket(socket: WebSocket): TextSocket {
  const text: TextSocket = {
    onText: () => {},
    onClosed: () => {},
    send: (value) => {
      if (socket.readyState === WebSocket.OPEN) socket.send(value)
    },
    close: () => socket.close(),
  }
  socket.on('error', () => socket.terminate())
  socket.on('message', (data, isBinary) => {
    if (!isBinary) text.onText(String(data))
  })
  socket.on('close', () => text.onClosed())
  return text
}
