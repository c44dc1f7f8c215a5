/**
 * Runs all checks of `settings.test.ts` in a process of its own, and prints the first that fails.
 */

import { DEFAULT_CHECKS, PROFILE_CHECKS, REACH_CHECKS } from './settings-checks.ts'
import { FIXED_CHECKS } from './settings-fixed.ts'
import { TIMER_CHECKS } from './settings-timers.ts'

/** Slow checks run only when the fast ones find nothing. */
function firstProblem(): string | undefined {
  for (const { name, expected, actual } of [
    ...DEFAULT_CHECKS,
    ...FIXED_CHECKS,
    ...PROFILE_CHECKS,
    ...REACH_CHECKS,
    ...TIMER_CHECKS,
  ]) {
    try {
      const found = JSON.stringify(actual())
      if (found !== JSON.stringify(expected)) return `${name}: ${found}, not ${JSON.stringify(expected)}`
    } catch (error) {
      return `${name}: ${error instanceof Error ? error.message : 'threw'}`
    }
  }
  return undefined
}

console.log(JSON.stringify({ problem: firstProblem() ?? '' }))
