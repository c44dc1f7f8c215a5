import RAPIER from '@dimforge/rapier2d-deterministic-compat'
import { bool, defineGame, entity, fixed, u16, u8 } from 'tickwire'

/** In metres. */
export const WIDTH = 24
export const HEIGHT = 14
export const GOAL = 4
export const RADIUS = { player: 0.7, ball: 0.5 }
const PUSH = 0.9
const DRAG = 0.96

await RAPIER.init()

const body = {
  x: fixed(-3, WIDTH + 3, 0.001).position(), y: fixed(-1, HEIGHT + 1, 0.001).position(),
  vx: fixed(-40, 40, 0.001).velocity('x'), vy: fixed(-40, 40, 0.001).velocity('y'),
}
export const Player = entity({ ...body, hue: u8 }, { name: 'Player' })
export const Ball = entity(body, { name: 'Ball' })
export const Score = entity({ left: u16, right: u16 }, { name: 'Score' })

/** x, y, half of the width, half of the height. The walls at the sides leave the goals open. */
const SIDE = (HEIGHT - GOAL) / 4
const WALLS = [
  [WIDTH / 2, -1, WIDTH, 1], [WIDTH / 2, HEIGHT + 1, WIDTH, 1],
  [-1, SIDE, 1, SIDE], [-1, HEIGHT - SIDE, 1, SIDE],
  [WIDTH + 1, SIDE, 1, SIDE], [WIDTH + 1, HEIGHT - SIDE, 1, SIDE],
  [-3, HEIGHT / 2, 1, GOAL], [WIDTH + 3, HEIGHT / 2, 1, GOAL],
] as const

export const game = defineGame({
  tickRate: 30,
  // Every client simulates all bodies. The ball moves at once when your player touches it, also at 200 ms.
  predict: 'all',
  // After a goal the ball is in the middle at once. What moves less in a tick is drawn on its way.
  net: { teleport: 4 },
  input: { left: bool, right: bool, up: bool, down: bool },
  entities: [Player, Ball, Score],
  onJoin(world, peer) {
    const x = peer.id % 2 === 1 ? WIDTH / 4 : (WIDTH * 3) / 4
    world.spawn(Player, { x, y: HEIGHT / 2, hue: (peer.id * 97) & 255 }, peer)
  },
  step(world, inputs) {
    if (world.tick === 1) {
      world.spawn(Score, {})
      world.spawn(Ball, { x: WIDTH / 2, y: HEIGHT / 2 })
    }
    // The physics world is made from the fields in every tick, so that a tick can be stepped again.
    const physics = new RAPIER.World({ x: 0, y: 0 })
    physics.timestep = 1 / 30
    for (const [x, y, halfWidth, halfHeight] of WALLS)
      physics.createCollider(RAPIER.ColliderDesc.cuboid(halfWidth, halfHeight).setTranslation(x, y).setRestitution(0.8))
    const bodies = [...world.each(Player), ...world.each(Ball)].map((object) => {
      const keys = inputs.of(object.owner)
      const isPlayer = object.owner !== 0
      const rigid = physics.createRigidBody(RAPIER.RigidBodyDesc.dynamic()
        .setTranslation(object.x, object.y)
        .setLinvel(
          object.vx * DRAG + PUSH * (+keys.right - +keys.left), object.vy * DRAG + PUSH * (+keys.down - +keys.up),
        ))
      const disc = RAPIER.ColliderDesc.ball(isPlayer ? RADIUS.player : RADIUS.ball)
      physics.createCollider(disc.setDensity(isPlayer ? 2 : 0.5).setRestitution(0.8).setFriction(0), rigid)
      return { object, rigid }
    })
    physics.step()
    for (const { object, rigid } of bodies) {
      const { x, y } = rigid.translation()
      const { x: vx, y: vy } = rigid.linvel()
      Object.assign(object, { x, y, vx, vy })
    }
    physics.free()
    for (const ball of world.each(Ball)) {
      if (ball.x > 0 && ball.x < WIDTH) continue
      for (const score of world.each(Score)) score[ball.x > 0 ? 'left' : 'right']++
      Object.assign(ball, { x: WIDTH / 2, y: HEIGHT / 2, vx: 0, vy: 0 })
    }
  },
})
