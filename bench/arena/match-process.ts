/**
 * The arena's server in a separate process, as `npm start` runs it, on UDP and WebSocket. The bench only measures its
 * clock and its memory.
 *
 * On the command `weigh`, when only some players have joined, it notes its memory: the cost of a player is what each
 * further player adds, without the one-time costs of the first. On `measure` it starts to count, and on `report` it
 * sends its results. The length of every datagram is kept, for the bench of raw sockets.
 */

import { serve, type Serving } from 'tickwire/node'
import { Seat, type input } from '../../games/arena/definitions.ts'
import { arenaGame } from '../../games/arena/game.ts'
import { collect } from '../harness.ts'
import { TickMeter, type Metered } from './tick-meter.ts'

/** The report of the process. */
export interface MatchReport {
  readonly metered: Metered
  readonly bytesOut: number
  /** Lengths of datagrams, in the order in which they were received and sent. */
  readonly sizesIn: readonly number[]
  readonly sizesOut: readonly number[]
  readonly frags: number
  /** In bytes: the memory of the empty match, and of each connection to a player. */
  readonly memory: { readonly process: number; readonly match: number; readonly perConnection: number }
}

/** The memory that is in use after a garbage collection, buffers included. */
function heldBytes(): number {
  collect()
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

const SIZES_MAX = 40_000
const before = heldBytes()
const [fighters, spectators] = process.argv.slice(2).map(Number) as [number, number]
const serving: Serving<typeof input> = await serve(arenaGame({ limits: { frags: 255, seconds: 3600 } }), {
  port: 0,
  address: '127.0.0.1',
  maxPlayers: fighters,
  maxSpectators: spectators,
  webtransport: false,
  webrtc: false,
  ops: false,
  development: false,
})
/** The memory in use when the first players had joined. */
const some = { bytes: 0, lines: 0 }
let meter: TickMeter | undefined
let bytesOut = 0
const sizesIn: number[] = []
const sizesOut: number[] = []
watch(serving)
process.on('message', (command) => {
  if (command === 'weigh') {
    Object.assign(some, { bytes: heldBytes(), lines: serving.rooms.endpoint.connections.length })
    process.send?.('weighed')
  }
  if (command === 'measure') {
    meter = new TickMeter()
    bytesOut = 0
  }
  if (command === 'report') report(meter?.result())
  if (command === 'end') process.exit(0)
})
process.send?.({ url: serving.url, udpPort: serving.info.udp?.port })

/** Measures the calls that the server makes, without changing them. */
function watch({ rooms, ports }: Serving<typeof input>): void {
  const tick = rooms.tick.bind(rooms)
  const drain = rooms.drain.bind(rooms)
  let ticksRun = 0
  rooms.tick = (now) => {
    const dueAt = serving.host.loop.nextAt()
    const isDue = now >= dueAt
    if (isDue) meter?.begin(now, dueAt)
    ticksRun = tick(now)
    return ticksRun
  }
  rooms.drain = (now, port) => {
    const wakeAt = drain(now, port)
    if (ticksRun > 0) meter?.end()
    return wakeAt
  }
  const { onDatagram } = ports
  const send = ports.send.bind(ports)
  ports.onDatagram = (from, bytes, length) => {
    if (meter !== undefined && sizesIn.length < SIZES_MAX) sizesIn.push(length)
    onDatagram(from, bytes, length)
  }
  ports.send = (to, bytes, length) => {
    bytesOut += length
    if (meter !== undefined && sizesOut.length < SIZES_MAX) sizesOut.push(length)
    send(to, bytes, length)
  }
}

function report(metered: Metered | undefined): void {
  if (metered === undefined) throw new Error('nothing was measured')
  const own = (SIZES_MAX * 2) * 8
  const all = heldBytes() - own
  const perConnection = (all - some.bytes) / Math.max(serving.rooms.endpoint.connections.length - some.lines, 1)
  const result: MatchReport = {
    metered, bytesOut, sizesIn, sizesOut,
    frags: [...serving.host.world.each(Seat)].reduce((sum, seat) => sum + Math.max(seat.frags, 0), 0),
    memory: { process: all, match: some.bytes - some.lines * perConnection - before, perConnection },
  }
  process.send?.(result)
}

process.on('disconnect', () => process.exit(0))
