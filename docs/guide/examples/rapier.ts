/** docs/guide/prediction.md: a physics engine in `step`, and every object predicted. */

import RAPIER from '@dimforge/rapier2d-deterministic-compat'
import { bool, defineGame, entity, fixed, type Game, type Predict } from 'tickwire'

// #region rapier
await RAPIER.init()

export const Ball = entity({
  x: fixed(0, 20, 0.001).position(), y: fixed(0, 10, 0.001).position(),
  vx: fixed(-40, 40, 0.001), vy: fixed(-40, 40, 0.001),
}, { name: 'Ball' })
export const INPUT = { left: bool, right: bool, up: bool, down: bool }
const RADIUS = 0.5
const PUSH = 0.5
const WALLS = [[10, -1, 12, 1], [10, 11, 12, 1], [-1, 5, 1, 7], [21, 5, 1, 7]] as const

export const makeBilliards = (predict: Predict): Game<typeof INPUT> => defineGame({
  tickRate: 30,
  predict,
  input: INPUT,
  entities: [Ball],
  onJoin: (world, peer) => world.spawn(Ball, { x: 3, y: 5 }, peer),
  step(world, inputs) {
    // Loose balls, which belong to the server and which every player pushes.
    if (world.tick === 1) for (let n = 0; n < 4; n++) world.spawn(Ball, { x: 8 + 1.2 * n, y: 5 })
    // The physics world is made from the fields in every tick, so nothing is kept outside of the world.
    const physics = new RAPIER.World({ x: 0, y: 0 })
    physics.timestep = 1 / 30
    for (const [x, y, halfWidth, halfHeight] of WALLS)
      physics.createCollider(RAPIER.ColliderDesc.cuboid(halfWidth, halfHeight).setTranslation(x, y))
    const balls = [...world.each(Ball)].map((ball) => {
      const keys = inputs.of(ball.owner)
      const body = physics.createRigidBody(
        RAPIER.RigidBodyDesc.dynamic()
          .setTranslation(ball.x, ball.y)
          .setLinvel(
            0.98 * ball.vx + PUSH * (+keys.right - +keys.left),
            0.98 * ball.vy + PUSH * (+keys.down - +keys.up),
          ),
      )
      physics.createCollider(RAPIER.ColliderDesc.ball(RADIUS).setRestitution(0.9).setFriction(0), body)
      return { ball, body }
    })
    physics.step()
    for (const { ball, body } of balls) {
      const { x, y } = body.translation()
      const { x: vx, y: vy } = body.linvel()
      Object.assign(ball, { x, y, vx, vy })
    }
    physics.free()
  },
})
// #endregion
