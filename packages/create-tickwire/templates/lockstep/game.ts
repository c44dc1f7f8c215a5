import { entity, vec2 } from 'tickwire'
import { defineLockstep, ids, order } from 'tickwire/lockstep'

export const SIZE = 256
const SPEED = 1

export const Unit = entity({ at: vec2(0, SIZE, 1 / 64), to: vec2(0, SIZE, 1 / 16) }, { name: 'Unit' })

/** Players send orders, and nothing else. An order that fails its check is skipped by every peer. */
export const Move = order({ units: ids(50), to: vec2(0, SIZE, 1 / 16) }, 'Move', {
  check: (world, by, { units }) => units.every((id) => world.get(Unit, id)?.owner === by),
})

export const game = defineLockstep({
  players: [1, 8],
  orders: [Move],
  entities: [Unit],
  onJoin(world, player) {
    const x = 28 * player
    for (let y = 32; y < SIZE; y += 48) world.spawn(Unit, { at: { x, y }, to: { x, y } }, player)
  },
  onLeave(world, player) {
    for (const unit of world.each(Unit)) if (unit.owner === player) world.despawn(unit)
  },
  // Runs on every peer with the same orders, and must give the same world on all of them.
  step(world, orders) {
    for (const { values: { units, to } } of orders) {
      for (const id of units) Object.assign(world.get(Unit, id) ?? {}, { to })
    }
    for (const { at, to } of world.each(Unit)) {
      at.x += Math.max(-SPEED, Math.min(to.x - at.x, SPEED))
      at.y += Math.max(-SPEED, Math.min(to.y - at.y, SPEED))
    }
  },
})
