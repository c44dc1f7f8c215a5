/**
 * The checks of development mode in a page. Bundlers replace `process.env.NODE_ENV`, so a page that is built for
 * production does not contain them.
 */

import type { StepTraps } from '../core/base/step-traps.ts'
import type { StepChecks } from '../core/game/step-checks.ts'

declare const process: { readonly env: { readonly NODE_ENV?: string } }

/** Traps around the `step` of a lockstep game, which warn on the console. Undefined as with `pageChecks`. */
export async function pageTraps(): Promise<{ readonly traps: StepTraps } | undefined> {
  try {
    if (process.env.NODE_ENV !== 'production') {
      const { StepTraps: Traps } = await import('../core/base/step-traps.ts')
      return { traps: new Traps(({ message }) => console.warn(message)) }
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
