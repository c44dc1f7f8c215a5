/**
 * The load of the `bytes` benchmark, in a separate process: clients with one request in flight each.
 *
 * They send in volleys: all requests are made, then all are sent without a pause, then all replies are awaited. Every
 * kind of server therefore gets the same arrivals, however expensive a request is for its clients. A server that gets
 * requests slowly wakes up for every datagram, and would pay for its clients. While the server answers a volley, the
 * load sleeps and does not read its sockets: a send to a waiting process on the same machine also pays for waking that
 * process, which does not happen over a network.
 *
 * `echo-load.ts plain|tickwire PORT` does the requested number of echoes, repeatedly. `echo-load.ts idle PORT` opens
 * the requested number of connections, and keeps them.
 */

import { createSocket } from 'node:dgram'
import { UnreliableChannel } from '../../packages/tickwire/src/core/channel/unreliable.ts'
import { FixedController } from '../../packages/tickwire/src/core/delivery/congestion/fixed.ts'
import { drain } from '../../packages/tickwire/src/core/endpoint/drain.ts'
import { type Endpoint, createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { monotonicNow } from '../../packages/tickwire/src/node/clock.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { systemEntropy } from '../../packages/tickwire/src/node/entropy.ts'
import { type UdpPort, openUdp } from '../../packages/tickwire/src/node/udp.ts'
import { BUFFER_BYTES, CLIENTS, FINGERPRINT, PAYLOAD_BYTES } from './protocol.ts'

/** A client that sends requests. `onBack` is called with each reply. */
interface Asker {
  /** Makes the datagram of the next request and keeps it. */
  prepare(): void
  /** Sends the datagram that `prepare` has made. */
  send(): void
  onBack: () => void
}

const IDLE_PER_ENDPOINT = 50
/** Longer than any server here needs for a volley. */
const VOLLEY_MS = 2
const pillow = new Int32Array(new SharedArrayBuffer(4))
const payload = new Uint8Array(PAYLOAD_BYTES).map((_, index) => index * 7)
const isReply = (bytes: Uint8Array, length: number): boolean => length === PAYLOAD_BYTES && bytes[7] === payload[7]

async function rawAsker(port: number): Promise<Asker> {
  const socket = createSocket({ type: 'udp4', lookup: (host, _options, callback) => callback(null, host, 4) })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  socket.setRecvBufferSize(BUFFER_BYTES / 16)
  const asker: Asker = { prepare: () => {}, send: () => socket.send(payload, port, '127.0.0.1'), onBack: () => {} }
  socket.on('message', (bytes) => {
    if (isReply(bytes, bytes.length)) asker.onBack()
  })
  return asker
}

function createClient(channels: UnreliableChannel[]): Endpoint {
  return createEndpoint({
    fingerprint: FINGERPRINT, entropy: systemEntropy, security: { provider: bestProvider() },
    congestion: () => new FixedController(Infinity),
    assemble: (connection) => {
      const channel = new UnreliableChannel('unreliable')
      connection.addSource(0, channel)
      connection.addSink(0, channel)
      channels.push(channel)
    },
  })
}

/** Drives an endpoint on its port: after each datagram, and at intervals for its timers. */
function drive(endpoint: Endpoint, port: UdpPort, onDatagram: () => void): () => void {
  const flush = (): void => {
    drain(endpoint, monotonicNow(), port, () => {})
  }
  port.onDatagram = (from, bytes, length) => {
    endpoint.handleDatagram(monotonicNow(), from, bytes, length)
    onDatagram()
    flush()
  }
  setInterval(flush, 100)
  return flush
}

async function sealedAsker(serverPort: number): Promise<Asker> {
  const port = await openUdp({ address: '127.0.0.1', bufferBytes: BUFFER_BYTES / 16 })
  const channels: UnreliableChannel[] = []
  const endpoint = createClient(channels)
  const message = new Uint8Array(1024)
  const connection = endpoint.connect(monotonicNow(), `127.0.0.1:${serverPort}`)
  const prepared: Uint8Array[] = []
  const later = {
    send: (_to: string, bytes: Uint8Array, length: number): void => void prepared.push(bytes.slice(0, length)),
  }
  const to = `127.0.0.1:${serverPort}`
  drive(endpoint, port, () => {
    const length = channels[0]?.receive(message) ?? -1
    if (isReply(message, length)) asker.onBack()
  })()
  const asker: Asker = {
    prepare: () => {
      channels[0]?.send(payload)
      drain(endpoint, monotonicNow(), later, () => {})
    },
    send: () => {
      for (const bytes of prepared.splice(0)) port.send(to, bytes, bytes.length)
    },
    onBack: () => {},
  }
  while (!connection.isOpen) await new Promise((resolve) => setTimeout(resolve, 5))
  return asker
}

/**
 * Does at least `count` echoes, in volleys. A lost echo would be a finding: the volley then does not end, and the bench
 * reports it.
 */
function turn(askers: readonly Asker[], count: number): Promise<void> {
  return new Promise((resolve) => {
    let [missing, left] = [0, count]
    const fire = (): void => {
      missing = askers.length
      for (const asker of askers) asker.prepare()
      for (const asker of askers) asker.send()
      Atomics.wait(pillow, 0, 0, VOLLEY_MS)
    }
    for (const asker of askers) {
      asker.onBack = () => {
        left--
        if (--missing > 0) return
        if (left <= 0) resolve()
        else setImmediate(fire)
      }
    }
    fire()
  })
}

async function openIdle(serverPort: number, count: number): Promise<number> {
  let opened = 0
  for (let first = 0; first < count; first += IDLE_PER_ENDPOINT) {
    const port = await openUdp({ address: '127.0.0.1', bufferBytes: BUFFER_BYTES / 16 })
    const endpoint = createClient([])
    const flush = drive(endpoint, port, () => {})
    for (let index = first; index < Math.min(count, first + IDLE_PER_ENDPOINT); index++) {
      endpoint.connect(monotonicNow(), `127.0.0.1:${serverPort}`)
      if (index % 10 === 9) {
        flush()
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    }
    flush()
    while (endpoint.connections.some(({ isOpen }) => !isOpen)) await new Promise((resolve) => setTimeout(resolve, 10))
    opened += endpoint.connections.length
  }
  return opened
}

const [kind, portText] = process.argv.slice(2)
const serverPort = Number(portText)
process.on('disconnect', () => process.exit())
if (kind === 'idle') {
  process.on('message', (count: number) => void openIdle(serverPort, count).then((opened) => process.send?.(opened)))
} else {
  const askers = await Promise.all(
    Array.from({ length: CLIENTS }, () => (kind === 'plain' ? rawAsker : sealedAsker)(serverPort)),
  )
  process.on('message', (count: number) => void turn(askers, count).then(() => process.send?.('done')))
}
process.send?.('ready')
