/** docs/guide/rooms.md: a party of two teams, with names, chat, a shop and bots. */

import { bool, defineGame, entity, fixed, message, oneOf, rpc, text, u8 } from 'tickwire'

export const Player = entity({
  x: fixed(0, 640, 0.1), name: text(16), team: oneOf('red', 'blue'), gold: u8.owner().initially(20),
}, { name: 'Player' })
export const Say = message({ text: text(120) }, 'Say')
export const Said = message({ name: text(16), text: text(120) }, 'Said')
export const Buy = rpc({ item: text(12) }, { to: 'server', reply: { isSold: bool, left: u8 }, name: 'Buy' })

export const game = defineGame({
  tickRate: 30,
  input: { left: bool, right: bool },
  join: { name: text(16) },
  entities: [Player],
  messages: [Say, Said],
  rpcs: [Buy],
  onJoin(world, peer, { name }) {
    const reds = [...world.each(Player)].filter(({ team }) => team === 'red').length
    const team = 2 * reds > world.count(Player) ? 'blue' : 'red'
    world.spawn(Player, { x: 320, name: name === '' ? 'Bot' : name, team }, peer)
  },
  step(world, inputs) {
    for (const player of world.each(Player)) {
      const keys = inputs.of(player.owner)
      player.x = Math.max(0, Math.min(player.x + (+keys.right - +keys.left) * 6, 640))
    }
  },
})
