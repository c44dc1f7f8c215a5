/**
 * Compiles row coders from source text on Node: functions that write and read the rows of a game's entities, in a third
 * (writing) and half (reading) of the model's time.
 *
 * Equal texts share one function, so that all matches of a game warm it up together.
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

/**
 * Largest number of items of an entity that is compiled: V8 does not optimise functions above 60 KB of its own
 * bytecode, and an item takes half a KB.
 */
const ITEMS_MAX = 96
/** Cached functions: enough for fifty entities. A server has a few games; tests make entities by the thousand. */
const KEPT_MAX = 300

const SETS: readonly FieldSet[] = [0, 1, 2]
const SPELLING = Uint16Array.from(
  { length: SPELT_SIZES },
  (_, size) => (tokenSymbol(size) << 4) | tokenRawBits(tokenSymbol(size)),
)

const kept = new Map<string, unknown>()

/** The compiled functions of an entity. Indexed by field set. */
class CompiledRows implements RowSpeech {
  readonly #model: RowModel
  readonly #parts: RowCodeParts
  readonly #writes: readonly WriteRow[]
  readonly #reads: readonly ReadRow[]

  constructor(model: RowModel, sink: PrefixSink, source: PrefixSource) {
    const { plan, schema } = model
    this.#model = model
    this.#parts = partsOf(model, sink, source)
    // A function made from text has no type. These texts are written for these signatures.
    this.#writes = SETS.map((set) => functionOf(WRITE_PARAMETERS, writeText(plan, set)) as WriteRow)
    this.#reads = SETS.map((set) => functionOf(READ_PARAMETERS, readText(plan, set, schema.laneCount)) as ReadRow)
  }

  /** @hot */
  encode(sink: PrefixSink, set: FieldSet, pair: RowPair, heap: ValueStore): boolean {
    const { tables } = this.#model
    // Get the tables first: requesting those of an age may replace the entries.
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

/**
 * Compiles the functions of an entity. Returns undefined if the entity is too large, or if this process may not compile
 * code from strings.
 */
export const compileRows: CompileRows = (model, sink, source) => {
  if (model.plan.count > ITEMS_MAX) return undefined
  try {
    return new CompiledRows(model, sink, source)
  } catch {
    // `--disallow-code-generation-from-strings`: the model is used instead.
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
