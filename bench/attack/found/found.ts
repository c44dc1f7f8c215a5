/**
 * The attacks that were once found to work, by the id under which each was found: S1 to S11. Each is played against a
 * real server process. An id without a row is a mistake of this table, and fails the benchmark.
 *
 * A new row: a file `sN.ts` here that exports a function of the number of seconds it may take, and its line in `FOUND`.
 */

import { isHeld, type AttackReport } from '../stage.ts'
import { pingFlood } from './s1.ts'
import { downloads } from './s2.ts'
import { stolenSecrets } from './s3.ts'
import { falseChallenges } from './s4.ts'
import { messageFlood } from './s5.ts'
import { webSocketHoard } from './s6.ts'
import { halfHandshakes } from './s7.ts'
import { foreignCandidates } from './s8.ts'
import { heldRefusals } from './s9.ts'
import { oddDoors } from './s10-doors.ts'
import { handshakeLeftovers } from './s10-handshake.ts'
import { proxiedOrigins } from './s11.ts'

/** One attack that was found. `play` takes the number of seconds that its flood may last. */
export interface FoundAttack {
  readonly id: string
  play(seconds: number): Promise<AttackReport[]>
}

/** All ids that must have a row. */
export const FOUND_IDS: readonly string[] = Array.from({ length: 11 }, (_, index) => `S${index + 1}`)

export const FOUND: readonly FoundAttack[] = [
  { id: 'S1', play: pingFlood },
  { id: 'S2', play: downloads },
  { id: 'S3', play: stolenSecrets },
  { id: 'S4', play: falseChallenges },
  { id: 'S5', play: messageFlood },
  { id: 'S6', play: webSocketHoard },
  { id: 'S7', play: halfHandshakes },
  { id: 'S8', play: foreignCandidates },
  { id: 'S9', play: heldRefusals },
  { id: 'S10', play: oddDoors },
  { id: 'S10', play: handshakeLeftovers },
  { id: 'S11', play: proxiedOrigins },
]

/** The ids that have no row. */
export function missingIds(rows: readonly Pick<FoundAttack, 'id'>[] = FOUND): string[] {
  return FOUND_IDS.filter((id) => !rows.some((row) => row.id === id))
}

/** Plays all of them, one after another. A server process that dies is a missed attack. */
export async function playFound(seconds: number): Promise<AttackReport[]> {
  const missing = missingIds()
  if (missing.length > 0) throw new Error(`bench/attack/found: no row for ${missing.join(', ')}`)
  const reports: AttackReport[] = []
  for (const { id, play } of FOUND) reports.push(...await played(id, () => play(seconds)))
  return reports
}

async function played(id: string, play: () => Promise<AttackReport[]>): Promise<AttackReport[]> {
  try {
    const reports = await play()
    if (!reports.some((report) => report.atMost !== undefined || report.atLeast !== undefined)) {
      throw new Error(`${id} judges nothing`)
    }
    const misplaced = reports.find(({ threat }) => threat !== id)
    if (misplaced !== undefined) throw new Error(`${id} reports ${misplaced.threat}`)
    return reports
  } catch (error) {
    const what = `the attack did not end well: ${error instanceof Error ? error.message : String(error)}`
    return [{ threat: id, what, count: 1, value: NaN, unit: '', atMost: 0 }]
  }
}

/** The reports that miss their bound. */
export function missedOf(reports: readonly AttackReport[]): AttackReport[] {
  return reports.filter((report) => (report.atMost !== undefined || report.atLeast !== undefined) && !isHeld(report))
}
