/** Defaults, settings and profiles: each has the value of the table, and arrives in the component that uses it. */

import { describe, expect, test } from 'vitest'
import { DEFAULT_CHECKS, PROFILE_CHECKS, REACH_CHECKS } from './settings-checks.ts'
import { FIXED_CHECKS } from './settings-fixed.ts'
import { TIMER_CHECKS } from './settings-timers.ts'

describe('settings', () => {
  test.each(DEFAULT_CHECKS)('[SET1] $name', ({ expected, actual }) => expect(actual()).toEqual(expected))

  test.each([...REACH_CHECKS, ...TIMER_CHECKS])('[SET2] $name', ({ expected, actual }) =>
    expect(actual()).toEqual(expected),
  )

  test.each(PROFILE_CHECKS)('[SET3] $name', ({ expected, actual }) => expect(actual()).toEqual(expected))

  test.each(FIXED_CHECKS)('[SET4] $name', ({ expected, actual }) => expect(actual()).toEqual(expected))
})
