/** What a world of endpoints showed, and how what is missing is said. */

import type { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import type { NetWeather } from '../../packages/tickwire/src/testing/weather.ts'
import type { DatagramWatch } from './invariants-datagrams.ts'
import type { Violation } from './invariants.ts'
import type { Party } from './transport-swarm-party.ts'

/** What happened, counted: tests assert that it did. */
export interface WorldCounts {
  opened: number
  messages: number
  /** Of those, the ones that came in fragments. */
  large: number
  refusedSends: number
  restarts: number
  pathMoves: number
  /** Datagrams that somebody else sent on from where he is. */
  stolen: number
  /** By whom and why, `by code`. */
  readonly closes: Map<string, number>
}

/** What a world showed. */
export interface WorldReport {
  readonly seed: number
  readonly violation: Violation | undefined
  readonly weather: NetWeather
  readonly endpointTicks: number
  readonly simulatedMs: number
  readonly traceHash: string
  readonly tally: LinkTally
  readonly moves: number
  readonly clocks: { readonly jumps: number; readonly sleeps: number; readonly pauses: number }
  readonly counts: Readonly<WorldCounts>
  readonly datagrams: Readonly<DatagramWatch['counts']>
  readonly isReal: boolean
}

/** What somebody waits for. */
export function describeWaiting(party: Party | undefined): string {
  return (party?.talks ?? []).map(({ session, set, connection }) => {
    const waiting = set.specs.map((_, channel) => set.channel(channel).waitingBytes).join(' ')
    return `session ${session.number}, ${connection.state}: heard ${session.missing || 'all'}; bytes waiting ${waiting}`
  }).join('; ')
}
