/**
 * A WebSocket that is open at another instance, as the home of its session sees it. It has the part of the interface of
 * `ws` that signalling uses.
 */

import { EventEmitter } from 'node:events'
import type { SessionDirectory } from './session-directory.ts'

/** What signalling needs of a socket: that of `ws`, or a remote one. */
export interface SignalSocket {
  readonly bufferedAmount: number
  send(text: string): void
  close(code?: number, reason?: string): void
  terminate(): void
  ping(): void
  on(event: 'message', listener: (data: unknown, isBinary: boolean) => void): unknown
  on(event: 'close' | 'pong' | 'error', listener: () => void): unknown
  once(event: 'message', listener: (data: unknown, isBinary: boolean) => void): unknown
  once(event: 'close', listener: () => void): unknown
}

/** A member whose socket has this many unsent bytes does not read, and is disconnected. */
const UNSENT_BYTES_MAX = 262_144

/** Sends a text, or ends a socket that does not read. */
export function sendOrEnd(socket: SignalSocket, text: string): void {
  if (socket.bufferedAmount > UNSENT_BYTES_MAX) socket.terminate()
  else socket.send(text)
}

export class RemoteSocket extends EventEmitter implements SignalSocket {
  readonly bufferedAmount = 0
  readonly #directory: SessionDirectory
  readonly #instance: string
  readonly #socket: string
  #isOpen = true

  /** `socket`: its name at `instance`. */
  constructor(directory: SessionDirectory, instance: string, socket: string) {
    super()
    this.#directory = directory
    this.#instance = instance
    this.#socket = socket
  }

  send(text: string): void {
    this.#pass(text)
  }

  close(): void {
    this.#pass(undefined)
    this.end()
  }

  terminate(): void {
    this.close()
  }

  /** Finds out whether the other instance lives, and has the socket. It looks after the socket itself. */
  ping(): void {
    this.#pass('')
  }

  /** The socket was closed at the other side. */
  end(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.emit('close')
  }

  #pass(text: string | undefined): void {
    if (!this.#isOpen) return
    void this.#directory.sendSocket(this.#instance, { socket: this.#socket, text }).then((sent) => {
      if (sent === 'gone') this.end()
      else if (text === '') this.emit('pong')
    })
  }
}
