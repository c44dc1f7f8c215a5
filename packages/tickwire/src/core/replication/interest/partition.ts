/**
 * Contract: who of many is near a place, without looking at everybody.
 *
 * A partition holds object indexes; where they are stands in `Positions`, which it shares with everybody. A search may give
 * too many, never too few, and no one twice; who is really near is for the asker to measure. So every partition gives the
 * same answer, and only costs differ. `move` is called for everyone whose position changed, and does nothing while that
 * changes nothing for the search.
 */

/** Where every object is: x, y, z by object index. Those without one, or with fewer numbers, have zeros. */
export interface Positions {
  readonly xyz: Float64Array
}

export interface Partition {
  /** Filled by `search`. */
  readonly found: Uint32Array
  /** How many objects it holds. */
  readonly size: number
  /** How often an object had to be put elsewhere because it moved. */
  readonly moves: number
  insert(index: number): void
  move(index: number): void
  remove(index: number): void
  /** Puts everyone who may be within reach of the place at `points[at]` (x, y, z) into `found`; returns how many. */
  search(points: Float64Array, at: number): number
}

/** Whatever is less than this part of a distance away from a border counts as inside: measuring rounds, a search must not. */
export const SEARCH_SLACK = 1e-6
/** The same for coordinates, which may be far larger than the distance. */
export const COORDINATE_SLACK = 1e-15
