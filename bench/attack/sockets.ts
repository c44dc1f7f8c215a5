/**
 * Floods over real sockets: a server on loopback, honest clients at separate addresses in 127/8, and a flooder in
 * another process. The limits for each origin are in force: this machine is not exempt here.
 *
 * The server and the honest clients share this process, so their times include each other's work.
 */

import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { UnreliableChannel } from '../../packages/tickwire/src/core/channel/unreliable.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { drain } from '../../packages/tickwire/src/core/endpoint/drain.ts'
import { type Endpoint, createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { monotonicNow } from '../../packages/tickwire/src/node/clock.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { systemEntropy } from '../../packages/tickwire/src/node/entropy.ts'
import { type UdpPort, openUdp } from '../../packages/tickwire/src/node/udp.ts'
import { collect } from '../harness.ts'
import type { FloodDone } from './flooder.ts'
import type { AttackReport } from './stage.ts'

const FLOODER = fileURLToPath(new URL('./flooder.ts', import.meta.url))
const FINGERPRINT = new Uint8Array(8).fill(0x61)
const SECONDS = 3

/** An endpoint on a port, driven until closed. */
interface Running {
  readonly endpoint: Endpoint
  readonly port: UdpPort
  readonly channels: Map<Connection, UnreliableChannel>
  wake(): void
  close(): Promise<void>
}

async function run(
  address: string,
  maxConnections: number,
  onReceived: (channel: UnreliableChannel) => void,
): Promise<Running> {
  const port = await openUdp({ address })
  const channels = new Map<Connection, UnreliableChannel>()
  const endpoint = createEndpoint({
    fingerprint: FINGERPRINT,
    entropy: systemEntropy,
    maxConnections,
    security: { provider: bestProvider() },
    limits: { areLocalExempt: false },
    assemble: (connection) => {
      const channel = new UnreliableChannel('unreliable')
      connection.addSource(1, channel)
      connection.addSink(1, channel)
      channels.set(connection, channel)
    },
  })
  let isDue = false
  const wake = (): void => {
    isDue = false
    for (const channel of channels.values()) onReceived(channel)
    drain(endpoint, monotonicNow(), port, (event) => {
      if (event.type === 'closed') channels.delete(event.connection)
    })
  }
  port.onDatagram = (from, bytes, length) => {
    endpoint.handleDatagram(monotonicNow(), from, bytes, length)
    if (isDue) return
    isDue = true
    setImmediate(wake)
  }
  const timer = setInterval(wake, 20)
  const close = async (): Promise<void> => {
    clearInterval(timer)
    port.close()
    await port.closed
  }
  return { endpoint, port, channels, wake, close }
}

/** A client that measures how long its server takes to answer. */
async function pinger(
  index: number,
  to: string,
): Promise<{ running: Running; connectMs: number; ping(): Promise<number> }> {
  let onBack = (): void => {}
  const bytes = new Uint8Array(1024)
  const running = await run(`127.9.0.${index + 1}`, 0, (channel) => {
    while (channel.receive(bytes) >= 0) onBack()
  })
  const startedAt = monotonicNow()
  const connection = running.endpoint.connect(startedAt, to)
  running.wake()
  while (!connection.isOpen && connection.closeReason === undefined) await sleep(1)
  const connectMs = connection.isOpen ? monotonicNow() - startedAt : Infinity
  const ping = (): Promise<number> => new Promise((resolve) => {
    const askedAt = monotonicNow()
    const timer = setTimeout(() => resolve(1000), 1000)
    onBack = () => {
      clearTimeout(timer)
      resolve(monotonicNow() - askedAt)
    }
    running.channels.get(connection)?.send(new Uint8Array(32))
    running.wake()
  })
  return { running, connectMs, ping }
}

/** Pings until `isOver`; returns the times, sorted. */
async function pings(ping: () => Promise<number>, isOver: () => boolean): Promise<number[]> {
  const times: number[] = []
  while (!isOver()) {
    times.push(await ping())
    await sleep(10)
  }
  return times.sort((a, b) => a - b)
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const p99 = (sorted: readonly number[]): number => sorted[Math.floor(sorted.length * 0.99)] ?? NaN
const word = <Word,>(child: ChildProcess): Promise<Word> =>
  new Promise((resolve) => child.once('message', (said) => resolve(said as Word)))

/** A flood of one kind while one client plays and others connect. */
async function flood(kind: 'requests' | 'member', perSecond: number, arrivals: number): Promise<{
  done: FloodDone; connects: number[]; calm: number[]; flooded: number[]; grownBytes: number; connections: number
}> {
  const bytes = new Uint8Array(1024)
  const server = await run('127.0.0.1', 64, (channel) => {
    for (let length = channel.receive(bytes); length >= 0; length = channel.receive(bytes))
      channel.send(bytes.subarray(0, length))
  })
  const child = fork(FLOODER, [kind, server.port.localAddress.split(':').at(-1)!, String(SECONDS), String(perSecond)])
  const player = await pinger(0, server.port.localAddress)
  const clients = [player]
  try {
    const calmUntil = monotonicNow() + 1000
    const calm = await pings(player.ping, () => monotonicNow() > calmUntil)
    await word(child)
    collect()
    const before = process.memoryUsage().heapUsed
    const over = word<FloodDone>(child).then((done) => ({ done }))
    child.send('go')
    let result: { done: FloodDone } | undefined
    void over.then((done) => (result = done))
    const playing = pings(player.ping, () => result !== undefined)
    for (let index = 1; index <= arrivals; index++) {
      clients.push(await pinger(index, server.port.localAddress))
      await sleep(20)
    }
    const { done } = await over
    const flooded = await playing
    collect()
    const connects = clients
      .slice(1)
      .map(({ connectMs }) => connectMs)
      .sort((a, b) => a - b)
    return {
      done,
      connects,
      calm,
      flooded,
      grownBytes: process.memoryUsage().heapUsed - before,
      connections: server.endpoint.connections.length,
    }
  } finally {
    child.kill('SIGKILL')
    for (const { running } of clients) await running.close()
    await server.close()
  }
}

/** T1, T2, T4 and T13 over real sockets. */
export async function socketFloods(perSecond: number): Promise<AttackReport[]> {
  const requests = await flood('requests', perSecond, 20)
  const member = await flood('member', perSecond, 0)
  const t1 = { threat: 'T1', count: requests.done.sent }
  const t13 = { threat: 'T13', count: member.done.sent }
  const wanted = 21
  return [
    {
      ...t1,
      what: 'UDP, requests from 64 addresses: honest clients let in meanwhile, of 20',
      value: requests.connects.filter((ms) => ms < Infinity).length,
      unit: '',
      atLeast: 20,
      figure: 'udp_flood_clients_in',
    },
    {
      ...t1,
      what: 'the same: the slowest of them',
      value: requests.connects.at(-1) ?? NaN,
      unit: 'ms',
      atMost: 1000,
      figure: 'udp_flood_connect_ms',
    },
    {
      ...t1,
      what: 'the same: memory for each datagram (20 clients included)',
      value: Math.max(0, requests.grownBytes) / requests.done.sent,
      unit: 'B',
      atMost: 350,
    },
    {
      ...t1,
      what: 'the same: connections beside the honest ones',
      value: requests.connections - wanted,
      unit: '',
      atMost: 0,
    },
    {
      threat: 'T2',
      count: requests.done.sent,
      what: 'the same: bytes that came back for bytes sent',
      value: requests.done.gotBytes / requests.done.sentBytes,
      unit: 'ratio',
      atMost: 0.35,
      figure: 'udp_amplification',
    },
    {
      ...t1,
      what: "the same: a player's round trip, 99th percentile, over that of a calm second",
      value: p99(requests.flooded) - p99(requests.calm),
      unit: 'ms',
    },
    {
      ...t13,
      what: "UDP, one member floods: another's round trip, 99th percentile, over that of a calm second",
      value: p99(member.flooded) - p99(member.calm),
      unit: 'ms',
      figure: 'udp_member_flood_added_ms',
    },
  ]
}
