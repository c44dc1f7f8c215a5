/**
 * A host or guest of the arena in a network namespace. It prints the code of its match, and five times a second how it
 * goes.
 *
 * Its only argument is JSON: `{"rendezvous":"http://…","code":"IRON-7K3M"}`. Without a code it hosts.
 */

import { connect, host } from 'tickwire/node'
import { Fighter } from '../../games/arena/definitions.ts'
import { arenaGame } from '../../games/arena/game.ts'

const { rendezvous, code: given }: { rendezvous: string; code?: string } = JSON.parse(process.argv[2]!)
const game = arenaGame()
let code = given
if (code === undefined) {
  const hosted = await host(game, { rendezvous, log: () => {} })
  code = hosted.code
  console.log(`code ${code}`)
  setInterval(() => {
    const { host: match, rooms } = hosted.serving
    const addresses = rooms.endpoint.connections.map(({ address }) => address)
    const players = [...match.world.each(Fighter)].length
    console.log(`status ${JSON.stringify({ players, addresses, tick: match.world.tick })}`)
  }, 200)
} else {
  const room = await connect(game, code, { rendezvous, retryMs: 30_000 })
  let end = ''
  void room.closed.then((reason) => { end = reason.code })
  const { peer } = room
  setInterval(() => {
    const players = [...room.view.each(Fighter)].length
    const { path, pathReason: reason, isAway } = room
    const isSame = room.peer === peer
    console.log(`status ${JSON.stringify({ players, path, reason, isAway, isSame, tick: room.view.tick, end })}`)
  }, 200)
}
