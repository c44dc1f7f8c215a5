/** A game beside the pages and routes of Express and Fastify, on one port. */

import express from 'express'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { bool, defineGame, entity, fixed, type Game } from 'tickwire'
import { createClientHost } from 'tickwire/engine'
import { monotonicNow, openWebSocket, serve, serveRooms, systemEntropy, type ServeLogEntry } from 'tickwire/node'
import { game as firstGame } from '../../docs/guide/examples/first-game/game.ts'
import { endPrograms, Program } from './program.ts'

// Real sockets, on a machine that may be busy.
vi.setConfig({ testTimeout: 60_000 })

const Player = entity({ x: fixed(0, 100, 0.1) })
const game = defineGame({
  tickRate: 60,
  input: { right: bool },
  entities: [Player],
  onJoin: (world, peer) => world.spawn(Player, { x: 10 }, peer),
  step() {},
})
const QUIET = { webtransport: false, webrtc: false, udp: false, ops: false, signals: false } as const

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanups.splice(0).toReversed()) await clean()
  await endPrograms()
})

/** Joins by WebSocket, and resolves when the client is in the match. */
async function join(url: string, of: Game = game): Promise<void> {
  const address = `${url.replace('http', 'ws')}/tickwire`
  const port = await openWebSocket(address)
  await new Promise<void>((resolve, reject) => {
    const host = createClientHost(of, { entropy: systemEntropy, onOpened: resolve, onClosed: reject })
    const pump = (): void => {
      host.tick(monotonicNow())
      host.drain(monotonicNow(), port)
    }
    const timer = setInterval(pump, 5)
    cleanups.push(() => {
      clearInterval(timer)
      port.close()
    })
    port.onDatagram = (from, bytes, length) => {
      host.handleDatagram(monotonicNow(), from, bytes, length)
      pump()
    }
    host.connect(monotonicNow(), address)
    pump()
  })
}

const json = async (url: string): Promise<unknown> => (await fetch(url)).json()

async function listening(server: Server): Promise<string> {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve))
  cleanups.push(() => new Promise((resolve) => {
    server.close(resolve)
    server.closeAllConnections()
  }))
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

test('[SERVE11] the guide: a game beside the routes of Express and of Fastify', async () => {
  const names = ['express', 'fastify']
  await Promise.all(names.map(async (name) => {
    const program = new Program(new URL(`../../docs/guide/examples/${name}/server.ts`, import.meta.url), [])
    const [, url] = await program.says(/open (\S+)/)
    await join(url!, firstGame)
    expect(await json(`${url}/api/players`)).toEqual({ players: 1 })
    expect(await json(`${url}/tickwire/info`)).toMatchObject({ websocket: { path: '/tickwire' } })
    expect((await fetch(`${url}/nothing`)).status).toBe(404)
    program.child.kill('SIGINT')
    expect(await program.ended).toBe(0)
  }))
})

test('[SERVE11] a game is attached to the server of an Express app, and leaves it as it was', async () => {
  const app = express()
  app.get('/hello', (_request, response) => void response.send('hello'))
  const server = app.listen(0)
  const url = await listening(server)
  const serving = await serve(game, { server, ...QUIET })
  expect(serving.url).toBe(url)
  await join(url)
  expect(await (await fetch(`${url}/hello`)).text()).toBe('hello')
  // Express has no such route: the answer is Tickwire's.
  expect((await fetch(`${url}/tickwire/rooms`)).status).toBe(200)
  expect((await fetch(`${url}/tickwire/info`, { method: 'POST' })).status).toBe(405)
  await serving.close()
  expect(await (await fetch(`${url}/hello`)).text()).toBe('hello')
  expect((await fetch(`${url}/tickwire/rooms`)).status).toBe(404)
})

test('[SERVE11] rooms are attached to a server that does not listen yet', async () => {
  const server = createServer((_request, response) => response.end('mine'))
  const serving = await serveRooms({ duel: { game, capacity: 2 } }, { server, port: 0, ...QUIET })
  cleanups.push(() => serving.close())
  const url = await listening(server)
  await join(url)
  expect(await json(`${url}/tickwire/rooms`)).toMatchObject([{ type: 'duel', players: 1 }])
  expect(await (await fetch(url)).text()).toBe('mine')
})

test('[SERVE12] a handler that throws or rejects gets 500 and a line in the log, and the server goes on', async () => {
  const entries: ServeLogEntry[] = []
  const serving = await serve(game, {
    port: 0,
    ...QUIET,
    log: (entry) => entries.push(entry),
    handler: ({ url }, response) => {
      if (url === '/throws') throw new Error('thrown')
      if (url === '/rejects') return Promise.reject(new Error('rejected'))
      return response.end('fine')
    },
  })
  cleanups.push(() => serving.close())
  expect((await fetch(`${serving.url}/throws`)).status).toBe(500)
  expect((await fetch(`${serving.url}/rejects`)).status).toBe(500)
  expect(await (await fetch(`${serving.url}/fine`)).text()).toBe('fine')
  const faults = entries.filter(({ event }) => event === 'handler-fault').map(({ message }) => message)
  expect(faults.map((message) => /handler threw: Error: (\w+)/.exec(message)?.[1])).toEqual(['thrown', 'rejected'])
})

test('[SERVE12] options that contradict each other are refused, with the fix', async () => {
  const server = createServer()
  await expect(serve(game, { handler: () => {}, static: './public' })).rejects.toThrow(
    'handler: given together with `static`. Fix: serve the files in the handler.',
  )
  await expect(serve(game, { server, static: './public' })).rejects.toThrow('static: given together with `server`')
  await expect(serve(game, { server, handler: () => {} })).rejects.toThrow('handler: given together with `server`')
})
