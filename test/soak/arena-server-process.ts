/**
 * The arena's match on UDP, until it is killed. It keeps its identity and its reset secret, so that after a crash the
 * next process can reset the connections of its players.
 *
 *   arena-server-process.ts PORT PLAYERS SPECTATORS REKEY_MS
 */

import { createMatchHost } from 'tickwire/engine'
import { bestProvider, monotonicNow as now, openUdp, systemEntropy } from 'tickwire/node'
import { arenaGame } from '../../games/arena/game.ts'
import type { ServerSample } from './arena-messages.ts'

const [udpPort = 0, maxPlayers = 1, maxSpectators = 0, rekeyMs = 20_000] = process.argv.slice(2).map(Number)
const game = arenaGame({ limits: { frags: 255, seconds: 3600 } })
const tickMs = 1000 / game.tickRate
const port = await openUdp({ port: udpPort, address: '127.0.0.1' })
const { rooms, host } = createMatchHost(game, {
  entropy: systemEntropy, maxPlayers, maxSpectators,
  security: {
    provider: bestProvider(),
    identity: new Uint8Array(32).fill(7),
    resetSecret: new Uint8Array(32).fill(8),
    rekey: { afterMs: rekeyMs },
  },
})

let ticks: number[] = []
let missed = 0
const drops: Record<string, number> = {}
/** By connection: its drops and its epoch at the last look. */
const seen = new Map<number, { drops: Record<string, number>; epoch: number }>()
let rekeys = 0

let timer: NodeJS.Timeout | undefined
function pump(): void {
  const from = now()
  const dueAt = host.loop.nextAt()
  if (from >= dueAt + tickMs && ticks.length > 0) missed += Math.floor((from - dueAt) / tickMs)
  rooms.tick(from)
  const wakeAt = rooms.drain(now(), port)
  if (from >= dueAt) ticks.push(now() - from)
  clearTimeout(timer)
  timer = setTimeout(pump, Math.min(Math.max(0, wakeAt - now()), 1000))
}
port.onDatagram = (from, bytes, length) => rooms.handleDatagram(now(), from, bytes, length)
pump()

function count(): void {
  const alive = new Set<number>()
  for (const { id, stats, keyEpoch: epoch } of host.endpoint.connections) {
    alive.add(id)
    const before = seen.get(id) ?? { drops: {}, epoch: 0 }
    for (const [reason, total] of Object.entries(stats.drops))
      drops[reason] = (drops[reason] ?? 0) + total - (before.drops[reason] ?? 0)
    rekeys += epoch - before.epoch
    seen.set(id, { drops: { ...stats.drops }, epoch })
  }
  for (const id of seen.keys()) if (!alive.has(id)) seen.delete(id)
}

setInterval(() => {
  count()
  const { rss, heapUsed } = process.memoryUsage()
  const sample: ServerSample = {
    rssMiB: rss / 2 ** 20,
    heapMiB: heapUsed / 2 ** 20,
    handles: process.getActiveResourcesInfo().length,
    connections: host.endpoint.connections.length,
    ticks,
    missed,
    rekeys,
    drops: { ...drops, ...prefixed('endpoint', host.endpoint.drops), ...prefixed('port', port.stats) },
  }
  ticks = []
  process.send?.(sample)
}, 1000)
process.send?.('up')

/** Of the other counters, those of refused packets. */
function prefixed(prefix: string, counters: object): Record<string, number> {
  const refused: Record<string, number> = {}
  for (const [name, total] of Object.entries(counters))
    if (total > 0 && name !== 'sent' && name !== 'received') refused[`${prefix}.${name}`] = Number(total)
  return refused
}
