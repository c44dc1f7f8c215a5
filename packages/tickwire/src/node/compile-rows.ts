/**
 * Where code made from text comes in on Node: functions that write and read the rows of a game's entities, in a third and in half of the model's time.
 *
 * Equal texts are one function, so that all matches of a game warm it up together.
 */

import type { PrefixSink, PrefixSource } from '../core/codec/prefix-stream.ts'
import type { CompileRows, ReadRow, RowCodeParts, RowSpeech, WriteRow } from '../core/codec/row-code.ts'
import type { FieldSet, RowPair } from '../core/codec/row-coder.ts'
import { readMask, SPREADS, vectorClass } from '../core/codec/row-contexts.ts'
import type { RowModel } from '../core/codec/row-model.ts'
import { ageClass } from '../core/codec/row-tables.ts'
import type { ValueStore } from '../core/schema/values.ts'
import { readToken, tokenRawBits, tokenSymbol, writeToken } from '../core/codec/token.ts'
import { READ_PARAMETERS, readText, WRITE_PARAMETERS, writeText } from '../core/codec/row-code-text.ts'
import { SPELT_SIZES } from '../core/codec/row-code-token.ts'

/** Items of an entity that code is made for: V8 does not optimise functions of more than 60 KB of its own code, and an item takes half a KB. */
const ITEMS_MAX = 96
/** Functions that are kept: those of fifty entities. A server has a few games; tests make entities by the thousand. */
const KEPT_MAX = 300

const SETS: readonly FieldSet[] = [0, 1, 2]
const SPELLING = Uint16Array.from({ length: SPELT_SIZES }, (_, size) => (tokenSymbol(size) << 4) | tokenRawBits(tokenSymbol(size)))

const kept = new Map<string, unknown>()

/** The code of an entity, by field set. */
class CompiledRows implements RowSpeech {
  readonly #model: RowModel
  readonly #parts: RowCodeParts
  readonly #writes: readonly WriteRow[]
  readonly #reads: readonly ReadRow[]

  constructor(model: RowModel, sink: PrefixSink, source: PrefixSource) {
    const { plan, schema } = model
    this.#model = model
    this.#parts = partsOf(model, sink, source)
    // What is made of text has no type: these are written as functions of these.
    this.#writes = SETS.map((set) => functionOf(WRITE_PARAMETERS, writeText(plan, set)) as WriteRow)
    this.#reads = SETS.map((set) => functionOf(READ_PARAMETERS, readText(plan, set, schema.laneCount)) as ReadRow)
  }

  /** @hot */
  encode(sink: PrefixSink, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    const { tables } = this.#model
    // Tables first: asking for those of an age may replace the entries.
    const age = tables.at(ageClass(pair.age))
    // reason: there are as many as there are field sets.
    return this.#writes[set]!(sink.raw(), pair, age, tables.bank.entries, this.#parts, heap)
  }

  /** @hot */
  decode(source: PrefixSource, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    // reason: there are as many as there are field sets.
    return this.#reads[set]!(source.raw(), pair, this.#model.tables.at(ageClass(pair.age)), this.#parts, heap)
  }
}

/** Makes the code of an entity. Nothing where it is too large, or this process was started without leave to. */
export const compileRows: CompileRows = (model, sink, source) => {
  if (model.plan.count > ITEMS_MAX) return undefined
  try {
    return new CompiledRows(model, sink, source)
  } catch {
    // `--disallow-code-generation-from-strings`: the model does as well.
    return undefined
  }
}

function functionOf(parameters: readonly string[], body: string): unknown {
  const known = kept.get(body)
  if (known !== undefined) return known
  if (kept.size >= KEPT_MAX) kept.clear()
  const made: unknown = new Function(...parameters, body)
  kept.set(body, made)
  return made
}

function partsOf(model: RowModel, sink: PrefixSink, source: PrefixSource): RowCodeParts {
  return {
    spelling: SPELLING,
    spreads: SPREADS,
    residuals: model.residuals,
    classes: model.guesses.classes,
    compare: (item, age, pair) => model.compareOther(item, age, pair),
    vectorClass: (item, pair) => vectorClass(model.plan, item, pair),
    token: (table, residual) => writeToken(sink, table, residual, 1),
    write: (chunk, item, age, pair, heap) => model.writeItem(sink, age, chunk, item, pair, heap),
    readMask: (code, width) => readMask(source, code, width),
    share: (chunk, mask, motion) => {
      model.masks[chunk] = mask
      model.motions[chunk] = motion
    },
    readToken: (table) => readToken(source, table, 1),
    readOther: (chunk, item, isOff, age, pair, heap) => model.readOther(source, age, chunk, item, isOff, pair, heap),
    leave: (item, pair) => model.leave(item, pair),
  }
}
