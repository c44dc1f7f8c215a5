/** The clients of the bench of capacity: an input per tick, or for lockstep an order every two thirds of a second. */

import { connect } from 'tickwire/node'
import { relay } from 'tickwire/lockstep'
import { game as lockstep, Move, Unit } from '../../docs/guide/examples/lockstep/game.ts'
import { allIn, joinAll } from '../e2e/clients-report.ts'
import { createKeys } from '../e2e/workload.ts'
import { capacityGame, type Kind } from './game.ts'

const ORDER_MS = 667

const [port, players, kind] = process.argv.slice(2) as [string, string, Kind]
const url = `http://127.0.0.1:${port}`
const game = capacityGame(kind)

async function join(index: number): Promise<void> {
  const room = await connect(game, url)
  room.play({ input: createKeys(index) })
}

async function joinLockstep(index: number): Promise<void> {
  const room = await connect(lockstep, relay(url))
  room.play({ draw: () => {} })
  let turn = index
  setInterval(() => {
    const units = [...room.world.seen(Unit)].filter(({ owner }) => owner === room.player).map(({ id }) => id)
    room.order(Move, { units, to: { x: (++turn * 37) % 256, y: (turn * 91) % 256 } })
  }, ORDER_MS)
}

await joinAll(Number(players), kind === 'lockstep' ? joinLockstep : join)
allIn(() => Number(players))
