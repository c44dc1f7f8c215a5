/**
 * Sends and receives empty datagrams of the same lengths as those of the match. `raw-process.ts serve` does so 128
 * times a second, over as many sockets; `raw-process.ts play URL UDPPORT` is the other end. It uses plain node:dgram
 * and ws.
 */

import { createSocket, type Socket } from 'node:dgram'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocket, WebSocketServer } from 'ws'
import { loop, TickMeter } from './tick-meter.ts'

const [kind, url = '', udpPort = '', playersText = ''] = process.argv.slice(2)
const players = Number(kind === 'serve' ? url : playersText)
const bytes = new Uint8Array(1500).fill(7)
let sizes: readonly number[] = []
let sent = 0
const nextSize = (): number => sizes[sent++ % Math.max(sizes.length, 1)] ?? 100

process.on('message', (command: { readonly sizes?: readonly number[] } | string) => {
  if (typeof command !== 'string') sizes = command.sizes ?? []
  else if (command === 'end') process.exit(0)
})
if (kind === 'serve') await serveRaw()
else await playRaw()

/** Uses a lookup that answers at once, which makes node:dgram as fast as it can be. */
function openSocket(): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', lookup: (host, _options, callback) => callback(null, host, 4) })
  return new Promise((resolve) => socket.bind(0, '127.0.0.1', () => resolve(socket)))
}

async function serveRaw(): Promise<void> {
  const http = createServer()
  const sockets = new WebSocketServer({ server: http, perMessageDeflate: false })
  const udp = await openSocket()
  const peers = new Map<string, { readonly address: string; readonly port: number }>()
  const others: WebSocket[] = []
  let meter: TickMeter | undefined
  udp.on('message', (_bytes, { address, port }) => {
    if (peers.size < players) peers.set(`${address}:${port}`, { address, port })
  })
  sockets.on('connection', (socket) => {
    others.push(socket)
    socket.on('message', () => {})
  })
  await new Promise<void>((resolve) => { http.listen(0, '127.0.0.1', resolve) })
  process.on('message', (command) => {
    if (command === 'measure') meter = new TickMeter()
    if (command === 'report') process.send?.(meter?.result())
  })
  loop((dueAt, due) => {
    meter?.begin(performance.now(), dueAt)
    for (let tick = 0; tick < due; tick++) {
      for (const { address, port } of peers.values()) udp.send(bytes, 0, nextSize(), port, address)
      for (const socket of others) socket.send(bytes.subarray(0, nextSize()))
    }
  })
  process.send?.({ url: `ws://127.0.0.1:${(http.address() as AddressInfo).port}`, udpPort: udp.address().port })
}

async function playRaw(): Promise<void> {
  const ends: ((length: number) => void)[] = []
  for (let index = 0; index < players; index++) {
    if (index % 2 === 0) {
      const socket = await openSocket()
      socket.on('message', () => {})
      ends.push((length) => socket.send(bytes, 0, length, Number(udpPort), '127.0.0.1'))
    } else {
      const socket = new WebSocket(url, { perMessageDeflate: false })
      socket.on('message', () => {})
      await new Promise((resolve) => { socket.once('open', resolve) })
      ends.push((length) => socket.send(bytes.subarray(0, length)))
    }
  }
  loop((_dueAt, due) => { for (let tick = 0; tick < due; tick++) for (const send of ends) send(nextSize()) })
  process.send?.('in')
}

process.on('disconnect', () => process.exit(0))
