/**
 * Where code made from text comes in on Node: functions that encode the rows of a game's entities, at two fifths of the model's time.
 *
 * Equal texts are one function, so that all matches of a game warm it up together.
 */

import type { PrefixSink } from '../core/codec/prefix-stream.ts'
import type { CompileRows, EncodeRow, RowCodeParts } from '../core/codec/row-code.ts'
import { SPREADS, vectorClass } from '../core/codec/row-contexts.ts'
import type { RowModel } from '../core/codec/row-model.ts'
import { tokenRawBits, tokenSymbol, writeToken } from '../core/codec/token.ts'
import { ROW_CODE_PARAMETERS, rowCode } from '../core/codec/row-code-text.ts'
import { SPELT_SIZES } from '../core/codec/row-code-token.ts'

/** Items of an entity that code is made for: V8 does not optimise functions of more than 60 KB of its own code, and an item takes half a KB. */
const ITEMS_MAX = 96
/** Functions that are kept: those of a hundred entities. A server has a few games; tests make entities by the thousand. */
const KEPT_MAX = 300

const SPELLING = Uint16Array.from({ length: SPELT_SIZES }, (_, size) => (tokenSymbol(size) << 4) | tokenRawBits(tokenSymbol(size)))

const kept = new Map<string, EncodeRow>()

/** Makes the code of an entity. Nothing where it is too large, or this process was started without leave to. */
export const compileRows: CompileRows = (model, sink) => {
  const { plan } = model
  if (plan.count > ITEMS_MAX) return undefined
  try {
    return { sets: ([0, 1, 2] as const).map((set) => functionOf(rowCode(plan, set))), parts: partsOf(model, sink) }
  } catch {
    // `--disallow-code-generation-from-strings`: the model does as well.
    return undefined
  }
}

function functionOf(body: string): EncodeRow {
  const known = kept.get(body)
  if (known !== undefined) return known
  if (kept.size >= KEPT_MAX) kept.clear()
  // What is made of text has no type: rowCode writes functions of this one.
  const made = new Function(...ROW_CODE_PARAMETERS, body) as EncodeRow
  kept.set(body, made)
  return made
}

function partsOf(model: RowModel, sink: PrefixSink): RowCodeParts {
  return {
    spelling: SPELLING,
    spreads: SPREADS,
    residuals: model.residuals,
    classes: model.guesses.classes,
    compare: (item, age, pair) => model.compareOther(item, age, pair),
    vectorClass: (item, pair) => vectorClass(model.plan, item, pair),
    token: (table, residual) => writeToken(sink, table, residual, 1),
    write: (chunk, item, age, pair, heap) => model.writeItem(sink, age, chunk, item, pair, heap),
  }
}
