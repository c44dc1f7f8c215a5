/**
 * Casts rays and spheres against the hitboxes of a world's objects.
 *
 * A cast tests every object of every entity that has hitboxes. The nearest hit counts; at equal distances the entity
 * that is first in `hitboxes`, then the lowest id. Nothing is allocated: the same `Hit` is returned each time.
 */

import { ConfigError } from '../base/assert.ts'
import { sin, cos } from '../base/math.ts'
import { conjugate, rotate, type Xyzw } from '../base/quaternion.ts'
import type { Xyz } from '../base/vector.ts'
import type { Entity } from '../schema/definition.ts'
import type { Member } from '../schema/layout.ts'
import type { Schema } from '../schema/schema.ts'
import type { Handle } from '../world/handle.ts'
import type { Cast, Hit } from '../world/past-view.ts'
import type { World } from '../world/world.ts'
import type { Caster, Hitbox, Hitboxes } from './hitbox-shape.ts'
import { RAY, rayBox, rayCapsule, raySphere, sweepBox } from './ray.ts'

const ray = RAY
const quat: Xyzw = { x: 0, y: 0, z: 0, w: 1 }
const point: Xyz = { x: 0, y: 0, z: 0 }
const heading: Xyz = { x: 0, y: 0, z: 0 }

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** A hitbox, resolved to cells of its entity. */
interface HitboxPlan {
  readonly name: string
  readonly kind: Hitbox['kind']
  readonly size: readonly [number, number, number]
  /** The largest distance of any of its points from the position field. */
  readonly reach: number
  readonly offset: Readonly<Xyz>
  /** Cells of x, y, z; -1: none, and the coordinate is 0. */
  readonly cells: readonly [number, number, number]
  /** The first cell of its turn field; -1: none. */
  readonly turnCell: number
  readonly isQuat: boolean
  readonly axis: 0 | 1 | 2
}

/** Creates the caster of a world. Throws a ConfigError that names the entity and the fix. */
export function createCaster(world: World, hitboxes: Hitboxes): Caster {
  return new HitboxCaster(world, hitboxes)
}

class HitboxCaster implements Caster {
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

/** Plans a hitbox. Throws a ConfigError that names the entity and the fix. */
function planHitbox(schema: Schema, hitbox: Hitbox): HitboxPlan {
  const { kind, size, name = 'body', offset = { x: 0, y: 0, z: 0 } } = hitbox
  const path = `${schema.name} hitbox ${name}`
  if (!size.every((each) => each >= 0) || !(size[0] > 0))
    throw new ConfigError(
      path,
      `invalid size of a ${kind} (expected above 0, got ${size.join(', ')})`,
      'give sizes above 0.',
    )
  const at = positionOf(schema, path, hitbox.at)
  const cells = at.map((member) => schema.leaves[member].cell)
  const turn = hitbox.turn === undefined ? undefined : schema.members.find((member) => member.name === hitbox.turn)
  const turnKind = turn?.field.spec.kind
  if (hitbox.turn !== undefined && turnKind !== 'angle' && turnKind !== 'quat') {
    throw new ConfigError(
      path,
      `turn "${hitbox.turn}" is not an angle or a rotation of ${schema.name}`,
      'name a field made with angle() or quat().',
    )
  }
  const axis = hitbox.axis ?? (cells.length === 2 ? 'z' : 'y')
  const far = kind === 'box' ? Math.sqrt(size[0] * size[0] + size[1] * size[1] + size[2] * size[2]) : size[0] + size[1]
  return {
    name, kind, size, offset,
    reach: far + Math.sqrt(offset.x * offset.x + offset.y * offset.y + offset.z * offset.z),
    cells: [cells[0], cells[1] ?? -1, cells[2] ?? -1],
    turnCell: turn === undefined ? -1 : schema.leaves[turn.firstLeaf].cell,
    isQuat: turnKind === 'quat',
    axis: axis === 'x' ? 0 : axis === 'y' ? 1 : 2,
  }
}

/** The leaves of the position of a hitbox. */
function positionOf({ members, name }: Schema, path: string, at: string | undefined): readonly number[] {
  const isIt = (member: Member): boolean =>
    at === undefined ? member.field.options.role === 'position' : member.name === at
  const found = members.filter(isIt)
  if (found.length === 1 && found[0].leafCount > 1)
    return Array.from({ length: Math.min(found[0].leafCount, 3) }, (_, leaf) => found[0].firstLeaf + leaf)
  // Two or three single numbers, each marked `position`, are a position too.
  if (at === undefined && found.length >= 2 && found.length <= 3 && found.every(({ leafCount }) => leafCount === 1))
    return found.map(({ firstLeaf }) => firstLeaf)
  throw new ConfigError(
    path,
    at === undefined ? `${name} has no field marked position` : `"${at}" is not a vector of ${name}`,
    "name the vec2 or vec3 of its position: { at: 'position' }.",
  )
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
