/** The lifecycle under Agones, against a stub with the paths of its documented REST interface. */

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect, serve } from 'tickwire/node'
import { afterEach, expect, test } from 'vitest'
import { game } from './fleet-stage.ts'

let stub: Server | undefined

afterEach(() => {
  delete process.env['AGONES_SDK_HTTP_PORT']
  stub?.close()
})

/** A sidecar that notes requests, and refuses the first `refusals` requests, as one that starts late does. */
async function startStub(refusals: number): Promise<string[]> {
  const said: string[] = []
  stub = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk) => { body += String(chunk) })
    request.on('end', () => {
      const isRefused = refusals-- > 0
      if (!isRefused) said.push(`${request.method} ${request.url} ${body}`)
      response.writeHead(isRefused ? 503 : 200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  const server = stub
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  process.env['AGONES_SDK_HTTP_PORT'] = String((stub.address() as AddressInfo).port)
  return said
}

const quiet = { port: 0, address: '127.0.0.1', signals: false, ops: false, log: () => {}, webrtc: false } as const

test('[DEPLOY7] a server reports ready, health, allocate at the first seat, and shutdown', async () => {
  const said = await startStub(2)
  const serving = await serve(game, { ...quiet, webtransport: false, udp: { port: 0 } })
  await expect.poll(() => said[0], { timeout: 10_000 }).toBe('POST /ready {}')
  await expect.poll(() => said[1]).toMatch(/^PUT \/metadata\/label \{"key":"tickwire-version","value":"\d+"\}$/)
  expect(said).not.toContain('POST /allocate {}')
  const room = await connect(game, serving.url, { transport: 'udp' })
  await expect.poll(() => said, { timeout: 10_000 }).toContain('POST /allocate {}')
  const before = said.filter((line) => line === 'POST /health {}').length
  await expect.poll(() => said.filter((line) => line === 'POST /health {}').length, { timeout: 10_000 })
    .toBeGreaterThan(before)
  expect(said).not.toContain('POST /shutdown {}')
  room.leave()
  await serving.drain(2000)
  expect(said.at(-1)).toBe('POST /shutdown {}')
  expect(said.filter((line) => /allocate|ready|shutdown/.test(line))).toHaveLength(3)
})

test('[DEPLOY7] without the sidecar a server runs as ever', async () => {
  await startStub(1e9)
  const serving = await serve(game, { ...quiet, webtransport: false, udp: { port: 0 } })
  const room = await connect(game, serving.url, { transport: 'udp' })
  room.leave()
  await serving.close()
})
