/**
 * One UDP socket towards the server that is checked: what it said, and how long one waits for it.
 */

import { createSocket, type Socket } from 'node:dgram'
import { lookup } from 'node:dns/promises'

/** Whom one talks to, and what it must be told to let a client in. */
export interface Target {
  readonly host: string
  readonly port: number
  readonly fingerprint: Uint8Array
  readonly user: Uint8Array
  readonly token: Uint8Array
  /** The server's identity key, if it is known. */
  readonly identity: Uint8Array | undefined
  /** How long an answer may take, and after how long without one there was none. */
  readonly answerMs: number
  readonly silenceMs: number
}

/** How often one looks whether something has come. */
const LOOK_MS = 5
/** A datagram may be lost on a real path: what must be answered is asked so often. */
const ASK_TIMES = 3

export const pause = (ms: number): Promise<void> => new Promise((resolve) => {
  setTimeout(resolve, ms)
})

/** Waits until something is so, at most `ms`; whether it is. */
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
  /** Every datagram that came, oldest first. */
  readonly heard: Buffer[] = []
  onDatagram: (bytes: Buffer) => void = () => {}
  readonly #socket: Socket

  constructor(target: Target, socket: Socket) {
    this.target = target
    this.#socket = socket
    socket.on('message', (bytes) => {
      this.heard.push(bytes)
      this.onDatagram(bytes)
    })
    // A port that nobody listens on is told by the system: it is silence to us, and said as such.
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

  /** Sends a question until something that was not there before answers it, as `read` understands it. */
  async ask<Answer>(question: Uint8Array, read: (bytes: Buffer) => Answer | undefined): Promise<Answer | undefined> {
    const from = this.heard.length
    const find = (): Answer | undefined => {
      for (const bytes of this.heard.slice(from)) {
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

  /** What is said to something that should get no answer. */
  async answersTo(...questions: readonly Uint8Array[]): Promise<readonly Buffer[]> {
    const from = this.heard.length
    for (const question of questions) this.send(question)
    await pause(this.target.silenceMs)
    return this.heard.slice(from)
  }

  close(): void {
    this.#socket.close()
  }
}
