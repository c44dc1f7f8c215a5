/** What grows in a process: straight lines through samples, and samples of a process from outside. */

import { readdirSync, readFileSync } from 'node:fs'

/** A quantity over a time. */
export interface Growth {
  readonly first: number
  readonly last: number
  readonly slopePerHour: number
}

/** A sample: its time in ms, and the quantity. */
export type Point = readonly [at: number, value: number]

const HOUR_MS = 3_600_000
const PAGE_BYTES = 4096

export function growthOf(points: readonly Point[]): Growth {
  return {
    first: points[0]?.[1] ?? Number.NaN, last: points.at(-1)?.[1] ?? Number.NaN, slopePerHour: slope(points) * HOUR_MS,
  }
}

/** The slope of the straight line through points, by least squares. */
function slope(points: readonly Point[]): number {
  const mean = (index: 0 | 1): number => points.reduce((sum, point) => sum + point[index], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  const spread = points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
  return spread === 0 ? 0 : points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) / spread
}

/** The value below which a share of all values is. Sorts a copy. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? Number.NaN
}

/** Resident memory and open descriptors of a process. Undefined: it is gone, or this is not Linux. */
export function readProcess(pid: number): { readonly rssMiB: number; readonly descriptors: number } | undefined {
  try {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
    return { rssMiB: (pages * PAGE_BYTES) / 2 ** 20, descriptors: readdirSync(`/proc/${pid}/fd`).length }
  } catch {
    return undefined
  }
}
