/**
 * Encodes a row as symbols: per chunk one mask symbol for the items with a residual, then the residuals.
 *
 * ```
 * mask of chunk 0 .. n | items whose bit is set, in order
 *
 * mask        with the bits of the items in motion inverted: a symbol of its own, or the escape and one bit per item;
 *             in chunk 0 also "raw": the delta of a different coder follows
 * flag        nothing more: its bit says that it changed
 * number      a token: the residual, which is not 0
 * dropped     of a rotation, when it is not the predicted component: which, counted from the predicted one
 * code        of a rotation: a token, not 0
 * value       as the schema writes it
 * ```
 *
 * Both directions visit the same items in the same order with the same predictions. A context depends only on symbols
 * already transmitted, or on rows that both sides have. Items of an absent group are not encoded.
 *
 * This class knows no bits: see `symbol-stream.ts`.
 */

import { readLeaves, writeLeaves } from '../schema/leaf-codec.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueStore } from '../schema/values.ts'
import { isFieldFloat, orderFloat } from './float-order.ts'
import { schemaGrid, type MakeGrid } from './rotation.ts'
import { RotationPredictor } from './rotation-predictor.ts'
import type { FieldSet, RowPair } from './row-coder.ts'
import {
  absentItems, codeIndex, differs, forgetResiduals, isMoving, RAW_MASK, readMask, sizeBefore, SPREADS, vectorClass,
} from './row-contexts.ts'
import * as plans from './row-plan.ts'
import { changedItems, classOf, Guesses, guessCarried, guessFloat, guessFree } from './row-predictor.ts'
import * as tables from './row-tables.ts'
import type { SymbolSink, SymbolSource } from './symbol-stream.ts'
import { readToken, writeToken } from './token.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { flag: FLAG, number: NUMBER, float: FLOAT, dropped: DROPPED, code: CODE } = plans.ITEM
const {
  shift: SHIFT,
  kind: KIND,
  lane: LANE,
  max: MAX,
  sign: SIGN,
  rate: RATE,
  group: GROUP,
  leaf: LEAF_AT,
  turn: TURN,
  wrap: WRAP,
  leadRateLane: LEAD_RATE_LANE,
} = plans.SLOT
const { TOKEN_CONTEXTS_SHIFT, MASK_CONTEXTS_SHIFT, MASK_AT_REST, MASK_MOVING } = tables

export class RowModel {
  readonly plan: plans.RowPlan
  readonly schema: Schema
  readonly tables: tables.RowTables
  readonly #rotations: RotationPredictor
  readonly guesses: Guesses
  /** Indexed by chunk: bits of the items with a residual, first item lowest. */
  readonly masks: Int32Array
  /** Indexed by chunk: bits of the items in motion. */
  readonly motions: Int32Array
  /**
   * Indexed by item: the residual, negated if the likely sign is negative. For a dropped component, its distance from
   * the predicted one.
   */
  readonly residuals: Int32Array

  constructor(schema: Schema, plan: plans.RowPlan, rowTables: tables.RowTables, makeGrid: MakeGrid = schemaGrid) {
    this.plan = plan
    this.schema = schema
    this.tables = rowTables
    this.#rotations = new RotationPredictor(schema, plan, makeGrid)
    this.guesses = new Guesses(plan.count)
    this.masks = new Int32Array(plan.chunks.length - 1)
    this.motions = new Int32Array(plan.chunks.length - 1)
    this.residuals = new Int32Array(plan.count)
  }

  /**
   * Encodes a row. Returns whether it differs from the baseline. `leafBits`: receives the bits that each leaf took in
   * the sink. @hot
   */
  encode(sink: SymbolSink, set: FieldSet, pair: RowPair, heap: ValueStore, leafBits?: Float64Array): boolean {
    const age = this.tables.at(tables.ageClass(pair.age))
    const { chunks, chunkCounts, slots } = this.plan
    const chunkCount = chunkCounts[set]
    const masks = this.masks
    const isChanged = this.#sayMasks(sink, chunkCount, age, pair)
    for (let chunk = 0; chunk < chunkCount; chunk++) {
      for (let bits = masks[chunk]; bits !== 0; bits &= bits - 1) {
        const item = chunks[chunk] + 31 - Math.clz32(bits & -bits)
        const before = leafBits === undefined ? 0 : sink.raw().bitLength
        this.writeItem(sink, age, chunk, item, pair, heap)
        if (leafBits !== undefined) leafBits[slots[(item << SHIFT) + LEAF_AT]] += sink.raw().bitLength - before
      }
    }
    forgetResiduals(this.plan, this.masks, this.residuals, chunkCount)
    return isChanged
  }

  /** Encodes which items of each chunk have a residual. Returns whether anything differs from the baseline. */
  #sayMasks(sink: SymbolSink, chunkCount: number, age: tables.AgeTables, pair: RowPair): boolean {
    const { chunks, sorts } = this.plan
    const masks = this.masks
    let changed = 0
    for (let chunk = 0; chunk < chunkCount; chunk++) {
      const before = this.#motion(chunk, pair)
      const now = changedItems(this.plan, chunk, pair.rows, pair.at, pair.baseRows, pair.baseAt)
      changed |= now
      const mask = this.#compare(chunk, before, now, age, pair)
      masks[chunk] = mask
      this.motions[chunk] = before
      const code = this.#maskCode(chunk, before, age, pair)
      const turned = mask ^ (before & sorts[chunk].lasting)
      const symbol = code.symbols[turned]
      if (symbol < code.masks.length) sink.symbol(code.table, symbol, 0, 0)
      else sink.symbol(code.table, symbol, turned, chunks[chunk + 1] - chunks[chunk])
    }
    return changed !== 0
  }

  /** Encodes that the delta of a different coder follows. */
  encodeRaw(sink: SymbolSink, pair: RowPair): void {
    const code = this.#maskCode(0, this.#motion(0, pair), this.tables.at(tables.ageClass(pair.age)), pair)
    sink.symbol(code.table, code.masks.length + 1, 0, 0)
  }

  /**
   * Decodes a row. False: the delta of a different coder follows instead. On invalid input the source's reader has
   * failed. @hot
   */
  decode(source: SymbolSource, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    const age = this.tables.at(tables.ageClass(pair.age))
    const { chunks, chunkCounts } = this.plan
    const { rows, at, baseRows, baseAt } = pair
    const { laneCount } = this.schema
    for (let lane = 0; lane < laneCount; lane++) rows[at + lane] = baseRows[baseAt + lane]
    const chunkCount = chunkCounts[set]
    for (let chunk = 0; chunk < chunkCount; chunk++) {
      const motion = this.#motion(chunk, pair)
      const mask = readMask(source, this.#maskCode(chunk, motion, age, pair), chunks[chunk + 1] - chunks[chunk])
      if (mask === RAW_MASK) {
        forgetResiduals(this.plan, this.masks, this.residuals, chunk)
        return false
      }
      this.masks[chunk] = mask ^ (motion & this.plan.sorts[chunk].lasting)
      this.motions[chunk] = motion
    }
    for (let chunk = 0; chunk < chunkCount; chunk++) this.#readChunk(source, chunk, age, pair, heap)
    forgetResiduals(this.plan, this.masks, this.residuals, chunkCount)
    return true
  }

  /** The items of a chunk that were in motion: they changed from the older row to the baseline. */
  #motion(chunk: number, pair: RowPair): number {
    return pair.olderAt < 0
      ? 0
      : changedItems(this.plan, chunk, pair.baseRows, pair.baseAt, pair.olderRows, pair.olderAt)
  }

  /** The code of a chunk's mask: the previous motion predicts the next. */
  #maskCode(chunk: number, motion: number, age: tables.AgeTables, pair: RowPair): tables.MaskCode {
    const activity = pair.olderAt >= 0 ? age.activities[chunk][motion]
      : isMoving(this.plan, chunk, pair) ? MASK_MOVING : MASK_AT_REST
    return age.masks[(chunk << MASK_CONTEXTS_SHIFT) + activity]
  }

  /**
   * Finds the items with a residual: returns the mask, and stores the residuals. `motion`, `now`: the items that
   * changed up to the baseline, and since.
   */
  #compare(chunk: number, motion: number, now: number, age: tables.AgeTables, pair: RowPair): number {
    const { slots, chunks, sorts } = this.plan
    const { free, carried, plain, grouped } = sorts[chunk]
    const { rows, at } = pair
    const guesses = this.guesses
    const first = chunks[chunk]
    const gone = grouped === 0 ? 0 : absentItems(this.plan, chunk, grouped, pair)
    let mask = now & plain & ~gone
    // An item that neither moved before nor moves now equals its prediction.
    for (let bits = (((now | motion) & free) | carried) & ~gone; bits !== 0; bits &= bits - 1) {
      const bit = bits & -bits
      const item = first + 31 - Math.clz32(bit)
      const slot = item << SHIFT
      if (slots[slot + KIND] !== NUMBER) {
        if (this.compareOther(item, age, pair)) mask |= bit
        continue
      }
      const guess = slots[slot + RATE] < 0 ? guessFree(slots, item, age, pair, guesses)
        : guessCarried(this.plan, item, age, pair, guesses)
      const turn = slots[slot + TURN]
      const residual = ((rows[at + slots[slot + LANE]] - guess) << turn) >> turn
      if (residual === 0) continue
      mask |= bit
      this.residuals[item] = guesses.signs[item] < 0 ? -residual : residual
    }
    return mask
  }

  /** Computes the residual of an item that is not a whole number; returns whether there is one. */
  compareOther(item: number, age: tables.AgeTables, pair: RowPair): boolean {
    const kind = this.plan.slots[(item << SHIFT) + KIND]
    if (kind === FLOAT) {
      const guess = guessFloat(this.plan.slots, item, age, pair, this.guesses)
      const residual = (orderFloat(pair.rows[pair.at + this.plan.slots[(item << SHIFT) + LANE]]) - guess) | 0
      this.residuals[item] = this.guesses.signs[item] < 0 ? -residual : residual
      return residual !== 0
    }
    return kind === DROPPED ? this.#compareDropped(item, age, pair) : this.#compareCode(item, pair)
  }

  #compareDropped(item: number, age: tables.AgeTables, pair: RowPair): boolean {
    const rotations = this.#rotations
    rotations.predict(item, age.weights, pair)
    const dropped = pair.rows[pair.at + this.plan.slots[(item << SHIFT) + LANE]]
    const turned = (dropped - rotations.lanes[0]) & 3
    if (turned !== 0) rotations.rebase(item, dropped, pair)
    this.residuals[item] = turned
    return turned !== 0
  }

  #compareCode(item: number, pair: RowPair): boolean {
    const { lanes, signs, classes } = this.#rotations
    const code = codeIndex(this.plan, this.schema, item)
    const residual = pair.rows[pair.at + this.plan.slots[(item << SHIFT) + LANE]] - lanes[1 + code]
    this.residuals[item] = signs[code] < 0 ? -residual : residual
    this.guesses.classes[item] = classes[code]
    return residual !== 0
  }

  writeItem(
    sink: SymbolSink,
    age: tables.AgeTables,
    chunk: number,
    item: number,
    pair: RowPair,
    heap: ValueStore,
  ): void {
    const { slots } = this.plan
    const kind = slots[(item << SHIFT) + KIND]
    if (kind === NUMBER || kind === FLOAT) {
      writeToken(sink, age.tokens[this.#tokenContext(chunk, item, pair)], this.residuals[item], 1)
    } else if (kind === DROPPED) {
      sink.symbol(age.dropped[item], this.residuals[item] - 1, 0, 0)
    } else if (kind === CODE) {
      writeToken(sink, age.tokens[this.#codeContext(chunk, item)], this.residuals[item], 1)
    } else if (kind !== FLAG) {
      const leaf = slots[(item << SHIFT) + LEAF_AT]
      writeLeaves(sink.raw(), this.schema, leaf, leaf + 1, pair.rows, pair.at, heap)
    }
  }

  /** The context of an item's token. */
  #tokenContext(chunk: number, item: number, pair: RowPair): number {
    const vector = this.plan.slots[(item << SHIFT) + LEAD_RATE_LANE]
    const size =
      vector > 0 && pair.olderAt >= 0 && this.plan.slots[(item << SHIFT) + RATE] < 0
        ? vectorClass(this.plan, item, pair)
        : item === 0
          ? 0
          : sizeBefore(this.plan, this.residuals, item)
    return (item << TOKEN_CONTEXTS_SHIFT) + (this.guesses.classes[item] << 5) + this.#spread(chunk, item) + size
  }

  /**
   * How much happens to the row: for parts of vectors the items with a residual, for all others the items in motion.
   */
  #spread(chunk: number, item: number): number {
    return SPREADS[this.plan.parts[item] !== 0 ? this.masks[chunk] : this.motions[chunk]]
  }

  /**
   * The context of a code: the residuals of the codes before it, or, for the first, of the items before the rotation.
   */
  #codeContext(chunk: number, item: number): number {
    const code = codeIndex(this.plan, this.schema, item)
    const first = code === 0 ? Math.max(0, item - 4) : item - code
    const end = code === 0 ? item - 1 : item
    let size = 0
    for (let before = first; before < end; before++) size = Math.max(size, classOf(this.residuals[before], 7))
    return (item << TOKEN_CONTEXTS_SHIFT) + (this.guesses.classes[item] << 5) + this.#spread(chunk, item) + size
  }

  #readChunk(source: SymbolSource, chunk: number, age: tables.AgeTables, pair: RowPair, heap: ValueStore): void {
    const { slots, chunks, sorts } = this.plan
    const { free, carried, grouped } = sorts[chunk]
    const { rows, at } = pair
    const mask = this.masks[chunk]
    const first = chunks[chunk]
    for (let bits = mask | (this.motions[chunk] & free) | carried | grouped; bits !== 0; bits &= bits - 1) {
      const bit = bits & -bits
      const item = first + 31 - Math.clz32(bit)
      const slot = item << SHIFT
      const isOff = (mask & bit) !== 0
      const group = slots[slot + GROUP]
      if (group >= 0 && rows[at + group] === 0) {
        if (isOff) source.raw().fail()
        this.leave(item, pair)
      } else if (slots[slot + KIND] === NUMBER) {
        let value = slots[slot + RATE] < 0 ? guessFree(slots, item, age, pair, this.guesses)
          : guessCarried(this.plan, item, age, pair, this.guesses)
        if (isOff) value += this.#readResidual(source, age, chunk, item, pair)
        value &= slots[slot + WRAP]
        if (value >>> 0 > slots[slot + MAX] >>> 0) source.raw().fail()
        rows[at + slots[slot + LANE]] = (value << slots[slot + SIGN]) >> slots[slot + SIGN]
      } else if (slots[slot + KIND] === FLAG) {
        if (isOff) rows[at + slots[slot + LANE]] ^= 1
      } else {
        this.readOther(source, age, chunk, item, isOff, pair, heap)
      }
    }
  }

  /** The values in an absent group are those of a new object. */
  leave(item: number, { rows, at }: RowPair): void {
    const { lane, laneCount } = this.schema.leaves[this.plan.slots[(item << SHIFT) + LEAF_AT]]
    for (let each = lane; each < lane + laneCount; each++) rows[at + each] = this.schema.initialRow[each]
  }

  /** Reads a residual. One that goes the long way round would be a second encoding of the short one, and is refused. */
  #readResidual(source: SymbolSource, age: tables.AgeTables, chunk: number, item: number, pair: RowPair): number {
    const turn = this.plan.slots[(item << SHIFT) + TURN]
    const mirrored = readToken(source, age.tokens[this.#tokenContext(chunk, item, pair)], 1)
    // The least int32 is its own negation.
    const residual = (this.guesses.signs[item] < 0 ? -mirrored : mirrored) | 0
    this.residuals[item] = mirrored
    if ((residual << turn) >> turn !== residual) source.raw().fail()
    return residual
  }

  readOther(
    source: SymbolSource,
    age: tables.AgeTables,
    chunk: number,
    item: number,
    isOff: boolean,
    pair: RowPair,
    heap: ValueStore,
  ): void {
    const slot = item << SHIFT
    const { slots } = this.plan
    const reader = source.raw()
    if (slots[slot + KIND] === DROPPED) {
      this.#readDropped(source, age, item, isOff, pair)
    } else if (slots[slot + KIND] === CODE) {
      this.#readCode(source, age, chunk, item, isOff, pair)
    } else if (slots[slot + KIND] === FLOAT) {
      const place =
        guessFloat(slots, item, age, pair, this.guesses)
        + (!isOff ? 0 : this.#readResidual(source, age, chunk, item, pair))
      const float = orderFloat(place | 0)
      if (!isFieldFloat(float, this.schema.leaves[slots[slot + LEAF_AT]].isFinite)) reader.fail()
      pair.rows[pair.at + slots[slot + LANE]] = float
    } else if (isOff) {
      const leaf = slots[slot + LEAF_AT]
      readLeaves(reader, this.schema, leaf, leaf + 1, pair.rows, pair.at, heap)
      if (!differs(this.schema.leaves[leaf], pair)) reader.fail()
    }
  }

  #readDropped(source: SymbolSource, age: tables.AgeTables, item: number, isOff: boolean, pair: RowPair): void {
    const rotations = this.#rotations
    rotations.predict(item, age.weights, pair)
    if (isOff) {
      const turned = source.symbol(age.dropped[item]) + 1
      rotations.rebase(item, (rotations.lanes[0] + turned) & 3, pair)
      this.residuals[item] = turned
    }
    pair.rows[pair.at + this.plan.slots[(item << SHIFT) + LANE]] = rotations.lanes[0]
  }

  #readCode(
    source: SymbolSource,
    age: tables.AgeTables,
    chunk: number,
    item: number,
    isOff: boolean,
    pair: RowPair,
  ): void {
    const rotations = this.#rotations
    const code = codeIndex(this.plan, this.schema, item)
    const to = pair.at + this.plan.slots[(item << SHIFT) + LANE]
    let value = rotations.lanes[1 + code]
    if (isOff) {
      this.guesses.classes[item] = rotations.classes[code]
      const residual = readToken(source, age.tokens[this.#codeContext(chunk, item)], 1)
      this.residuals[item] = residual
      value += rotations.signs[code] < 0 ? -residual : residual
    }
    pair.rows[to] = value
    if (code === 2 && !rotations.isRow(item, pair.rows, to - 3)) source.raw().fail()
  }
}
