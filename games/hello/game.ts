import { bool, defineGame, entity, fixed, u8 } from 'tickwire'

export const Player = entity({ x: fixed(0, 640, 0.1), y: fixed(0, 360, 0.1), hue: u8 })

export const game = defineGame({
  tickRate: 30,
  input: { left: bool, right: bool, up: bool, down: bool },
  entities: [Player],
  onJoin: (world, peer) => world.spawn(Player, { x: 320, y: 180, hue: (peer.id * 47) & 255 }, peer),
  step(world, inputs) {
    for (const player of world.each(Player)) {
      const keys = inputs.of(player.owner)
      player.x += (+keys.right - +keys.left) * 6
      player.y += (+keys.down - +keys.up) * 6
    }
  },
})
