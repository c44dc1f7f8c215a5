import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { JSON_ANSWER_BYTES_MAX } from '../core/base/limits-fleet.ts'
import { readFleetBody } from './fleet-signature.ts'
import { requestJson } from './json-request.ts'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A server, its address, and the connections that it has seen. */
async function serve(handle: RequestListener): Promise<{ readonly url: string; readonly sockets: Socket[] }> {
  const server = createServer(handle)
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => sockets.push(socket))
  servers.push(server)
  await new Promise<void>((resolve) => { server.listen(0, '127.0.0.1', resolve) })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, sockets }
}

test('a body, headers and the answer arrive, and the connection is used again', async () => {
  const { url, sockets } = await serve((request, response) => {
    void readFleetBody(request).then((text) => response.writeHead(201).end(JSON.stringify({
      method: request.method, type: request.headers['content-type'], own: request.headers['x-own'], text,
    })))
  })
  for (const [method, text] of [['POST', '{"a":"ü"}'], ['PUT', '{"b":2}'], ['DELETE', '{"c":3}']] as const) {
    expect(await requestJson(url, { method, text, ms: 5000, headers: { 'x-own': 'yes' } })).toEqual({
      status: 201, body: { method, type: 'application/json', own: 'yes', text },
    })
  }
  const { body } = await requestJson(url, { method: 'GET', ms: 5000 })
  expect(body).toEqual({ method: 'GET', text: '' })
  expect(sockets).toHaveLength(1)
})

test('a connection that the server closes when it is used again is replaced by a new one', async () => {
  let requests = 0
  const { url, sockets } = await serve((request, response) => {
    if (++requests === 2) request.socket.destroy()
    else response.end('{}')
  })
  await requestJson(url, { method: 'GET', ms: 5000 })
  expect(await requestJson(url, { method: 'POST', text: '{}', ms: 5000 })).toEqual({ status: 200, body: {} })
  expect([requests, sockets.length]).toEqual([3, 2])
})

test('a new connection that ends without an answer is an error, and nothing is sent again', async () => {
  let requests = 0
  const { url } = await serve((request) => {
    requests++
    request.socket.destroy()
  })
  await expect(requestJson(url, { method: 'GET', ms: 5000 })).rejects.toThrow()
  await expect(requestJson('http://127.0.0.1:1/', { method: 'GET', ms: 5000 })).rejects.toThrow('ECONNREFUSED')
  expect(requests).toBe(1)
})

test('a request ends at its deadline, before its answer and in the middle of it', async () => {
  const silent = await serve(() => {})
  await expect(requestJson(silent.url, { method: 'GET', ms: 50 })).rejects.toMatchObject({ name: 'TimeoutError' })
  const slow = await serve((_request, response) => response.write('{'))
  await expect(requestJson(slow.url, { method: 'GET', ms: 50 })).rejects.toMatchObject({ name: 'TimeoutError' })
})

test('an answer that is no JSON has no body, and a long one is an error', async () => {
  const page = await serve((_request, response) => response.writeHead(502).end('<h1>'))
  expect(await requestJson(page.url, { method: 'GET', ms: 5000 })).toEqual({ status: 502, body: undefined })
  const long = await serve((_request, response) => response.end(Buffer.alloc(JSON_ANSWER_BYTES_MAX + 1)))
  await expect(requestJson(long.url, { method: 'GET', ms: 5000 })).rejects.toThrow('more than')
})
