/**
 * Watches one client. Everything that the client receives is compared with what the authority had, at the moment it
 * arrives, and once more later with everything that the client still remembers.
 *
 * For a row of a tick: the object lived in that tick, had this owner, was one that this peer may know, and every lane
 * of the peer's field set is the authority's; every lane outside the set is untouched. A row of an object at rest may
 * be filled in for earlier ticks back to the snapshot before: for those, the sight of the tick that was sent is enough.
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

/** By schema and field set: 1 for every lane in the set. */
const lanesInSets = new WeakMap<Schema, readonly Uint8Array[]>()

/** `I` is the input of the game that is played. */
export class CrowdWitness<I extends Shape = CrowdInput> {
  /** Rows that were compared. */
  rowCount = 0
  /** Whole rows that the client had to request. */
  asked = 0
  readonly host: ClientHost<I>
  readonly #truth: CrowdTruth
  readonly #sink: SnapshotSink
  /** The world whose heap the received rows refer to. */
  readonly #world: World
  /** Received before the client knew its own peer id. */
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

  /**
   * After a tick of the client: checks the rows that arrived before it knew its peer id, and compares its prediction
   * with what it received and with the truth.
   */
  afterTick(isThorough: boolean): void {
    if (this.host.peer === 0) return
    for (const { tick, type, id } of this.#early) this.#check(tick, type, id)
    this.#early = []
    if (!isThorough) return
    this.#checkReceived()
    this.#checkPredicted()
    if (this.host.predictor === undefined) return
    this.#checkOthers(this.host.predictor)
    if (this.host.predictor.isRunning) this.#checkCorrected(this.host.predictor)
  }

  /** Compares everything that the client remembers. */
  sweep(): void {
    const { confirmed } = this.host
    for (let tick = Math.max(0, confirmed.newest - confirmed.windowTicks + 1); tick <= confirmed.newest; tick++) {
      const references = confirmed.references(tick)
      for (let index = 0; index < references.length; index++) {
        const reference = references[index]!
        if (reference !== 0)
          this.#check(tick, reference >>> ROW_BITS, confirmed.pools[reference >>> ROW_BITS]!.ids[reference & ROW_MASK]!)
      }
    }
  }

  /**
   * Why the client is not current: an object that it must know by now is missing, or it holds one that it may not know.
   */
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
        return `still holds ${this.#nameOf(types[index]!)} ${ids[index]}, which is gone or out of view`
      }
    }
    return undefined
  }

  /** Why the client's prediction is not confirmed. */
  predictionProblem(lagTicks: number): string | undefined {
    const { predictor } = this.host
    if (predictor === undefined) return 'predicts nothing'
    if (!predictor.isRunning) return 'has not begun to predict'
    const due = this.#truth.newest - lagTicks
    return predictor.confirmed >= due
      ? undefined
      : `has had nothing confirmed since tick ${predictor.confirmed}, and it is ${this.#truth.newest}`
  }

  #missing(confirmed: Timeline, peer: PeerId, row: TrueRow, index: number, past: Tick): string | undefined {
    let set: FieldSet = 0
    for (let tick = past; tick <= this.#truth.newest; tick++) {
      const then = this.#truth.row(tick, index)
      if (then?.id !== row.id) return undefined
      const sight = sightOf(this.#truth, tick, peer, then, true)
      // The row of an object that has just come into view, or is seen from another viewpoint, may still be in flight.
      if (!sight.must || (tick > past && sight.set !== set)) return undefined
      set = sight.set
    }
    const knownTick = confirmed.findLatest(row.type, row.id) < 0 ? -1 : confirmed.changedAt(row.id)
    const name = `${this.#nameOf(row.type)} ${row.id}`
    if (knownTick < 0) return `does not know ${name}, which it must know since tick ${past}`
    if (knownTick >= past) return undefined
    const known = this.#truth.row(knownTick, index)
    const then = this.#truth.row(past, index)
    const isCurrent =
      known?.id === row.id
      && then !== undefined
      && known.owner === then.owner
      && this.#isEqual(row.type, set, known.row, then.row)
    return isCurrent
      ? undefined
      : `knows ${name} of tick ${knownTick}, it has changed since, and it is ${this.#truth.newest}`
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

  /** Checks one row that the client received. */
  #check(tick: Tick, type: number, id: ObjectId): void {
    this.rowCount++
    const { confirmed, peer } = this.host
    const index = indexOf(id)
    const row = this.#truth.row(tick, index)
    const at = confirmed.find(type, id, tick)
    hold(at >= 0, 'C1', () => `received ${this.#nameOf(type)} ${id} at tick ${tick}, and has not kept it`)
    if (row === undefined || row.id !== id || row.type !== type) {
      hold(
        false,
        'C1',
        () => `received ${this.#nameOf(type)} ${id} at tick ${tick}, and the authority did not have it`,
      )
      return
    }
    const owner = confirmed.owner(type, id, tick)
    hold(
      owner === row.owner,
      'C1',
      () => `received ${this.#nameOf(type)} ${id} with owner ${owner} at tick ${tick}, and it had ${row.owner}`,
    )
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
    hold(
      now.may || then.may,
      'C2',
      () => `received ${this.#nameOf(type)} ${id} at tick ${tick}, and may not know it`,
    )
    this.#fail(tick, type, at, row, now.may ? now.set : then.set)
  }

  #fail(tick: Tick, type: number, at: number, row: TrueRow, set: FieldSet): void {
    const { schema } = this.#world.stores[type]!
    const lane = this.#differing(type, at, row, set)
    const isIn = lanesIn(schema, set)[lane] === 1
    const path =
      schema.members.find((member) => lane >= member.lane && lane < member.lane + member.laneCount)?.path
      ?? `lane ${lane}`
    const received = this.host.confirmed.pools[type]!.rows[at + lane]
    const truth = isIn ? `the authority had ${row.row[lane]}` : 'it may not know this field'
    hold(
      false,
      isIn ? 'C1' : 'C2',
      () => `received ${path} of ${row.id} at tick ${tick} in set ${set} as ${received}; ${truth}`,
    )
  }

  /** The first lane of a received row that is not as it should be; -1 when all are. */
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
      if (isIn[leaf.lane] === 2 && this.#truth.contentOf(leaf, rows[at + leaf.lane]!, heap) !== row[leaf.lane])
        return leaf.lane
    }
    return -1
  }

  /** Notes whether the client has ever had a viewpoint. */
  #stand(until: Tick): void {
    for (; !this.#hasStood && this.#stoodUntil < until; this.#stoodUntil++) {
      const moment = this.#truth.at(this.#stoodUntil + 1)
      if (moment !== undefined && standsAt(moment, this.host.peer)) this.#hasStood = true
    }
  }

  /** The confirmed rows that prediction starts from are the rows that were received. */
  #checkReceived(): void {
    const { predictor, confirmed } = this.host
    if (predictor === undefined) return
    const { objects, stores } = predictor.truth.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE || stores[type]!.isShared) continue
      const { schema, rows } = stores[type]!
      const id = objects.idAt(index)
      const at = confirmed.findLatest(type, id)
      hold(at >= 0, 'C3', () => `predicts ${schema.name} ${id}, which it never received`)
      for (const { lane, laneCount, path } of schema.masks[2].members) {
        for (let each = lane; each < lane + laneCount; each++) {
          const [known, received] = [
            rows[objects.slotAt(index) * schema.laneCount + each],
            confirmed.pools[type]!.rows[at + each],
          ]
          hold(known === received, 'C3', () => `takes ${path} of ${id} for ${known}, and received ${received}`)
        }
      }
    }
  }

  /** In the newest confirmed tick, the predicted rows are the authority's. */
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

  /**
   * In the tick of the last received row of an own object, the predictor has that row: a different prediction has been
   * stepped again.
   */
  #checkCorrected({ past, truth, tick: now, peer }: Predictor): void {
    const { objects, stores } = truth.world
    for (let index = 0; index < objects.highWater; index++) {
      const type = objects.typeAt(index)
      const tick = truth.receivedAt(index)
      if (
        type === NO_TYPE
        || stores[type]!.isShared
        || objects.ownerAt(index) !== peer
        || tick > now
        || !past.has(tick)
      )
        continue
      const id = objects.idAt(index)
      const { schema, rows } = stores[type]!
      const at = past.find(type, id, tick)
      hold(at >= 0, 'C3', () => `received its ${schema.name} ${id} at tick ${tick}, and does not have it there`)
      for (const { firstLeaf, leafCount, field, path } of schema.masks[2].members) {
        if (field.options.rateHz !== undefined) continue
        for (const leaf of schema.leaves.slice(firstLeaf, firstLeaf + leafCount)) {
          const isRight =
            schema.heapLeaves.includes(leaf)
            || isLeafClose(leaf, past.rows(type, tick), at, rows, objects.slotAt(index) * schema.laneCount)
          hold(isRight, 'C3', () => `received ${path} of ${id} at tick ${tick}, and still predicts another value`)
        }
      }
    }
  }

  /**
   * Every predicted object with a real id was received and is not known to be gone; and the confirmed tick has no own
   * object that did not exist.
   */
  #checkOthers(predictor: Predictor): void {
    const { confirmed: tick, past, truth, world: { objects, stores } } = predictor
    for (let index = 0; predictor.isRunning && index < Math.min(objects.highWater, objects.provisionalFrom); index++) {
      const type = objects.typeAt(index)
      if (type === NO_TYPE || stores[type]!.isShared) continue
      const id = objects.idAt(index)
      hold(truth.has(id), 'C3', () => `predicts ${this.#nameOf(type)} ${id}, which is gone`)
      const wasOwn = past.has(tick) && past.find(type, id, tick) >= 0 && past.owner(type, id, tick) === this.host.peer
      hold(
        !wasOwn || this.#truth.row(tick, index)?.id === id,
        'C3',
        () => `has confirmed tick ${tick} with ${this.#nameOf(type)} ${id}, which was not there`,
      )
    }
  }

  #checkPredictedRow(tick: Tick, row: TrueRow): void {
    const { schema } = this.#world.stores[row.type]!
    const { past } = this.host.predictor!
    const at = past.find(row.type, row.id, tick)
    const rows = past.rows(row.type, tick)
    hold(at >= 0, 'C3', () => `has confirmed tick ${tick} without its own ${schema.name} ${row.id}`)
    const isIn = lanesIn(schema, 2)
    for (const { lane, laneCount, path, field } of schema.masks[2].members) {
      if (field.options.rateHz !== undefined) continue
      for (let each = lane; each < lane + laneCount; each++) {
        hold(
          isIn[each] !== 1 || rows[at + each] === row.raw[each],
          'C3',
          () =>
            `has confirmed ${path} of ${row.id} at tick ${tick} as ${rows[at + each]}; `
            + `the authority had ${row.raw[each]}`,
        )
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
