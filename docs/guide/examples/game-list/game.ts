import { bool, defineGame, entity, fixed } from 'tickwire'

export const Player = entity({ x: fixed(0, 640, 0.1) })

export const game = defineGame({
  tickRate: 30,
  input: { left: bool, right: bool },
  entities: [Player],
  onJoin: (world, peer) => world.spawn(Player, { x: 320 }, peer),
  step(world, inputs) {
    for (const player of world.each(Player)) {
      const { left, right } = inputs.of(player.owner)
      player.x += (+right - +left) * 6
    }
  },
})
