/** A TCP line to a port of this machine that a test can cut: bytes in both directions wait until it is whole again. */

import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'

export class Cable {
  readonly port: number
  readonly #server: Server
  readonly #sockets: Set<Socket>
  #isCut = false

  private constructor(server: Server, sockets: Set<Socket>) {
    this.#server = server
    this.#sockets = sockets
    this.port = (server.address() as AddressInfo).port
  }

  /** A line to `port`. */
  static async to(port: number): Promise<Cable> {
    const sockets = new Set<Socket>()
    const server = createServer({ pauseOnConnect: true }, (near) => {
      const far = connect(port, '127.0.0.1')
      for (const [from, to] of [[near, far], [far, near]] as const) {
        sockets.add(from)
        from.on('data', (bytes) => to.write(bytes))
        from.on('error', () => {})
        from.on('close', () => {
          sockets.delete(from)
          to.destroy()
        })
      }
      if (cable.#isCut) far.pause()
      else near.resume()
    })
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
    const cable = new Cable(server, sockets)
    return cable
  }

  /** Nothing passes for a time. */
  async cut(ms: number): Promise<void> {
    this.#isCut = true
    for (const socket of this.#sockets) socket.pause()
    await new Promise((resolve) => { setTimeout(resolve, ms) })
    this.#isCut = false
    for (const socket of this.#sockets) socket.resume()
  }

  close(): void {
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
  }
}
