/**
 * A bad connection between the clients and the server of the end-to-end bench, in a separate process: each client has a
 * round trip between 50 and 250 ms, and 2 % of the packets are lost, each way.
 *
 * A lost datagram is not delivered. On a stream, lost data is delivered one round trip later, as after a fast
 * retransmission, and all later data waits for it.
 */

import { createSocket, type Socket as UdpSocket } from 'node:dgram'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

const RTT_MS_MIN = 50
const RTT_MS_MAX = 250
const LOSS = 0.02
const HOST = '127.0.0.1'

const [kind, port] = process.argv.slice(2) as ['tcp' | 'udp', string]
let lines = 0
let dice = 1

/** A number from 0 to 1, the same in every run. */
function draw(): number {
  dice = (Math.imul(dice, 1664525) + 1013904223) >>> 0
  return dice / 2 ** 32
}

/** The round trip of the next connection. */
function nextRttMs(): number {
  return RTT_MS_MIN + ((lines++ * 0.618) % 1) * (RTT_MS_MAX - RTT_MS_MIN)
}

/** Passes the data of one end to the other: after a delay, and after a longer delay if it was lost. */
function carry(from: Socket, to: Socket, rttMs: number): void {
  let freeAt = 0
  // Timers of different lengths may fire in another order than they were set.
  const waiting: Buffer[] = []
  from.on('data', (bytes) => {
    const now = performance.now()
    freeAt = Math.max(freeAt, now + rttMs / 2 + (draw() < LOSS ? rttMs : 0))
    waiting.push(bytes)
    setTimeout(() => to.write(waiting.shift()!), freeAt - now)
  })
  from.on('close', () => to.destroy())
  from.on('error', () => to.destroy())
}

if (kind === 'tcp') {
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ port: Number(port), host: HOST, noDelay: true })
    const rttMs = nextRttMs()
    carry(near, far, rttMs)
    carry(far, near, rttMs)
  })
  server.listen(0, HOST, () => process.send?.({ port: (server.address() as AddressInfo).port }))
} else {
  const fars = new Map<number, { readonly socket: UdpSocket; readonly rttMs: number }>()
  const near = createSocket('udp4')
  const later = (rttMs: number, send: () => void): void => {
    if (draw() >= LOSS) setTimeout(send, rttMs / 2)
  }
  const open = (client: number): { readonly socket: UdpSocket; readonly rttMs: number } => {
    const far = { socket: createSocket('udp4'), rttMs: nextRttMs() }
    far.socket.on('message', (bytes) => later(far.rttMs, () => near.send(bytes, client, HOST)))
    fars.set(client, far)
    return far
  }
  near.on('message', (bytes, { port: client }) => {
    const { socket, rttMs } = fars.get(client) ?? open(client)
    later(rttMs, () => socket.send(bytes, Number(port), HOST))
  })
  near.bind(0, HOST, () => process.send?.({ port: near.address().port }))
}
process.on('disconnect', () => process.exit(0))
