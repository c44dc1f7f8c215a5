/**
 * What each field of an entity costs in deltas, for any coder.
 *
 * A coder that predicts motion reports the bits of each field itself (`RowCoder.account`). For any other coder only the
 * length of a delta is known, not the share of each field. The delta is then encoded once in full, and once more
 * without each field that changed; the difference is that field's cost. Bits that belong to no field, above all the
 * mask, count as shared.
 *
 * It encodes once, and once more per changed field: for profilers on request, not for every packet.
 */

import { FRAME_BYTES_MAX } from '../base/limits.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { RowPair, type FieldSet, type RowCoder } from '../codec/row-coder.ts'
import type { Member } from '../schema/layout.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueStore } from '../schema/values.ts'
import type { Timeline } from '../world/timeline.ts'
import type { World } from '../world/world.ts'

export class FieldMeter {
  /** Indexed like `members`: bits, and the number of deltas in which the field changed. */
  readonly bits: Float64Array
  readonly changes: Uint32Array
  /** The bits of all deltas, and their number. */
  totalBits = 0
  count = 0
  /** The fields of the field set, in order. */
  readonly members: readonly Member[]
  readonly #coder: RowCoder
  readonly #set: FieldSet
  readonly #heap: ValueStore
  readonly #out = new BitWriter(new Uint8Array(FRAME_BYTES_MAX))
  readonly #without = new RowPair()
  readonly #row: Int32Array
  readonly #leafBits: Float64Array

  constructor(schema: Schema, coder: RowCoder, set: FieldSet, heap: ValueStore) {
    this.members = schema.masks[set].members
    this.bits = new Float64Array(this.members.length)
    this.changes = new Uint32Array(this.members.length)
    this.#coder = coder
    this.#set = set
    this.#heap = heap
    this.#row = new Int32Array(schema.laneCount)
    this.#leafBits = new Float64Array(schema.leaves.length)
  }

  /** Bits that belong to no field. */
  get sharedBits(): number {
    return this.totalBits - this.bits.reduce((sum, bits) => sum + bits, 0)
  }

  /** Counts one delta, field by field; returns its bits. */
  add(pair: RowPair): number {
    const leafBits = this.#leafBits.fill(0)
    this.#out.reset(this.#out.bytes)
    const isCounted = this.#coder.account?.(this.#out, this.#set, pair, this.#heap, leafBits) === true
    const whole = isCounted ? this.#out.bitLength : this.#measure(pair)
    if (isCounted) this.#addCounted(pair, leafBits)
    else this.#addLeftOut(pair, whole)
    this.totalBits += whole
    this.count++
    return whole
  }

  /** The coder reported the bits of each leaf. A field that matched its prediction has changed, and cost nothing. */
  #addCounted(pair: RowPair, leafBits: Float64Array): void {
    this.members.forEach((member, index) => {
      if (differs(member, pair)) this.changes[index]++
      for (let leaf = member.firstLeaf; leaf < member.firstLeaf + member.leafCount; leaf++)
        this.bits[index] += leafBits[leaf]
    })
  }

  #addLeftOut(pair: RowPair, whole: number): void {
    const without = this.#without
    Object.assign(without, pair, { rows: this.#row, at: 0 })
    this.members.forEach((member, index) => {
      if (!differs(member, pair)) return
      this.#row.set(pair.rows.subarray(pair.at, pair.at + this.#row.length))
      for (let lane = member.lane; lane < member.lane + member.laneCount; lane++)
        this.#row[lane] = pair.baseRows[pair.baseAt + lane]
      this.bits[index] += whole - this.#measure(without)
      this.changes[index]++
    })
  }

  #measure(pair: RowPair): number {
    this.#out.reset(this.#out.bytes)
    this.#coder.write(this.#out, this.#set, pair, this.#heap)
    return this.#out.bitLength
  }
}

function differs({ lane, laneCount }: Member, { rows, at, baseRows, baseAt }: RowPair): boolean {
  for (let each = lane; each < lane + laneCount; each++) if (rows[at + each] !== baseRows[baseAt + each]) return true
  return false
}

/** What one field cost recently, for one client that sees every object. */
export interface FieldBits {
  /** The field, as `Player.at`. */
  readonly path: string
  /** How often it changed. */
  readonly changes: number
  /** The bits that it took. */
  readonly bits: number
}

/**
 * What the fields of all live objects cost over the ticks in a dense Timeline, against rows `ageTicks` old and the row
 * sent before them; most expensive first. In a game that sends every `strideTicks`-th tick only those ticks count, and
 * the age is rounded up to a multiple. For a running server, on request: it takes as long as encoding those ticks about
 * ten times.
 */
export function recentFieldBits(
  world: World,
  timeline: Timeline,
  coders: readonly RowCoder[],
  ageTicks: number,
  set: FieldSet = 0,
  strideTicks: number = 1,
): FieldBits[] {
  const pair = new RowPair()
  pair.age = Math.ceil(ageTicks / strideTicks) * strideTicks
  pair.olderTicks = strideTicks
  const oldest = Math.max(0, timeline.newest - timeline.windowTicks + pair.age + 1)
  const costs = world.stores.map((store, type): FieldMeter => {
    const meter = new FieldMeter(store.schema, coders[type], set, world.heap)
    const { rows } = timeline.pools[type]
    pair.rows = rows
    pair.baseRows = rows
    pair.olderRows = rows
    for (let tick = Math.ceil(oldest / strideTicks) * strideTicks; tick <= timeline.newest; tick += strideTicks) {
      for (const { id } of store.living()) {
        pair.at = timeline.find(type, id, tick)
        pair.baseAt = timeline.find(type, id, tick - pair.age)
        pair.olderAt = timeline.find(type, id, tick - pair.age - strideTicks)
        if (pair.at < 0 || pair.baseAt < 0 || pair.at === timeline.find(type, id, tick - strideTicks)) continue
        meter.add(pair)
      }
    }
    return meter
  })
  const fields = costs.flatMap(({ members, bits, changes }) =>
    members.map(({ path }, at): FieldBits => ({ path, changes: changes[at], bits: bits[at] })),
  )
  return fields.filter(({ changes }) => changes > 0).sort((a, b) => b.bits - a.bits)
}
