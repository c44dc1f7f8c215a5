/** A small lockstep game: units that march to a target, a crate that the first order takes, and random damage. */

import { bool, entity, fixed, int, u16, vec2, type Tick, type World } from 'tickwire'
import { defineLockstep, ids, order, type LockstepGame } from 'tickwire/lockstep'

const SIZE = 256
const SPEED = 0.5
const UNITS = 6

export const Unit = entity(
  { at: vec2(0, SIZE, 1 / 64), to: vec2(0, SIZE, 1 / 16), hp: int(0, 100), isMoving: bool },
  { name: 'Unit' },
)
export const Crate = entity({ x: fixed(0, SIZE, 1), takenBy: u16, takes: u16 }, { name: 'Crate' })

export const Move = order({ units: ids(250), to: vec2(0, SIZE, 1 / 16) }, 'Move', {
  check: (world, by, { units }) => units.every((id) => world.get(Unit, id)?.owner === by),
})
export const Take = order({ crate: u16 }, 'Take')
export const Spawn = order({ count: int(1, 4) }, 'Spawn')

const ORDERS = [Move, Take, Spawn] as const

function spawnUnit(world: World, owner: number): void {
  const at = { x: world.prng.nextFloat() * SIZE, y: world.prng.nextFloat() * SIZE }
  world.spawn(Unit, { at, to: at, hp: 100 }, owner)
}

/** Makes the game. `impure` plants a bug: the number of units that this process has stepped is in the state. */
export function makeLockstepGame(impure: (tick: Tick) => number = () => 0): LockstepGame<typeof ORDERS> {
  return defineLockstep({
    players: [1, 8],
    orders: ORDERS,
    entities: [Unit, Crate],
    onStart: (world) => { world.spawn(Crate, { x: SIZE / 2 }) },
    onJoin: (world, player) => { for (let count = 0; count < UNITS; count++) spawnUnit(world, player) },
    onLeave(world, player) {
      for (const unit of world.each(Unit)) if (unit.owner === player) world.despawn(unit)
    },
    step(world, orders) {
      for (const given of orders) {
        switch (given.name) {
          case 'Move':
            for (const id of given.values.units) {
              const unit = world.get(Unit, id)
              if (unit !== null) Object.assign(unit, { to: given.values.to, isMoving: true })
            }
            break
          case 'Take':
            for (const crate of world.each(Crate)) {
              if (crate.takenBy === 0) crate.takenBy = given.by
              crate.takes = (crate.takes + 1) % 65_536
            }
            break
          case 'Spawn':
            for (let count = 0; count < given.values.count && world.count(Unit) < 200; count++)
              spawnUnit(world, given.by)
            break
        }
      }
      for (const unit of world.each(Unit)) {
        if (orders.isAway(unit.owner)) continue
        const dx = unit.to.x - unit.at.x
        const dy = unit.to.y - unit.at.y
        unit.at.x += Math.max(-SPEED, Math.min(SPEED, dx))
        unit.at.y += Math.max(-SPEED, Math.min(SPEED, dy))
        unit.isMoving = dx !== 0 || dy !== 0
        if (world.prng.nextFloat() < 0.001) unit.hp = Math.max(0, unit.hp - 1 - impure(world.tick))
        if (unit.hp === 0) world.despawn(unit)
      }
      if (world.every(90)) for (const crate of world.each(Crate)) crate.takenBy = 0
    },
  })
}

export const game: LockstepGame<typeof ORDERS> = makeLockstepGame()
