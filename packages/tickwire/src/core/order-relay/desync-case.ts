/** One case of a desync: its reports, its stage, and what was found. */

import type { Millis, PeerId, Tick } from '../base/time.ts'
import { rootText, type DesyncVerdict, type DivergedReport } from '../order/desync-report.ts'
import type { Root, SyncMessage } from '../order/sync-messages.ts'

/** What a player says of its state. */
export type StateReport = Extract<SyncMessage, { kind: 'report' }>

/** A desync that is being decided. */
export interface DesyncCase {
  readonly number: number
  readonly openedAt: Millis
  readonly firstTick: Tick
  /** The player whose pulse differed. */
  readonly accused: PeerId
  /** The players when it was opened. */
  players: readonly PeerId[]
  tick: Tick
  reports: Map<PeerId, StateReport>
  deadline: Millis
  stage: 'reports' | 'referee' | 'search'
  verdict: DesyncVerdict
  root: Root | undefined
  /** Diverged players that wait, and the one that searches. */
  waiting: PeerId[]
  current: PeerId
  donor: PeerId
  donors: PeerId[]
  /** When the search with this donor began, and bytes that were passed on since. */
  beganAt: Millis
  bytes: number
  finding: unknown
  readonly results: DivergedReport[]
}

/** Players that reported the same state, the largest group first. */
export function groupsOf({ reports }: DesyncCase): PeerId[][] {
  const groups = new Map<string, PeerId[]>()
  for (const [peer, { root }] of reports) {
    const text = rootText(root)
    groups.set(text, [...(groups.get(text) ?? []), peer])
  }
  return [...groups.values()].sort((a, b) => b.length - a.length)
}

/** The state that a player reported. */
export function rootOf({ reports }: DesyncCase, peer: PeerId): Root | undefined {
  return reports.get(peer)?.root
}
