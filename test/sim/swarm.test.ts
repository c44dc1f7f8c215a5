import { expect, test } from 'vitest'
import { runSwarm } from './swarm.ts'

const silent = (): void => {}

test('[SIM1] in any weather players see only what the authority had, and are current once it clears', () => {
  const report = runSwarm({ start: 1, seeds: 12, onMatch: silent })
  expect(report.failures).toEqual([])
})

test('[SIM2] the swarm did things: packets were lost, doubled and overtaken, messages said, objects removed', () => {
  const report = runSwarm({ start: 100, seeds: 6, onMatch: silent })
  for (const key of ['lost', 'duplicated', 'reordered', 'messages', 'despawns'] as const) expect(report[key]).toBeGreaterThan(50)
})

test('[SIM3] one seed plays one match, to the last bit', () => {
  const [first, second] = [runSwarm({ start: 7, seeds: 2, onMatch: silent }), runSwarm({ start: 7, seeds: 2, onMatch: silent })]
  expect(second.traceHash).toBe(first.traceHash)
  expect(runSwarm({ start: 8, seeds: 2, onMatch: silent }).traceHash).not.toBe(first.traceHash)
})
