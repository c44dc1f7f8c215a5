/** Requests and sockets for a rendezvous, in a page or in a Worker. */

import type { RendezvousMachine } from '../core/client/rendezvous.ts'
import type { TextSocket } from '../core/nat/rendezvous-signaling.ts'

const ASK_MS = 5000

export const pageRendezvous: RendezvousMachine = {
  async ask(method, url, body) {
    const response = await fetch(url, {
      method, body: JSON.stringify(body), headers: { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(ASK_MS),
    })
    return { status: response.status, body: await response.json().catch(() => undefined) }
  },
  openText: (url) => new Promise((resolve, reject) => {
    const socket = new WebSocket(url)
    const late = setTimeout(() => socket.close(), ASK_MS)
    const text: TextSocket = {
      onText: () => {},
      onClosed: () => {},
      send: (value) => {
        if (socket.readyState === WebSocket.OPEN) socket.send(value)
      },
      close: () => socket.close(),
    }
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (typeof data === 'string') text.onText(data)
    }
    socket.onclose = () => {
      clearTimeout(late)
      reject(new Error(`no WebSocket at ${url}`))
      text.onClosed()
    }
    socket.onopen = () => {
      clearTimeout(late)
      resolve(text)
    }
  }),
}
