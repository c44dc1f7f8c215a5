/**
 * Many matches, one a seed. `npm run sim` runs it; swarm.test.ts runs a few in every test.
 */

import type { SwarmOptions, SwarmReport } from '../../tools/commands/sim.ts'
import { hashCombine, hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import { playMatch } from './match.ts'

/** Beside what every swarm reports: how much was simulated, what the weather did, and a hash of all that was seen. */
export interface FullReport extends SwarmReport {
  readonly seeds: number
  readonly violations: number
  /** One endpoint advanced by one tick. */
  readonly endpointTicks: number
  readonly lost: number
  readonly duplicated: number
  readonly reordered: number
  readonly messages: number
  readonly despawns: number
  readonly traceHash: string
}

/** Plays the matches of some seeds, one after the other. */
export function runSwarm({ start, seeds, onMatch }: SwarmOptions): FullReport {
  const failures: { seed: number; problem: string }[] = []
  const totals = { endpointTicks: 0, lost: 0, duplicated: 0, reordered: 0, messages: 0, despawns: 0 }
  const trace = new Uint32Array(2)
  for (let seed = start; seed < start + seeds; seed++) {
    const report = playMatch(seed)
    for (const key of ['endpointTicks', 'lost', 'duplicated', 'reordered', 'messages', 'despawns'] as const) totals[key] += report[key]
    hashCombine(trace, 0, report.traceHash[0], report.traceHash[1])
    if (report.problem !== undefined) failures.push({ seed, problem: report.problem })
    onMatch(seed, report.problem)
  }
  return { matches: seeds, failures, seeds, violations: failures.length, ...totals, traceHash: hashHex(trace, 0) }
}
