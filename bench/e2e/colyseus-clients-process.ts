/** Colyseus' clients of the end-to-end bench. */

import { Client } from '@colyseus/sdk'
import { allIn, fail, joinAll } from './clients-report.ts'
import { State } from './colyseus-state.ts'
import { createKeys, TICK_RATE } from './workload.ts'

const [port, players] = process.argv.slice(2) as [string, string]

const rooms = await joinAll(Number(players), async (index) => {
  const room = await new Client(`ws://127.0.0.1:${port}`).joinOrCreate('field', {}, State)
  room.onLeave((code) => fail(index, String(code)))
  const keys = createKeys(index)
  setInterval(() => room.send('input', keys()), 1000 / TICK_RATE)
  return room
})
allIn(() => rooms[0]!.state.players.size)
