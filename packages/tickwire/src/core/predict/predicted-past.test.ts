import { expect, test } from 'vitest'
import { entity } from '../schema/definition.ts'
import { fixed, text } from '../schema/field-kinds.ts'
import { World } from '../world/world.ts'
import { ownedLanesOf } from './owned-lanes.ts'
import { PredictedPast } from './predicted-past.ts'
import { digestOfWorld } from './truth.ts'

const Ball = entity({ x: fixed(0, 100, 1), label: text(8) }, { name: 'Ball' })
const Brick = entity({ y: fixed(0, 100, 1) }, { name: 'Brick' })
const WINDOW = 8

function play(world: World): void {
  world.beginTick()
  for (const ball of world.each(Ball)) ball.x += 1
  world.endTick()
}

test('[PRED3, PRED4] the saved prediction of a tick is the state that the world had then', () => {
  const world = new World([Ball, Brick])
  const past = new PredictedPast(world, WINDOW)
  const lanes = ownedLanesOf(world, 60)
  const ball = world.spawn(Ball, { x: 10, label: 'one' }, 3)
  const brick = world.spawn(Brick, { y: 5 })
  const digests = new Map<number, number>()
  for (let tick = 1; tick <= 12; tick++) {
    play(world)
    if (tick === 9) world.despawn(brick)
    past.save()
    digests.set(tick, digestOfWorld(world, lanes))
  }
  const xAt = (tick: number): number => past.rows(0, tick)[past.find(0, ball.id, tick)]!
  expect([4, 5, 12, 13].map((tick) => past.has(tick))).toEqual([false, true, true, false])
  expect([5, 8, 12].map(xAt)).toEqual([15, 18, 22])
  expect([
    past.find(0, ball.id, 4),
    past.find(1, ball.id, 8),
    past.find(0, ball.id + 1, 8),
    past.owner(0, ball.id, 8),
    past.owner(0, ball.id, 4),
  ]).toEqual([-1, -1, -1, 3, -1])
  expect([8, 9].map((tick) => past.find(1, brick.id, tick) >= 0)).toEqual([true, false])
  expect([5, 8, 9, 12].map((tick) => past.digest(tick, lanes))).toEqual([5, 8, 9, 12].map((tick) => digests.get(tick)))
  const seen: unknown[] = []
  past.forEach(8, (type, id, owner, rows, at) => seen.push([type, id, owner, rows[at]]))
  expect(seen).toEqual([[0, ball.id, 3, 18], [1, brick.id, 0, 5]])
})

test('[PRED3] a rollback forgets all later ticks, although their rows are still stored until overwritten', () => {
  const world = new World([Ball, Brick])
  const past = new PredictedPast(world, WINDOW)
  const lanes = ownedLanesOf(world, 60)
  const ball = world.spawn(Ball, { x: 10 })
  for (let tick = 1; tick <= 6; tick++) {
    play(world)
    past.save()
  }
  const before = past.digest(4, lanes)
  past.load(3)
  expect([
    world.tick,
    ball.x,
    world.stores[0]!.rows[world.objects.slotAt(0) * world.stores[0]!.schema.laneCount],
  ]).toEqual([3, 13, 13])
  ball.x = 50
  world.sample()
  past.save()
  expect([3, 4, 6].map((tick) => past.has(tick))).toEqual([true, false, false])
  expect(past.find(0, ball.id, 4)).toBe(-1)
  play(world)
  past.save()
  expect(past.rows(0, 4)[past.find(0, ball.id, 4)]).toBe(51)
  expect(past.digest(4, lanes)).not.toBe(before)
  past.clear()
  expect([past.newest, past.has(4)]).toEqual([-1, false])
})
