/**
 * A wrong line on purpose, for the button that corrupts one number: in one tick this page computes something else than
 * all others, as a page with a changed script would. The others name the field, both values and this line.
 */

import type { Tick, World } from 'tickwire'
import { Unit } from '../definitions.ts'
import type { SkirmishGame } from '../game.ts'

const DAMAGE = 7

export class Sabotage {
  /** The tick in which the page goes wrong; 0: none. */
  tick: Tick = 0

  /** The same game, with the wrong line in it. */
  plant(game: SkirmishGame): SkirmishGame {
    const { step } = game
    return Object.assign(game, {
      step: (...[world, orders]: Parameters<typeof step>) => {
        step(world, orders)
        if (world.tick === this.tick) goWrong(world)
      },
    })
  }
}

function goWrong(world: World): void {
  for (const unit of world.each(Unit)) {
    unit.hp = Math.max(1, unit.hp - DAMAGE) // The wrong line.
    return
  }
}
