/** The result of a match of the swarm. */

import type { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import type { NetWeather } from '../../packages/tickwire/src/testing/weather.ts'
import type { DatagramWatch } from './invariants-datagrams.ts'
import type { Violation } from './invariants.ts'
import type { MatchCounts } from './match-scene.ts'
import type { Scenario } from './match-scenario.ts'

export interface MatchReport {
  readonly seed: number
  readonly scenario: Scenario
  readonly violation: Violation | undefined
  readonly weather: NetWeather
  readonly endpointTicks: number
  readonly simulatedMs: number
  readonly traceHash: string
  readonly tally: LinkTally
  readonly counts: Readonly<MatchCounts>
  readonly datagrams: Readonly<DatagramWatch['counts']>
}
