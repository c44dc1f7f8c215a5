/** A raw TCP client on loopback that binds its own address: 127.1.2.3 is another origin than 127.0.0.1. */

import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export const UPGRADE: string =
  'GET /tickwire HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n'
  + 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n'

const TEXT_MAX = 65_536

export class RawClient {
  readonly socket: Socket
  /** The first bytes that have arrived. */
  text = ''
  isClosed = false

  /** With `allowHalfOpen` it never closes its half by itself. */
  constructor(port: number, from: string, allowHalfOpen = false) {
    this.socket = connect({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen })
    this.socket.on('data', (bytes) => { if (this.text.length < TEXT_MAX) this.text += bytes.toString('latin1') })
    // A socket that the server resets is closed, as one that the server ends.
    this.socket.on('error', () => {})
    this.socket.on('end', () => { this.isClosed = true })
    this.socket.on('close', () => { this.isClosed = true })
  }

  /** The status of the first answer; 0 before it has arrived. */
  get status(): number {
    return Number(/^HTTP\/1\.1 (\d+)/.exec(this.text)?.[1] ?? 0)
  }

  get isSettled(): boolean {
    return this.isClosed || this.status !== 0
  }

  write(text: string | Uint8Array): this {
    this.socket.write(text)
    return this
  }
}

/** Waits until the condition is true, at most for the given time. */
export async function until(isTrue: () => boolean, forMs = 30_000): Promise<boolean> {
  const endsAt = performance.now() + forMs
  while (!isTrue() && performance.now() < endsAt) await sleep(20)
  return isTrue()
}
