/** Crowds: the few that every test run plays. `npm run sim -- --only crowd --seeds 1000` plays more. */

import { describe, expect, test, vi } from 'vitest'
import { playCrowd } from './crowd.ts'
import { runSwarm } from './swarm.ts'

// Half a minute when the machine is idle; it seldom is.
vi.setConfig({ testTimeout: 300_000 })

const SEEDS = 20

describe('crowds', () => {
  test('[SIM9, C1, C2, C3, C4] rows that are held are the authority\'s, nobody is told too much, and all is current 2 s after the weather clears', () => {
    const { failures, crowds, counts } = runSwarm({ start: 1, seeds: SEEDS, only: 'crowd' })
    expect(failures).toEqual([])
    expect(crowds).toBe(SEEDS)
    const least = { rows: 1_000_000, joins: 34 * SEEDS, crashes: 20, goodbyes: 20, words: 1000, booms: 500, rollbacks: 2000, spawnsMatched: 1000 }
    for (const [name, count] of Object.entries(least)) expect(counts[`crowd ${name}`], name).toBeGreaterThan(count)
    // Packets overtake one another, and what left the view before can no longer be read: that stays the exception.
    expect(counts['crowd undecodable']).toBeLessThan(counts['crowd rows']! / 100)
  })

  test('[SIM3] are functions of their seeds', () => {
    expect(playCrowd(2).traceHash).toBe(playCrowd(2).traceHash)
  })
})
