/** nengi's clients of the end-to-end bench. They read every snapshot and keep the entities. */

import { Client, type ClientNetwork } from 'nengi'
import { BufferReader, BufferWriter } from 'nengi-buffers'
import { WebSocket } from 'ws'
import { allIn, fail, joinAll } from './clients-report.ts'
import { context, KIND } from './nengi-context.ts'
import { createKeys, TICK_RATE } from './workload.ts'

const [port, players] = process.argv.slice(2) as [string, string]

class Adapter {
  readonly network: ClientNetwork
  #socket: WebSocket | undefined

  constructor(network: ClientNetwork) {
    this.network = network
  }

  async connect(url: string, handshake: unknown): Promise<void> {
    const socket = new WebSocket(url, { perMessageDeflate: false })
    this.#socket = socket
    socket.on('close', (code) => fail(-1, String(code)))
    await new Promise((resolve) => socket.once('open', resolve))
    socket.send(this.network.createHandshakeBuffer(handshake, BufferWriter))
    // The first message says that the connection was accepted; all later ones are snapshots.
    let isAccepted = false
    await new Promise<void>((resolve) => {
      socket.on('message', (bytes: Buffer) => {
        if (isAccepted) this.network.readSnapshot(this.createBufferReader(bytes))
        isAccepted = true
        resolve()
      })
    })
  }

  flush(): void {
    this.#socket?.send(this.network.createOutboundBuffer(BufferWriter))
  }

  createBuffer(length: number): Buffer {
    return Buffer.alloc(length)
  }

  createBufferWriter(length: number): BufferWriter {
    return new BufferWriter(Buffer.alloc(length))
  }

  createBufferReader(buffer: Buffer | ArrayBuffer): BufferReader {
    return new BufferReader(buffer as Buffer)
  }
}

const clients = await joinAll(Number(players), async (index) => {
  const client = new Client(context, Adapter, TICK_RATE)
  await client.connect(`ws://127.0.0.1:${port}`, {})
  const keys = createKeys(index)
  setInterval(() => {
    client.addCommand({ ntype: KIND.input, ...keys() })
    client.flush()
    // Frames are for the game to draw. A client that keeps all of them would run out of memory.
    client.network.snapshots.length = 0
  }, 1000 / TICK_RATE)
  return client
})
allIn(() => clients[0]!.network.entities.size)
