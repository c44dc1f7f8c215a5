import { bool, defineGame, entity, fixed, u16, u8 } from 'tickwire'

// #region entities
export const Player = entity({ x: fixed(0, 640, 0.1), y: fixed(0, 360, 0.1), hue: u8, coins: u16 }, { name: 'Player' })
export const Coin = entity({ x: fixed(0, 640, 1), y: fixed(0, 360, 1) }, { name: 'Coin' })
// #endregion

// #region rules
const COINS = 5
const REACH = 16
const SPEED = 6

export const game = defineGame({
  tickRate: 30,
  input: { left: bool, right: bool, up: bool, down: bool },
  entities: [Player, Coin],
  onJoin: (world, peer) => world.spawn(Player, { x: 320, y: 180, hue: (peer.id * 47) & 255 }, peer),
  step(world, inputs) {
    if (world.tick === 1) for (let n = 1; n <= COINS; n++) world.spawn(Coin, place(n))
    for (const player of world.each(Player)) {
      const keys = inputs.of(player.owner)
      player.x += (+keys.right - +keys.left) * SPEED
      player.y += (+keys.down - +keys.up) * SPEED
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
// #endregion
