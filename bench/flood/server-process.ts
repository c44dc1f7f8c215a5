/**
 * The server, in a separate process. It reports its address. On request it reports how late its ticks were since the
 * last request, and what the process used and dropped meanwhile.
 *
 * The lateness of a tick is the time from its due time to the end of its step: waiting and computing.
 */

import { serve } from 'tickwire/node'
import { monotonicNow } from '../../packages/tickwire/src/node/clock.ts'
import { floodGame, TICK_RATE } from './game.ts'

/** The report of the process. */
export interface ServerReport {
  /** Milliseconds, ascending. */
  readonly lateMs: readonly number[]
  readonly cpu: number
  readonly received: number
  readonly answered: number
  readonly dropped: Readonly<Record<string, number>>
  readonly skipped: number
  readonly players: number
}

const offsets: number[] = []
let lastTick = -1
let skipped = 0
const host = await serve(floodGame((tick) => {
  if (lastTick >= 0 && tick > lastTick + 1) skipped += tick - lastTick - 1
  lastTick = tick
  offsets.push(monotonicNow() - tick * (1000 / TICK_RATE))
}), { port: 0, development: false, webtransport: false, webrtc: false, signals: false, log: () => {}, maxPlayers: 64 })

let since = { at: monotonicNow(), cpu: process.cpuUsage(), received: 0, sent: 0, drops: {} as Record<string, number> }
const read = (): typeof since => {
  const { endpoint } = host.rooms
  const { stats } = host.ports
  const drops: Record<string, number> = {}
  for (const [name, count] of Object.entries({ ...endpoint.drops, ...endpoint.admissionDrops })) drops[name] = count
  return { at: monotonicNow(), cpu: process.cpuUsage(), received: stats.received, sent: stats.sent, drops }
}

process.on('message', () => {
  const before = since
  since = read()
  // The due times of ticks do not drift: the earliest tick of an interval counts as on time.
  const taken = offsets.splice(0)
  const earliest = taken.reduce((least, value) => Math.min(least, value), Infinity)
  const cpuUs = since.cpu.user + since.cpu.system - before.cpu.user - before.cpu.system
  process.send?.({
    lateMs: taken.map((value) => value - earliest).sort((a, b) => a - b),
    cpu: cpuUs / 1000 / (since.at - before.at),
    received: since.received - before.received,
    answered: since.sent - before.sent,
    dropped: Object.fromEntries(
      Object.entries(since.drops).map(([name, count]) => [name, count - (before.drops[name] ?? 0)]),
    ),
    skipped,
    players: host.host.peers.length,
  } satisfies ServerReport)
  skipped = 0
})
process.on('disconnect', () => process.exit())
process.send?.({ url: host.url, udp: host.info.udp?.port })
