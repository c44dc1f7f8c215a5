/**
 * Marks: named places and moments that a swarm must have passed, or it has proven nothing about them.
 *
 * Most are conditions at a line of the engine: a mark is inserted before that line, in the bundle that `npm run sim`
 * runs, and nowhere else. Published code has none, not even an empty call. Some are observed from outside, where two
 * parts meet that do not know each other; the worlds report those by `passMark`.
 */

import type { SourcePatch } from '../../tools/sim-bundle.ts'
import { BYTE_MARKS } from './marks-bytes.ts'
import { LOCKSTEP_MARKS } from './marks-lockstep.ts'
import { SERVICE_MARKS } from './marks-services.ts'
import { STATE_MARKS } from './marks-state.ts'

/** A name, the line it stands before, and the condition under which it counts. */
export type Mark = readonly [name: string, line: string, when: string]
/** Marks of one file of the engine. */
export type MarkedFile = readonly [file: string, marks: readonly Mark[]]

/** Observed from outside. */
export const SEEN_MARKS = [
  'keys are replaced while a large message is incomplete',
  'a path moves while a large message is incomplete',
  'the authority dies while a large message is incomplete',
  'a connection ends while a large message is incomplete',
  'a player resumes a seat',
  'a player joins an authority that restarted meanwhile',
  'a client crashes in the middle of a match',
  'a player is disconnected by the server',
  'tables are retrained',
  'a player leaves while it writes a shared object',
  'an attacker is thrown out',
  'an attacker stays to the end',
  'a match of more than twenty clients',
  'a match with real cryptography',
  'a server stalls again and again',
  'clients stall again and again',
  'a server stalls on clean lines',
  'every client is current at the first check in the calm',
  'a client has to join again in the calm',
] as const
export type SeenMark = (typeof SEEN_MARKS)[number]

const FILES: readonly MarkedFile[] = [...BYTE_MARKS, ...STATE_MARKS, ...LOCKSTEP_MARKS, ...SERVICE_MARKS]

/** All names: those in the engine, then those that are observed from outside. */
export const MARK_NAMES: readonly string[] = [
  ...FILES.flatMap(([, marks]) => marks.map(([name]) => name)),
  ...SEEN_MARKS,
]

/** Where a bundle keeps its counts. */
export const MARKS_GLOBAL = '__tickwireMarks'

/** The patches that put the marks into the engine. */
export const MARK_PATCHES: readonly SourcePatch[] = FILES.flatMap(([file, marks]) =>
  marks.map(([name, line, when]) => ({
    file,
    find: line,
    replace: `;(${when}) && ${MARKS_GLOBAL}[${MARK_NAMES.indexOf(name)}]++;${line}`,
  })),
)

const counts: Float64Array =
  ((globalThis as Record<string, unknown>)[MARKS_GLOBAL] as Float64Array | undefined)
  ?? new Float64Array(MARK_NAMES.length)

/** A mark was observed. */
export function passMark(name: SeenMark): void {
  counts[MARK_NAMES.indexOf(name)]!++
}

/** How often each was passed, in this process. */
export function marksHit(): Readonly<Record<string, number>> {
  return Object.fromEntries(MARK_NAMES.map((name, at) => [name, counts[at] ?? 0]))
}
