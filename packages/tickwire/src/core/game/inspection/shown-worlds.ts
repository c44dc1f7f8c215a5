/** Worlds as values, and where two of them differ: what an inspector lays side by side. */

import type { ObjectId, PeerId } from '../../base/time.ts'
import { isLeafClose } from '../../schema/row-equality.ts'
import type { World } from '../../world/world.ts'
import { valuesOf } from '../mistake-text.ts'

export interface ShownObject {
  readonly entity: string
  readonly id: ObjectId
  readonly owner: PeerId
  readonly values: Readonly<Record<string, unknown>>
}

/** One field of an object that both worlds have, with both values. */
export interface ShownDifference {
  readonly entity: string
  readonly id: ObjectId
  readonly field: string
  readonly predicted: unknown
  readonly told: unknown
}

export function objectsOf(world: World): ShownObject[] {
  return world.stores.flatMap((store) => store.living().map((handle) => ({
    entity: store.schema.name, id: handle.id, owner: handle.owner,
    values: valuesOf(store.schema, store.rows, store.slotOf(handle) * store.schema.laneCount, world.heap),
  })))
}

/** What was predicted otherwise than it is: field by field, in the order of their definition, noise below a step aside. */
export function compareWorlds(predicted: World, truth: World): ShownDifference[] {
  const differences: ShownDifference[] = []
  for (const store of predicted.stores) {
    const { schema, type } = store
    const other = truth.stores[type]
    for (const handle of store.living()) {
      const told = truth.atIndexOf(handle.id)
      if (told?.id !== handle.id || told.$store.type !== type) continue
      const at = store.slotOf(handle) * schema.laneCount
      const toldAt = other.slotOf(told) * schema.laneCount
      // What no client is told it cannot have predicted wrong.
      for (const { path, name, firstLeaf, leafCount } of schema.masks[2].members) {
        const leaves = schema.leaves.slice(firstLeaf, firstLeaf + leafCount)
        if (leaves.every((leaf) => isLeafClose(leaf, store.rows, at, other.rows, toldAt))) continue
        const values = valuesOf(schema, store.rows, at, predicted.heap)
        const toldValues = valuesOf(schema, other.rows, toldAt, truth.heap)
        differences.push({ entity: schema.name, id: handle.id, field: path, predicted: values[name], told: toldValues[name] })
      }
    }
  }
  return differences
}
