/**
 * Rollback in Tickwire: the whole Predictor, as a client runs it, and for comparison its basis alone, slots and steps.
 *
 * The Predictor simulates all objects. In every frame it receives a row of one of them, from six ticks ago, with a
 * push. It loads the slot of that tick, applies the received row, steps all objects again to the present and one tick
 * further, and quantises and saves every one of those ticks.
 */

import { Predictor } from '../../packages/tickwire/src/core/predict/predictor.ts'
import type { ReceivedRow } from '../../packages/tickwire/src/core/predict/truth.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { fixed, u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { SaveSlots } from '../../packages/tickwire/src/core/world/save-slots.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { start, TICK_S } from './bodies.ts'

const metres = fixed(-256, 256, 1 / 256)
const Unit = entity(
  {
    x: metres,
    y: metres,
    z: metres,
    vx: metres,
    vy: metres,
    vz: metres,
    yaw: metres,
    pitch: metres,
    health: u8,
    flags: u8,
  },
  { name: 'Unit' },
)
const TICK_RATE = 60
const WINDOW_TICKS = 64
const PEER = 1

function step(world: World): void {
  for (const unit of world.each(Unit)) {
    unit.x += unit.vx * TICK_S
    unit.y += unit.vy * TICK_S
    unit.z += unit.vz * TICK_S
    if (unit.x > 100 || unit.x < -100) unit.vx = -unit.vx
    if (unit.z > 100 || unit.z < -100) unit.vz = -unit.vz
    unit.yaw += unit.vx * TICK_S * 0.1
    unit.health = unit.health > 1 ? unit.health - 1 : 100
  }
}

function populated(count: number): World {
  const world = new World([Unit])
  for (const body of start(count)) world.spawn(Unit, body, PEER)
  world.sample()
  return world
}

export class PredictorRollback {
  readonly predictor: Predictor
  readonly #depth: number
  readonly #received: Int32Array
  readonly #row: ReceivedRow
  readonly #lane: number

  constructor(count: number, depth: number) {
    const source = populated(count)
    const [store] = source.stores
    this.#depth = depth
    this.predictor = new Predictor([Unit], {
      peer: PEER, isForAll: true, tickRate: TICK_RATE, windowTicks: WINDOW_TICKS, sharing: source, step,
    })
    const { laneCount, leaves } = store!.schema
    this.#lane = leaves.find(({ path }) => path.endsWith('vx'))!.lane
    this.#received = new Int32Array(laneCount)
    this.#row = {
      tick: 1,
      type: 0,
      id: 0,
      owner: PEER,
      rows: store!.rows,
      at: 0,
      birthTick: 0,
      birthOrdinal: 0,
      authorityTick: 0,
    }
    for (const handle of store!.living()) {
      this.#row.id = handle.id
      this.#row.at = store!.rowAt(handle)
      this.predictor.handleRow(this.#row)
    }
    this.#row.id = [...store!.living()][0]!.id
    this.#row.rows = this.#received
    this.#row.at = 0
    this.predictor.advance(1 + depth, WINDOW_TICKS)
  }

  /** Receives another velocity of the first object, and then steps the due tick. */
  frame(pushUnits: number): void {
    const { predictor } = this
    const tick = predictor.tick - this.#depth + 1
    const rows = predictor.past.rows(0, tick)
    const at = predictor.past.find(0, this.#row.id, tick)
    for (let lane = 0; lane < this.#received.length; lane++) this.#received[lane] = rows[at + lane]!
    this.#received[this.#lane]! += pushUnits
    this.#row.tick = tick
    predictor.handleRow(this.#row)
    predictor.advance(predictor.tick + 1, WINDOW_TICKS)
  }

  /** The value of a field of the first object, in row units. */
  get first(): { readonly x: number; readonly vx: number } {
    const [unit] = [...this.predictor.world.each(Unit)]
    return { x: unit!.x, vx: unit!.vx }
  }
}

/** Only load, step and save. */
export class SlotsRollback {
  readonly world: World
  readonly #slots: SaveSlots
  readonly #depth: number

  constructor(count: number, depth: number) {
    this.world = populated(count)
    this.#slots = new SaveSlots(this.world, WINDOW_TICKS)
    this.#depth = depth
    for (let tick = 0; tick <= depth; tick++) this.#step()
  }

  frame(): void {
    this.#slots.load((this.world.tick - this.#depth) % WINDOW_TICKS)
    for (let tick = 0; tick <= this.#depth; tick++) this.#step()
  }

  #step(): void {
    this.world.beginTick()
    step(this.world)
    this.world.endTick()
    this.#slots.save(this.world.tick % WINDOW_TICKS)
  }
}
