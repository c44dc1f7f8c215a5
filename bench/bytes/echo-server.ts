/**
 * The measured process of the `bytes` benchmark: an echo server of one kind, alone in its process, so that all CPU time
 * is the server's.
 *
 * The sealed server does everything that a game server does for a message: address, connection, replay window,
 * decryption, acknowledgements, frame, channel, and the same for the reply. It answers datagrams of one turn of the
 * event loop together, as `serve` does.
 */

import { type SocketOptions, createSocket } from 'node:dgram'
import type { Millis } from '../../packages/tickwire/src/core/base/time.ts'
import { UnreliableChannel } from '../../packages/tickwire/src/core/channel/unreliable.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { FixedController } from '../../packages/tickwire/src/core/delivery/congestion/fixed.ts'
import { drain } from '../../packages/tickwire/src/core/endpoint/drain.ts'
import { createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { monotonicNow } from '../../packages/tickwire/src/node/clock.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { systemEntropy } from '../../packages/tickwire/src/node/entropy.ts'
import { openUdp } from '../../packages/tickwire/src/node/udp.ts'
import { collect } from '../harness.ts'
import { BUFFER_BYTES, FINGERPRINT, PAYLOAD_BYTES, type ServerMark, type ServerReady } from './protocol.ts'

/** The counters of a server. */
interface Counts {
  echoes: number
  datagramsIn: number
  datagramsOut: number
  bytesIn: number
  bytesOut: number
}

const counts: Counts = { echoes: 0, datagramsIn: 0, datagramsOut: 0, bytesIn: 0, bytesOut: 0 }
let beforeMark = (): void => {}

async function serveRaw(isTuned: boolean): Promise<ServerReady> {
  const atOnce: Pick<SocketOptions, 'lookup'> = { lookup: (host, _options, callback) => callback(null, host, 4) }
  const socket = createSocket({ type: 'udp4', ...(isTuned && atOnce) })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  socket.setRecvBufferSize(BUFFER_BYTES)
  socket.setSendBufferSize(BUFFER_BYTES)
  socket.on('message', (message, source) => {
    counts.echoes++
    counts.datagramsIn++
    counts.datagramsOut++
    counts.bytesIn += message.length
    counts.bytesOut += message.length
    socket.send(message, source.port, source.address)
  })
  return { port: socket.address().port, provider: '' }
}

async function serveSealed(): Promise<ServerReady> {
  const port = await openUdp({ address: '127.0.0.1' })
  const provider = bestProvider()
  const channels = new Map<Connection, UnreliableChannel>()
  const active: UnreliableChannel[] = []
  const message = new Uint8Array(1024)
  const request = message.subarray(0, PAYLOAD_BYTES)
  let isDrainDue = false
  let timer: NodeJS.Timeout | undefined
  let timerAt = Infinity
  const endpoint = createEndpoint({
    fingerprint: FINGERPRINT, entropy: systemEntropy, maxConnections: 2048, security: { provider },
    // A path without a rate limit: loopback has none, and the server must not be measured while it waits.
    congestion: () => new FixedController(Infinity),
    assemble: (connection) => {
      const channel = new UnreliableChannel('unreliable')
      connection.addSource(0, channel)
      // Remembers the channels with new messages: only these are read.
      connection.addSink(0, {
        accept: (now, sequence, frame) => {
          active.push(channel)
          return channel.accept(now, sequence, frame)
        },
      })
      channels.set(connection, channel)
    },
  })

  const wake = (): void => {
    const now = monotonicNow()
    for (let channel = active.pop(); channel !== undefined; channel = active.pop()) {
      for (let length = channel.receive(message); length >= 0; length = channel.receive(message)) {
        channel.send(length === PAYLOAD_BYTES ? request : message.subarray(0, length))
        counts.echoes++
      }
    }
    sleepUntil(drain(endpoint, now, port, (event) => {
      if (event.type === 'closed') channels.delete(event.connection)
    }), now)
  }
  // A timer that is set to an earlier time stays: a call without work is cheaper than a new timer for each flush.
  const sleepUntil = (wakeAt: Millis, now: Millis): void => {
    if (wakeAt >= timerAt) return
    clearTimeout(timer)
    timerAt = wakeAt
    timer = setTimeout(() => {
      timerAt = Infinity
      wake()
    }, Math.max(0, wakeAt - now))
  }

  port.onDatagram = (from, bytes, length) => {
    endpoint.handleDatagram(monotonicNow(), from, bytes, length)
    if (isDrainDue) return
    isDrainDue = true
    setImmediate(() => {
      isDrainDue = false
      wake()
    })
  }
  beforeMark = () => {
    let [bytesIn, bytesOut] = [0, 0]
    for (const { stats } of channels.keys()) {
      bytesIn += stats.bytesReceived
      bytesOut += stats.bytesSent
    }
    Object.assign(counts, { datagramsIn: port.stats.received, datagramsOut: port.stats.sent, bytesIn, bytesOut })
  }
  return { port: Number(port.localAddress.split(':').at(-1)), provider: provider.name }
}

function mark(isCollected: boolean): ServerMark {
  const { user, system } = process.cpuUsage()
  beforeMark()
  if (isCollected) for (let round = 0; round < 3; round++) collect()
  const { heapUsed, external, rss } = process.memoryUsage()
  return { ...counts, cpuUs: user + system, aliveBytes: heapUsed + external, rssBytes: rss }
}

const kind = process.argv[2]
const ready = kind === 'tickwire' ? await serveSealed() : await serveRaw(kind === 'tuned')
process.on('message', (question) => process.send?.(mark(question === 'collect')))
process.on('disconnect', () => process.exit())
process.send?.(ready)
