import { bool, defineGame, entity, fixed, u8 } from 'tickwire'

export const WIDTH = 640
export const HEIGHT = 360
const SPEED = 6

/** What every player sees of a player. Numbers have bounds and a precision, which decide how many bits they cost. */
export const Player = entity({ x: fixed(0, WIDTH, 0.1), y: fixed(0, HEIGHT, 0.1), hue: u8 }, { name: 'Player' })

export const game = defineGame({
  tickRate: 30,
  input: { left: bool, right: bool, up: bool, down: bool },
  entities: [Player],
  onJoin: (world, peer) => world.spawn(Player, { x: WIDTH / 2, y: HEIGHT / 2, hue: (peer.id * 47) & 255 }, peer),
  // Runs on the server, and in the page for its own player: so it depends on the world and the inputs only.
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
