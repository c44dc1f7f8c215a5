import { bool, defineGame, entity, fixed, text, u16, u8 } from 'tickwire'

export const WIDTH = 640
export const HEIGHT = 360
const SPEED = 6
const REACH = 14

export const Player = entity({
  x: fixed(0, WIDTH, 0.1), y: fixed(0, HEIGHT, 0.1), name: text(16), hue: u8, coins: u16,
}, { name: 'Player' })
export const Coin = entity({ x: fixed(0, WIDTH, 1), y: fixed(0, HEIGHT, 1) }, { name: 'Coin' })

export const game = defineGame({
  tickRate: 30,
  input: { left: bool, right: bool, up: bool, down: bool },
  join: { name: text(16) },
  entities: [Player, Coin],
  onJoin: (world, peer, { name }) =>
    world.spawn(Player, { x: WIDTH / 2, y: HEIGHT / 2, name, hue: (peer.id * 47) & 255 }, peer),
  step(world, inputs) {
    if (world.tick === 1) for (let n = 1; n <= 5; n++) world.spawn(Coin, place(n))
    for (const player of world.each(Player)) {
      const keys = inputs.of(player.owner)
      player.x = clamp(player.x + (+keys.right - +keys.left) * SPEED, WIDTH)
      player.y = clamp(player.y + (+keys.down - +keys.up) * SPEED, HEIGHT)
      for (const coin of world.each(Coin)) {
        if (Math.abs(coin.x - player.x) > REACH || Math.abs(coin.y - player.y) > REACH) continue
        player.coins++
        Object.assign(coin, place(world.tick))
      }
    }
  },
})

/** The place of the n-th coin: scattered, and the same on every machine. */
function place(n: number): { x: number; y: number } {
  return { x: 40 + (n * 211) % 560, y: 40 + (n * 97) % 280 }
}

function clamp(value: number, most: number): number {
  return Math.max(0, Math.min(value, most))
}
