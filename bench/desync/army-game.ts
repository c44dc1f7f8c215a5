/** A lockstep game with 2,000 units that march, for benchmarks: twelve numbers a unit. */

import { bool, entity, fixed, int, u16, vec2 } from 'tickwire'
import { defineLockstep, ids, order, type LockstepGame } from 'tickwire/lockstep'

export const UNITS = 2000
const SIZE = 256

export const Unit = entity({
  at: vec2(0, SIZE, 1 / 64), to: vec2(0, SIZE, 1 / 16), hp: int(0, 255), isMoving: bool, speed: fixed(0, 2, 1 / 64),
  kind: int(0, 7), reload: u16, target: u16, seat: int(0, 7), kills: u16,
}, { name: 'Unit' })
export const March = order({ units: ids(250), to: vec2(0, SIZE, 1 / 16) }, 'March')
export const Halt = order({ seat: int(0, 7) }, 'Halt')

export const army: LockstepGame = defineLockstep({
  orders: [March, Halt], entities: [Unit], players: [1, 8],
  onStart(world) {
    for (let at = 0; at < UNITS; at++) {
      const place = { x: world.prng.nextFloat() * SIZE, y: world.prng.nextFloat() * SIZE }
      world.spawn(Unit, { at: place, to: place, hp: 200, speed: 0.25, kind: at % 8, seat: at % 8 })
    }
  },
  step(world, orders) {
    for (const given of orders) {
      if (given.name !== 'March') continue
      for (const id of given.values.units) {
        const unit = world.get(Unit, id)
        if (unit !== null) Object.assign(unit, { to: given.values.to, isMoving: true })
      }
    }
    for (const unit of world.each(Unit)) {
      const [dx, dy] = [unit.to.x - unit.at.x, unit.to.y - unit.at.y]
      unit.at.x += Math.max(-unit.speed, Math.min(unit.speed, dx))
      unit.at.y += Math.max(-unit.speed, Math.min(unit.speed, dy))
      unit.isMoving = dx !== 0 || dy !== 0
      if (unit.isMoving && world.tick % 16 === unit.kind) unit.reload = (unit.reload + 1) % 1000
    }
  },
}) as unknown as LockstepGame
