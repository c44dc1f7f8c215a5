import { createSocket } from 'node:dgram'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { readArguments } from '../../games/shmup/arguments.ts'
import { Pilot } from '../../games/shmup/definitions.ts'
import { serveShmup } from '../../games/shmup/start-shmup.ts'
import { ReferenceClient } from '../reference/rtype-client.ts'

const FOLDER = fileURLToPath(new URL('../../games/shmup/public', import.meta.url))

test('[SHMUP6] the command line has defaults, and invalid numbers are refused by name', () => {
  expect(readArguments([])).toEqual({ port: 4000, bots: 1, level: 1, rtypePort: undefined })
  expect(readArguments(['--rtype-port', '4242', '--bots', '0'])).toMatchObject({ rtypePort: 4242, bots: 0 })
  expect(readArguments(['--level', '4'])).toEqual({ problem: '--level: expected 1 to 3, got 4' })
  expect(readArguments(['--help'])).toBe('help')
})

test('[SHMUP6] an R-Type client joins the served match over UDP, and a bot plays along', async () => {
  const { serving, rtype } = await serveShmup({ port: 0, bots: 1, level: 1, rtypePort: 0 }, FOLDER)
  const port = Number(rtype!.port.localAddress.split(':').at(-1))
  const socket = createSocket('udp4')
  const client = new ReferenceClient('Ada', 4711)
  socket.on('message', (bytes) => client.handle(performance.now(), bytes))
  const timer = setInterval(() => {
    for (const bytes of client.poll(performance.now())) socket.send(bytes, port, '127.0.0.1')
  }, 5)
  try {
    const names = (): string[] => [...serving.host.world.each(Pilot)].map(({ name }) => name).sort()
    await expect.poll(names, { timeout: 10_000 }).toEqual(['Ada', 'Nova'])
    await expect.poll(() => client.packets('TRANSFORM_SNAPSHOT').length, { timeout: 10_000 }).toBeGreaterThan(10)
    expect(client.packets('ENTITY_SPAWN').some(({ entity_id: id }) => id === client.playerId)).toBe(true)
    expect(client.broken).toBe(0)
    client.leave(performance.now())
    await expect.poll(names, { timeout: 10_000 }).toEqual([])
  } finally {
    clearInterval(timer)
    socket.close()
    await rtype!.close()
    await serving.close()
  }
})
