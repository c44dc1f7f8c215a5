import { bool, defineGame, entity, fixed, message, oneOf, text } from 'tickwire'

export const WIDTH = 640
export const HEIGHT = 360
const SPEED = 6

export const Player = entity({
  x: fixed(0, WIDTH, 0.1), y: fixed(0, HEIGHT, 0.1), name: text(16), team: oneOf('red', 'blue'),
}, { name: 'Player' })
export const Say = message({ text: text(120) }, 'Say')
export const Said = message({ name: text(16), text: text(120) }, 'Said')

export const game = defineGame({
  tickRate: 30,
  input: { left: bool, right: bool, up: bool, down: bool },
  // What a client sends when it joins. `onJoin` gets it.
  join: { name: text(16) },
  entities: [Player],
  messages: [Say, Said],
  onJoin(world, peer, { name }) {
    const reds = [...world.each(Player)].filter(({ team }) => team === 'red').length
    const team = 2 * reds > world.count(Player) ? 'blue' : 'red'
    world.spawn(Player, { x: team === 'red' ? 80 : WIDTH - 80, y: HEIGHT / 2, name: name || 'Bot', team }, peer)
  },
  step(world, inputs) {
    for (const player of world.each(Player)) {
      const keys = inputs.of(player.owner)
      player.x = clamp(player.x + (+keys.right - +keys.left) * SPEED, WIDTH)
      player.y = clamp(player.y + (+keys.down - +keys.up) * SPEED, HEIGHT)
    }
  },
})

function clamp(value: number, most: number): number {
  return Math.max(0, Math.min(value, most))
}
