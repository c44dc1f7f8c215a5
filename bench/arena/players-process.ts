/**
 * All players, in a separate process: bots that act on what their client receives, and spectators; half of them by UDP,
 * the rest by WebSocket. They are real hosts, but do not predict: 32 predicting players would need four processors.
 *
 * It sends `some` when the first players have joined, waits for the command `measure`, and sends `in` when all have.
 */

import { createClientHost, type ClientHost } from 'tickwire/engine'
import { bestProvider, monotonicNow as now, openUdp, openWebSocket, systemEntropy } from 'tickwire/node'
import { createMind } from '../../games/arena/bots.ts'
import type { input } from '../../games/arena/definitions.ts'
import { arenaGame } from '../../games/arena/game.ts'
import { TICK_RATE } from './tick-meter.ts'

const [url, udpPort, fighters, spectators] = process.argv.slice(2) as [string, string, string, string]
const game = { ...arenaGame({ limits: { frags: 255, seconds: 3600 } }), predict: 'none' as const }
const security = { provider: bestProvider() }
const hosts: ClientHost<typeof input>[] = []
let isIn = 0
/** The number of players that join before the others. */
const FIRST = 8
/** All bots use the view of the first one, which saves CPU time. */
let sightAt = 0

const ask = (count: string): number => Number(count)
const all = ask(fighters) + ask(spectators)
const first = Math.min(FIRST, all - 1)
if (first === 0) process.send?.('some')
for (let index = 0; index < first; index++) await join(index, index < ask(fighters))
await new Promise((resolve) => { process.once('message', resolve) })
for (let index = first; index < all; index++) await join(index, index < ask(fighters))

async function join(index: number, isFighter: boolean): Promise<void> {
  const host = createClientHost(game, {
    entropy: systemEntropy,
    security,
    role: isFighter ? 'player' : 'spectator',
    onOpened: opened,
    onClosed: ({ code }) => fail(index, code),
  })
  hosts.push(host)
  const mind = createMind(index, TICK_RATE)
  host.sampleInput = () => mind(look(), { id: host.peer })
  const isUdp = index % 2 === 0
  const socketUrl = `${url.replace('http', 'ws')}/tickwire`
  const port = isUdp ? await openUdp({ address: '127.0.0.1' }) : await openWebSocket(socketUrl)
  let timer: NodeJS.Timeout | undefined
  const wake = (): void => {
    host.tick(now())
    const wakeAt = host.drain(now(), port)
    clearTimeout(timer)
    timer = setTimeout(wake, Math.max(0, wakeAt - now()))
  }
  port.onDatagram = (from, bytes, length) => {
    host.handleDatagram(now(), from, bytes, length)
    // As a page does: received packets are acknowledged in time.
    wake()
  }
  const data = host.game.joinCodec.encode({ name: `Bot ${index}` })
  host.connect(now(), isUdp ? `127.0.0.1:${udpPort}` : socketUrl, { data })
  wake()
}

function look(): ReturnType<ClientHost['draw']> {
  const [first] = hosts as [ClientHost<typeof input>]
  if (now() - sightAt < 1000 / TICK_RATE) return first.view
  sightAt = now()
  return first.draw(sightAt)
}

function opened(): void {
  isIn++
  if (isIn === first) process.send?.('some')
  if (isIn === all) process.send?.('in')
}

function fail(index: number, code: string): void {
  console.error(`player ${index}: ${code}`)
  process.exit(1)
}

process.on('disconnect', () => process.exit(0))
