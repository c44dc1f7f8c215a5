import { entity, int, math, vec2, where } from 'tickwire'
import { defineLockstep, ids, order, served } from 'tickwire/lockstep'

// #region rules
const SIGHT = 40

/** `seenBy`: the players that see the unit, as bits. It is never sent. `to` is for the owner only. */
export const Unit = entity(
  { at: vec2(0, 256, 1 / 64), to: vec2(0, 256, 1 / 16).owner(), seenBy: int(0, 255).local() },
  { name: 'Unit', interest: where((viewer, unit) => (unit.seenBy >> viewer.peer & 1) === 1) },
)

export const Move = order({ units: ids(50), to: vec2(0, 256, 1 / 16) }, 'Move', {
  check: (world, by, { units }) => units.every((id) => world.get(Unit, id)?.owner === by),
})

const rules = defineLockstep({
  players: [1, 4],
  orders: [Move],
  entities: [Unit],
  onJoin(world, player) {
    const at = { x: 60 * player, y: 128 }
    world.spawn(Unit, { at, to: at }, player)
  },
  onLeave(world, player) {
    for (const unit of world.each(Unit)) if (unit.owner === player) world.despawn(unit)
  },
  step(world, orders) {
    for (const { values: { units, to } } of orders)
      for (const id of units) Object.assign(world.get(Unit, id) ?? {}, { to })
    for (const { at, to } of world.each(Unit)) {
      at.x += Math.max(-1, Math.min(to.x - at.x, 1))
      at.y += Math.max(-1, Math.min(to.y - at.y, 1))
    }
  },
})
// #endregion rules

// #region served
export const game = served(rules, {
  afterStep(world) {
    for (const unit of world.each(Unit)) {
      unit.seenBy = 0
      for (const { at, owner } of world.each(Unit))
        if (math.hypot(at.x - unit.at.x, at.y - unit.at.y) <= SIGHT) unit.seenBy |= 1 << owner
    }
  },
})
// On the server:  await serve(game, { port: 4000, static: './public' })
// In the page:    const room = await connect(game, location.origin)
//                 game.order(room, Move, { units: [id], to })
// #endregion served
