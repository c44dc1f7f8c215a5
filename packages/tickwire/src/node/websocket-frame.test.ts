import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { FrameBuffer } from './websocket-frame.ts'
import { listenWebSocket } from './websocket.ts'

describe('frames of a server', () => {
  test('[WS1] a datagram is one final, binary, unmasked frame, whatever its length and its buffer', () => {
    const frames = new FrameBuffer()
    for (const length of [0, 1, 125, 126, 127, 255, 256, 1200]) {
      for (const room of [length, 1500, 4096]) {
        const datagram = Uint8Array.from({ length: room }, (_, at) => at * 7 + length)
        const head = length < 126 ? [0x82, length] : [0x82, 126, length >>> 8, length & 0xff]
        expect([...frames.fill(datagram, length)]).toEqual([...head, ...datagram.subarray(0, length)])
      }
    }
  })

  test('[WS1] datagrams for a peer that does not read arrive unchanged and in order once it does', async () => {
    const server = createServer()
    const port = listenWebSocket({ server })
    const joined = new Promise<string>((resolve) => {
      port.onDatagram = resolve
    })
    await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
    const socket = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/tickwire`)
    const got: number[] = []
    socket.on('message', (data: Buffer) => {
      const first = data.readUInt32LE(0)
      got.push(data.every((byte, at) => at < 4 || byte === (first & 0xff)) ? first : -1)
    })
    socket.once('open', () => socket.send(Uint8Array.of(1)))
    const address = await joined
    socket.pause()
    const datagram = Buffer.alloc(1500)
    for (let sent = 0; port.stats.congested === 0; sent++) {
      datagram.fill(sent & 0xff)
      datagram.writeUInt32LE(sent, 0)
      port.send(address, datagram, 1200)
      // In the next turn of the event loop the stream learns what the kernel has taken.
      if (sent % 64 === 0) await new Promise((resolve) => { setImmediate(resolve) })
    }
    socket.resume()
    await expect.poll(() => got.length, { timeout: 10_000 }).toBe(port.stats.sent)
    expect(got).toEqual(Array.from({ length: port.stats.sent }, (_, number) => number))
    socket.terminate()
    port.close()
    server.close()
  })
})
