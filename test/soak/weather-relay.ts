/** A bad link of real sockets between players and a server: late, lossy, sometimes duplicated. */

import { createSocket, type Socket } from 'node:dgram'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { LINE } from './arena-messages.ts'

export class WeatherRelay {
  lost = 0
  readonly port: number
  readonly #door: Socket
  readonly #links: Map<number, Socket> = new Map()
  readonly #dice: Prng

  private constructor(door: Socket, target: number, seed: number) {
    this.#door = door
    this.port = door.address().port
    this.#dice = new Prng(seed)
    door.on('message', (bytes, { port }) => this.#carry(() => this.#linkOf(port).send(bytes, target, '127.0.0.1')))
  }

  static async open(target: number, seed: number): Promise<WeatherRelay> {
    const door = createSocket({ type: 'udp4', recvBufferSize: 4 * 2 ** 20 })
    await new Promise<void>((resolve) => {
      door.bind(0, '127.0.0.1', resolve)
    })
    return new WeatherRelay(door, target, seed)
  }

  /** A player has left: nothing comes from its port again. */
  forget(port: number): void {
    this.#links.get(port)?.close()
    this.#links.delete(port)
  }

  close(): void {
    for (const socket of [this.#door, ...this.#links.values()]) socket.close()
    this.#links.clear()
  }

  #linkOf(port: number): Socket {
    const known = this.#links.get(port)
    if (known !== undefined) return known
    const link = createSocket('udp4')
    // A killed server is a port without a listener: the system reports an error, which is ignored.
    link.on('error', () => {})
    link.on('message', (bytes) => this.#carry(() => this.#door.send(bytes, port, '127.0.0.1')))
    this.#links.set(port, link)
    return link
  }

  #carry(deliver: () => void): void {
    const copies = this.#dice.nextFloat() < LINE.loss ? 0 : this.#dice.nextFloat() < LINE.duplication ? 2 : 1
    if (copies === 0) this.lost++
    for (let copy = 0; copy < copies; copy++) {
      setTimeout(() => {
        try {
          deliver()
        } catch {
          // Closed meanwhile: lost, like much else on this link.
          this.lost++
        }
      }, LINE.latencyMs + LINE.jitterMs * this.#dice.nextFloat())
    }
  }
}
