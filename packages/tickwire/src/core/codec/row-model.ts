/**
 * What is said of a row, as symbols: one mask symbol a chunk for which items came off their prediction, then by how much.
 *
 * ```
 * mask of chunk 0 .. n | items whose bit is set, in order
 *
 * mask        a symbol of its own, or the escape and one bit an item; in chunk 0 also "raw": another coder's delta follows
 * flag        nothing more: its bit says that it is not what it was
 * number      a token: the residual, which is not 0
 * rotation    which component is dropped, counted on from the predicted one; three tokens, which may be 0
 * value       as the schema writes it
 * ```
 *
 * Both directions walk the same items in the same order with the same predictions; whatever a context is made of has been
 * said, or lies in rows that both sides hold. What lies in a group that is not there is not spoken of.
 *
 * It knows no bits: see `symbol-stream.ts`.
 */

import { readLeaves, writeLeaves } from '../schema/leaf-codec.ts'
import type { Schema } from '../schema/schema.ts'
import type { ValueStore } from '../schema/values.ts'
import { foldDifference, unfoldDifference } from './difference.ts'
import { isFieldFloat, orderFloat } from './float-order.ts'
import { RotationPredictor, schemaGrid, type MakeGrid } from './rotation-predictor.ts'
import type { FieldSet, RowPair } from './row-coder.ts'
import * as plans from './row-plan.ts'
import { classOf, GUESS, predictFloat, predictNumber } from './row-predictor.ts'
import * as tables from './row-tables.ts'
import type { SymbolSink, SymbolSource } from './symbol-stream.ts'
import * as tokens from './token.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const { flag: FLAG, number: NUMBER, float: FLOAT, rotation: ROTATION } = plans.ITEM
const {
  size: SIZE, kind: KIND, lane: LANE, max: MAX, sign: SIGN, rate: RATE, before: BEFORE, group: GROUP, leaf: LEAF_AT,
} = plans.SLOT
const { TOKEN_ESCAPE, TOKEN_SIZE_MAX, tokenRawBits, tokenSize, tokenSymbol } = tokens
const { TOKEN_CONTEXTS_SHIFT, MASK_CONTEXTS_SHIFT, MASK_AT_REST, MASK_MOVING } = tables

/** What a decoded mask of chunk 0 may say instead: another coder's delta follows. */
const RAW = -1

export class RowModel {
  readonly plan: plans.RowPlan
  readonly #schema: Schema
  readonly #tables: tables.RowTables
  readonly #rotations: RotationPredictor
  /** By chunk: bits of the items that came off their prediction, first item lowest. */
  readonly #masks: Int32Array
  /** By item: the residual, its sign turned to the likely one; of a rotation, the component dropped. */
  readonly #residuals: Int32Array
  /** By item: how sure the prediction was. */
  readonly #classes: Uint8Array
  /** By item: the residuals of three codes. */
  readonly #codes: Int32Array
  readonly #plain: Int32Array
  readonly #guess = new Int32Array(GUESS.size)

  constructor(schema: Schema, plan: plans.RowPlan, rowTables: tables.RowTables, makeGrid: MakeGrid = schemaGrid) {
    this.plan = plan
    this.#schema = schema
    this.#tables = rowTables
    this.#rotations = new RotationPredictor(schema, plan, makeGrid)
    this.#masks = new Int32Array(plan.chunks.length - 1)
    this.#residuals = new Int32Array(plan.count)
    this.#classes = new Uint8Array(plan.count)
    this.#codes = new Int32Array(plan.count * 3)
    this.#plain = new Int32Array(plan.count)
  }

  /** Says the row. Returns whether it differs from the baseline. @hot */
  encode(sink: SymbolSink, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    const age = this.#tables.at(tables.ageClass(pair.age))
    const { chunks, chunkCounts } = this.plan
    const chunkCount = chunkCounts[set]
    let isChanged = false
    for (let chunk = 0; chunk < chunkCount; chunk++) if (this.#compare(chunk, age, pair)) isChanged = true
    for (let chunk = 0; chunk < chunkCount; chunk++) this.#writeMask(sink, age, chunk, pair)
    for (let chunk = 0; chunk < chunkCount; chunk++) {
      for (let bits = this.#masks[chunk]; bits !== 0; bits &= bits - 1) {
        this.#writeItem(sink, age, chunks[chunk] + 31 - Math.clz32(bits & -bits), pair, heap)
      }
    }
    return isChanged
  }

  /** Says that another coder's delta follows. */
  encodeRaw(sink: SymbolSink, pair: RowPair): void {
    const age = this.#tables.at(tables.ageClass(pair.age))
    const code = age.masks[this.#maskContext(age, 0, pair)]
    sink.symbol(code.table, code.masks.length + 1, 0, 0)
  }

  /**
   * Hears a row. Returns false if another coder's delta follows instead. On nonsense the source's reader has failed and the
   * row is worthless. @hot
   */
  decode(source: SymbolSource, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    const age = this.#tables.at(tables.ageClass(pair.age))
    const { chunks, chunkCounts } = this.plan
    const { rows, at, baseRows, baseAt } = pair
    const { laneCount } = this.#schema
    for (let lane = 0; lane < laneCount; lane++) rows[at + lane] = baseRows[baseAt + lane]
    const chunkCount = chunkCounts[set]
    for (let chunk = 0; chunk < chunkCount; chunk++) {
      const mask = this.#readMask(source, age, chunk, pair)
      if (mask === RAW) return false
      this.#masks[chunk] = mask
    }
    for (let chunk = 0; chunk < chunkCount; chunk++) {
      let bits = this.#masks[chunk]
      for (let item = chunks[chunk]; item < chunks[chunk + 1]; item++, bits >>= 1) {
        this.#readItem(source, age, item, bits & 1, pair, heap)
      }
    }
    return true
  }

  /** Finds what came off its prediction: the mask, the residuals and how sure each was. Returns whether anything changed. */
  #compare(chunk: number, age: tables.AgeTables, pair: RowPair): boolean {
    const { slots, chunks } = this.plan
    const { rows, at, baseRows, baseAt } = pair
    const first = chunks[chunk]
    const end = chunks[chunk + 1]
    let mask = 0
    let isChanged = false
    for (let item = first; item < end; item++) {
      const slot = item * SIZE
      const lane = slots[slot + LANE]
      const group = slots[slot + GROUP]
      this.#residuals[item] = 0
      if (group >= 0 && rows[at + group] === 0) continue
      const kind = slots[slot + KIND]
      if (rows[at + lane] !== baseRows[baseAt + lane]) isChanged = true
      let isOff = false
      if (kind === NUMBER || kind === FLOAT) {
        isOff = this.#compareNumber(item, kind, age, pair)
      } else if (kind === ROTATION) {
        for (let code = 1; code < 4; code++) if (rows[at + lane + code] !== baseRows[baseAt + lane + code]) isChanged = true
        isOff = this.#compareRotation(item, age, pair)
      } else {
        isOff = this.#differs(item, pair)
        if (isOff) isChanged = true
      }
      if (isOff) mask |= 1 << (item - first)
    }
    this.#masks[chunk] = mask
    return isChanged
  }

  #compareNumber(item: number, kind: number, age: tables.AgeTables, pair: RowPair): boolean {
    const guess = this.#guess
    const { slots } = this.plan
    const slot = item * SIZE
    const lane = pair.rows[pair.at + slots[slot + LANE]]
    let value = lane
    if (kind === NUMBER) {
      predictNumber(this.plan, item, age.weights, pair, this.#plain, guess)
    } else {
      predictFloat(this.plan, item, age.weights, pair, guess)
      value = orderFloat(lane)
    }
    const folded = foldDifference(value, guess[0], slots[slot + MAX])
    const residual = (folded >>> 1) ^ -(folded & 1)
    this.#residuals[item] = guess[2] < 0 ? -residual : residual
    this.#classes[item] = guess[1]
    return folded !== 0
  }

  #compareRotation(item: number, age: tables.AgeTables, pair: RowPair): boolean {
    const rotations = this.#rotations
    const { slots } = this.plan
    const lanes = rotations.lanes
    const from = pair.at + slots[item * SIZE + LANE]
    const max = slots[item * SIZE + MAX]
    rotations.predict(item, age.weights, pair)
    const turned = (pair.rows[from] - lanes[0]) & 3
    if (turned !== 0) rotations.rebase(item, pair.rows[from], pair)
    let any = turned
    for (let code = 0; code < 3; code++) {
      const folded = foldDifference(pair.rows[from + 1 + code], lanes[1 + code], max)
      this.#codes[item * 3 + code] = (folded >>> 1) ^ -(folded & 1)
      any |= folded
    }
    this.#residuals[item] = turned
    this.#classes[item] = rotations.class
    return any !== 0
  }

  /** Whether an item that is not predicted differs from the baseline. */
  #differs(item: number, { rows, at, baseRows, baseAt }: RowPair): boolean {
    const { lane, laneCount } = this.#schema.leaves[this.plan.slots[item * SIZE + LEAF_AT]]
    for (let each = lane; each < lane + laneCount; each++) if (rows[at + each] !== baseRows[baseAt + each]) return true
    return false
  }

  /** What kind of motion a chunk was in: an index of `AgeTables.masks`. */
  #maskContext(age: tables.AgeTables, chunk: number, { baseRows, baseAt, olderRows, olderAt }: RowPair): number {
    const { slots, gains, chunks } = this.plan
    const first = chunks[chunk]
    const end = chunks[chunk + 1]
    if (olderAt >= 0) {
      let changed = 0
      for (let item = first; item < end; item++) {
        const lane = slots[item * SIZE + LANE]
        // A rotation that turned has another code, nearly always.
        const last = slots[item * SIZE + KIND] === ROTATION ? lane + 3 : lane
        for (let each = lane; each <= last; each++) {
          if (baseRows[baseAt + each] !== olderRows[olderAt + each]) changed |= 1 << (item - first)
        }
      }
      return (chunk << MASK_CONTEXTS_SHIFT) + age.activities[chunk][changed]
    }
    for (let item = first; item < end; item++) {
      const slot = item * SIZE
      if (slots[slot + RATE] < 0 || slots[slot + KIND] !== NUMBER) continue
      const rate = baseRows[baseAt + slots[slots[slot + RATE] * SIZE + LANE]]
      // A rate of next to nothing is rest.
      const way = gains[item << 1] * rate + gains[(item << 1) + 1]
      if (way > REST || way < -REST) return (chunk << MASK_CONTEXTS_SHIFT) + MASK_MOVING
    }
    return (chunk << MASK_CONTEXTS_SHIFT) + MASK_AT_REST
  }

  #writeMask(sink: SymbolSink, age: tables.AgeTables, chunk: number, pair: RowPair): void {
    const code = age.masks[this.#maskContext(age, chunk, pair)]
    const mask = this.#masks[chunk]
    const symbol = code.symbols[mask]
    if (symbol < code.masks.length) sink.symbol(code.table, symbol, 0, 0)
    else sink.symbol(code.table, symbol, mask, this.plan.chunks[chunk + 1] - this.plan.chunks[chunk])
  }

  #readMask(source: SymbolSource, age: tables.AgeTables, chunk: number, pair: RowPair): number {
    const code = age.masks[this.#maskContext(age, chunk, pair)]
    const symbol = source.symbol(code.table)
    if (symbol < code.masks.length) return code.masks[symbol]
    if (symbol > code.masks.length) return RAW
    const mask = source.raw().readBits(this.plan.chunks[chunk + 1] - this.plan.chunks[chunk])
    // What has a symbol is said by it.
    if (code.symbols[mask] < code.masks.length) source.raw().fail()
    return mask
  }

  #writeItem(sink: SymbolSink, age: tables.AgeTables, item: number, pair: RowPair, heap: ValueStore): void {
    const { slots } = this.plan
    const kind = slots[item * SIZE + KIND]
    if (kind === NUMBER || kind === FLOAT) {
      writeToken(sink, age.tokens[this.#tokenContext(item)], this.#residuals[item], 1)
    } else if (kind === ROTATION) {
      sink.symbol(age.dropped[item], this.#residuals[item], 0, 0)
      const context = (item << TOKEN_CONTEXTS_SHIFT) + (this.#classes[item] << 2)
      let size = 0
      for (let code = 0; code < 3; code++) {
        const residual = this.#codes[item * 3 + code]
        writeToken(sink, age.tokens[context + size], residual, 0)
        size = 1 + classOf(residual, 2)
      }
    } else if (kind !== FLAG) {
      const leaf = slots[item * SIZE + LEAF_AT]
      writeLeaves(sink.raw(), this.#schema, leaf, leaf + 1, pair.rows, pair.at, heap)
    }
  }

  /** The context of an item's token. */
  #tokenContext(item: number): number {
    const before = this.plan.slots[item * SIZE + BEFORE]
    const size = before < 0 ? 0 : classOf(this.#residuals[before], 3)
    return (item << TOKEN_CONTEXTS_SHIFT) + (this.#classes[item] << 2) + size
  }

  #readItem(source: SymbolSource, age: tables.AgeTables, item: number, bit: number, pair: RowPair, heap: ValueStore): void {
    const { slots } = this.plan
    const { rows, at } = pair
    const slot = item * SIZE
    const kind = slots[slot + KIND]
    const group = slots[slot + GROUP]
    this.#residuals[item] = 0
    if (group >= 0 && rows[at + group] === 0) {
      if (bit !== 0) source.raw().fail()
      this.#leave(item, pair)
    } else if (kind === NUMBER || kind === FLOAT) {
      this.#readNumber(source, age, item, kind, bit, pair)
    } else if (kind === ROTATION) {
      this.#readRotation(source, age, item, bit, pair)
    } else if (bit !== 0) {
      const lane = slots[slot + LANE]
      if (kind === FLAG) {
        rows[at + lane] ^= 1
        return
      }
      const leaf = slots[slot + LEAF_AT]
      readLeaves(source.raw(), this.#schema, leaf, leaf + 1, rows, at, heap)
      if (!this.#differs(item, pair)) source.raw().fail()
    }
  }

  /** What was in a group that is gone is what it is in a fresh object. */
  #leave(item: number, { rows, at }: RowPair): void {
    const { lane, laneCount } = this.#schema.leaves[this.plan.slots[item * SIZE + LEAF_AT]]
    for (let each = lane; each < lane + laneCount; each++) rows[at + each] = this.#schema.initialRow[each]
  }

  #readNumber(source: SymbolSource, age: tables.AgeTables, item: number, kind: number, bit: number, pair: RowPair): void {
    const guess = this.#guess
    const { slots } = this.plan
    const slot = item * SIZE
    const max = slots[slot + MAX]
    if (kind === NUMBER) predictNumber(this.plan, item, age.weights, pair, this.#plain, guess)
    else predictFloat(this.plan, item, age.weights, pair, guess)
    let value = guess[0]
    if (bit !== 0) {
      this.#classes[item] = guess[1]
      const mirrored = readToken(source, age.tokens[this.#tokenContext(item)], 1)
      const residual = guess[2] < 0 ? -mirrored : mirrored
      this.#residuals[item] = mirrored
      const folded = (residual << 1) ^ (residual >> 31)
      if (folded === 0 || (max > 0 && max < 0x4000_0000 && folded >>> 0 > max)) source.raw().fail()
      value = unfoldDifference(folded, value, max)
    }
    if (value >>> 0 > max >>> 0) source.raw().fail()
    const lane = slots[slot + LANE]
    if (kind === NUMBER) {
      pair.rows[pair.at + lane] = (value << slots[slot + SIGN]) >> slots[slot + SIGN]
    } else {
      const bits = orderFloat(value)
      if (!isFieldFloat(bits, this.#schema.leaves[slots[slot + LEAF_AT]].isFinite)) source.raw().fail()
      pair.rows[pair.at + lane] = bits
    }
  }

  #readRotation(source: SymbolSource, age: tables.AgeTables, item: number, bit: number, pair: RowPair): void {
    const rotations = this.#rotations
    const lanes = rotations.lanes
    const { slots } = this.plan
    const to = pair.at + slots[item * SIZE + LANE]
    const max = slots[item * SIZE + MAX]
    rotations.predict(item, age.weights, pair)
    let any = 0
    if (bit !== 0) {
      const turned = source.symbol(age.dropped[item])
      if (turned !== 0) rotations.rebase(item, (lanes[0] + turned) & 3, pair)
      any = turned
      const context = (item << TOKEN_CONTEXTS_SHIFT) + (rotations.class << 2)
      let size = 0
      for (let code = 1; code < 4; code++) {
        const residual = readToken(source, age.tokens[context + size], 0)
        const folded = (residual << 1) ^ (residual >> 31)
        if (folded >>> 0 > max) source.raw().fail()
        lanes[code] = unfoldDifference(folded, lanes[code], max)
        size = 1 + classOf(residual, 2)
        any |= folded
      }
      if (any === 0) source.raw().fail()
    }
    for (let code = 0; code < 4; code++) pair.rows[to + code] = lanes[code]
    if (!rotations.isRow(item, pair.rows, to)) source.raw().fail()
  }
}

/** A way of a quarter step a tick, in parts of `GAIN_UNIT`. */
const REST: number = plans.GAIN_UNIT / 4

/** `least`: 1 for a residual that is not 0. */
function writeToken(sink: SymbolSink, table: number, residual: number, least: number): void {
  const size = (residual < 0 ? -residual : residual) - least
  if (size >= TOKEN_SIZE_MAX) {
    sink.symbol(table, TOKEN_ESCAPE, residual >>> 16, 16)
    sink.raw().writeBits(residual & 0xffff, 16)
    return
  }
  const symbol = tokenSymbol(size)
  const width = tokenRawBits(symbol)
  sink.symbol(table, residual < 0 ? symbol + 1 : symbol, size & ((1 << width) - 1), width)
}

function readToken(source: SymbolSource, table: number, least: number): number {
  const symbol = source.symbol(table)
  if (symbol === TOKEN_ESCAPE) {
    const high = source.raw().readBits(16)
    const residual = (high << 16) | source.raw().readBits(16)
    if (residual >= 0 ? residual - least < TOKEN_SIZE_MAX : -residual - least < TOKEN_SIZE_MAX) source.raw().fail()
    return residual
  }
  const width = tokenRawBits(symbol)
  const size = tokenSize(symbol) + (width === 0 ? 0 : source.raw().readBits(width)) + least
  // There is no negative 0.
  if ((symbol & 1) !== 0 && size === 0) source.raw().fail()
  return (symbol & 1) !== 0 ? -size : size
}
