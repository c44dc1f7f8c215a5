// #region guest
import { connect } from 'tickwire/node'
import { game, Player } from './game.ts'

const [code = 'IRON-7K3M'] = process.argv.slice(2)
const room = await connect(game, code, { rendezvous: process.env['RENDEZVOUS'] ?? 'https://play.example' })
room.play({ input: () => ({ right: room.view.tick % 60 < 30 }) })
setInterval(() => {
  console.log(`${[...room.view.each(Player)].length} players, ${room.path}: ${room.pathReason}`)
}, 1000)

const { code: reason } = await room.closed
console.log(`over: ${reason}`)
process.exit()
// #endregion
