import { expect, test } from 'vitest'
import { UserCode } from '../base/user-code.ts'
import { entity, message } from '../schema/definition.ts'
import { u8 } from '../schema/field-kinds.ts'
import { World } from '../world/world.ts'
import type { StepEvent } from './event-codec.ts'
import { StepEvents } from './step-events.ts'

const Rock = entity({ size: u8 }, { name: 'Rock' })
const Crack = message({ force: u8 }, 'Crack')
const Other = message({ force: u8 }, 'Other')

function stage(): { world: World; events: StepEvents; delivered: number[]; sent: StepEvent[] } {
  const world = new World([Rock])
  const delivered: number[] = []
  const sent: StepEvent[] = []
  const events = new StepEvents([Crack] as never, () => world, new UserCode(), (event) => sent.push(event))
  events.on(Crack, ({ force }) => delivered.push(force))
  world.listener = events
  return { world, events, delivered, sent }
}

/** Steps the current tick: each force is emitted by a rock that existed before. */
function step({ world, events }: ReturnType<typeof stage>, ...forces: number[]): void {
  events.begin()
  const [rock] = world.each(Rock)
  for (const force of forces) world.emit(rock!, Crack, { force })
}

test('an event is delivered once, however often its tick is stepped', () => {
  const all = stage()
  all.world.beginTick()
  all.world.spawn(Rock, {})
  step(all, 1, 2)
  step(all, 1, 2)
  expect(all.delivered).toEqual([1, 2])
  expect(all.sent.map(({ ordinal }) => ordinal)).toEqual([0, 1])
  all.world.endTick()
  all.world.beginTick()
  step(all, 3)
  expect(all.delivered).toEqual([1, 2, 3])
})

test('a received event that was predicted here is not delivered again; another one is', () => {
  const all = stage()
  all.world.beginTick()
  all.world.spawn(Rock, {})
  step(all, 1)
  const [event] = all.sent as [StepEvent]
  all.events.handleReceived({ ...event, object: event.object + 1 })
  expect(all.delivered, 'the same birth, under the id of the authority').toEqual([1])
  all.events.handleReceived({ ...event, ordinal: 1, values: { force: 9 } })
  all.events.handleReceived({ ...event, ordinal: 1, values: { force: 9 } })
  expect(all.delivered).toEqual([1, 9])
})

test('muted events reach no listener; a removed listener is not called; an unknown message throws', () => {
  const all = stage()
  all.world.beginTick()
  const rock = all.world.spawn(Rock, {})
  all.events.isMuted = true
  step(all, 1)
  expect([all.delivered, all.sent]).toEqual([[], []])
  all.events.isMuted = false
  const second: number[] = []
  const remove = all.events.on(Crack, ({ force }) => second.push(force))
  step(all, 1)
  remove()
  step(all, 1, 2)
  expect([all.delivered, second]).toEqual([[1, 2], [1]])
  expect(() => all.world.emit(rock, Other, { force: 1 })).toThrow('Other: not a message of this game')
})
