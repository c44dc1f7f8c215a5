/** A stretch of network between players and a UDP port that a test can cut. */

import { createSocket, type Socket } from 'node:dgram'

/** A port that nobody has just now. */
export async function freeUdpPort(): Promise<number> {
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => socket.bind(0, resolve))
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(() => resolve()))
  return port
}

export class UdpRelay {
  isCut = false
  readonly port: number
  readonly #door: Socket
  readonly #links: Map<number, Socket> = new Map()

  private constructor(door: Socket, target: number) {
    this.#door = door
    this.port = door.address().port
    door.on('message', (bytes, { address, port }) => {
      if (!this.isCut) this.#linkOf(address, port).send(bytes, target, '127.0.0.1')
    })
  }

  /** Leads to a port of this machine. */
  static async open(target: number): Promise<UdpRelay> {
    const door = createSocket('udp6')
    await new Promise<void>((resolve) => door.bind(0, '::', resolve))
    return new UdpRelay(door, target)
  }

  /** Players come from other ports from now on, as when a router forgets them. */
  rebind(): void {
    for (const link of this.#links.values()) link.close()
    this.#links.clear()
  }

  close(): void {
    for (const socket of [this.#door, ...this.#links.values()]) socket.close()
  }

  #linkOf(address: string, port: number): Socket {
    const known = this.#links.get(port)
    if (known !== undefined) return known
    const link = createSocket('udp4')
    link.on('message', (bytes) => { if (!this.isCut) this.#door.send(bytes, port, address) })
    this.#links.set(port, link)
    return link
  }
}
