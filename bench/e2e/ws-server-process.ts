/**
 * A plain server of the end-to-end bench: `ws` and msgpackr. Each tick it packs the whole state once and sends it to
 * every client. This is the least work that a server of this game can do without deltas.
 */

import type { AddressInfo } from 'node:net'
import { pack, unpack } from 'msgpackr'
import { WebSocketServer } from 'ws'
import { reportWhenAsked, TickWatch } from './server-report.ts'
import { PlainField } from './plain-field.ts'
import { TICK_RATE } from './workload.ts'

const watch = new TickWatch(TICK_RATE)
const field = new PlainField()
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
server.on('connection', (socket) => {
  const id = field.join()
  socket.on('message', (bytes: Buffer) => field.press(id, unpack(bytes)))
})
setInterval(() => {
  watch.tick()
  field.step()
  const state = pack(field.players)
  for (const socket of server.clients) socket.send(state)
}, 1000 / TICK_RATE)
server.on('listening', () => reportWhenAsked(watch, (server.address() as AddressInfo).port))
