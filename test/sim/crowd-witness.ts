/**
 * Whoever looks over a client's shoulder: everything it is told is compared with what the authority had, the moment it is
 * told, and once more with all that it remembers.
 *
 * Of a row told for a tick: the object lived then, was this owner's, could be known to this peer, and every lane of his field
 * set is the authority's; every lane outside it is untouched. With a row may come those of the tick and of the snapshot before, of
 * who rested: there the sight of the tick that was told will do.
 */

import { indexOf, NO_TYPE } from '../../packages/tickwire/src/core/world/object-table.ts'
import { ROW_BITS, ROW_MASK, type Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import type { ObjectId, PeerId, Tick } from '../../packages/tickwire/src/core/base/time.ts'
import type { ClientHost } from '../../packages/tickwire/src/core/game/client-host.ts'
import type { Predictor } from '../../packages/tickwire/src/core/predict/predictor.ts'
import type { SnapshotSink } from '../../packages/tickwire/src/core/replication/snapshot-sink.ts'
import type { Shape } from '../../packages/tickwire/src/core/schema/field.ts'
import { isLeafClose } from '../../packages/tickwire/src/core/schema/row-equality.ts'
import type { Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import type { World } from '../../packages/tickwire/src/core/world/world.ts'
import type { CrowdInput } from './crowd-game.ts'
import { sightOf, standsAt } from './crowd-sight.ts'
import type { CrowdTruth, TrueRow } from './crowd-truth.ts'
import { hold } from './invariants.ts'

type FieldSet = 0 | 1 | 2

/** By schema and field set: 1 for every lane that is in it. */
const lanesInSets = new WeakMap<Schema, readonly Uint8Array[]>()

/** `I` is the input of the game that is played. */
export class CrowdWitness<I extends Shape = CrowdInput> {
  /** Rows that were compared. */
  rowCount = 0
  /** Whole rows that he had to ask for. */
  asked = 0
  readonly host: ClientHost<I>
  readonly #truth: CrowdTruth
  readonly #sink: SnapshotSink
  /** The world whose heap what was told refers to. */
  readonly #world: World
  /** Told before he knew who he is. */
  #early: { readonly tick: Tick; readonly type: number; readonly id: ObjectId }[] = []
  #hasStood = false
  #stoodUntil: Tick = -1

  constructor(truth: CrowdTruth, host: ClientHost<I>, sink: SnapshotSink, world: World) {
    this.#truth = truth
    this.host = host
    this.#sink = sink
    this.#world = world
    const { confirmed } = host
    const ask = sink.wanted.ask.bind(sink.wanted)
    sink.wanted.ask = (id) => {
      this.asked++
      ask(id)
    }
    const put = confirmed.put.bind(confirmed)
    confirmed.put = (tick, type, id, owner, rows, at) => {
      const isPut = put(tick, type, id, owner, rows, at)
      if (isPut && host.peer === 0) this.#early.push({ tick, type, id })
      else if (isPut) this.#check(tick, type, id)
      return isPut
    }
  }

  get undecodable(): number {
    return this.#sink.undecodableCount
  }

  /** After he has ticked: what came before he knew himself; and what he predicts, against what he was told and what is true. */
  afterTick(isThorough: boolean): void {
    if (this.host.peer === 0) return
    for (const { tick, type, id } of this.#early) this.#check(tick, type, id)
    this.#early = []
    if (!isThorough) return
    this.#checkTold()
    this.#checkPredicted()
    if (this.host.predictor === undefined) return
    this.#checkNobodyElse(this.host.predictor)
    if (this.host.predictor.isRunning) this.#checkSetRight(this.host.predictor)
  }

  /** Compares everything that is remembered. */
  sweep(): void {
    const { confirmed } = this.host
    for (let tick = Math.max(0, confirmed.newest - confirmed.windowTicks + 1); tick <= confirmed.newest; tick++) {
      const references = confirmed.references(tick)
      for (let index = 0; index < references.length; index++) {
        const reference = references[index]!
        if (reference !== 0) this.#check(tick, reference >>> ROW_BITS, confirmed.pools[reference >>> ROW_BITS]!.ids[reference & ROW_MASK]!)
      }
    }
  }

  /** What keeps him from being current: something he must know by now, and does not; or holds, and may not. */
  problem(lagTicks: number): string | undefined {
    const { confirmed, peer } = this.host
    const { newest } = this.#truth
    const past = newest - lagTicks
    const rows = this.#truth.at(newest)?.rows ?? []
    for (let index = 0; index < rows.length; index++) {
      const row = rows[index]
      const missing = row === undefined ? undefined : this.#missing(confirmed, peer, row, index, past)
      if (missing !== undefined) return missing
    }
    const { ids, types } = this.#sink.held
    for (let index = 0; index < ids.length; index++) {
      if (ids[index] !== 0 && !this.#mayHold(peer, index, ids[index]!, past)) {
        return `still holds ${this.#nameOf(types[index]!)} ${ids[index]}, which is gone or none of his`
      }
    }
    return undefined
  }

  /** What keeps his prediction from being confirmed. */
  predictionProblem(lagTicks: number): string | undefined {
    const { predictor } = this.host
    if (predictor === undefined) return 'predicts nothing'
    if (!predictor.isRunning) return 'has not begun to predict'
    const due = this.#truth.newest - lagTicks
    return predictor.confirmed >= due ? undefined : `has had nothing confirmed since tick ${predictor.confirmed}, and it is ${this.#truth.newest}`
  }

  #missing(confirmed: Timeline, peer: PeerId, row: TrueRow, index: number, past: Tick): string | undefined {
    let set: FieldSet = 0
    for (let tick = past; tick <= this.#truth.newest; tick++) {
      const then = this.#truth.row(tick, index)
      if (then?.id !== row.id) return undefined
      const sight = sightOf(this.#truth, tick, peer, then, true)
      // Who has just come into view, or is seen with other eyes, may still be on his way.
      if (!sight.must || (tick > past && sight.set !== set)) return undefined
      set = sight.set
    }
    const told = confirmed.findLatest(row.type, row.id) < 0 ? -1 : confirmed.changedAt(row.id)
    const name = `${this.#nameOf(row.type)} ${row.id}`
    if (told < 0) return `knows nothing of ${name}, which he has had to see since tick ${past}`
    if (told >= past) return undefined
    const known = this.#truth.row(told, index)
    const then = this.#truth.row(past, index)
    const isCurrent = known?.id === row.id && then !== undefined && known.owner === then.owner && this.#isEqual(row.type, set, known.row, then.row)
    return isCurrent ? undefined : `knows ${name} of tick ${told}, it has changed since, and it is ${this.#truth.newest}`
  }

  #isEqual(type: number, set: FieldSet, a: Int32Array, b: Int32Array): boolean {
    const isIn = lanesIn(this.#world.stores[type]!.schema, set)
    for (let lane = 0; lane < isIn.length; lane++) if (isIn[lane] === 1 && a[lane] !== b[lane]) return false
    return true
  }

  #mayHold(peer: PeerId, index: number, id: ObjectId, past: Tick): boolean {
    for (let tick = this.#truth.newest; tick >= past; tick--) {
      const row = this.#truth.row(tick, index)
      if (row?.id === id && sightOf(this.#truth, tick, peer, row, this.#hasStood).may) return true
    }
    return false
  }

  /** One row that he was told. */
  #check(tick: Tick, type: number, id: ObjectId): void {
    this.rowCount++
    const { confirmed, peer } = this.host
    const index = indexOf(id)
    const row = this.#truth.row(tick, index)
    const at = confirmed.find(type, id, tick)
    hold(at >= 0, 'C1', () => `was told of ${this.#nameOf(type)} ${id} at tick ${tick}, and has not kept it`)
    if (row === undefined || row.id !== id || row.type !== type) {
      hold(false, 'C1', () => `was told of ${this.#nameOf(type)} ${id} at tick ${tick}, and the authority did not have it`)
      return
    }
    const owner = confirmed.owner(type, id, tick)
    hold(owner === row.owner, 'C1', () => `was told that ${this.#nameOf(type)} ${id} was of ${owner} at tick ${tick}, and it was of ${row.owner}`)
    this.#stand(tick)
    const now = sightOf(this.#truth, tick, peer, row, this.#hasStood)
    if (now.may && this.#differing(type, at, row, now.set) < 0) return
    let then = now
    for (let ahead = 1; ahead <= this.host.game.snapshotTicks; ahead++) {
      const next = this.#truth.row(tick + ahead, index)
      if (next?.id !== id) break
      then = sightOf(this.#truth, tick + ahead, peer, next, this.#hasStood)
      if (then.may && this.#differing(type, at, row, then.set) < 0) return
    }
    hold(now.may || then.may, 'C2', () => `was told of ${this.#nameOf(type)} ${id} at tick ${tick}, and may not know it`)
    this.#fail(tick, type, at, row, now.may ? now.set : then.set)
  }

  #fail(tick: Tick, type: number, at: number, row: TrueRow, set: FieldSet): void {
    const { schema } = this.#world.stores[type]!
    const lane = this.#differing(type, at, row, set)
    const isIn = lanesIn(schema, set)[lane] === 1
    const path = schema.members.find((member) => lane >= member.lane && lane < member.lane + member.laneCount)?.path ?? `lane ${lane}`
    const told = this.host.confirmed.pools[type]!.rows[at + lane]
    const truth = isIn ? `the authority had ${row.row[lane]}` : 'it is none of his'
    hold(false, isIn ? 'C1' : 'C2', () => `was told ${path} of ${row.id} at tick ${tick} in set ${set} as ${told}; ${truth}`)
  }

  /** The first lane of a row told that is not as it should be; -1 when all are. */
  #differing(type: number, at: number, { row }: TrueRow, set: FieldSet): number {
    const { schema, heap } = this.#world.stores[type]!
    const { rows } = this.host.confirmed.pools[type]!
    const isIn = lanesIn(schema, set)
    for (let lane = 0; lane < isIn.length; lane++) {
      if (isIn[lane] === 0) {
        if (rows[at + lane] !== schema.initialRow[lane]) return lane
      } else if (isIn[lane] === 1 && rows[at + lane] !== row[lane]) return lane
    }
    for (const leaf of schema.heapLeaves) {
      if (isIn[leaf.lane] === 2 && this.#truth.contentOf(leaf, rows[at + leaf.lane]!, heap) !== row[leaf.lane]) return leaf.lane
    }
    return -1
  }

  /** Notes whether he has ever looked from somewhere. */
  #stand(until: Tick): void {
    for (; !this.#hasStood && this.#stoodUntil < until; this.#stoodUntil++) {
      const moment = this.#truth.at(this.#stoodUntil + 1)
      if (moment !== undefined && standsAt(moment, this.host.peer)) this.#hasStood = true
    }
  }

  /** What prediction takes for told is what was told. */
  #checkTold(): void {
    const { predictor, confirmed } = this.host
    if (predictor === undefined) return
    const { objects, stores } = predictor.told.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE || stores[type]!.isShared) continue
      const { schema, rows } = stores[type]!
      const id = objects.idAt(index)
      const at = confirmed.findLatest(type, id)
      hold(at >= 0, 'C3', () => `predicts ${schema.name} ${id}, of which he was never told`)
      for (const { lane, laneCount, path } of schema.masks[2].members) {
        for (let each = lane; each < lane + laneCount; each++) {
          const [known, told] = [rows[objects.slotAt(index) * schema.laneCount + each], confirmed.pools[type]!.rows[at + each]]
          hold(known === told, 'C3', () => `takes ${path} of ${id} for ${known}, and was told ${told}`)
        }
      }
    }
  }

  /** In the tick up to which all is confirmed, what was predicted is what was. */
  #checkPredicted(): void {
    const { predictor, peer } = this.host
    const tick = predictor?.confirmed ?? -1
    const moment = this.#truth.at(tick)
    if (predictor === undefined || !predictor.isRunning || moment === undefined) return
    for (let index = 0; index < moment.rows.length; index++) {
      const row = moment.rows[index]
      if (row === undefined || row.owner !== peer || this.#world.stores[row.type]!.isShared) continue
      if (predictor.past.has(tick)) this.#checkPredictedRow(tick, row)
    }
  }

  /** Of the tick that he was last told of an object of his, he has what he was told: what was predicted otherwise has been stepped again. */
  #checkSetRight({ past, told, tick: now, peer }: Predictor): void {
    const { objects, stores } = told.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      const tick = told.toldAt(index)
      if (type === NO_TYPE || stores[type]!.isShared || objects.ownerAt(index) !== peer || tick > now || !past.has(tick)) continue
      const id = objects.idAt(index)
      const { schema, rows } = stores[type]!
      const at = past.find(type, id, tick)
      hold(at >= 0, 'C3', () => `was told of ${schema.name} ${id} of his at tick ${tick}, and has nothing of it there`)
      for (const { firstLeaf, leafCount, field, path } of schema.masks[2].members) {
        if (field.options.rateHz !== undefined) continue
        for (const leaf of schema.leaves.slice(firstLeaf, firstLeaf + leafCount)) {
          const isRight = schema.heapLeaves.includes(leaf) || isLeafClose(leaf, past.rows(type, tick), at, rows, objects.slotAt(index) * schema.laneCount)
          hold(isRight, 'C3', () => `was told ${path} of ${id} at tick ${tick}, and still predicts another`)
        }
      }
    }
  }

  /** Whoever has a name and is predicted was told of, and is not known to be gone; nor was there anybody else in the tick that is confirmed. */
  #checkNobodyElse(predictor: Predictor): void {
    const { confirmed: tick, past, told, world: { objects, stores } } = predictor
    for (let index = 0; predictor.isRunning && index < Math.min(objects.highWater, objects.provisionalFrom); index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE || stores[type]!.isShared) continue
      const id = objects.idAt(index)
      hold(told.has(id), 'C3', () => `predicts ${this.#nameOf(type)} ${id}, which is gone`)
      const wasHis = past.has(tick) && past.find(type, id, tick) >= 0 && past.owner(type, id, tick) === this.host.peer
      hold(!wasHis || this.#truth.row(tick, index)?.id === id, 'C3', () => `has confirmed tick ${tick} with ${this.#nameOf(type)} ${id}, which was not there`)
    }
  }

  #checkPredictedRow(tick: Tick, row: TrueRow): void {
    const { schema } = this.#world.stores[row.type]!
    const { past } = this.host.predictor!
    const at = past.find(row.type, row.id, tick)
    const rows = past.rows(row.type, tick)
    hold(at >= 0, 'C3', () => `has confirmed tick ${tick} without ${schema.name} ${row.id} of his`)
    const isIn = lanesIn(schema, 2)
    for (const { lane, laneCount, path, field } of schema.masks[2].members) {
      if (field.options.rateHz !== undefined) continue
      for (let each = lane; each < lane + laneCount; each++) {
        hold(isIn[each] !== 1 || rows[at + each] === row.raw[each], 'C3', () =>
          `has confirmed ${path} of ${row.id} at tick ${tick} as ${rows[at + each]}; the authority had ${row.raw[each]}`)
      }
    }
  }

  #nameOf(type: number): string {
    return this.#world.stores[type]!.schema.name
  }
}

/** By lane: 0 not in the set, 1 in it, 2 in it and a handle. */
function lanesIn(schema: Schema, set: FieldSet): Uint8Array {
  let sets = lanesInSets.get(schema)
  if (sets === undefined) {
    sets = schema.masks.map(({ members }) => {
      const isIn = new Uint8Array(schema.laneCount)
      for (const { lane, laneCount } of members) isIn.fill(1, lane, lane + laneCount)
      for (const { lane } of schema.heapLeaves) if (isIn[lane] === 1) isIn[lane] = 2
      return isIn
    })
    lanesInSets.set(schema, sets)
  }
  return sets[set]!
}
