/** Makes one world equal to another that shares its texts and lists. Objects keep their handles. */

import { SaveSlots } from './save-slots.ts'
import type { World } from './world.ts'

export function copyWorld(from: World, to: World): void {
  const slots = new SaveSlots(from, 1)
  slots.save(0)
  slots.loadInto(0, to)
  from.dropValuesOf(slots)
}
