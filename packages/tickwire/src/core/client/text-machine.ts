/**
 * Requests and sockets for a rendezvous, with what pages and Node both have: `fetch`, and the WebSocket of browsers,
 * whose form the library `ws` has too.
 */

import type { Millis } from '../base/time.ts'
import type { TextSocket } from '../nat/rendezvous-signaling.ts'
import { traceHeaders } from './join-spans.ts'
import type { RendezvousMachine } from './rendezvous.ts'

const ASK_MS = 5000

/** The part of a WebSocket that signalling uses. */
export interface TextWebSocket {
  send(text: string): void
  close(): void
  addEventListener(
    type: 'open' | 'message' | 'close' | 'error',
    listener: (event: { readonly type: string; readonly data?: unknown }) => void,
  ): void
}

/** What a page or a process of Node brings. */
export interface TextMachineParts {
  /** `fetch`, which gives up after `ms`. */
  fetch(url: string, init: { method: string; body: string; headers: { [name: string]: string } }, ms: Millis): Promise<{
    readonly status: number
    json(): Promise<unknown>
  }>
  openSocket(url: string): TextWebSocket
  now(): Millis
  later(ms: Millis, run: () => void): () => void
}

/** Makes the machine of a rendezvous. */
export function textMachine({ fetch, openSocket, now, later }: TextMachineParts): RendezvousMachine {
  return {
    now,
    async ask(method, url, body, traceparent) {
      const headers = { 'content-type': 'application/json', ...traceHeaders(traceparent) }
      const response = await fetch(url, { method, body: JSON.stringify(body), headers }, ASK_MS)
      return { status: response.status, body: await response.json().catch(() => undefined) }
    },
    openText: (url) => new Promise((resolve, reject) => {
      const socket = openSocket(url)
      let isOpen = false
      const cancel = later(ASK_MS, () => socket.close())
      const text: TextSocket = {
        onText: () => {},
        onClosed: () => {},
        send: (value) => {
          if (isOpen) socket.send(value)
        },
        close: () => socket.close(),
      }
      socket.addEventListener('message', ({ data }) => {
        if (typeof data === 'string') text.onText(data)
      })
      // A close follows it.
      socket.addEventListener('error', () => {})
      socket.addEventListener('close', () => {
        cancel()
        isOpen = false
        reject(new Error(`no WebSocket at ${url}`))
        text.onClosed()
      })
      socket.addEventListener('open', () => {
        cancel()
        isOpen = true
        resolve(text)
      })
    }),
  }
}
