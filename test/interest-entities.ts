/** The entities of the interest tests, one for each kind of rule, and a tick of their world. */

import { entity, type Entity } from '../packages/tickwire/src/core/schema/definition.ts'
import { bool, u8, vec2, vec3 } from '../packages/tickwire/src/core/schema/field-kinds.ts'
import { anyOf, near, owner, team, where } from '../packages/tickwire/src/core/schema/interest.ts'
import type { World } from '../packages/tickwire/src/core/world/world.ts'

export const at = vec3(-1000, 1000, 0.01).position()
export const Npc = entity({ at }, { name: 'Npc', interest: near(30) })
export const Bird = entity(
  { at, high: bool },
  { name: 'Bird', interest: near(80, { leave: 120, where: (viewer, bird) => bird.high || viewer.peer === 2 }) },
)
export const Coin = entity(
  { at: vec2(-1000, 1000, 0.01).position() },
  { name: 'Coin', interest: near(30, { leave: 33 }), priority: 0.5 },
)
export const Clock = entity({ time: u8 }, { name: 'Clock', priority: 3 })
export const Purse = entity({ gold: u8 }, { name: 'Purse', interest: owner })
export const Banner = entity({ at }, { name: 'Banner', interest: team })
export const Scout = entity(
  { at, hp: u8 },
  { name: 'Scout', interest: anyOf(team, near(20), near(50, { where: (viewer) => viewer.own(Clock) !== null })) },
)
export const Ghost = entity(
  { at, for: u8 },
  {
    name: 'Ghost',
    interest: where((viewer, ghost) => ghost.for === viewer.peer || Math.abs(ghost.at.x - viewer.x) < 3),
  },
)
export const ENTITIES: readonly Entity[] = [Npc, Bird, Coin, Clock, Purse, Banner, Scout, Ghost]

/** Runs `step` as one tick of the world. */
export function tick(world: World, step: () => void = () => {}): void {
  world.beginTick()
  step()
  world.endTick()
}
