import { bool, defineGame, entity, fixed, u8 } from 'tickwire'

/** Half of the field's width, in metres. */
export const FIELD = 20
const SPEED = 0.25

export const Player = entity({
  x: fixed(-FIELD, FIELD, 0.01), z: fixed(-FIELD, FIELD, 0.01), heading: u8, hue: u8,
}, { name: 'Player' })

export const game = defineGame({
  tickRate: 30,
  input: { left: bool, right: bool, up: bool, down: bool },
  entities: [Player],
  onJoin: (world, peer) => world.spawn(Player, { hue: (peer.id * 47) & 255 }, peer),
  step(world, inputs) {
    for (const player of world.each(Player)) {
      const keys = inputs.of(player.owner)
      const dx = +keys.right - +keys.left
      const dz = +keys.down - +keys.up
      player.x = clamp(player.x + dx * SPEED)
      player.z = clamp(player.z + dz * SPEED)
      // In eighths of a turn. A heading of 256 steps has room for finer ones.
      if (dx !== 0 || dz !== 0) player.heading = HEADINGS[3 * (dz + 1) + dx + 1]!
    }
  },
})

/** By direction: rows are up, none, down; columns are left, none, right. */
const HEADINGS = [160, 128, 96, 192, 0, 64, 224, 0, 32]

function clamp(value: number): number {
  return Math.max(-FIELD, Math.min(value, FIELD))
}
