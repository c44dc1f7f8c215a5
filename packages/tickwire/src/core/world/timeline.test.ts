import { describe, expect, test } from 'vitest'
import { form } from '../../../../../test/form.ts'
import { ReferenceTimeline, type RememberedRow } from '../../../../../test/reference/world-timeline.ts'
import { InvariantError } from '../base/assert.ts'
import { Prng } from '../base/prng.ts'
import { entity } from '../schema/definition.ts'
import { fixed, group, text, u8, vec2 } from '../schema/field-kinds.ts'
import { SaveSlots } from './save-slots.ts'
import { windowTicks } from './timeline-window.ts'
import { Timeline } from './timeline.ts'
import { World } from './world.ts'

const Ball = entity(
  { x: fixed(0, 100, 0.1), position: vec2(-8, 8, 0.5), label: text(20), shield: group({ hp: u8 }) },
  { name: 'Ball' },
)
const Brick = entity({ hits: u8 }, { name: 'Brick' })

/** Everything of a world as the twin remembers it. */
function remember(world: World): Map<number, RememberedRow> {
  const objects = new Map<number, RememberedRow>()
  for (const store of world.stores) {
    for (const handle of store.living()) {
      const at = store.rowAt(handle)
      objects.set(handle.id, {
        type: store.type,
        owner: handle.owner,
        row: [...store.rows.subarray(at, at + store.schema.laneCount)],
      })
    }
  }
  return objects
}

function found(timeline: Timeline, id: number, tick: number): RememberedRow | undefined {
  for (const [type, { laneCount }] of timeline.pools.entries()) {
    const at = timeline.find(type, id, tick)
    if (at >= 0)
      return {
        type,
        owner: timeline.owner(type, id, tick),
        row: [...timeline.pools[type]!.rows.subarray(at, at + laneCount)],
      }
  }
  return undefined
}

/** `expect` is too slow for millions of comparisons. */
function compare(actual: unknown, wanted: unknown, where: string): void {
  if (JSON.stringify(actual) !== JSON.stringify(wanted)) expect(actual, where).toEqual(wanted)
}

/** A random tick: births, deaths, moves, new owners, groups that appear and disappear. */
function randomStep(world: World, dice: Prng): void {
  for (const ball of world.each(Ball)) {
    if (dice.nextInt(0, 3) === 0) ball.x = dice.nextInt(0, 5)
    if (dice.nextInt(0, 9) === 0) ball.shield = ball.shield === null ? { hp: dice.nextInt(0, 2) } : null
    if (dice.nextInt(0, 9) === 0) world.setOwner(ball, dice.nextInt(0, 2))
    if (dice.nextInt(0, 9) === 0) world.despawn(ball)
  }
  for (const brick of world.each(Brick)) {
    if (dice.nextInt(0, 5) === 0) brick.hits++
    if (dice.nextInt(0, 12) === 0) world.despawn(brick)
  }
  for (let count = dice.nextInt(0, 3); count > 0; count--)
    world.spawn(dice.nextInt(0, 1) === 0 ? Ball : Brick, {}, dice.nextInt(0, 2))
}

describe('dense', () => {
  test('[TL1, TL3, TL4] equals its slow twin through births, deaths, reuse of ids, rollback and eviction', () => {
    let [evictions, rollbacks, reuses] = [0, 0, 0]
    for (let seed = 1; seed <= form(10, 60); seed++) {
      const dice = new Prng(seed)
      const world = new World([Ball, Brick])
      const window = dice.nextInt(2, 12)
      const timeline = new Timeline(world, window)
      const twin = new ReferenceTimeline(window)
      const slots = new SaveSlots(world, 32)
      const seen = new Set<number>()
      for (let count = 0; count < 120; count++) {
        world.beginTick()
        randomStep(world, dice)
        world.endTick()
        timeline.sample()
        twin.sample(world.tick, remember(world))
        slots.save(world.tick % 32)
        for (const id of remember(world).keys()) seen.add(id)
        if (dice.nextInt(0, 9) === 0) {
          const back = Math.max(1, world.tick - dice.nextInt(0, window + 3))
          if (slots.tickOf(back % 32) !== back) continue
          slots.load(back % 32)
          timeline.truncate(back)
          twin.truncate(back)
          rollbacks++
        }
        expect(timeline.newest).toBe(twin.newest)
        for (const id of seen) {
          for (let tick = world.tick - window - 2; tick <= world.tick + 2; tick++) {
            compare(found(timeline, id, tick), twin.find(id, tick), `seed ${seed} object ${id} tick ${tick}`)
            if (
              tick > world.tick - window
              && tick <= timeline.newest
              && twin.newest - tick < window
              && tick >= 1
              && twin.find(id, tick)
            ) {
              compare(
                timeline.isChangedSince(id, tick),
                twin.isChangedSince(id, tick),
                `seed ${seed} object ${id} since ${tick}`,
              )
            }
          }
        }
        if (world.tick > window) evictions++
        if ([...seen].some((id) => (id & 0xffff) > 1)) reuses++
        if (seen.size > 60) seen.clear()
      }
      timeline.truncate(-1)
      expect(timeline.pools.map(({ size }) => size), `seed ${seed}: unreferenced rows`).toEqual([0, 0])
    }
    expect(Math.min(evictions, rollbacks, reuses)).toBeGreaterThan(form(50, 100))
  })

  test('[TL1] an unchanged row is stored once', () => {
    const world = new World([Ball, Brick])
    const [still, moving] = [world.spawn(Ball, {}), world.spawn(Ball, {})]
    const timeline = new Timeline(world, 10)
    for (let count = 0; count < 100; count++) {
      world.beginTick()
      moving.x = count % 50
      world.endTick()
      timeline.sample()
    }
    expect(timeline.pools[0]!.size).toBe(1 + 10)
    expect(timeline.find(0, still.id, 91)).toBe(timeline.find(0, still.id, 100))
    expect([timeline.changedAt(still.id), timeline.changedAt(moving.id)]).toEqual([1, 100])
    expect([timeline.isChangedSince(still.id, 95), timeline.isChangedSince(moving.id, 95)]).toEqual([false, true])
    expect(timeline.isChangedSince(moving.id, 100)).toBe(false)
  })

  test('[TL1] samples the world at any interval and misses nothing', () => {
    const world = new World([Ball])
    const ball = world.spawn(Ball, {})
    const timeline = new Timeline(world, 10)
    world.endTick()
    timeline.sample()
    world.tick++
    ball.x = 5
    world.sample()
    world.sample()
    world.sample()
    timeline.sample()
    expect(timeline.read(Ball, ball.id, world.tick, 'x')).toBe(5)
  })

  test('[TL7] answers for fields and owners', () => {
    const world = new World([Ball, Brick])
    const ball = world.spawn(Ball, { x: 1, label: 'one', position: { x: 2, y: -2 } }, 4)
    const timeline = new Timeline(world, 10)
    world.beginTick()
    world.endTick()
    timeline.sample()
    world.beginTick()
    Object.assign(ball, { x: 2, label: 'two', shield: { hp: 3 } })
    world.setOwner(ball, 6)
    world.endTick()
    timeline.sample()
    const read = (tick: number): unknown[] =>
      (['x', 'label', 'position', 'shield'] as const).map((name) => timeline.read(Ball, ball.id, tick, name))
    expect(read(1)).toEqual([1, 'one', { x: 2, y: -2 }, null])
    expect(read(2)).toEqual([2, 'two', { x: 2, y: -2 }, { hp: 3 }])
    expect(read(3)).toEqual([undefined, undefined, undefined, undefined])
    expect([1, 2, 3].map((tick) => timeline.owner(0, ball.id, tick))).toEqual([4, 6, -1])
    expect([1, 2, 3].map((tick) => timeline.lane(0, ball.id, tick, 0))).toEqual([10, 20, NaN])
    expect(timeline.find(1, ball.id, 2)).toBe(-1)
    expect(timeline.find(0, 999 * 65_536 + 1, 2)).toBe(-1)
    expect(timeline.changedAt(999 * 65_536 + 1)).toBe(-1)
  })

  test('[TL4] a new owner is a change, and a despawn is too', () => {
    const world = new World([Brick])
    const brick = world.spawn(Brick, {}, 1)
    const timeline = new Timeline(world, 10)
    const tick = (body: () => void): void => {
      world.beginTick()
      body()
      world.endTick()
      timeline.sample()
    }
    tick(() => {})
    tick(() => world.setOwner(brick, 2))
    expect(timeline.changedAt(brick.id)).toBe(2)
    tick(() => world.setOwner(brick, 2))
    expect(timeline.changedAt(brick.id)).toBe(2)
    tick(() => world.despawn(brick))
    expect([timeline.changedAt(brick.id), timeline.isChangedSince(brick.id, 4)]).toEqual([-1, true])
  })
})

describe('sparse', () => {
  test('[TL2, TL3] equals its slow twin, whatever arrives when', () => {
    let [late, early, replaced] = [0, 0, 0]
    for (let seed = 1; seed <= form(25, 80); seed++) {
      const dice = new Prng(seed)
      const world = new World([Ball, Brick])
      const window = dice.nextInt(2, 12)
      const timeline = new Timeline(world, window)
      const twin = new ReferenceTimeline(window)
      const ids = new Set<number>()
      for (let count = 0; count < 150; count++) {
        const newest = Math.max(timeline.newest, 0)
        const tick = Math.max(0, newest + dice.nextInt(-window - 2, dice.nextInt(0, 20) === 0 ? 40 : 3))
        const type = dice.nextInt(0, 1)
        const id = dice.nextInt(0, 80) * 65_536 + dice.nextInt(1, 2)
        const row = Int32Array.from({ length: timeline.pools[type]!.laneCount }, () => dice.nextInt(0, 3))
        const put = { type, owner: dice.nextInt(0, 2), row: [...row] }
        if (twin.find(id, tick) !== undefined) replaced++
        const isKept = timeline.put(tick, type, id, put.owner, row, 0)
        expect(isKept).toBe(twin.put(tick, id, put))
        ids.add(id)
        if (isKept) early++
        else late++
        if (dice.nextInt(0, 40) === 0) {
          const cut = timeline.newest - dice.nextInt(0, window + 2)
          timeline.truncate(cut)
          twin.truncate(cut)
        }
        expect(timeline.newest).toBe(twin.newest)
        for (const each of ids) {
          for (let at = Math.max(0, timeline.newest - window - 2); at <= timeline.newest + 2; at++) {
            compare(found(timeline, each, at), twin.find(each, at), `seed ${seed} object ${each} tick ${at}`)
          }
        }
      }
      timeline.truncate(-1)
      expect(timeline.pools.map(({ size }) => size), `seed ${seed}: unreferenced rows`).toEqual([0, 0])
    }
    expect(Math.min(late, early, replaced)).toBeGreaterThan(form(12, 50))
  })

  test('[TL2] returns when the newest row of an object was put', () => {
    const timeline = new Timeline(new World([Brick]), 10)
    const row = new Int32Array(1)
    timeline.put(5, 0, 65_537, 0, row, 0)
    timeline.put(9, 0, 65_537, 0, row, 0)
    timeline.put(7, 0, 65_537, 0, row, 0)
    expect(timeline.changedAt(65_537)).toBe(9)
    timeline.truncate(8)
    expect([timeline.changedAt(65_537), timeline.newest]).toEqual([7, 7])
    timeline.truncate(4)
    expect([timeline.changedAt(65_537), timeline.newest]).toEqual([-1, -1])
  })
})

describe('rows around a tick', () => {
  const id = 65_537
  const put = (timeline: Timeline, tick: number, value: number): boolean =>
    timeline.put(tick, 0, id, 0, Int32Array.of(value), 0)

  test('[TL9] are the nearest on either side, within bounds', () => {
    const timeline = new Timeline(new World([Brick]), 20)
    for (const tick of [3, 4, 9, 15]) put(timeline, tick, tick)
    expect([2, 3, 8, 9, 14, 15, 99].map((from) => timeline.lastKnown(0, id, from, 0))).toEqual([-1, 3, 4, 9, 9, 15, 15])
    expect([0, 3, 5, 9, 10, 15, 16].map((from) => timeline.nextKnown(0, id, from, 99))).toEqual([
      3, 3, 9, 9, 15, 15, -1,
    ])
    expect([
      timeline.lastKnown(0, id, 8, 5),
      timeline.nextKnown(0, id, 5, 8),
      timeline.lastKnown(1, id, 99, 0),
    ]).toEqual([-1, -1, -1])
  })

  test('[TL9] the newest row outlives the window, alone, until a newer one is put', () => {
    const timeline = new Timeline(new World([Brick]), 4)
    const latest = (): number => timeline.pools[0]!.rows[timeline.findLatest(0, id)]!
    expect(timeline.findLatest(0, id)).toBe(-1)
    put(timeline, 1, 11)
    put(timeline, 2, 22)
    timeline.put(50, 0, 2 * 65_536 + 1, 0, Int32Array.of(7), 0)
    expect([timeline.find(0, id, 2), latest(), timeline.changedAt(id), timeline.pools[0]!.size]).toEqual([-1, 22, 2, 2])
    put(timeline, 51, 33)
    expect([latest(), timeline.pools[0]!.size]).toEqual([33, 2])
    put(timeline, 48, 44)
    expect([latest(), timeline.pools[0]!.size]).toEqual([33, 3])
  })
})

test('[TL8] a Timeline is either sampled or filled by put, and sampling goes tick by tick', () => {
  const world = new World([Brick])
  const timeline = new Timeline(world, 4)
  timeline.sample()
  expect(() => timeline.put(1, 0, 65_537, 0, new Int32Array(1), 0)).toThrow(InvariantError)
  world.tick += 2
  expect(() => timeline.sample()).toThrow(InvariantError)
  timeline.truncate(-1)
  timeline.sample()
  expect(timeline.newest).toBe(2)
})

describe('its size', () => {
  test('[TL6] is a second, in ticks of the game, by default', () => {
    expect([
      windowTicks(128),
      windowTicks(60),
      windowTicks(30, 2000),
      windowTicks(30, 100),
      windowTicks(1, 10),
    ]).toEqual([128, 60, 60, 3, 2])
    expect(() => windowTicks(1000, 5000)).toThrow('windowMs')
    expect(() => windowTicks(NaN)).toThrow('windowMs')
    expect(() => new Timeline(new World([Brick]), 1)).toThrow('windowTicks')
  })

  test('[TL5] is what the formula gives: below 64 MB for 10,000 objects of 20 fields at 128 Hz, 10 % moving', () => {
    const shape = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`f${at}`, fixed(0, 1000, 0.1)]))
    const Unit = entity(shape, { name: 'Unit' })
    const world = new World([Unit])
    const units = Array.from({ length: 10_000 }, () => world.spawn(Unit, {})) as unknown as Record<string, number>[]
    const window = windowTicks(128)
    const timeline = new Timeline(world, window)
    for (let count = 0; count < 2 * window; count++) {
      world.beginTick()
      for (let at = count % 10; at < units.length; at += 10) units[at]!['f3'] = count % 900 + 1
      world.endTick()
      timeline.sample()
    }
    const powerOf = (count: number): number => 2 ** Math.ceil(Math.log2(count))
    const rows = 10_000 + 128 * 1000
    const formula = window * powerOf(10_000) * 4 + powerOf(10_000) * 12 + powerOf(rows) * (20 * 4 + 12)
    expect(timeline.byteLength).toBeLessThanOrEqual(formula)
    expect(timeline.byteLength).toBeGreaterThan(formula / 2)
    expect(formula).toBeLessThan(64e6)
    expect(timeline.pools[0]!.size).toBeLessThanOrEqual(rows)
  })
})
