/** The result of a world of endpoints, and descriptions of missing messages. */

import type { LinkTally } from '../../packages/tickwire/src/testing/link-model-tally.ts'
import type { NetWeather } from '../../packages/tickwire/src/testing/weather.ts'
import type { DatagramWatch } from './invariants-datagrams.ts'
import type { Violation } from './invariants.ts'
import type { Party } from './transport-swarm-party.ts'

/** Counts of events: tests assert that they occurred. */
export interface WorldCounts {
  opened: number
  messages: number
  /** Of those, the ones that came in fragments. */
  large: number
  refusedSends: number
  restarts: number
  pathMoves: number
  /** Datagrams that a relay sent on from its own address. */
  stolen: number
  /** Addresses that another client got. */
  reused: number
  /** By side and reason, `by code`. */
  readonly closes: Map<string, number>
}

/** Counts of a world that has not begun. */
export function newCounts(): WorldCounts {
  return {
    opened: 0,
    messages: 0,
    large: 0,
    refusedSends: 0,
    restarts: 0,
    pathMoves: 0,
    stolen: 0,
    reused: 0,
    closes: new Map(),
  }
}

/** The result of a world. */
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

/** The messages that a side still waits for. */
export function describeWaiting(party: Party | undefined): string {
  return (party?.talks ?? []).map(({ session, set, connection }) => {
    const waiting = set.specs.map((_, channel) => set.channel(channel).waitingBytes).join(' ')
    const name = `session ${session.number}, ${connection.state}`
  return `${name}: received ${session.missing || 'all'}; bytes waiting ${waiting}`
  }).join('; ')
}
