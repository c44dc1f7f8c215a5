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

// All time here is simulated, but a busy machine needs long for it.
vi.setConfig({ testTimeout: 120_000 })

const Ship = entity(
  { x: fixed(0, 1000, 0.1), name: text(12), fuel: u16.owner(), slow: u8.rate(15), cool: u8.owner() },
  { name: 'Ship' },
)
const Shot = entity({ x: fixed(0, 1000, 0.1), dies: u16 }, { name: 'Shot' })
const ME = 4
const TICK_RATE = 60
const AHEAD = 12
const WINDOW = 48

/** The input of a tick: the same on every peer. */
const heldIn = (tick: number): number => ((tick * 2_654_435_761) >>> 0) % 7

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

/** An authority that knows more than its client, and a path that delays, drops and reorders rows. */
class Rig {
  readonly authority = new World([Ship, Shot])
  /** Holds the texts of the client's received rows; nothing is shared with the authority. */
  readonly received = new World([Ship, Shot], { isReadOnly: true })
  readonly predictor = new Predictor([Ship, Shot], {
    peer: ME,
    tickRate: TICK_RATE,
    windowTicks: WINDOW,
    sharing: this.received,
    step,
  })
  readonly #lanes = ownedLanesOf(this.authority, TICK_RATE)
  readonly #latched = new Timeline(this.authority, 8, TICK_RATE)
  readonly #flights: { at: number; deliver: () => void }[] = []
  readonly #known = new Set<number>()

  constructor() {
    this.authority.spawn(Ship, { x: 500, name: 'Ada' }, ME)
    this.authority.spawn(Ship, { x: 400 }, 9)
  }

  /**
   * One tick of both; `surprise` happens on the authority alone; `delay` is how late its rows arrive, Infinity: never.
   */
  tick(surprise: number, delay: number): void {
    const { authority, predictor } = this
    authority.beginTick()
    if (surprise > 0) for (const ship of authority.each(Ship)) ship.x = 100 * surprise
    step(authority)
    authority.endTick()
    this.#latched.sample()
    if (delay < Infinity) this.#deliver(authority.tick + delay)
    for (const flight of this.#flights.splice(0))
      if (flight.at <= authority.tick) flight.deliver()
      else this.#flights.push(flight)
    predictor.advance(authority.tick + AHEAD, 128)
  }

  /** Queues the authority's rows of all objects of the client, to arrive at a tick. */
  #deliver(at: number): void {
    const { authority, predictor, received } = this
    const { tick } = authority
    const rows = authority.stores.flatMap((store) =>
      store
        .living()
        .filter(({ owner }) => owner === ME)
        .map((handle) => this.#copy(handle)),
    )
    const digest = digestOfWorld(this.#mine(), this.#lanes)
    this.#flights.push({
      at,
      deliver: () => {
        for (const row of rows) {
          const handle = received.atIndexOf(row.id)
          if (handle?.id !== row.id) {
            if (handle !== undefined) received.unseat(handle)
            received.seat(row.type, row.id, ME)
          }
          const seat = received.atIndexOf(row.id)!
          // Texts are copied by value, as on the wire: each side has its own handles.
          if (row.name !== undefined) row.row[seat.$store.schema.heapLeaves[0]!.lane] = this.#intern(row.name)
          seat.$store.load(seat, row.row, 0)
          predictor.handleRow({
            tick,
            type: row.type,
            id: row.id,
            owner: ME,
            rows: row.row,
            at: 0,
            birthTick: row.birthTick,
            birthOrdinal: row.birthOrdinal,
            authorityTick: 0,
          })
          this.#known.add(row.id)
        }
        const alive = new Set(rows.map(({ id }) => id))
        for (const id of this.#known) {
          if (alive.has(id)) continue
          predictor.handleGone(tick, id)
        }
        predictor.handleTick(tick, digest)
      },
    })
  }

  #intern(name: string): number {
    const scratch = new World([Ship, Shot], { sharing: this.received })
    const ship = scratch.spawn(Ship, { name }) as unknown as Handle
    const leaf = ship.$store.schema.heapLeaves[0]!
    return ship.$store.rows[ship.$store.rowAt(ship) + leaf.lane]!
  }

  #copy(handle: Handle): {
    type: number
    id: number
    row: Int32Array
    name: string | undefined
    birthTick: number
    birthOrdinal: number
  } {
    const { objects, tick } = this.authority
    const { type } = handle.$store
    const at = this.#latched.find(type, handle.id, tick)
    const pool = this.#latched.pools[type]!
    const row = pool.rows.slice(at, at + pool.laneCount)
    const index = indexOf(handle.id)
    return {
      type,
      id: handle.id,
      row,
      name: type === 0 ? (handle as unknown as { name: string }).name : undefined,
      birthTick: objects.birthTickAt(index),
      birthOrdinal: objects.birthOrdinalAt(index),
    }
  }

  /** The authority's world without objects of other owners. */
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

  /** The difference in the tick of the authority: entity, id and values. */
  difference(): unknown {
    const { past, world } = this.predictor
    for (const { type, schema } of this.authority.stores) {
      for (const handle of this.authority.stores[type]!.living()) {
        // An object that was just spawned has a provisional id here until its row is received.
        if (handle.owner !== ME || this.authority.objects.birthTickAt(indexOf(handle.id)) > this.authority.tick - 3)
          continue
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

test('[PRED2] without mispredictions, only ticks that give a predicted spawn its real id are stepped again', () => {
  const rig = new Rig()
  for (let tick = 0; tick < 400; tick++) rig.tick(0, 5)
  const { predictor } = rig
  expect([predictor.rollbacks, predictor.restarts, predictor.spawnsRefuted]).toEqual([0, 1, 0])
  expect(predictor.spawnsMatched).toBeGreaterThan(10)
  expect(rig.difference()).toBeUndefined()
})

test("[PRED3, PRED4, PRED5] with late, lost and unexpected rows, prediction ends in the authority's state", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          surprise: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 3, 7),
          delay: fc.constantFrom(1, 2, 3, 5, 8, 13, Infinity),
        }),
        { minLength: 30, maxLength: 120 },
      ),
      (ticks) => {
        const rig = new Rig()
        for (let tick = 0; tick < 5; tick++) rig.tick(0, 1)
        for (const { surprise, delay } of ticks) rig.tick(surprise, delay)
        for (let tick = 0; tick < AHEAD + 20; tick++) rig.tick(0, 1)
        expect(rig.difference()).toBeUndefined()
        expect(rig.predictor.tick).toBe(rig.authority.tick + AHEAD)
      },
    ),
    { numRuns: 60, seed: 11 },
  )
})

test('[PRED7] prediction stops a window after the newest received tick, and continues when more is received', () => {
  const rig = new Rig()
  for (let tick = 0; tick < 20; tick++) rig.tick(0, 2)
  const { receivedTick } = rig.predictor
  for (let tick = 0; tick < 100; tick++) rig.tick(0, Infinity)
  expect([rig.predictor.isStalled, rig.predictor.tick]).toEqual([true, receivedTick + 2 + WINDOW - 1])
  for (let tick = 0; tick < 5; tick++) rig.tick(0, 1)
  expect([rig.predictor.isStalled, rig.predictor.tick, rig.predictor.restarts]).toEqual([
    false,
    rig.authority.tick + AHEAD,
    2,
  ])
  expect(rig.difference()).toBeUndefined()
})

test('[PRED5] a completely full world has no provisional ids, and nothing throws', () => {
  const received = new World([Shot], { isReadOnly: true })
  const predictor = new Predictor([Shot], {
    peer: ME,
    tickRate: TICK_RATE,
    windowTicks: WINDOW,
    sharing: received,
    step: () => {},
  })
  const receive = (index: number): void =>
    predictor.handleRow({
      tick: 5,
      type: 0,
      id: index * 65_536 + 1,
      owner: ME,
      rows: Int32Array.of(1, 2),
      at: 0,
      birthTick: 0,
      birthOrdinal: 0,
      authorityTick: 0,
    })
  receive(300)
  predictor.advance(10, 64)
  expect([predictor.tick, predictor.world.objects.provisionalFrom]).toEqual([10, 512])
  receive(65_535)
  predictor.advance(11, 64)
  expect([predictor.world.count(Shot), predictor.world.objects.isFull]).toEqual([2, true])
})

test('[PRED3] scripted: the authority blocks a move in tick 100; in 105 the client rolls back and replays', () => {
  const Runner = entity({ x: fixed(0, 1000, 0.1) }, { name: 'Runner' })
  const stepped: number[] = []
  const corrected: number[][] = []
  const received = new World([Runner], { isReadOnly: true })
  const predictor = new Predictor([Runner], {
    peer: ME,
    tickRate: TICK_RATE,
    windowTicks: WINDOW,
    sharing: received,
    step(world) {
      stepped.push(world.tick)
      for (const runner of world.each(Runner)) runner.x += 1
    },
    corrections: {
      handleCorrection: (_type, _id, before, beforeAt, after, afterAt) => {
        corrected.push([before[beforeAt]!, after[afterAt]!])
      },
    },
  })
  const seat = received.seat(0, 1, ME)
  /** Receives the authority's row of a tick: the position of the runner. */
  const receive = (tick: number, x: number): void => {
    const rows = Int32Array.of(Math.round(x * 10))
    seat.$store.load(seat, rows, 0)
    predictor.handleRow({
      tick,
      type: 0,
      id: 1,
      owner: ME,
      rows,
      at: 0,
      birthTick: 1,
      birthOrdinal: 0,
      authorityTick: 0,
    })
    predictor.handleTick(tick, NaN)
  }
  const here = (): number => [...predictor.world.each(Runner)][0]!.x
  receive(99, 500)
  predictor.advance(104, 128)
  expect([predictor.tick, here(), predictor.rollbacks]).toEqual([104, 505, 0])
  // The wall was in the way: in tick 100 the runner is where it was in 99.
  stepped.length = 0
  receive(100, 500)
  predictor.advance(105, 128)
  expect(stepped, 'goes back to 100, steps 101 to 104 again, and then 105').toEqual([101, 102, 103, 104, 105])
  expect([predictor.rollbacks, predictor.resteppedTicks, predictor.tick, here()]).toEqual([1, 4, 105, 505])
  // The smoother gets where the runner was drawn and where it is, at the same tick, and eases from the one to the
  // other.
  expect(corrected).toEqual([[505, 504]])
})
