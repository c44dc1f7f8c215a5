/** Good and bad requests of a client with an address of its own: no log and no metric has that address. */

import { createSocket } from 'node:dgram'
import { request } from 'node:http'
import { expect, test, vi } from 'vitest'
import { serveAll } from '../../packages/services/src/all/serve-all.ts'

/** An address of this machine that nothing else uses. */
const CLIENT = '127.0.0.9'

test.runIf(process.platform === 'linux')('[DEPLOY4] no log or metric has the address of a client', async () => {
  const lines: string[] = []
  const note = (...words: unknown[]): boolean => {
    lines.push(words.map(String).join(' '))
    return true
  }
  const spies = [
    ...(['log', 'info', 'warn', 'error', 'debug'] as const)
      .map((name) => vi.spyOn(console, name).mockImplementation(note)),
    vi.spyOn(process.stdout, 'write').mockImplementation(note),
    vi.spyOn(process.stderr, 'write').mockImplementation(note),
  ]
  const all = await serveAll({ port: 0, relayPort: 0, address: '127.0.0.1', publicAddress: '127.0.0.1' })
  const statuses: number[] = []
  for (const [method, path, body] of [
    ['GET', '/v1/listings', ''], ['GET', '/nothing', ''], ['POST', '/v1/joins', '{"code":"IRON-7K3M"}'],
    ['POST', '/v1/joins', '{"code":'], ['POST', '/v1/sessions', '{}'], ['POST', '/v1/listings', '{"a":1}'],
    ['POST', '/v1/tokens', '{}'], ['POST', '/v1/joins', `"${'x'.repeat(20_000)}"`],
  ] as const) statuses.push(await ask(all.port, method, path, body))
  expect(statuses[0]).toBe(200)
  expect(statuses.slice(1).every((status) => status >= 400)).toBe(true)
  const socket = createSocket('udp4')
  await new Promise<void>((resolve) => { socket.bind(0, CLIENT, resolve) })
  const { port } = new URL(`udp://${all.relay.relayed}`)
  for (const bytes of [Buffer.alloc(1), Buffer.alloc(20, 255), Buffer.from('000100002112a442'.padEnd(40, '0'), 'hex')])
    socket.send(bytes, Number(port), '127.0.0.1')
  await expect.poll(() => all.relay.port.stats.received).toBeGreaterThanOrEqual(3)
  const metrics = await all.registry.metrics()
  socket.close()
  await all.close()
  for (const spy of spies) spy.mockRestore()
  expect(metrics).not.toContain(CLIENT)
  expect(lines.filter((line) => line.includes(CLIENT))).toEqual([])
})

async function ask(port: number, method: string, path: string, body: string): Promise<number> {
  return await new Promise((resolve, reject) => {
    const asked = request({
      port, method, path, host: '127.0.0.1', localAddress: CLIENT, headers: { 'content-type': 'application/json' },
    }, (response) => {
      response.resume()
      resolve(response.statusCode ?? 0)
    })
    asked.on('error', reject)
    asked.end(body)
  })
}
