/** What a relay costs with sockets: real sealed UDP, with the players in another process. */

import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { serveLockstep } from 'tickwire/node'
import { game } from '../../test/sim/lockstep-game.ts'

const PLAYERS = 8
const GAMES = 4
const WARM_MS = 2000
const MEASURE_MS = 6000
const START_MS = 60_000

/** CPU time of one tick of one game with eight players, all in, in microseconds. */
export async function relayAllUs(): Promise<number> {
  const serving = await serveLockstep(
    { lockstep: { game, capacity: PLAYERS, mayCreate: true } },
    { port: 0, address: '127.0.0.1', signals: false, log: () => {} },
  )
  const { udp } = serving.info
  const clients = spawn(process.execPath, [
    '--conditions=tickwire-source', '--import', 'tsx',
    fileURLToPath(new URL('relay-clients-process.ts', import.meta.url)),
    `udp://127.0.0.1:${udp?.port}`, `${GAMES}`, `${PLAYERS}`,
  ], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => { reject(new Error('the players did not join')) }, START_MS)
      clients.stdout.once('data', () => {
        clearTimeout(timer)
        resolve()
      })
      clients.once('exit', () => { reject(new Error('the players have left')) })
    })
    await wait(WARM_MS)
    const ticksOf = (): number => serving.rooms.rooms.reduce((sum, { relay }) => sum + relay.log.newest, 0)
    const [ticks, before] = [ticksOf(), process.cpuUsage()]
    await wait(MEASURE_MS)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / (ticksOf() - ticks)
  } finally {
    clients.kill()
    await serving.close()
  }
}

async function wait(ms: number): Promise<void> {
  await new Promise((resolve) => { setTimeout(resolve, ms) })
}
