/**
 * Everybody else, in a process of their own: bots that think about what their client is told, and spectators; every other one by UDP,
 * the rest by WebSocket. They are real hosts, but do not predict: 32 players who do would need four processors.
 *
 * Says `some` when the first of them are in, waits to be told `measure`, and says `in` when all of them are.
 */

import { createClientHost, type ClientHost } from 'tickwire'
import { bestProvider, monotonicNow as now, openUdp, openWebSocket, systemEntropy } from 'tickwire/node'
import { createMind } from '../../games/arena/bots.ts'
import { Enter, type input } from '../../games/arena/definitions.ts'
import { arenaGame } from '../../games/arena/game.ts'
import { TICK_RATE } from './tick-meter.ts'

const [url, udpPort, fighters, spectators] = process.argv.slice(2) as [string, string, string, string]
const game = { ...arenaGame({ limits: { frags: 255, seconds: 3600 } }), predict: 'none' as const }
const security = { provider: bestProvider() }
const hosts: ClientHost<typeof input>[] = []
let isIn = 0
/** So many are in before the others come. */
const FIRST = 8
/** All bots look through the first one's eyes: what they think costs enough. */
let sightAt = 0

const ask = (count: string): number => Number(count)
const all = ask(fighters) + ask(spectators)
const first = Math.min(FIRST, all - 1)
if (first === 0) process.send?.('some')
for (let index = 0; index < first; index++) await join(index, index < ask(fighters))
await new Promise((resolve) => { process.once('message', resolve) })
for (let index = first; index < all; index++) await join(index, index < ask(fighters))

async function join(index: number, isFighter: boolean): Promise<void> {
  const host = createClientHost(game, { entropy: systemEntropy, security, role: isFighter ? 'player' : 'spectator', onOpened: () => opened(index), onClosed: ({ code }) => fail(index, code) })
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
    // As a page does: what came is acknowledged in good time.
    wake()
  }
  host.connect(now(), isUdp ? `127.0.0.1:${udpPort}` : socketUrl)
  wake()
}

function look(): ReturnType<ClientHost['draw']> {
  const [first] = hosts as [ClientHost<typeof input>]
  if (now() - sightAt < 1000 / TICK_RATE) return first.view
  sightAt = now()
  return first.draw(sightAt)
}

function opened(index: number): void {
  if (index < ask(fighters)) hosts[index]?.send(Enter, { name: `Bot ${index}` })
  isIn++
  if (isIn === first) process.send?.('some')
  if (isIn === all) process.send?.('in')
}

function fail(index: number, code: string): void {
  console.error(`player ${index}: ${code}`)
  process.exit(1)
}

process.on('disconnect', () => process.exit(0))
