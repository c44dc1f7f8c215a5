/**
 * Source maps: from a line and column of a bundle to the line of the file that it was made from.
 *
 * `mappings` is text: lines end with `;`, segments with `,`. A segment has numbers in base 64 with five bits a digit,
 * lowest group first, the sixth bit "more follow", the lowest bit the sign: column of the bundle, file, line, column of
 * the file. All but the first go on from the segment before, and the first from the one before in its line.
 */

import type { CodeSite } from './code-site.ts'

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** The place in the source of a place in a bundle. Undefined: the map does not have it. */
export function placeInSource(map: string, line: number, column: number): CodeSite | undefined {
  const { sources, mappings } = parsed(map)
  if (sources === undefined || mappings === undefined) return undefined
  const state = [0, 0, 0, 0]
  let found: number[] | undefined
  const lines = mappings.split(';')
  for (let at = 0; at < lines.length && at < line; at++) {
    state[0] = 0
    for (const segment of lines[at].split(',')) {
      const steps = readNumbers(segment)
      if (steps === undefined) return undefined
      steps.slice(0, 4).forEach((step, part) => { state[part] += step })
      if (at === line - 1 && steps.length >= 4 && state[0] <= column - 1) found = [...state]
    }
  }
  if (found === undefined) return undefined
  const [, source, sourceLine, sourceColumn] = found
  const file = sources[source]
  return file === undefined ? undefined : { file, line: sourceLine + 1, column: sourceColumn + 1 }
}

function parsed(map: string): { sources?: string[]; mappings?: string } {
  try {
    const { sources, mappings } = JSON.parse(map) as Record<string, unknown>
    return Array.isArray(sources) && typeof mappings === 'string' ? { sources: sources.map(String), mappings } : {}
  } catch {
    // reason: the file may be anything
    return {}
  }
}

/** The numbers of a segment. Undefined: it is invalid. */
function readNumbers(segment: string): number[] | undefined {
  const numbers: number[] = []
  let [value, shift] = [0, 0]
  for (const character of segment) {
    const digit = DIGITS.indexOf(character)
    if (digit < 0 || shift > 30) return undefined
    value |= (digit & 31) << shift
    shift += 5
    if (digit >= 32) continue
    numbers.push(value & 1 ? -(value >>> 1) : value >>> 1)
    value = 0
    shift = 0
  }
  return numbers
}
