/** Worlds as plain values, and the differences between two worlds. The inspector shows them side by side. */

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

/** One field that differs in an object that both worlds have. */
export interface ShownDifference {
  readonly entity: string
  readonly id: ObjectId
  readonly field: string
  readonly predicted: unknown
  readonly received: unknown
}

export function objectsOf(world: World): ShownObject[] {
  return world.stores.flatMap((store) => store.living().map((handle) => ({
    entity: store.schema.name, id: handle.id, owner: handle.owner,
    values: valuesOf(store.schema, store.rows, store.slotOf(handle) * store.schema.laneCount, world.heap),
  })))
}

/** The mispredicted fields, in the order of their definition. Differences within a field's tolerance are ignored. */
export function compareWorlds(predicted: World, truth: World): ShownDifference[] {
  const differences: ShownDifference[] = []
  for (const store of predicted.stores) {
    const { schema, type } = store
    const other = truth.stores[type]
    for (const handle of store.living()) {
      const received = truth.atIndexOf(handle.id)
      if (received?.id !== handle.id || received.$store.type !== type) continue
      const at = store.slotOf(handle) * schema.laneCount
      const receivedAt = other.slotOf(received) * schema.laneCount
      // Only fields that are sent to clients: a client cannot mispredict the others.
      for (const { path, name, firstLeaf, leafCount } of schema.masks[2].members) {
        const leaves = schema.leaves.slice(firstLeaf, firstLeaf + leafCount)
        if (leaves.every((leaf) => isLeafClose(leaf, store.rows, at, other.rows, receivedAt))) continue
        const values = valuesOf(schema, store.rows, at, predicted.heap)
        const receivedValues = valuesOf(schema, other.rows, receivedAt, truth.heap)
        differences.push({
          entity: schema.name,
          id: handle.id,
          field: path,
          predicted: values[name],
          received: receivedValues[name],
        })
      }
    }
  }
  return differences
}
