/** What an R-Type client draws: other entities, and its own ship, over a bad line. */

import { expect, test } from 'vitest'
import type { RtypePacket } from '../../packages/tickwire/src/core/rtype/packet-table.ts'
import { RTYPE } from '../../packages/tickwire/src/core/rtype/values.ts'
import { RtypeMotion } from '../../packages/tickwire/src/core/rtype-session/motion.ts'
import type { RtypePeer } from '../../packages/tickwire/src/core/rtype-session/server-types.ts'
import { RtypeWorldStream, type RtypeEntity } from '../../packages/tickwire/src/core/rtype-session/world-stream.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'

const ADA: RtypePeer = { playerId: 1, clientId: 1, name: 'Ada', address: 'a' }
const OTHER = 2
const IDLE = 3
const TICK_MS = 1000 / 60
const LATENCY_MS = 40
const FRAME_MS = 4

function entityAt(id: number, posX: number, posY: number, velX: number, velY: number): RtypeEntity {
  return {
    id, type: RTYPE.ENTITY.PLAYER, variant: 0, isPlayable: true,
    components: [
      { component: 'TRANSFORM', posX: Math.round(posX), posY: Math.round(posY), rotation: 0, scale: 1000 },
      { component: 'VELOCITY', velX, velY, accelerationX: 0, accelerationY: 0 },
    ],
  }
}

/** A stream over a line with 40 ms, jitter and loss of packets that are not reliable. */
class Line {
  readonly motion = new RtypeMotion()
  now = 0
  readonly #stream = new RtypeWorldStream()
  readonly #dice: Dice
  readonly #loss: number
  readonly #flying: { readonly at: number; readonly packet: RtypePacket }[] = []
  #tick = 0

  constructor(seed: number, loss: number) {
    this.#dice = new Dice(seed)
    this.#loss = loss
    this.#stream.add(ADA)
    this.motion.handle(0, {
      type: 'SERVER_ACCEPT', assignedPlayerId: ADA.playerId, maxPlayers: 4, gameInstanceId: 1, serverTickrate: 60,
    })
  }

  /** Runs for a time; `draw` is called 250 times a second. */
  run(ms: number, world: (ms: number) => RtypeEntity[], draw: () => void = () => {}): void {
    for (const end = this.now + ms; this.now < end; this.now += FRAME_MS) {
      for (; this.#tick * TICK_MS <= this.now; this.#tick++) {
        this.#stream.tick(this.#tick * TICK_MS, this.#tick, world(this.#tick * TICK_MS), (_, packet) => {
          const isReliable = packet.type === 'ENTITY_SPAWN' || packet.type === 'ENTITY_DESTROY'
          const jitterMs = isReliable ? 0 : this.#dice.fraction() * 20
          if (isReliable || !this.#dice.chance(this.#loss))
            this.#flying.push({ at: this.now + LATENCY_MS + jitterMs, packet })
        })
      }
      for (const { packet } of this.#flying.filter(({ at }) => at <= this.now)) this.motion.handle(this.now, packet)
      this.#flying.splice(0, this.#flying.length, ...this.#flying.filter(({ at }) => at > this.now))
      draw()
    }
  }
}

test('[RTMOTION1] another entity moves evenly, 100 ms ago, over 10 % loss and jitter', () => {
  const line = new Line(5, 0.1)
  const world = (ms: number): RtypeEntity[] => [
    entityAt(ADA.playerId, 50, 50, 0, 0), entityAt(OTHER, ms * 0.2, 100, 200, 0),
    ...Array.from({ length: 8 }, (_, index) => entityAt(10 + index, index * 9, 9, 0, 0)),
  ]
  line.run(1000, world)
  const [steps, lags]: [number[], number[]] = [[], []]
  let before = Number.NaN
  line.run(3000, world, () => {
    const { x } = line.motion.place(line.now, OTHER)!
    if (!Number.isNaN(before)) steps.push(x - before)
    lags.push(line.now - x / 0.2)
    before = x
  })
  // 200 units a second are 0.8 in a frame of 4 ms. Positions on the wire are whole numbers.
  expect(Math.max(...steps)).toBeLessThan(1.5)
  expect(Math.min(...steps)).toBeGreaterThan(0.2)
  expect(Math.min(...lags)).toBeGreaterThan(100 + LATENCY_MS - 15)
  expect(Math.max(...lags)).toBeLessThan(100 + LATENCY_MS + 30)
})

test('[RTMOTION1] the local ship is drawn now, and an error fades without a jump', () => {
  const line = new Line(6, 0.1)
  // It turns back at 1.5 s.
  const turnMs = 1500
  const xAt = (ms: number): number => ms < turnMs ? ms * 0.2 : (2 * turnMs - ms) * 0.2
  const world = (ms: number): RtypeEntity[] => [entityAt(ADA.playerId, xAt(ms), 50, ms < turnMs ? 200 : -200, 0)]
  let before = 0
  const steps: number[] = []
  const errors: number[] = []
  line.run(2500, world, () => {
    const { x } = line.motion.place(line.now, ADA.playerId) ?? { x: 0 }
    if (line.now > 500) steps.push(Math.abs(x - before))
    if (line.now > 700) errors.push(Math.abs(x - xAt(line.now - LATENCY_MS)))
    before = x
  })
  const isTurning = (index: number): boolean => Math.abs(700 + index * FRAME_MS - turnMs) < 300
  expect(Math.max(...errors.filter((_, index) => !isTurning(index)))).toBeLessThan(6)
  expect(Math.max(...steps)).toBeLessThan(4)
})

test('[RTMOTION1] a delta puts what it does not list where its base has it', () => {
  const motion = new RtypeMotion({ delayMs: 0 })
  const transform = (entityId: number, posX: number): {
    entityId: number; value: { posX: number; posY: number; rotation: number; scale: number }
  } => ({ entityId, value: { posX, posY: 0, rotation: 0, scale: 1000 } })
  for (const entityId of [OTHER, IDLE]) {
    motion.handle(0, {
      type: 'ENTITY_SPAWN', entityId, entityType: 2, posX: 10, posY: 0, mobVariant: 0, initialHealth: 1, velX: 0,
      velY: 0, isPlayable: false,
    })
  }
  const at = (tick: number): number => tick * TICK_MS
  const full = [transform(OTHER, 10), transform(IDLE, 40)]
  const delta = (worldTick: number, baseTick: number, entities: typeof full): void =>
    motion.handle(at(worldTick), { type: 'TRANSFORM_SNAPSHOT_DELTA', worldTick, baseTick, entities })
  motion.handle(at(6), { type: 'TRANSFORM_SNAPSHOT', worldTick: 6, entities: full })
  delta(7, 6, [transform(OTHER, 30)])
  expect(motion.place(at(7), OTHER)!.x).toBeCloseTo(30)
  delta(8, 6, [])
  expect(motion.place(at(8), OTHER)!.x, 'it is where it was again').toBeCloseTo(10)
  expect(motion.place(at(8), IDLE)!.x).toBeCloseTo(40)
  delta(9, 5, [transform(OTHER, 99)])
  // Its entries are whole places. The rest is not known, and stays.
  expect([motion.baselessCount, motion.place(at(9), OTHER)!.x, motion.place(at(9), IDLE)!.x]).toEqual([1, 99, 40])
  motion.handle(at(9), { type: 'ENTITY_DESTROY', entityId: OTHER, destroyReason: 0, posX: 0, posY: 0 })
  expect(motion.place(at(9), OTHER)).toBeUndefined()
})
