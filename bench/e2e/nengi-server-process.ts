/**
 * nengi's server of the end-to-end bench. Its adapter for uWebSockets needs a native module that no registry has, so
 * the instance sends through `ws`, like the other servers.
 */

import type { AddressInfo } from 'node:net'
import { Channel, Instance, NetworkEvent, User, type IServerNetworkAdapter } from 'nengi'
import { BufferReader, BufferWriter } from 'nengi-buffers'
import { WebSocketServer, type WebSocket } from 'ws'
import { context, KIND } from './nengi-context.ts'
import { reportWhenAsked, TickWatch } from './server-report.ts'
import { angleOf, FIELD, moved, TICK_RATE, type Keys } from './workload.ts'

interface Player {
  nid: number
  ntype: number
  x: number
  y: number
  angle: number
  fired: number
}

const watch = new TickWatch(TICK_RATE)
const instance = new Instance(context)
instance.onConnect = () => Promise.resolve(true)
const channel = new Channel(instance.localState)
instance.registerChannel(channel)

const adapter: IServerNetworkAdapter = {
  listen() {},
  send: (user, buffer) => (user.socket as WebSocket).send(buffer),
  disconnect: (user) => (user.socket as WebSocket).close(),
  createBuffer: (length) => Buffer.alloc(length),
  createBufferWriter: (length) => new BufferWriter(Buffer.alloc(length)),
  createBufferReader: (buffer) => new BufferReader(buffer as Buffer),
}
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
server.on('connection', (socket) => {
  const user = new User(socket, adapter)
  // This version writes the tick of a client as 16 bits and begins at -1, which does not fit them.
  user.lastReceivedClientTick = 0
  instance.network.onOpen(user)
  socket.on('message', (bytes: Buffer) => instance.network.onMessage(user, bytes))
  socket.on('close', () => instance.network.onClose(user))
})

const players = new Map<User, { readonly player: Player; keys: Keys | undefined }>()
setInterval(() => {
  watch.tick()
  while (!instance.queue.isEmpty()) handle(instance.queue.next())
  for (const { player, keys } of players.values()) {
    if (keys === undefined) continue
    player.x = moved(player.x, keys.dx)
    player.y = moved(player.y, keys.dy)
    player.angle = angleOf(keys)
    if (keys.fire) player.fired = (player.fired + 1) & 255
  }
  instance.step()
}, 1000 / TICK_RATE)

function handle(event: { readonly type: NetworkEvent; readonly user: User; readonly command?: unknown }): void {
  if (event.type === NetworkEvent.UserConnected) {
    const index = players.size
    const at = { x: (index * 37) % FIELD, y: (index * 91) % FIELD }
    const player = { nid: 0, ntype: KIND.player, ...at, angle: 0, fired: 0 }
    players.set(event.user, { player, keys: undefined })
    channel.subscribe(event.user)
    channel.addEntity(player)
  }
  const known = players.get(event.user)
  if (event.type === NetworkEvent.Command && known !== undefined) known.keys = event.command as Keys
}

server.on('listening', () => reportWhenAsked(watch, (server.address() as AddressInfo).port))
