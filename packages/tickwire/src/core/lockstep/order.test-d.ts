/** Code that must not compile: orders, their values by name, and checks. */

import { expectTypeOf } from 'vitest'
import type { ObjectId, PeerId } from '../base/time.ts'
import { ids } from '../order/ids.ts'
import { bool, ref, u8, vec2 } from '../schema/field-kinds.ts'
import { entity } from '../schema/definition.ts'
import { defineLockstep } from './define-lockstep.ts'
import type { LockstepRunner } from './lockstep-runner.ts'
import { order } from './order.ts'

const Unit = entity({ hp: u8 }, { name: 'Unit' })
const Move = order({ units: ids(250), to: vec2(0, 256, 1 / 16), isQueued: bool }, 'Move')
const Sell = order({ building: ref() }, 'Sell', {
  check: (world, by, { building }) => {
    expectTypeOf(by).toEqualTypeOf<PeerId>()
    // @ts-expect-error: a check has no random numbers
    world.prng.nextFloat()
    // @ts-expect-error: a check cannot spawn
    world.spawn(Unit, {})
    const found = world.get(Unit, building)
    // @ts-expect-error: a check cannot write
    if (found !== null) found.hp = 1
    return found?.owner === by
  },
})

defineLockstep({
  orders: [Move, Sell],
  entities: [Unit],
  step(_world, orders) {
    for (const given of orders) {
      expectTypeOf(given.name).toEqualTypeOf<'Move' | 'Sell'>()
      switch (given.name) {
        case 'Move':
          expectTypeOf(given.values.units).toEqualTypeOf<readonly ObjectId[]>()
          expectTypeOf(given.values.isQueued).toEqualTypeOf<boolean>()
          // @ts-expect-error: another order has this value
          given.values.building
          break
        case 'Sell':
          expectTypeOf(given.values.building).toEqualTypeOf<ObjectId | null>()
          break
        // @ts-expect-error: no order has this name
        case 'Attack':
          break
      }
    }
  },
})

declare const runner: LockstepRunner
// @ts-expect-error: a value is missing
runner.order(0, Move, { units: [], isQueued: false })
// @ts-expect-error: a value of the wrong type
runner.order(0, Sell, { building: 'barracks' })
runner.order(0, Sell, { building: null })
