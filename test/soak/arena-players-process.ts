/**
 * Players and spectators behind a bad link. They join and leave, and join again when the server has forgotten them.
 *
 *   arena-players-process.ts PORT PLAYERS SPECTATORS STAY_MS SEED
 */

import { createClientHost } from 'tickwire/engine'
import { bestProvider, monotonicNow as now, openUdp, systemEntropy, type UdpPort } from 'tickwire/node'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { STICK } from '../../games/arena/definitions.ts'
import { arenaGame } from '../../games/arena/game.ts'
import type { PlayersMessage } from './arena-messages.ts'
import { WeatherRelay } from './weather-relay.ts'

const [target = 0, players = 1, spectators = 0, stayMs = 60_000, seed = 1] = process.argv.slice(2).map(Number)
const game = { ...arenaGame({ limits: { frags: 255, seconds: 3600 } }), predict: 'none' as const }
const dice = new Prng(seed)
const relay = await WeatherRelay.open(target, seed)
let joins = 0
let leaves = 0
let playing = 0
const ends: Record<string, number> = {}
/** Since the return of the server: players that have not joined again yet. */
let absent = new Set<number>()
let returnedAt = 0
let endsBefore: Record<string, number> = {}
/** Players that were in when the server died. */
const isIn: boolean[] = []

for (let index = 0; index < players + spectators; index++) void live(index)

/** One player: it joins, leaves and joins again, without end. */
async function live(index: number): Promise<void> {
  for (;;) {
    // A player that lost its connection joins again at once, as pages do.
    if (await stay(index)) await new Promise((resolve) => setTimeout(resolve, 200 + dice.nextFloat() * 300))
  }
}

/** Until it leaves, or has lost its connection; returns whether it left. */
async function stay(index: number): Promise<boolean> {
  const port = await openUdp({ address: '127.0.0.1' })
  const stayUntil = now() - Math.log(1 - dice.nextFloat()) * stayMs
  let isLeaving = false
  let timer: NodeJS.Timeout | undefined
  await new Promise<void>((resolve) => {
    const host = createClientHost(game, {
      entropy: systemEntropy, security: { provider: bestProvider() }, role: index < players ? 'player' : 'spectator',
      onOpened: () => opened(index),
      onClosed: ({ code }) => {
        if (isLeaving) leaves++
        else ends[code] = (ends[code] ?? 0) + 1
        if (isIn[index] === true) playing--
        isIn[index] = false
        resolve()
      },
    })
    const hold = { ahead: STICK, side: 0, yaw: dice.nextFloat() * 6, pitch: 0, jump: false, fire: true, weapon: 1 }
    host.sampleInput = () => hold
    port.onDatagram = (from, bytes, length) => host.handleDatagram(now(), from, bytes, length)
    const wake = (): void => {
      if (now() > stayUntil && !isLeaving && host.peer !== 0 && absent.size === 0) {
        isLeaving = true
        host.close(now())
      }
      host.tick(now())
      const wakeAt = host.drain(now(), port)
      clearTimeout(timer)
      timer = setTimeout(wake, Math.min(Math.max(1, wakeAt - now()), 1000))
    }
    const data = host.game.joinCodec.encode({ name: `Bot ${index}` })
    host.connect(now(), `127.0.0.1:${relay.port}`, { data })
    wake()
  })
  clearTimeout(timer)
  close(port)
  return isLeaving
}

function close(port: UdpPort): void {
  relay.forget(Number(/:(\d+)$/.exec(port.localAddress)?.[1]))
  port.close()
}

function opened(index: number): void {
  joins++
  playing++
  isIn[index] = true
  if (!absent.delete(index) || absent.size > 0) return
  const since = Object.fromEntries(
    Object.entries(ends)
      .map(([code, total]) => [code, total - (endsBefore[code] ?? 0)])
      .filter(([, total]) => total !== 0),
  )
  send({ comeBack: { ends: since, backMs: now() - returnedAt, players: isIn.length } })
}

process.on('message', (message) => {
  if (message === 'killed') {
    endsBefore = { ...ends }
    absent = new Set(isIn.flatMap((wasIn, index) => wasIn ? [index] : []))
  }
  if (message === 'returned') returnedAt = now()
  if (message === 'end') process.exit(0)
})
setInterval(() => send({ sample: { playing, joins, leaves, ends: { ...ends }, lost: relay.lost } }), 1000)

function send(message: PlayersMessage): void {
  process.send?.(message)
}
