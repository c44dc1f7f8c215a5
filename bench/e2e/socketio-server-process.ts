/** socket.io with its msgpack parser in the end-to-end bench: the whole state to every client, each tick. */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Server } from 'socket.io'
import parser from 'socket.io-msgpack-parser'
import { reportWhenAsked, TickWatch } from './server-report.ts'
import { PlainField } from './plain-field.ts'
import { TICK_RATE, type Keys } from './workload.ts'

const watch = new TickWatch(TICK_RATE)
const field = new PlainField()
const http = createServer()
const server = new Server(http, { parser, transports: ['websocket'] })
server.on('connection', (socket) => {
  const id = field.join()
  socket.on('input', (keys: Keys) => field.press(id, keys))
})
setInterval(() => {
  watch.tick()
  field.step()
  server.volatile.emit('state', field.players)
}, 1000 / TICK_RATE)
http.listen(0, '127.0.0.1', () => reportWhenAsked(watch, (http.address() as AddressInfo).port))
