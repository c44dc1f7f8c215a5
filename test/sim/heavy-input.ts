/** Random values of an input, for games that are played without a player. */

import type { Shape } from 'tickwire'
import type { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'

/** Values for the numbers and flags of a shape, within their bounds. Other fields keep their initial values. */
export function drawInput(shape: Shape, dice: Dice): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [name, { spec }] of Object.entries(shape)) {
    if (spec.kind === 'bool') values[name] = dice.fraction() < 0.5
    else if (spec.kind === 'int') values[name] = spec.min + Math.floor(dice.fraction() * (spec.max - spec.min + 1))
    else if (spec.kind === 'angle') values[name] = dice.fraction() * 6 - 3
  }
  return values
}
