/** Tickwire's clients of the end-to-end bench: real hosts that receive and apply snapshots. */

import { createClientHost } from 'tickwire/engine'
import { bestProvider, monotonicNow as now, openUdp, openWebSocket, systemEntropy } from 'tickwire/node'
import { allIn, fail, joinAll } from './clients-report.ts'
import { e2eGame, Player } from './tickwire-game.ts'
import { createKeys } from './workload.ts'

const [port, players, transport] = process.argv.slice(2) as [string, string, string]
const security = { provider: bestProvider() }
const url = `ws://127.0.0.1:${port}/tickwire`
const joined = await joinAll(Number(players), join)
allIn(() => joined[0]!())

/** Returns a function that counts the players that this client sees. */
async function join(index: number): Promise<() => number> {
  const isUdp = transport === 'udp'
  let onOpened = (): void => {}
  const opened = new Promise<void>((resolve) => {
    onOpened = resolve
  })
  const host = createClientHost(e2eGame(), {
    entropy: systemEntropy,
    security,
    onOpened: () => onOpened(),
    onClosed: ({ code }) => fail(index, code),
  })
  host.sampleInput = createKeys(index)
  const socket = isUdp ? await openUdp({ address: '127.0.0.1' }) : await openWebSocket(url)
  let timer: NodeJS.Timeout | undefined
  const wake = (): void => {
    host.tick(now())
    const wakeAt = host.drain(now(), socket)
    clearTimeout(timer)
    timer = setTimeout(wake, Math.max(0, wakeAt - now()))
  }
  socket.onDatagram = (from, bytes, length) => {
    host.handleDatagram(now(), from, bytes, length)
    wake()
  }
  host.connect(now(), isUdp ? `127.0.0.1:${port}` : url)
  wake()
  await opened
  return () => [...host.draw(now()).each(Player)].length
}
