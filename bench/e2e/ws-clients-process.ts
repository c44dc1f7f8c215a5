/** Clients of the plain `ws` server of the end-to-end bench. */

import { pack, unpack } from 'msgpackr'
import { WebSocket } from 'ws'
import { allIn, fail, joinAll } from './clients-report.ts'
import { createKeys, TICK_RATE } from './workload.ts'

const [port, players] = process.argv.slice(2) as [string, string]

let seen: unknown[] = []
await joinAll(Number(players), async (index) => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}`, { perMessageDeflate: false })
  await new Promise((resolve) => socket.once('open', resolve))
  socket.on('message', (bytes: Buffer) => {
    seen = unpack(bytes)
  })
  socket.on('close', (code) => fail(index, String(code)))
  const keys = createKeys(index)
  setInterval(() => socket.send(pack(keys())), 1000 / TICK_RATE)
})
allIn(() => seen.length)
