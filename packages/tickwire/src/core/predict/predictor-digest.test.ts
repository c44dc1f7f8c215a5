import { expect, test, vi } from 'vitest'
import { entity } from '../schema/definition.ts'
import { fixed, u16 } from '../schema/field-kinds.ts'
import { World } from '../world/world.ts'
import { ownedLanesOf } from './owned-lanes.ts'
import { Predictor } from './predictor.ts'
import { digestOfWorld } from './truth.ts'

// All time here is simulated, but a busy machine needs long for it.
vi.setConfig({ testTimeout: 120_000 })

const Shot = entity({ x: fixed(0, 1000, 0.1), dies: u16 }, { name: 'Shot' })
const ME = 4
const TICK_RATE = 60
const AHEAD = 12
const WINDOW = 48

/** An authority over one shot of this client, which moves only when a test says so. */
class ShotAuthority {
  readonly world = new World([Shot])
  readonly shot = this.world.spawn(Shot, { x: 7 }, ME)
  readonly #lanes = ownedLanesOf(this.world, TICK_RATE)

  /** The digest of all objects of this client, at a tick that is not before the last one. */
  digestAt(tick: number): number {
    while (this.world.tick < tick) {
      this.world.beginTick()
      this.world.endTick()
    }
    return digestOfWorld(this.world, this.#lanes)
  }
}

/** A predictor of shots only, and a function that passes received rows to it. */
function makeShots(step: (world: World) => void): {
  readonly predictor: Predictor
  receive(tick: number, id: number, x: number): void
} {
  const predictor = new Predictor([Shot], {
    peer: ME,
    tickRate: TICK_RATE,
    windowTicks: WINDOW,
    sharing: new World([Shot], { isReadOnly: true }),
    step,
  })
  const receive = (tick: number, id: number, x: number): void =>
    predictor.handleRow({
      tick,
      type: 0,
      id,
      owner: ME,
      rows: Int32Array.of(x, 0),
      at: 0,
      birthTick: 0,
      birthOrdinal: 0,
      authorityTick: 0,
    })
  return { predictor, receive }
}

test('[PRED3] an object that rested for longer than the window is removed, even after a look ahead', () => {
  const { predictor, receive } = makeShots(() => {})
  receive(5, 65_537, 1)
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
test('[PRED4, C5] a digest that arrives before the rows of its tick waits for them, and precedes a newer one', () => {
  const { predictor, receive } = makeShots((world) => {
    for (const shot of world.each(Shot)) shot.x += 1
  })
  const authority = new ShotAuthority()
  const { shot } = authority
  receive(5, shot.id, 70)
  predictor.advance(5 + AHEAD, 64)
  // It rests at its received position, but was predicted to move: no row will ever say so.
  predictor.handleTick(8, authority.digestAt(8))
  predictor.settle()
  expect(predictor.confirmed).toBe(8)
  predictor.advance(8 + AHEAD, 64)
  expect([...predictor.world.each(Shot)][0]!.x).toBeCloseTo(7 + AHEAD, 5)
  shot.x = 30
  predictor.handleTick(10, authority.digestAt(10))
  predictor.settle()
  expect(predictor.confirmed).toBe(8)
  receive(10, shot.id, 300)
  predictor.settle()
  expect(predictor.confirmed).toBe(10)
})

// Found by the crowd of seed 201.
test('[PRED3, PRED4, C3] a difference from received rows is a mistake only when a digest of its tick says so', () => {
  const { predictor, receive } = makeShots(() => {})
  const authority = new ShotAuthority()
  const { shot } = authority
  receive(5, shot.id, 70)
  predictor.advance(5 + AHEAD, 64)
  const xAt = (tick: number): unknown => predictor.past.rows(0, tick)[predictor.past.find(0, shot.id, tick)]
  shot.x = 7.1
  receive(8, shot.id, 71)
  predictor.advance(6 + AHEAD, 64)
  expect([xAt(8), predictor.rollbacks]).toEqual([70, 0])
  predictor.handleTick(8, authority.digestAt(8))
  predictor.advance(7 + AHEAD, 64)
  expect([xAt(8), xAt(7 + AHEAD), predictor.confirmed, predictor.rollbacks]).toEqual([71, 71, 8, 1])
  // The next digest confirms the prediction without rows.
  predictor.handleTick(10, authority.digestAt(10))
  predictor.advance(8 + AHEAD, 64)
  expect([predictor.confirmed, predictor.rollbacks]).toEqual([10, 1])
})

// Found by crowds of seeds 4 and 557.
test('[PRED14, C3] a confirmed tick stays confirmed when ticks before it are stepped again', () => {
  const { predictor, receive } = makeShots(() => {})
  const authority = new ShotAuthority()
  const { shot } = authority
  receive(5, shot.id, 70)
  predictor.advance(5 + AHEAD, 64)
  receive(8, shot.id, 300)
  // The shot moved there and back: at tick 10 it is where it was predicted, and no row of tick 9 or 10 was received.
  predictor.handleTick(10, authority.digestAt(10))
  predictor.settle()
  expect(predictor.confirmed).toBe(10)
  predictor.advance(6 + AHEAD, 64)
  const xAt = (tick: number): unknown => predictor.past.rows(0, tick)[predictor.past.find(0, shot.id, tick)]! / 10
  expect([xAt(7), xAt(8), xAt(9), xAt(10), xAt(6 + AHEAD)]).toEqual([7, 30, 30, 7, 7])
})

// Found by the crowd of seed 1807.
test('[PRED14, C3] an object assumed to be gone since a tick existed in that tick if a digest says so', () => {
  const { predictor, receive } = makeShots(() => {})
  const authority = new ShotAuthority()
  const { id } = authority.shot
  receive(5, id, 70)
  predictor.advance(5 + AHEAD, 64)
  receive(8, id, 70)
  // The object existed at tick 8, and another object has its index, as far as is known since tick 9. The digest of tick
  // 9 shows otherwise.
  predictor.handleGone(8, id)
  predictor.handleTick(9, authority.digestAt(9))
  predictor.advance(6 + AHEAD, 64)
  const isThere = (tick: number): boolean => predictor.past.find(0, id, tick) >= 0
  expect([predictor.confirmed, isThere(8), isThere(9), isThere(10)]).toEqual([9, true, true, false])
})

// Found by crowds of seeds 7, 9 and 12.
test('[PRED14, C3] an object that is known to be gone existed in the confirmed tick, and in none after it', () => {
  const { predictor, receive } = makeShots(() => {})
  const authority = new ShotAuthority()
  const { id } = authority.shot
  receive(5, id, 70)
  predictor.advance(5 + AHEAD, 64)
  // Another object has its index: it is only known to have existed at tick 5. The digest of tick 10 arrived late and
  // shows more.
  predictor.handleGone(5, id)
  predictor.handleTick(10, authority.digestAt(10))
  predictor.settle()
  expect(predictor.confirmed).toBe(10)
  predictor.advance(6 + AHEAD, 64)
  const isThere = (tick: number): boolean => predictor.past.find(0, id, tick) >= 0
  expect([isThere(5), isThere(6), isThere(9), isThere(10), isThere(11)]).toEqual([true, false, false, true, false])
  expect(predictor.world.count(Shot)).toBe(0)
})
