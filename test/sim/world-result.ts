/** The result of a simulated world that is one function of its seed. */

import type { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import type { NetWeather } from '../../packages/tickwire/src/testing/weather.ts'
import type { Violation } from './invariants.ts'

export interface WorldResult {
  readonly seed: number
  readonly violation: Violation | undefined
  readonly weather: NetWeather
  readonly endpointTicks: number
  readonly simulatedMs: number
  readonly traceHash: string
  readonly tally: LinkTally
  /** How often things happened, by name. */
  readonly counts: Readonly<Record<string, number>>
}
