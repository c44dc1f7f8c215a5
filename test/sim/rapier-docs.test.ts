/** The code of the guide to prediction with a physics engine works as described. */

import { expect, test } from 'vitest'
import type { StepWarning } from 'tickwire'
import { simulate } from 'tickwire/testing'
import { Ball, makeBilliards } from '../../docs/guide/examples/rapier.ts'

const warnings: string[] = []
const onWarning = ({ kind, field }: StepWarning): void => void warnings.push(`${kind} ${field}`)

/** Corrections of a player that pushes balls of the server for some seconds. */
function rollbacksWith(predict: 'owned' | 'all'): number {
  // #region rollbacks
  const sim = simulate(makeBilliards(predict), { seed: 5, link: { latencyMs: 80 }, onWarning })
  sim.hold(0, { right: true })
  sim.run(5000)
  const { rollbacks } = sim.players[0]!.host.predictor!
  // #endregion
  // Rapier reads the clock for its own timing, which changes no result.
  expect(warnings.filter((warning) => !/^impure (Date|performance)\.now$/.test(warning))).toEqual([])
  expect(sim.server(Ball)).toHaveLength(5)
  return rollbacks
}

test("[PRED10] the guide: with physics, predict 'all' is corrected far less than 'owned'", { timeout: 60_000 }, () => {
  const [owned, all] = [rollbacksWith('owned'), rollbacksWith('all')]
  expect(owned).toBeGreaterThan(5)
  expect(all).toBeLessThan(owned / 4)
})
