/**
 * The viewpoints of one client: a short list of x, y, z that is refilled every tick.
 */

import { VIEWPOINTS_MAX } from '../../base/limits.ts'

/** What a host may do when it gives the viewpoints of a client. */
export interface ViewpointList {
  /** Adds a viewpoint; those after the 64th are ignored. */
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

  /** The same as `add`, from an array. @hot */
  addFrom(xyz: Float64Array, from: number): void {
    if (this.count === VIEWPOINTS_MAX) return
    const at = 3 * this.count++
    for (let axis = 0; axis < 3; axis++) this.xyz[at + axis] = xyz[from + axis]
  }
}
