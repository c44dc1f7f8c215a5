/** What all clients of a match of the swarm share, and what they count. */

import type { ConnectPass } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import type { EndpointSecurity } from '../../packages/tickwire/src/core/endpoint/endpoint-security.ts'
import type { DatagramWatch } from './invariants-datagrams.ts'
import type { Doubts } from './invariants.ts'
import type { MatchClient } from './match-client.ts'
import type { MatchGame } from './match-game.ts'
import type { House } from './match-house.ts'
import type { Scenario } from './match-scenario.ts'

/** What all clients of a match share. */
export interface ClientScene {
  readonly scenario: Scenario
  readonly made: MatchGame
  readonly house: House
  readonly server: string
  readonly security: EndpointSecurity
  readonly datagrams: DatagramWatch
  readonly now: () => number
  readonly counts: MatchCounts
  readonly doubts: Doubts
  /** The connect token of the client; a new one each time. */
  readonly pass: () => ConnectPass
  readonly onTurn: (client: MatchClient) => void
}

/** Counts over all clients. */
export class MatchCounts {
  rows = 0
  undecodable = 0
  joins = 0
  resumes = 0
  refusals = 0
  crashes = 0
  goodbyes = 0
  kicks = 0
  restarts = 0
  stalls = 0
  messages = 0
  calls = 0
  replies = 0
  grants = 0
  booms = 0
  rollbacks = 0
  spawnsMatched = 0
  bent = 0
  forged = 0
  readonly closes: Map<string, number> = new Map<string, number>()
}

export type ClientRole = 'player' | 'spectator' | 'attacker'
