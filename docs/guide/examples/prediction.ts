import { bool, defineGame, entity, fixed, message, u8 } from 'tickwire'

// #region game
export const Ship = entity(
  { x: fixed(0, 1000, 0.1).position(), charge: u8.owner(), hull: u8.initially(100) },
  { name: 'Ship' },
)
export const Shot = entity({ x: fixed(0, 1000, 0.1), dies: fixed(0, 1e6, 1) }, { name: 'Shot' })
export const Bang = message({ x: fixed(0, 1000, 0.1) }, 'Bang', { delivery: 'unordered' })

export const game = defineGame({
  tickRate: 60,
  input: { right: bool, fire: bool },
  entities: [Ship, Shot],
  messages: [Bang],
  onJoin: (world, peer) => world.spawn(Ship, { x: 100 }, peer),
  step(world, inputs) {
    for (const ship of world.each(Ship)) {
      const { right, fire } = inputs.of(ship.owner)
      ship.x += right ? 2 : 0
      ship.charge = Math.min(ship.charge + 1, 30)
      if (!fire || ship.charge < 30) continue
      ship.charge = 0
      world.spawn(Shot, { x: ship.x, dies: world.tick + 40 }, ship.owner)
      world.emit(ship, Bang, { x: ship.x })
    }
    for (const shot of world.each(Shot)) {
      shot.x += 8
      if (world.tick >= shot.dies) world.despawn(shot)
    }
  },
})
// #endregion

// #region crowd
/** Ships that push each other: `step` reads other ships as they are seen, and moves only the player's own ship. */
export const crowd = defineGame({
  tickRate: 60,
  input: { right: bool },
  entities: [Ship],
  onJoin: (world, peer) => world.spawn(Ship, { x: 100 + 50 * (peer.id % 8) }, peer),
  step(world, inputs) {
    for (const ship of world.each(Ship)) {
      let next = ship.x + (inputs.of(ship.owner).right ? 2 : 0)
      for (const other of world.seen(Ship)) {
        if (other.id !== ship.id && other.x > ship.x) next = Math.min(next, Math.max(ship.x, other.x - 20))
      }
      ship.x = next
    }
  },
})
// #endregion

// #region impure
let moved = 0

/** Wrong on purpose: `moved` is not in the world, so it is not rolled back with the world. */
export const impure = defineGame({
  tickRate: 60,
  input: { right: bool },
  entities: [Ship],
  onJoin: (world, peer) => world.spawn(Ship, {}, peer),
  step(world, inputs) {
    for (const ship of world.each(Ship)) if (inputs.of(ship.owner).right) ship.x = moved++ % 500
  },
})
// #endregion
