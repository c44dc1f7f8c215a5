/**
 * One UDP socket to the server under test: what it received, and how long to wait for it.
 */

import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'

/** The server under test, and what a client must send to be accepted. */
export interface Target {
  readonly host: string
  readonly port: number
  readonly fingerprint: Uint8Array
  readonly user: Uint8Array
  readonly token: Uint8Array
  /** The server's identity key, if it is known. */
  readonly identity: Uint8Array | undefined
  /** For a packet relay: the secret key that signs its tokens (32 bytes), and the name in them. */
  readonly relay: { readonly secret: Uint8Array; readonly audience: string } | undefined
  /** How long an answer may take, and after how long without one there is none. */
  readonly answerMs: number
  readonly silenceMs: number
}

/** Polling interval while waiting. */
const LOOK_MS = 5
/** How often a request is sent: a datagram may be lost on a real path. */
const ASK_TIMES = 3

export const pause = (ms: number): Promise<void> => new Promise((resolve) => {
  setTimeout(resolve, ms)
})

/** Waits until a condition holds, at most `ms`. Returns whether it does. */
export async function until(isSo: () => boolean, ms: number): Promise<boolean> {
  const end = performance.now() + ms
  while (!isSo()) {
    if (performance.now() > end) return false
    await pause(LOOK_MS)
  }
  return true
}

export class Line {
  readonly target: Target
  /** Every received datagram, oldest first. */
  readonly received: Buffer[] = []
  onDatagram: (bytes: Buffer) => void = () => {}
  readonly #socket: Socket

  constructor(target: Target, socket: Socket) {
    this.target = target
    this.#socket = socket
    socket.on('message', (bytes) => {
      this.received.push(bytes)
      this.onDatagram(bytes)
    })
    // The system reports a closed port as an error. It counts as silence, and is reported as such.
    socket.on('error', () => {})
  }

  static async open(target: Target): Promise<Line> {
    const { address, family } = await lookup(target.host)
    const socket = createSocket(family === 6 ? 'udp6' : 'udp4')
    await new Promise<void>((resolve, reject) => {
      socket.once('error', reject)
      socket.connect(target.port, address, resolve)
    })
    socket.removeAllListeners('error')
    return new Line(target, socket)
  }

  send(bytes: Uint8Array): void {
    this.#socket.send(bytes)
  }

  /** Sends a request until a new datagram answers it, as parsed by `read`. */
  async ask<Answer>(question: Uint8Array, read: (bytes: Buffer) => Answer | undefined): Promise<Answer | undefined> {
    const from = this.received.length
    const find = (): Answer | undefined => {
      for (const bytes of this.received.slice(from)) {
        const answer = read(bytes)
        if (answer !== undefined) return answer
      }
      return undefined
    }
    for (let times = 0; times < ASK_TIMES; times++) {
      this.send(question)
      if (await until(() => find() !== undefined, this.target.answerMs)) return find()
    }
    return undefined
  }

  /** Sends packets that should get no answer. Returns what was received. */
  async answersTo(...questions: readonly Uint8Array[]): Promise<readonly Buffer[]> {
    const from = this.received.length
    for (const question of questions) this.send(question)
    await pause(this.target.silenceMs)
    return this.received.slice(from)
  }

  close(): void {
    this.#socket.close()
  }
}
