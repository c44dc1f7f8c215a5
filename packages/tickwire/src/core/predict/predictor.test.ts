import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { entity } from '../schema/definition.ts'
import { fixed, text, u16, u8 } from '../schema/field-kinds.ts'
import type { Handle } from '../world/handle.ts'
import { indexOf } from '../world/object-table.ts'
import { Timeline } from '../world/timeline.ts'
import { World } from '../world/world.ts'
import { ownedLanesOf } from './owned-lanes.ts'
import { Predictor } from './predictor.ts'
import { digestOfWorld } from './truth.ts'

// No time in it is real, but a busy machine takes its own.
vi.setConfig({ testTimeout: 120_000 })

const Ship = entity({ x: fixed(0, 1000, 0.1), name: text(12), fuel: u16.owner(), slow: u8.rate(15), cool: u8.owner() }, { name: 'Ship' })
const Shot = entity({ x: fixed(0, 1000, 0.1), dies: u16 }, { name: 'Shot' })
const ME = 4
const TICK_RATE = 60
const AHEAD = 12
const WINDOW = 48

/** What is held in a tick, by anybody who asks. */
const heldIn = (tick: number): number => (tick * 2_654_435_761 >>> 0) % 7

function step(world: World): void {
  for (const ship of world.each(Ship)) {
    const held = heldIn(world.tick)
    ship.x += held - 3
    ship.fuel = (ship.fuel + held) % 1000
    ship.slow = world.tick % 200
    if (held === 5) ship.name = `at ${Math.round(ship.x) % 9}`
    ship.cool = Math.max(0, ship.cool - 1)
    if (held < 6 || ship.cool > 0) continue
    ship.cool = 9
    world.spawn(Shot, { x: ship.x, dies: world.tick + 15 }, ship.owner)
  }
  for (const shot of world.each(Shot)) {
    shot.x += 4
    if (world.tick >= shot.dies) world.despawn(shot)
  }
}

/** An authority that knows more than its client, and a path that delays, drops and reorders what is told. */
class Rig {
  readonly authority = new World([Ship, Shot])
  /** Where the client's told rows have their texts; it shares none with the authority. */
  readonly told = new World([Ship, Shot], { isReadOnly: true })
  readonly predictor = new Predictor([Ship, Shot], { peer: ME, tickRate: TICK_RATE, windowTicks: WINDOW, sharing: this.told, step })
  readonly #lanes = ownedLanesOf(this.authority, TICK_RATE)
  readonly #latched = new Timeline(this.authority, 8, TICK_RATE)
  readonly #flights: { at: number; deliver: () => void }[] = []
  readonly #known = new Set<number>()

  constructor() {
    this.authority.spawn(Ship, { x: 500, name: 'Ada' }, ME)
    this.authority.spawn(Ship, { x: 400 }, 9)
  }

  /** One tick of both; `surprise` happens on the authority alone; `delay` is how late its word comes, Infinity never. */
  tick(surprise: number, delay: number): void {
    const { authority, predictor } = this
    authority.beginTick()
    if (surprise > 0) for (const ship of authority.each(Ship)) ship.x = 100 * surprise
    step(authority)
    authority.endTick()
    this.#latched.sample()
    if (delay < Infinity) this.#tell(authority.tick + delay)
    for (const flight of this.#flights.splice(0)) if (flight.at <= authority.tick) flight.deliver()
    else this.#flights.push(flight)
    predictor.advance(authority.tick + AHEAD, 128)
  }

  /** The state of the authority, all of what the client owns, to come at a tick. */
  #tell(at: number): void {
    const { authority, predictor, told } = this
    const { tick } = authority
    const rows = authority.stores.flatMap((store) => store.living().filter(({ owner }) => owner === ME).map((handle) => this.#copy(handle)))
    const digest = digestOfWorld(this.#mine(), this.#lanes)
    this.#flights.push({ at, deliver: () => {
      for (const row of rows) {
        const handle = told.atIndexOf(row.id)
        if (handle?.id !== row.id) {
          if (handle !== undefined) told.unseat(handle)
          told.seat(row.type, row.id, ME)
        }
        const seat = told.atIndexOf(row.id)!
        // By value, as over a wire: handles of texts are each side's own.
        if (row.name !== undefined) row.row[seat.$store.schema.heapLeaves[0]!.lane] = this.#intern(row.name)
        seat.$store.load(seat, row.row, 0)
        predictor.handleRow({ tick, type: row.type, id: row.id, owner: ME, rows: row.row, at: 0, birthTick: row.birthTick, birthOrdinal: row.birthOrdinal, authorityTick: 0 })
        this.#known.add(row.id)
      }
      const alive = new Set(rows.map(({ id }) => id))
      for (const id of this.#known) {
        if (alive.has(id)) continue
        predictor.handleGone(tick, id)
      }
      predictor.handleTick(tick, digest)
    } })
  }

  #intern(name: string): number {
    const scratch = new World([Ship, Shot], { sharing: this.told })
    const ship = scratch.spawn(Ship, { name }) as unknown as Handle
    const leaf = ship.$store.schema.heapLeaves[0]!
    return ship.$store.rows[ship.$store.rowAt(ship) + leaf.lane]!
  }

  #copy(handle: Handle): { type: number; id: number; row: Int32Array; name: string | undefined; birthTick: number; birthOrdinal: number } {
    const { objects, tick } = this.authority
    const { type } = handle.$store
    const at = this.#latched.find(type, handle.id, tick)
    const pool = this.#latched.pools[type]!
    const row = pool.rows.slice(at, at + pool.laneCount)
    const index = indexOf(handle.id)
    return {
      type, id: handle.id, row, name: type === 0 ? (handle as unknown as { name: string }).name : undefined,
      birthTick: objects.birthTickAt(index), birthOrdinal: objects.birthOrdinalAt(index),
    }
  }

  /** The authority's world without the others. */
  #mine(): World {
    const mine = new World([Ship, Shot], { sharing: this.authority })
    for (const store of this.authority.stores) {
      for (const handle of store.living()) {
        if (handle.owner !== ME) continue
        const seat = mine.seat(store.type, handle.id, ME)
        seat.$store.load(seat, store.rows, store.rowAt(handle))
      }
    }
    return mine
  }

  /** What is not the same in the tick that the authority is at: entity, id and values. */
  difference(): unknown {
    const { past, world } = this.predictor
    for (const { type, schema } of this.authority.stores) {
      for (const handle of this.authority.stores[type]!.living()) {
        // Who was born just now has another name here until he is told of.
        if (handle.owner !== ME || this.authority.objects.birthTickAt(indexOf(handle.id)) > this.authority.tick - 3) continue
        const at = past.find(type, handle.id, this.authority.tick)
        if (at < 0) return { missing: schema.name, id: handle.id }
        const rows = handle.$store.rows.slice(handle.$store.rowAt(handle))
        for (const { name, lane, field } of schema.members) {
          if (field.spec.kind === 'text') continue
          const is = past.rows(type, this.authority.tick)[at + lane]
          if (rows[lane] !== is) return { field: name, is, should: rows[lane] }
        }
      }
    }
    const [mine] = [...this.authority.each(Ship)]
    return [...world.each(Ship)][0]!.name === '' && mine!.name !== '' ? 'name' : undefined
  }
}

test('[PRED2] without surprises nothing is ever stepped again but what names what was born here', () => {
  const rig = new Rig()
  for (let tick = 0; tick < 400; tick++) rig.tick(0, 5)
  const { predictor } = rig
  expect([predictor.rollbacks, predictor.restarts, predictor.spawnsRefuted]).toEqual([0, 1, 0])
  expect(predictor.spawnsMatched).toBeGreaterThan(10)
  expect(rig.difference()).toBeUndefined()
})

test('[PRED3, PRED4, PRED5] whatever is late, lost or surprising, in the end it is the authority\'s state', () => {
  fc.assert(fc.property(
    fc.array(fc.record({ surprise: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 3, 7), delay: fc.constantFrom(1, 2, 3, 5, 8, 13, Infinity) }), { minLength: 30, maxLength: 120 }),
    (ticks) => {
      const rig = new Rig()
      for (let tick = 0; tick < 5; tick++) rig.tick(0, 1)
      for (const { surprise, delay } of ticks) rig.tick(surprise, delay)
      for (let tick = 0; tick < AHEAD + 20; tick++) rig.tick(0, 1)
      expect(rig.difference()).toBeUndefined()
      expect(rig.predictor.tick).toBe(rig.authority.tick + AHEAD)
    },
  ), { numRuns: 60, seed: 11 })
})

test('[PRED7] no further than the window beyond what was heard, and from there on when more is', () => {
  const rig = new Rig()
  for (let tick = 0; tick < 20; tick++) rig.tick(0, 2)
  const { heard } = rig.predictor
  for (let tick = 0; tick < 100; tick++) rig.tick(0, Infinity)
  expect([rig.predictor.isStalled, rig.predictor.tick]).toEqual([true, heard + 2 + WINDOW - 1])
  for (let tick = 0; tick < 5; tick++) rig.tick(0, 1)
  expect([rig.predictor.isStalled, rig.predictor.tick, rig.predictor.restarts]).toEqual([false, rig.authority.tick + AHEAD, 2])
  expect(rig.difference()).toBeUndefined()
})

test('[PRED5] a world that is full to the brim leaves no ids for the time being, and throws nothing', () => {
  const told = new World([Shot], { isReadOnly: true })
  const predictor = new Predictor([Shot], { peer: ME, tickRate: TICK_RATE, windowTicks: WINDOW, sharing: told, step: () => {} })
  const tell = (index: number): void => predictor.handleRow({
    tick: 5, type: 0, id: index * 65_536 + 1, owner: ME, rows: Int32Array.of(1, 2), at: 0, birthTick: 0, birthOrdinal: 0, authorityTick: 0,
  })
  tell(300)
  predictor.advance(10, 64)
  expect([predictor.tick, predictor.world.objects.provisionalFrom]).toEqual([10, 512])
  tell(65_535)
  predictor.advance(11, 64)
  expect([predictor.world.count(Shot), predictor.world.objects.isFull]).toEqual([2, true])
})

/** An authority over one shot of ours, that moves only when it is told to. */
class ShotAuthority {
  readonly world = new World([Shot])
  readonly shot = this.world.spawn(Shot, { x: 7 }, ME)
  readonly #lanes = ownedLanesOf(this.world, TICK_RATE)

  /** Of all that we own, at a tick that is not before the last. */
  digestAt(tick: number): number {
    while (this.world.tick < tick) {
      this.world.beginTick()
      this.world.endTick()
    }
    return digestOfWorld(this.world, this.#lanes)
  }
}

/** A predictor of shots alone, and what tells it of them. */
function makeShots(step: (world: World) => void): { readonly predictor: Predictor; tell(tick: number, id: number, x: number): void } {
  const predictor = new Predictor([Shot], { peer: ME, tickRate: TICK_RATE, windowTicks: WINDOW, sharing: new World([Shot], { isReadOnly: true }), step })
  const tell = (tick: number, id: number, x: number): void => predictor.handleRow({
    tick, type: 0, id, owner: ME, rows: Int32Array.of(x, 0), at: 0, birthTick: 0, birthOrdinal: 0, authorityTick: 0,
  })
  return { predictor, tell }
}

test('[PRED3] who rested for longer than the window is gone when told so, also when a look ahead took the oldest tick', () => {
  const { predictor, tell } = makeShots(() => {})
  tell(5, 65_537, 1)
  for (let tick = 6; tick < 80; tick++) {
    predictor.handleTick(tick, NaN)
    predictor.advance(tick + AHEAD, 64)
  }
  expect(predictor.lookAhead(() => {})).toBe(true)
  predictor.handleGone(5, 65_537)
  predictor.advance(80 + AHEAD, 64)
  expect(predictor.world.count(Shot)).toBe(0)
})

// Found by crowds of seeds 11, 33, 511, 512 and 514.
test('[PRED4, C5] a digest that comes before the rows of its tick waits for them, and is judged before a newer one', () => {
  const { predictor, tell } = makeShots((world) => { for (const shot of world.each(Shot)) shot.x += 1 })
  const authority = new ShotAuthority()
  const { shot } = authority
  tell(5, shot.id, 70)
  predictor.advance(5 + AHEAD, 64)
  // It stands where it was told, and here it was predicted to move: no row will ever say so.
  predictor.handleTick(8, authority.digestAt(8))
  predictor.settle()
  expect(predictor.confirmed).toBe(8)
  predictor.advance(8 + AHEAD, 64)
  expect([...predictor.world.each(Shot)][0]!.x).toBeCloseTo(7 + AHEAD, 5)
  shot.x = 30
  predictor.handleTick(10, authority.digestAt(10))
  predictor.settle()
  expect(predictor.confirmed).toBe(8)
  tell(10, shot.id, 300)
  predictor.settle()
  expect(predictor.confirmed).toBe(10)
})

// Found by the crowd of seed 201.
test('[PRED3, PRED4, C3] a step beside what was told is no mistake until a digest of its tick says so: then the world goes back', () => {
  const { predictor, tell } = makeShots(() => {})
  const authority = new ShotAuthority()
  const { shot } = authority
  tell(5, shot.id, 70)
  predictor.advance(5 + AHEAD, 64)
  const xAt = (tick: number): unknown => predictor.past.rows(0, tick)[predictor.past.find(0, shot.id, tick)]
  shot.x = 7.1
  tell(8, shot.id, 71)
  predictor.advance(6 + AHEAD, 64)
  expect([xAt(8), predictor.rollbacks]).toEqual([70, 0])
  predictor.handleTick(8, authority.digestAt(8))
  predictor.advance(7 + AHEAD, 64)
  expect([xAt(8), xAt(7 + AHEAD), predictor.confirmed, predictor.rollbacks]).toEqual([71, 71, 8, 1])
  // And now it confirms by itself.
  predictor.handleTick(10, authority.digestAt(10))
  predictor.advance(8 + AHEAD, 64)
  expect([predictor.confirmed, predictor.rollbacks]).toEqual([10, 1])
})

// Found by crowds of seeds 4 and 557.
test('[PRED14, C3] what is confirmed stays so when ticks before it are stepped again: the authority did what no row of its tick told', () => {
  const { predictor, tell } = makeShots(() => {})
  const authority = new ShotAuthority()
  const { shot } = authority
  tell(5, shot.id, 70)
  predictor.advance(5 + AHEAD, 64)
  tell(8, shot.id, 300)
  // There and back again: at 10 it is where it was predicted to be, and no row of 9 or 10 has come.
  predictor.handleTick(10, authority.digestAt(10))
  predictor.settle()
  expect(predictor.confirmed).toBe(10)
  predictor.advance(6 + AHEAD, 64)
  const xAt = (tick: number): unknown => predictor.past.rows(0, tick)[predictor.past.find(0, shot.id, tick)]! / 10
  expect([xAt(7), xAt(8), xAt(9), xAt(10), xAt(6 + AHEAD)]).toEqual([7, 30, 30, 7, 7])
})

// Found by the crowd of seed 1807.
test('[PRED14, C3] who was taken to be gone since a tick, and was in it as a digest says, was there', () => {
  const { predictor, tell } = makeShots(() => {})
  const authority = new ShotAuthority()
  const { id } = authority.shot
  tell(5, id, 70)
  predictor.advance(5 + AHEAD, 64)
  tell(8, id, 70)
  // He was there at 8, and another has his index now: since 9, as far as is known. A digest of 9 knows more.
  predictor.handleGone(8, id)
  predictor.handleTick(9, authority.digestAt(9))
  predictor.advance(6 + AHEAD, 64)
  const isThere = (tick: number): boolean => predictor.past.find(0, id, tick) >= 0
  expect([predictor.confirmed, isThere(8), isThere(9), isThere(10)]).toEqual([9, true, true, false])
})

// Found by crowds of seeds 7, 9 and 12.
test('[PRED14, C3] who is known to be gone was there in the tick that is confirmed, and in none after it', () => {
  const { predictor, tell } = makeShots(() => {})
  const authority = new ShotAuthority()
  const { id } = authority.shot
  tell(5, id, 70)
  predictor.advance(5 + AHEAD, 64)
  // Another has his index: all that is known is that he was there at 5. A digest of 10 was late, and knows more.
  predictor.handleGone(5, id)
  predictor.handleTick(10, authority.digestAt(10))
  predictor.settle()
  expect(predictor.confirmed).toBe(10)
  predictor.advance(6 + AHEAD, 64)
  const isThere = (tick: number): boolean => predictor.past.find(0, id, tick) >= 0
  expect([isThere(5), isThere(6), isThere(9), isThere(10), isThere(11)]).toEqual([true, false, false, true, false])
  expect(predictor.world.count(Shot)).toBe(0)
})
