import { expect, test } from 'vitest'
import { UserCode } from '../base/user-code.ts'
import { entity } from '../schema/definition.ts'
import { u8 } from '../schema/field-kinds.ts'
import type { Handle } from '../world/handle.ts'
import { World } from '../world/world.ts'
import { ViewEvents } from './view-events.ts'

const Lamp = entity({ hue: u8 }, { name: 'Lamp' })
const Wall = entity({ hue: u8 }, { name: 'Wall' })

function stage(): { world: World; events: ViewEvents; calls: string[]; faults: string[] } {
  const world = new World([Lamp, Wall])
  const faults: string[] = []
  const events = new ViewEvents(world, new UserCode(({ callback }) => faults.push(callback)))
  const calls: string[] = []
  for (const name of ['spawn', 'change', 'despawn'] as const)
    events.on(name, 0, (({ hue }: { hue: number }) => calls.push(`${name} ${hue}`)) as never)
  return { world, events, calls, faults }
}

test('an object that enters, changes and leaves is reported, each time once', () => {
  const { world, events, calls } = stage()
  world.beginTick()
  const lamp = world.spawn(Lamp, { hue: 1 })
  const wall = world.spawn(Wall, { hue: 5 })
  for (const handle of [lamp, wall]) events.handleShown(handle as unknown as Handle)
  events.handleDrawn()
  lamp.hue = 2
  wall.hue = 6
  events.handleDrawn()
  events.handleDrawn()
  events.handleHidden(lamp as unknown as Handle)
  expect(calls).toEqual(['spawn 1', 'change 2', 'despawn 2'])
})

test('another world despawns the objects of the first and spawns its own', () => {
  const { world, events, calls } = stage()
  const next = new World([Lamp, Wall])
  world.beginTick()
  next.beginTick()
  world.spawn(Lamp, { hue: 1 })
  next.spawn(Lamp, { hue: 7 })
  events.show(next)
  expect(calls).toEqual(['despawn 1', 'spawn 7'])
  expect(events.world).toBe(next)
})

test('[GUARD1] a listener that throws is reported, and the others are called; a removed one is not', () => {
  const { world, events, calls, faults } = stage()
  const remove = events.on('spawn', 0, (() => { throw new Error('mine') }) as never)
  events.on('spawn', 0, (() => calls.push('last')) as never)
  world.beginTick()
  const lamp = world.spawn(Lamp, { hue: 3 }) as unknown as Handle
  events.handleShown(lamp)
  remove()
  events.handleShown(lamp)
  expect(calls).toEqual(['spawn 3', 'last', 'spawn 3', 'last'])
  expect(faults).toEqual(['view.on(spawn, Lamp)'])
})
