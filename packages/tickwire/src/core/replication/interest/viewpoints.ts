/** The places one client looks from: a short list of x, y, z that is filled anew every tick. */

import { VIEWPOINTS_MAX } from '../../base/limits.ts'

/** What a host that says where a client looks from may do. */
export interface ViewpointList {
  /** Adds a place; those after the 64th are left out. */
  add(x: number, y: number, z?: number): void
}

export class Viewpoints implements ViewpointList {
  readonly xyz: Float64Array = new Float64Array(3 * VIEWPOINTS_MAX)
  count = 0

  add(x: number, y: number, z = 0): void {
    if (this.count === VIEWPOINTS_MAX) return
    const at = 3 * this.count++
    this.xyz[at] = x
    this.xyz[at + 1] = y
    this.xyz[at + 2] = z
  }

  /** As `add`, from an array. @hot */
  addFrom(xyz: Float64Array, from: number): void {
    if (this.count === VIEWPOINTS_MAX) return
    const at = 3 * this.count++
    for (let axis = 0; axis < 3; axis++) this.xyz[at + axis] = xyz[from + axis]
  }
}
