/**
 * An authority whose rows a test gives to a view by hand, and two entities with every kind of field that blends or
 * moves.
 */

import { Interpolator, type InterpolatorOptions } from '../../packages/tickwire/src/core/interpolate/interpolator.ts'
import { entity, type Entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import {
  angle, bool, fixed, group, int, quat, text, u8, vec2, vec3,
} from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import type { ObjectOf, ObjectView } from '../../packages/tickwire/src/core/world/handle.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'

export const Ship = entity(
  {
    at: vec2(-1000, 1000, 0.001).position(),
    speed: vec2(-200, 200, 0.001).velocity(),
    push: vec2(-50, 50, 0.001).acceleration(),
    yaw: angle(20),
    turning: fixed(-10, 10, 0.001).angularVelocity('yaw'),
    hull: int(0, 100),
    name: text(20),
    shield: group({ strength: u8.linear(), lit: bool }),
  },
  { name: 'Ship' },
)
export const Rock = entity(
  { place: vec3(-100, 100, 0.01), spin: quat(), rate: vec3(-10, 10, 0.001).angularVelocity('spin') },
  { name: 'Rock' },
)
export const RATE = 100

/** An authority whose rows a test gives to a view by hand. */
export class Stage<E extends Entity> {
  readonly entity: E
  readonly world: World
  readonly view: World
  readonly received: Timeline
  readonly interpolator: Interpolator
  readonly shown: string[] = []

  constructor(of: E, options: Partial<InterpolatorOptions> = {}) {
    this.entity = of
    this.view = new World([of], { isReadOnly: true })
    // Rows of one world are used in another, so both share one heap of texts.
    this.world = new World([of], { sharing: this.view })
    this.received = new Timeline(this.view, RATE)
    this.interpolator = new Interpolator(this.view, this.received, {
      tickRate: RATE, ...options,
      onShown: ({ id }) => this.shown.push(`+${id >>> 16}`), onHidden: ({ id }) => this.shown.push(`-${id >>> 16}`),
    })
  }

  /** Gives the view an object as it is, as of a tick. */
  receive(object: ObjectOf<E>, tick: number, isNew: boolean = this.received.changedAt(object.id) === -1): void {
    this.world.sample()
    const [store] = this.world.stores
    const handle = this.world.atIndexOf(object.id)!
    this.received.put(tick, 0, object.id, object.owner, store!.rows, store!.rowAt(handle))
    if (isNew) this.interpolator.enter(0, object.id, tick)
  }

  draw(renderTick: number, seconds: number = 0.01): void {
    this.interpolator.smoother.begin(seconds)
    this.interpolator.draw(renderTick)
  }

  see(id: number): ObjectView<E> | null {
    return this.view.get(this.entity, id) as unknown as ObjectView<E> | null
  }
}
