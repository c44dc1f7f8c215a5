/**
 * Objects to look at and to shoot at: a read-only world and the hitboxes of its entities.
 *
 * The authority gets one from `Rewinder`, as a shooter saw it. A client that predicts its own shots makes one from its
 * view, `new Past(view, hitboxes)`: it aims at what it draws.
 *
 * A cast tests every object of every entity that has hitboxes. The nearest hit counts; at equal distances the entity
 * that is first in `hitboxes`, then the lowest id. Nothing is allocated: the same `Hit` is returned each time.
 */

import { sin, cos } from '../base/math.ts'
import { conjugate, rotate, type Xyzw } from '../base/quaternion.ts'
import type { ObjectId } from '../base/time.ts'
import type { Xyz } from '../base/vector.ts'
import type { Entity } from '../schema/definition.ts'
import type { Handle, ObjectView } from '../world/handle.ts'
import type { Cast, Hit, PastView } from '../world/past-view.ts'
import type { World } from '../world/world.ts'
import { planHitbox, type HitboxPlan, type Hitboxes } from './hitbox.ts'
import { RAY, rayBox, rayCapsule, raySphere, sweepBox } from './ray.ts'

const ray = RAY
const quat: Xyzw = { x: 0, y: 0, z: 0, w: 1 }
const point: Xyz = { x: 0, y: 0, z: 0 }
const heading: Xyz = { x: 0, y: 0, z: 0 }

type Writable<T> = { -readonly [K in keyof T]: T[K] }

export class Past implements PastView {
  readonly #world: World
  readonly #targets: readonly {
    readonly entity: Entity
    readonly type: number
    readonly boxes: readonly HitboxPlan[]
  }[]
  readonly #hit: Writable<Hit> | undefined
  /** Origin and unit direction of the cast, its reach, the radius. */
  readonly #cast = new Float64Array(8)

  constructor(world: World, hitboxes: Hitboxes) {
    this.#world = world
    this.#targets = hitboxes.map(([entity, boxes]) => {
      const { type, schema } = world.storeOf(entity)
      return { entity, type, boxes: boxes.map((hitbox) => planHitbox(schema, hitbox)) }
    })
    const entity = hitboxes[0]?.[0]
    this.#hit = entity && { entity, id: 0, part: '', distance: 0, x: 0, y: 0, z: 0 }
  }

  each<E extends Entity>(entity: E): Iterable<ObjectView<E>> {
    return this.#world.each(entity) as Iterable<unknown> as Iterable<ObjectView<E>>
  }

  get<E extends Entity>(entity: E, id: ObjectId | null): ObjectView<E> | null {
    return this.#world.get(entity, id) as unknown as ObjectView<E> | null
  }

  cast(cast: Cast): Hit | null {
    const hit = this.#hit
    if (hit === undefined || !this.#aim(cast)) return null
    hit.distance = Infinity
    for (const target of this.#targets) {
      const handles = this.#world.stores[target.type].living()
      for (let index = 0; index < handles.length; index++) {
        const handle = handles[index]
        if (cast.ignore !== undefined && handle.owner === cast.ignore) continue
        for (let number = 0; number < target.boxes.length; number++) {
          const distance = this.#meet(handle, target.boxes[number])
          if (distance > this.#cast[6] || distance >= hit.distance) continue
          hit.entity = target.entity
          hit.id = handle.id
          hit.part = target.boxes[number].name
          hit.distance = distance
        }
      }
    }
    if (hit.distance === Infinity) return null
    hit.x = this.#cast[0] + this.#cast[3] * hit.distance
    hit.y = this.#cast[1] + this.#cast[4] * hit.distance
    hit.z = this.#cast[2] + this.#cast[5] * hit.distance
    return hit
  }

  /** Stores the numbers of a cast. Returns false when its direction is not usable. */
  #aim({ from, direction, reach = Infinity, radius = 0 }: Cast): boolean {
    const z = direction.z ?? 0
    const size = Math.sqrt(direction.x * direction.x + direction.y * direction.y + z * z)
    if (!(size > 0 && size < Infinity)) return false
    const cast = this.#cast
    cast[0] = from.x
    cast[1] = from.y
    cast[2] = from.z ?? 0
    cast[3] = direction.x / size
    cast[4] = direction.y / size
    cast[5] = z / size
    cast[6] = reach
    cast[7] = radius
    return true
  }

  /** The distance at which the cast meets a hitbox of an object; Infinity when it does not. @hot */
  #meet(handle: Handle, plan: HitboxPlan): number {
    const cast = this.#cast
    const radius = cast[7]
    const { cells, size, offset, reach } = plan
    const at = handle.$cells
    point.x = cast[0] - at[cells[0]]
    point.y = cast[1] - (cells[1] < 0 ? 0 : at[cells[1]])
    point.z = cast[2] - (cells[2] < 0 ? 0 : at[cells[2]])
    heading.x = cast[3]
    heading.y = cast[4]
    heading.z = cast[5]
    // Most objects are nowhere near: tests a bounding sphere first.
    const away = point.x * point.x + point.y * point.y + point.z * point.z
    const along = point.x * heading.x + point.y * heading.y + point.z * heading.z
    if (
      away - along * along > (reach + radius) * (reach + radius)
      || (along > 0 && away > (reach + radius) * (reach + radius))
    )
      return Infinity
    if (plan.turnCell >= 0) turnBack(plan, at)
    ray[0] = point.x - offset.x
    ray[1] = point.y - offset.y
    ray[2] = point.z - offset.z
    ray[3] = heading.x
    ray[4] = heading.y
    ray[5] = heading.z
    if (plan.kind === 'sphere') return raySphere(size[0] + radius)
    if (plan.kind === 'capsule') return rayCapsule(size[0], size[1] + radius)
    return radius > 0 ? sweepBox(size[0], size[1], size[2], radius) : rayBox(size[0], size[1], size[2])
  }
}

/** Rotates the ray into the hitbox's own frame, where the hitbox is aligned with the axes. */
function turnBack({ turnCell, isQuat, axis }: HitboxPlan, cells: Float64Array): void {
  if (isQuat) {
    quat.x = cells[turnCell]
    quat.y = cells[turnCell + 1]
    quat.z = cells[turnCell + 2]
    quat.w = cells[turnCell + 3]
    conjugate(quat, quat)
  } else {
    const s = sin(-cells[turnCell] / 2)
    quat.x = axis === 0 ? s : 0
    quat.y = axis === 1 ? s : 0
    quat.z = axis === 2 ? s : 0
    quat.w = cos(cells[turnCell] / 2)
  }
  rotate(quat, point, point)
  rotate(quat, heading, heading)
}
