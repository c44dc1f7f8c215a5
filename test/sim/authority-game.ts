/**
 * A small game with both kinds of authority: the server writes the runners, and the owner of a ball writes the ball.
 */

import { bool, defineGame, entity, fixed, rpc, u16, u8, type Entity, type Game, type GameDefinition } from 'tickwire'

export const Runner = entity({ x: fixed(0, 1000, 0.1).position(), y: fixed(0, 1000, 0.1) }, { name: 'Runner' })
export const Ball = entity({
  x: fixed(0, 1000, 0.1).position(), pushes: u16, mark: u8, note: u8.server(),
}, { name: 'Ball', authority: 'shared' })
/** Despawned when its owner leaves. */
export const Kite = entity({ x: fixed(0, 1000, 0.1) }, { name: 'Kite', authority: 'shared', onOwnerLeave: 'despawn' })
/** The owner of the object that was hit decides: the call goes to that owner. */
export const Claim = rpc({ power: u8 }, { to: 'server', name: 'Claim' })
export const Struck = rpc({ power: u8 }, { to: 'owner', name: 'Struck' })

const INPUT = { right: bool, left: bool, push: bool, mark: u8, serve: bool }
export type BallInput = typeof INPUT

export function makeBalls(
  options: Partial<GameDefinition<BallInput>> & { readonly balls?: number } = {},
): Game<BallInput> {
  const { balls = 2, ...rest } = options
  return defineGame({
    tickRate: 60,
    input: INPUT,
    entities: [Runner, Ball, Kite] as readonly Entity[],
    rpcs: [Claim, Struck],
    net: { snapshotRate: 60 },
    onJoin(world, peer) {
      world.spawn(Runner, { x: 500, y: 10 * peer.id % 1000 }, peer)
      if (world.count(Ball) === 0) for (let ball = 0; ball < balls; ball++) world.spawn(Ball, { x: 100 })
    },
    step(world, inputs) {
      for (const runner of world.each(Runner)) {
        const held = inputs.of(runner.owner)
        runner.x += (+held.right - +held.left) * 2
        if (held.serve && world.count(Kite) < 3) world.spawn(Kite, { x: runner.x }, runner.owner)
      }
      for (const kite of world.each(Kite)) if (inputs.of(kite.owner).push) kite.x = Math.min(kite.x + 1, 1000)
      for (const ball of world.each(Ball)) {
        const held = inputs.of(ball.owner)
        if (held.mark > 0) ball.mark = held.mark
        if (!held.push) continue
        ball.x = ball.x >= 999 ? 0 : ball.x + 1
        ball.pushes = (ball.pushes + 1) % 65_536
      }
    },
    ...rest,
  })
}
