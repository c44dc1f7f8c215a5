/** A stretch of network between players and a UDP port that a test can cut. */

import { createSocket, type Socket } from 'node:dgram'

/** A port that is free now. */
export async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, resolve))
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(() => resolve()))
  return port
}

export class UdpRelay {
  isCut = false
  /** How many of the next datagrams from players are lost. */
  losses = 0
  /** Latency in each direction. */
  delayMs = 0
  readonly port: number
  readonly #door: Socket
  readonly #links: Map<number, Socket> = new Map()
  #isClosed = false

  private constructor(door: Socket, target: number) {
    this.#door = door
    this.port = door.address().port
    door.on('message', (bytes, { address, port }) => {
      if (this.losses > 0) return void this.losses--
      const link = this.#linkOf(address, port)
      return this.#later(() => link.send(bytes, target, '127.0.0.1'))
    })
  }

  /** Leads to a port of this machine. */
  static async open(target: number): Promise<UdpRelay> {
    const door = createSocket('udp6')
    await new Promise<void>((resolve) => door.bind(0, '::', resolve))
    return new UdpRelay(door, target)
  }

  /** Players get new ports from now on, as when a router forgets its mappings. */
  rebind(): void {
    for (const link of this.#links.values()) link.close()
    this.#links.clear()
  }

  close(): void {
    this.#isClosed = true
    for (const socket of [this.#door, ...this.#links.values()]) socket.close()
  }

  /** Sends after the delay, unless the relay is cut or closed by then. */
  #later(send: () => void): void {
    if (this.isCut) return
    if (this.delayMs === 0) return send()
    setTimeout(() => { if (!this.#isClosed) send() }, this.delayMs)
  }

  #linkOf(address: string, port: number): Socket {
    const known = this.#links.get(port)
    if (known !== undefined) return known
    const link = createSocket('udp4')
    link.on('message', (bytes) => this.#later(() => this.#door.send(bytes, port, address)))
    this.#links.set(port, link)
    return link
  }
}
