/**
 * Marks: named places and moments that a swarm must have passed, or it has proven nothing about them.
 *
 * Most are conditions at a line of the engine: a mark stands before that line, in the bundle that `npm run sim` runs, and
 * nowhere else. What ships has none, not even an empty call. Some are seen from outside, where two parts meet that do not know
 * each other; the worlds pass those by `passMark`.
 */

import type { SourcePatch } from '../../tools/sim-bundle.ts'
import { BYTE_MARKS } from './marks-bytes.ts'
import { STATE_MARKS } from './marks-state.ts'

/** A name, the line it stands before, and when it counts. */
export type Mark = readonly [name: string, line: string, when: string]
/** Marks of one file of the engine. */
export type MarkedFile = readonly [file: string, marks: readonly Mark[]]

/** Seen from outside. */
export const SEEN_MARKS = [
  'keys are replaced while a large message is half here',
  'a path moves while a large message is half here',
  'the authority dies while a large message is half here',
  'a connection ends while a large message is half here',
  'a player comes back to his seat',
  'a player is let in by an authority that began anew while he asked',
  'a client crashes in the middle of a match',
  'a player is sent away',
  'tables are trained anew',
  'a player leaves while he writes something shared',
  'an attacker is thrown out',
  'an attacker stays to the end',
  'a match of more than twenty clients',
  'a match with real cryptography',
  'everybody is well at the first look once it is calm',
  'somebody has to come again once it is calm',
] as const
export type SeenMark = (typeof SEEN_MARKS)[number]

const FILES: readonly MarkedFile[] = [...BYTE_MARKS, ...STATE_MARKS]

/** All names: those in the engine, then those that are seen from outside. */
export const MARK_NAMES: readonly string[] = [...FILES.flatMap(([, marks]) => marks.map(([name]) => name)), ...SEEN_MARKS]

/** Where a bundle counts. */
export const MARKS_GLOBAL = '__tickwireMarks'

/** The patches that put the marks into the engine. */
export const MARK_PATCHES: readonly SourcePatch[] = FILES.flatMap(([file, marks]) => marks.map(([name, line, when]) => ({
  file, find: line, replace: `;(${when}) && ${MARKS_GLOBAL}[${MARK_NAMES.indexOf(name)}]++;${line}`,
})))

const counts: Float64Array = ((globalThis as Record<string, unknown>)[MARKS_GLOBAL] as Float64Array | undefined) ?? new Float64Array(MARK_NAMES.length)

/** Something was seen that has a mark. */
export function passMark(name: SeenMark): void {
  counts[MARK_NAMES.indexOf(name)]!++
}

/** How often each was passed, in this process. */
export function marksHit(): Readonly<Record<string, number>> {
  return Object.fromEntries(MARK_NAMES.map((name, at) => [name, counts[at] ?? 0]))
}
