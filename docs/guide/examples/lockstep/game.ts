import { entity, vec2 } from 'tickwire'
import { defineLockstep, ids, order } from 'tickwire/lockstep'

export const Unit = entity({ at: vec2(0, 256, 1 / 64), to: vec2(0, 256, 1 / 16) }, { name: 'Unit' })

export const Move = order({ units: ids(50), to: vec2(0, 256, 1 / 16) }, 'Move', {
  check: (world, by, { units }) => units.every((id) => world.get(Unit, id)?.owner === by),
})

export const game = defineLockstep({
  players: [1, 8],
  orders: [Move],
  entities: [Unit],
  onJoin(world, player) {
    const x = 28 * player
    for (let y = 32; y < 256; y += 48) world.spawn(Unit, { at: { x, y }, to: { x, y } }, player)
  },
  onLeave(world, player) {
    for (const unit of world.each(Unit)) if (unit.owner === player) world.despawn(unit)
  },
  step(world, orders) {
    for (const { values: { units, to } } of orders) {
      for (const id of units) Object.assign(world.get(Unit, id) ?? {}, { to })
    }
    for (const { at, to } of world.each(Unit)) {
      at.x += Math.max(-1, Math.min(to.x - at.x, 1))
      at.y += Math.max(-1, Math.min(to.y - at.y, 1))
    }
  },
})
