/**
 * The messages between the processes of the `bytes` benchmark, and the numbers that all of them share.
 *
 * ```
 * bench ── fork ──▶ echo server of one kind      'mark' ──▶   ◀── ServerMark: its CPU so far, and what it echoed
 *       ── fork ──▶ load for that server         Turn ──▶     ◀── TurnDone
 * ```
 */

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** Bytes of a request and of its reply. */
export const PAYLOAD_BYTES = 200

/** Clients of one server, each with one request in flight, so that no two replies share a datagram. */
export const CLIENTS = 32

/** Sizes of the kernel buffers, the same for all servers. */
export const BUFFER_BYTES: number = 4 * 1024 * 1024

export const FINGERPRINT: Uint8Array = new Uint8Array(8).fill(0x62)

/**
 * `plain` is the simplest echo, `tuned` the same without a lookup for every datagram, `tickwire` a whole
 * endpoint.
 */
export type EchoKind = 'plain' | 'tuned' | 'tickwire'

/** The first message of a server process. */
export interface ServerReady {
  readonly port: number
  /** The crypto provider; empty for servers without encryption. */
  readonly provider: string
}

/** A server's answer to 'mark'. */
export interface ServerMark {
  readonly cpuUs: number
  readonly echoes: number
  readonly datagramsIn: number
  readonly datagramsOut: number
  readonly bytesIn: number
  readonly bytesOut: number
  /** Memory in use, in the heap and outside, after two full collections. */
  readonly aliveBytes: number
  readonly rssBytes: number
}

/** A child process that answers every message with one message. */
export class Child {
  readonly process: ChildProcess
  #waiting: ((message: unknown) => void)[] = []
  #said: unknown[] = []

  constructor(file: URL, args: readonly string[]) {
    this.process = fork(fileURLToPath(file), [...args], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    this.process.on('message', (message) => {
      const waiting = this.#waiting.shift()
      if (waiting === undefined) this.#said.push(message)
      else waiting(message)
    })
  }

  /** Sends a question, if there is one, and waits for the next message. */
  async ask<Answer>(question?: string | number): Promise<Answer> {
    if (question !== undefined) this.process.send(question)
    if (this.#said.length > 0) return this.#said.shift() as Answer
    return new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${question ?? 'hello'} within 60 s`)), 60_000)
      const onExit = (code: number | null): void => reject(new Error(`a process ended with ${code} before it answered`))
      this.process.once('exit', onExit)
      this.#waiting.push((message) => {
        clearTimeout(timer)
        this.process.off('exit', onExit)
        resolve(message as Answer)
      })
    })
  }

  end(): void {
    this.process.kill('SIGKILL')
  }
}
