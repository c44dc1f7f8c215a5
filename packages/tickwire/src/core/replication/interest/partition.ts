/**
 * Contract: finds the objects near a place, without looking at all of them.
 *
 * A partition holds object indexes; the positions are in `Positions`, which all partitions share. A search may return
 * too many objects, never too few, and none twice; the caller measures the distance. So every partition leads to the
 * same answer, and only the costs differ. `move` is called for every object whose position changed, and does nothing
 * unless that changes the search.
 */

/** The position of every object: x, y, z, indexed by 3 * object index. Missing coordinates are 0. */
export interface Positions {
  readonly xyz: Float64Array
}

export interface Partition {
  /** Filled by `search`. */
  readonly found: Uint32Array
  /** How many objects it holds. */
  readonly size: number
  /** How often an object was relinked because it moved. */
  readonly moves: number
  insert(index: number): void
  move(index: number): void
  remove(index: number): void
  /**
   * Puts every object that may be within reach of the place at `points[at]` (x, y, z) into `found`; returns their
   * number.
   */
  search(points: Float64Array, at: number): number
}

/**
 * Tolerance as a fraction of a distance. Measured distances are rounded, and a search must not miss an object by that.
 */
export const SEARCH_SLACK = 1e-6
/** The same tolerance for coordinates, which may be far larger than the distance. */
export const COORDINATE_SLACK = 1e-15
