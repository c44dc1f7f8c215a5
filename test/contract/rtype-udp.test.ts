import { createSocket } from 'node:dgram'
import { expect, test } from 'vitest'
import { serveGreeting } from '../../docs/guide/examples/foreign-server.ts'
import { ReferenceClient } from '../reference/rtype-client.ts'

test('[RTSES9] a client made from the protocol\'s document plays with serveRtype on a real socket', async () => {
  const server = await serveGreeting(0)
  const port = Number(server.port.localAddress.split(':').at(-1))
  const socket = createSocket('udp4')
  const client = new ReferenceClient('Ada', 4711)
  client.input = 0x18
  socket.on('message', (bytes) => client.handle(performance.now(), bytes))
  const timer = setInterval(() => {
    for (const bytes of client.poll(performance.now())) socket.send(bytes, port, '127.0.0.1')
  }, 5)
  try {
    await expect.poll(() => client.packets('SCORE_UPDATE').length, { timeout: 5000 }).toBeGreaterThan(2)
    expect(client.packets('LEVEL_START')).toEqual([{ level_id: 1, level_name: 'The Drift', estimated_duration: 90 }])
    expect(client.packets('SCORE_UPDATE')[0]).toMatchObject({ player_id: client.playerId, new_score: 0x18 })
    expect(client.rttMs).toBeGreaterThanOrEqual(0)
    expect(client.broken).toBe(0)
    client.leave(performance.now())
    await expect.poll(() => server.sessions.peers.length, { timeout: 5000 }).toBe(0)
  } finally {
    clearInterval(timer)
    socket.close()
    await server.close()
  }
})
