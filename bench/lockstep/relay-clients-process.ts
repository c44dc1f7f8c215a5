/** The players of some matches, in a process of their own: each gives 1.5 orders a second. */

import { connect } from 'tickwire/node'
import { relay } from 'tickwire/lockstep'
import { game, Take } from '../../test/sim/lockstep-game.ts'

const [, , url = '', games = '1', players = '8'] = process.argv
const ORDER_MS = 667

for (let match = 0; match < Number(games); match++) {
  for (let player = 0; player < Number(players); player++) {
    const room = await connect(game, relay(url), { development: false, join: { quick: 'lockstep' } })
    setInterval(() => { room.order(Take, { crate: player }) }, ORDER_MS)
  }
}
console.log('ready')
