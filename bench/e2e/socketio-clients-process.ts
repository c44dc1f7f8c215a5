/** Clients of the socket.io server of the end-to-end bench. */

import { io } from 'socket.io-client'
import parser from 'socket.io-msgpack-parser'
import { allIn, fail, joinAll } from './clients-report.ts'
import { createKeys, TICK_RATE } from './workload.ts'

const [port, players] = process.argv.slice(2) as [string, string]

let seen: unknown[] = []
await joinAll(Number(players), async (index) => {
  const socket = io(`http://127.0.0.1:${port}`, { parser, transports: ['websocket'], forceNew: true })
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()))
  socket.on('state', (players: unknown[]) => {
    seen = players
  })
  socket.on('disconnect', (reason) => fail(index, reason))
  const keys = createKeys(index)
  setInterval(() => socket.volatile.emit('input', keys()), 1000 / TICK_RATE)
})
allIn(() => seen.length)
