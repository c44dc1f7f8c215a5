import { bool, defineGame, entity, fixed, math, u8, vec2 } from 'tickwire'

export const REACH = 200
const SPEED = 3

export const Player = entity({
  at: vec2(-REACH, REACH, 0.1).position(), hue: u8, dashes: u8, rest: u8.owner(),
}, { name: 'Player' })

export const game = defineGame({
  // 20 ticks a second, and 10 snapshots: half of what a desktop game sends. Drawing is smooth all the same.
  tickRate: 20,
  net: { snapshotRate: 10 },
  // A thumb is not a key: a stick has a direction and a strength.
  input: { x: fixed(-1, 1, 0.05), y: fixed(-1, 1, 0.05), dash: bool },
  entities: [Player],
  onJoin: (world, peer) => world.spawn(Player, { hue: (peer.id * 47) & 255 }, peer),
  step(world, inputs) {
    for (const player of world.each(Player)) {
      const { x, y, dash } = inputs.of(player.owner)
      // A stick in a corner is not faster.
      const speed = SPEED / Math.max(1, math.hypot(x, y))
      const isDash = dash && player.rest === 0
      if (isDash) player.dashes = (player.dashes + 1) & 255
      player.rest = isDash ? 20 : Math.max(0, player.rest - 1)
      const times = isDash ? 8 : 1
      player.at.x = Math.max(-REACH, Math.min(player.at.x + x * speed * times, REACH))
      player.at.y = Math.max(-REACH, Math.min(player.at.y + y * speed * times, REACH))
    }
  },
})
