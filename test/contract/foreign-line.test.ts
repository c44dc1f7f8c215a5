/** The protocol that the guide adds as an example, over real UDP, in one match with a client of the native wire. */

import { createSocket } from 'node:dgram'
import { connect, serve } from 'tickwire/node'
import { expect, test } from 'vitest'
import { openDots, readRequest } from '../../docs/guide/examples/foreign-line.ts'
import { game, Player } from '../../games/hello/game.ts'

test('[RTGUIDE1] a client of the added protocol plays with a client of the native wire', async () => {
  const serving = await serve(game, { port: 0, log: () => {} })
  const udp = await openDots(serving, 0)
  const room = await connect(game, serving.url)
  const socket = createSocket('udp4')
  const received: string[] = []
  socket.on('message', (bytes) => received.push(bytes.toString('latin1')))
  const port = Number(udp.localAddress.split(':').at(-1))
  const send = (text: string): void => socket.send(text, port, '127.0.0.1')
  try {
    send('HELLO Ada')
    send('noise')
    send(`KEYS ${'0'.repeat(16)} r`)
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(received).toEqual([])
    send('HELLO Ada'.padEnd(22))
    await expect.poll(() => received.length, { timeout: 10_000 }).toBe(1)
    expect(received[0]).toMatch(/^TOKEN [0-9a-f]{16}$/)
    expect(serving.host.world.count(Player)).toBe(1)
    send(`KEYS ${received[0]!.slice(6)} r`)
    await expect.poll(() => received.at(-1), { timeout: 10_000 }).toMatch(/^DOTS \d+,\d+,\d+ \d+,\d+,\d+$/)
    // The client of the native wire sees the other one move to the right.
    const other = (): number => [...room.view.each(Player)].find(({ owner }) => owner !== room.peer)?.x ?? 0
    await expect.poll(other, { timeout: 10_000 }).toBeGreaterThan(500)
  } finally {
    socket.close()
    udp.close()
    room.leave()
    await serving.close()
  }
})

test('[RTGUIDE1] its reader accepts the protocol and nothing else', () => {
  const read = (text: string): unknown => readRequest(Buffer.from(text, 'latin1'), text.length)
  expect(read('HELLO Ada   ')).toEqual({ kind: 'hello', name: 'Ada' })
  expect(read(`KEYS ${'a'.repeat(16)} lu`)).toEqual({ kind: 'keys', token: 'a'.repeat(16), keys: 'lu' })
  for (const text of ['', 'HELLO', 'HELLO Ada\n', 'KEYS a l', `KEYS ${'a'.repeat(16)} x`, 'x'.repeat(1200)]) {
    expect(read(text)).toBeUndefined()
  }
})
