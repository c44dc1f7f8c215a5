/**
 * The smallest and the largest number that each leaf of each entity had in a match: a basis for tighter declarations.
 */

import type { Entity } from '../schema/definition.ts'
import type { World } from '../world/world.ts'

export class FieldRanges {
  readonly entities: readonly Entity[]
  /** Indexed by type, then by cell. */
  readonly min: readonly Float64Array[]
  readonly max: readonly Float64Array[]

  constructor(entities: readonly Entity[]) {
    this.entities = entities
    this.min = entities.map(({ schema }) => schema.initialCells.slice())
    this.max = entities.map(({ schema }) => schema.initialCells.slice())
  }

  /** Adds all objects of a world. */
  add(world: World): void {
    for (const store of world.stores) {
      const { cellCount } = store.schema
      const [min, max] = [this.min[store.type], this.max[store.type]]
      for (const handle of store.living()) {
        const at = store.slotOf(handle) * cellCount
        for (let cell = 0; cell < cellCount; cell++) {
          const value = store.cells[at + cell]
          if (value < min[cell]) min[cell] = value
          if (value > max[cell]) max[cell] = value
        }
      }
    }
  }
}
