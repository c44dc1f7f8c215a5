/**
 * The code of docs/guide/shooting.md and smoothness.md. It is compiled with the tests and run by
 * test/sim/shooting.test.ts.
 */

import {
  angle, bool, capsule, defineGame, entity, int, math, sphere, vec3, type Hit, type ObjectOf, type World,
} from 'tickwire'

const { cos, sin } = math
const SPEED = 8

// #region entity
export const Fighter = entity({
  at: vec3(-200, 200, 0.01).position(),
  speed: vec3(-20, 20, 0.01).velocity(),
  yaw: angle(16),
  score: int(0, 9999),
  hits: int(0, 9999),
}, { name: 'Fighter' })
// #endregion

// #region shot
/** What a fighter hits, in the world as its player saw it. */
function shoot(world: World, fighter: ObjectOf<typeof Fighter>): Hit | null {
  return world.rewind(fighter.owner, (past) => past.cast({
    from: fighter.at,
    direction: { x: cos(fighter.yaw), y: 0, z: sin(fighter.yaw) },
    reach: 150,
    ignore: fighter.owner,
  }))
}
// #endregion

// #region game
export const game = defineGame({
  tickRate: 60,
  input: { run: int(-1, 1), yaw: angle(16), fire: bool },
  entities: [Fighter],
  hitboxes: [[Fighter, [
    capsule(0.5, 0.4),
    sphere(0.2, { name: 'head', offset: { x: 0, y: 1.1, z: 0 } }),
  ]]],
  onJoin: (world, peer) => world.spawn(Fighter, { at: { x: peer.id % 2 === 0 ? 20 : 0, y: 0, z: 0 } }, peer),
  step(world, inputs) {
    for (const fighter of world.each(Fighter)) {
      const { run, yaw, fire } = inputs.of(fighter.owner)
      fighter.yaw = yaw
      fighter.speed.z = run * SPEED
      fighter.at.z += fighter.speed.z / 60
      const hit = fire ? shoot(world, fighter) : null
      if (hit === null) continue
      fighter.score += hit.part === 'head' ? 5 : 1
      // On a client this is null for the fighters of other players. The server writes those.
      const target = world.get(Fighter, hit.id)
      if (target !== null) target.hits++
    }
  },
})
// #endregion
