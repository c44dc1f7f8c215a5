/**
 * The checks of development mode in a page. Bundlers replace `process.env.NODE_ENV`, so a page that is built for
 * production does not contain them.
 */

import type { StepChecks } from '../core/game/step-checks.ts'
import type { RunnerOptions } from '../core/lockstep/runner-options.ts'

declare const process: { readonly env: { readonly NODE_ENV?: string } }

/**
 * Traps around the `step` of a lockstep game, and checks of its checks. They warn on the console. Undefined as with
 * `pageChecks`.
 */
export async function lockstepChecks(): Promise<Pick<RunnerOptions, 'traps' | 'checkPurity'> | undefined> {
  try {
    if (process.env.NODE_ENV !== 'production') {
      const { StepTraps: Traps } = await import('../core/base/step-traps.ts')
      const checkPurity = (problem: string): void => console.warn(problem)
      return { traps: new Traps(({ message }) => console.warn(message)), checkPurity }
    }
  } catch {
    // reason: without a bundler there is no such variable
  }
  return undefined
}

/** Checks that warn on the console. Undefined in a page that is built for production, or without a bundler. */
export async function pageChecks(): Promise<StepChecks | undefined> {
  try {
    if (process.env.NODE_ENV !== 'production') {
      const { StepChecks: Checks } = await import('../core/game/step-checks.ts')
      return new Checks(({ message }) => console.warn(message))
    }
  } catch {
    // reason: without a bundler there is no such variable
  }
  return undefined
}
