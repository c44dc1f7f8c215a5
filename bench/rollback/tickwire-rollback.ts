/**
 * Going back in Tickwire: the whole Predictor, as a client runs it, and beside it what it stands on, slots and steps alone.
 *
 * The Predictor simulates everybody's objects. In every frame the authority tells of one of them, six ticks ago, that it was
 * pushed: the slot of then is loaded, the told row put in, all objects stepped again up to now and one tick further, and
 * every one of those ticks is rounded to what can be told, and put aside.
 */

import { Predictor } from '../../packages/tickwire/src/core/predict/predictor.ts'
import type { ToldRow } from '../../packages/tickwire/src/core/predict/truth.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { fixed, u8 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { SaveSlots } from '../../packages/tickwire/src/core/world/save-slots.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { start, TICK_S } from './bodies.ts'

const metres = fixed(-256, 256, 1 / 256)
const Unit = entity({
  x: metres, y: metres, z: metres, vx: metres, vy: metres, vz: metres, yaw: metres, pitch: metres, health: u8, flags: u8,
}, { name: 'Unit' })
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
  readonly #told: Int32Array
  readonly #row: ToldRow
  readonly #lane: number

  constructor(count: number, depth: number) {
    const source = populated(count)
    const [store] = source.stores
    this.#depth = depth
    this.predictor = new Predictor([Unit], {
      peer: PEER, isEverybodys: true, tickRate: TICK_RATE, windowTicks: WINDOW_TICKS, sharing: source, step,
    })
    const { laneCount, leaves } = store!.schema
    this.#lane = leaves.find(({ path }) => path.endsWith('vx'))!.lane
    this.#told = new Int32Array(laneCount)
    this.#row = { tick: 1, type: 0, id: 0, owner: PEER, rows: store!.rows, at: 0, birthTick: 0, birthOrdinal: 0, authorityTick: 0 }
    for (const handle of store!.living()) {
      this.#row.id = handle.id
      this.#row.at = store!.rowAt(handle)
      this.predictor.handleRow(this.#row)
    }
    this.#row.id = [...store!.living()][0]!.id
    this.#row.rows = this.#told
    this.#row.at = 0
    this.predictor.advance(1 + depth, WINDOW_TICKS)
  }

  /** The authority says that the first object had another velocity; then the tick that is due. */
  frame(pushUnits: number): void {
    const { predictor } = this
    const tick = predictor.tick - this.#depth + 1
    const rows = predictor.past.rows(0, tick)
    const at = predictor.past.find(0, this.#row.id, tick)
    for (let lane = 0; lane < this.#told.length; lane++) this.#told[lane] = rows[at + lane]!
    this.#told[this.#lane]! += pushUnits
    this.#row.tick = tick
    predictor.handleRow(this.#row)
    predictor.advance(predictor.tick + 1, WINDOW_TICKS)
  }

  /** What a field of the first object is worth in a row. */
  get first(): { readonly x: number; readonly vx: number } {
    const [unit] = [...this.predictor.world.each(Unit)]
    return { x: unit!.x, vx: unit!.vx }
  }
}

/** What it stands on: load, step, save. */
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
