/** The clients of the bench of workers: quick seats over WebSocket, with an input per tick. */

import { connect } from 'tickwire/node'
import { allIn, joinAll } from '../e2e/clients-report.ts'
import { e2eGame, Player } from '../e2e/tickwire-game.ts'
import { createKeys } from '../e2e/workload.ts'

const [url, players] = process.argv.slice(2) as [string, string]
const game = e2eGame()
const rooms = await joinAll(Number(players), async (index) => {
  const room = await connect(game, url, { join: { quick: 'field' } })
  room.play({ input: createKeys(index) })
  return room
})
allIn(() => [...rooms[0]!.view.each(Player)].length)
