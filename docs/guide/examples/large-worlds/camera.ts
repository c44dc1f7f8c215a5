import type { View } from 'tickwire'
import { mirror } from 'tickwire/ecs'
import { Animal, Player } from './game.ts'

/** As a renderer has it: a place in 32-bit floats. */
export interface Sprite {
  readonly place: Float32Array
}

// #region camera
const camera = { x: 0, y: 0 }
export const animals = mirror(Animal, {
  add: (): Sprite => ({ place: new Float32Array(2) }),
  write({ place }, { at }) {
    // A difference of doubles is exact enough everywhere. Near the camera it is small, so that a float holds it too.
    place[0] = at.x - camera.x
    place[1] = at.y - camera.y
  },
  remove: () => {},
})

export function draw(view: View, own: number): void {
  for (const { at, owner } of view.each(Player)) if (owner === own) Object.assign(camera, { x: at.x, y: at.y })
  animals.update(view)
}
// #endregion
