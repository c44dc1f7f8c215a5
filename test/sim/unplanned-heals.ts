/**
 * Makes every test of a file that imports this module fail when a client of its matches differed, and the test did not
 * plan it: a repair hides a mistake.
 */

import { afterEach, beforeEach, expect } from 'vitest'
import { HandoverParty } from './handover-party.ts'
import { LockstepParty } from './lockstep-party.ts'

/** The matches of the test, each with how many desyncs were looked into. */
let matches: (() => readonly number[])[] = []
let isPlanned = false

beforeEach(() => {
  matches = []
  isPlanned = false
  LockstepParty.onMade = ({ match: { judge } }) => { matches.push(() => [judge.counts.cases]) }
  HandoverParty.onMade = ({ relays }) => {
    matches.push(() => relays.flatMap(({ host }) => host.rooms.map(({ judge }) => judge.counts.cases)))
  }
})

afterEach(() => {
  if (isPlanned) return
  const cases = matches.flatMap((count) => count()).reduce((sum, each) => sum + each, 0)
  expect(cases, 'desyncs that the test did not plan').toBe(0)
})

/** The test makes worlds differ. */
export function planDesyncs(): void {
  isPlanned = true
}
