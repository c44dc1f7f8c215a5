/**
 * Range-coded rows of a recording, from docs/wire/RECORDING.md and docs/wire/CODEC.md alone: the block, which objects
 * are lively, and the rows that a delta refers to. Imports nothing from src.
 */

import type { BitSource } from './bits-reference.ts'
import { readRow, type Spoken } from './entropy-reference.ts'
import { sharesOf, type Code } from './entropy-tables.ts'
import { little, need, number, small, sourceOf, varint } from './recording-bits.ts'
import type { Chunk, RecordingMeaning } from './recording-checker.ts'
import type { Plain, PlainShape } from './schema-reference.ts'

/** A table as it has adapted in a block. */
interface Learning {
  shares: readonly number[]
  readonly frequencies: number[]
  uses: number
}

/** Symbols from the end of a body, raw bits from its beginning. */
class Block {
  readonly raw: BitSource
  /** By entity and name of the table. */
  readonly #learning = new Map<string, Learning>()
  readonly #bytes: Uint8Array
  #at: number
  #state: number

  constructor(bytes: Uint8Array) {
    this.raw = sourceOf(bytes)
    this.#bytes = bytes
    this.#at = bytes.length
    const high = this.#word()
    this.#state = high * 65_536 + this.#word()
    need(this.#state >= 2 ** 15 && this.#state < 2 ** 31, 'a state')
  }

  /** The rows of an entity. */
  of(type: number): Spoken {
    return { raw: this.raw, symbol: (code) => this.#learnt(type, code) }
  }

  #learnt(type: number, { name, shares }: Code): number {
    const key = `${type} ${name}`
    const table = this.#learning.get(key) ?? { shares, frequencies: [...shares], uses: 0 }
    this.#learning.set(key, table)
    const symbol = this.symbol(table.shares)
    table.frequencies[symbol]! += 1024
    table.uses++
    if ([1, 2, 4, 8, 16].includes(table.uses) || table.uses % 32 === 0) table.shares = sharesOf(table.frequencies)
    return symbol
  }

  symbol(shares: readonly number[]): number {
    const place = this.#state % 32_768
    let [symbol, first] = [0, 0]
    while (place >= first + shares[symbol]!) first += shares[symbol++]!
    this.#state = shares[symbol]! * Math.floor(this.#state / 32_768) + place - first
    if (this.#state < 32_768) this.#state = this.#state * 65_536 + this.#word()
    return symbol
  }

  finish(): void {
    while (this.raw.taken % 8 !== 0) need(number(this.raw, 1) === 0, 'zeros to a whole byte')
    need(this.raw.taken / 8 === this.#at && this.#state === 32_768, 'a block that ends as it began')
  }

  #word(): number {
    this.#at -= 2
    need(this.#at >= 0, 'a word')
    return little(this.#bytes, this.#at, 2)
  }
}

interface Living {
  readonly id: number
  readonly type: number
  readonly owner: number
  /** The row, that of the tick before, and that of two ticks before; none before the spawn. */
  readonly rows: readonly (readonly number[] | null)[]
  /** Whether it was coded in each of the last eight ticks, the latest first. */
  readonly spoken: readonly boolean[]
}

interface Head {
  readonly fields: number
  readonly tickRate: number
  readonly shapes: readonly PlainShape[]
}

const FIRST_CHANCES = [...Array.from({ length: 16 }, (_, context) => 2 * context + 1), 31, 31, 1].map(
  (part) => part * 1024,
)
const SILENT = 16
const END = 17

export class BlockRows {
  readonly #head: Head
  /** By entity, as a coder sees it: in `everything` the fields that no client receives count as the owner's. */
  readonly #shapes: readonly PlainShape[]
  readonly #set: 0 | 1 | 2
  #objects = new Map<number, Living>()
  #chances = [...FIRST_CHANCES]
  #dice: readonly number[] = []

  constructor(head: Head) {
    this.#head = head
    this.#set = Math.min(head.fields, 2) as 0 | 1 | 2
    this.#shapes =
      head.fields < 3
        ? head.shapes
        : head.shapes.map((shape) =>
            Object.fromEntries(
              Object.entries(shape).map(([name, field]) => {
                const audience = ['all', 'team', 'owner'].includes(field.options.audience)
                  ? field.options.audience
                  : 'owner'
                return [name, { ...field, options: { ...field.options, audience } }]
              }),
            ),
          )
  }

  read({ tick, flags, body }: Chunk): RecordingMeaning['ticks'] {
    const block = new Block(body.subarray(2))
    const ticks: Record<string, { objects: Record<string, readonly number[]>; dice?: readonly number[] }> = {}
    for (let at = 0; at < little(body, 0, 2); at++) {
      const isKey = number(block.raw, 1) === 1
      need(at > 0 || flags === 0 || isKey, 'a key where the flag says so')
      const hasDice = number(block.raw, 1) === 1
      need(!hasDice || this.#head.fields === 3, 'no generator but where everything is')
      if (hasDice) this.#dice = readDice(block.raw, this.#dice, isKey)
      this.#tick(block, isKey)
      const objects = Object.fromEntries(
        [...this.#objects.values()]
          .sort((a, b) => a.id - b.id)
          .map(({ id, type, owner, rows }) => [id, [owner, ...this.#held(type, rows[0]!)]]),
      )
      ticks[tick + at] = { objects, ...(hasDice && { dice: this.#dice }) }
    }
    block.finish()
    return ticks
  }

  #tick(block: Block, isKey: boolean): void {
    if (isKey) {
      this.#objects = new Map()
      this.#chances = [...FIRST_CHANCES]
    }
    const before = this.#objects
    const after = new Map(
      [...before].map(([index, one]) => [
        index,
        {
          ...one,
          rows: [one.rows[0]!, one.rows[0]!, one.rows[1]!],
          spoken: [false, ...one.spoken.slice(0, 7)],
        } satisfies Living,
      ]),
    )
    const lively = [...before]
      .filter(([, { spoken }]) => spoken.includes(true))
      .map(([index]) => index)
      .sort((a, b) => a - b)
    for (let cursor = 0; ;) {
      const next = lively.find((index) => index >= cursor)
      if (next !== undefined) {
        if (this.#isYes(block, contextOf(before.get(next)!))) {
          this.#entry(block, next, 0, after, isKey)
          cursor = next + 1
          continue
        }
        if (this.#isYes(block, SILENT)) {
          cursor = next + 1
          continue
        }
      } else if (this.#isYes(block, isKey ? END + 1 : END)) break
      const index = cursor + small(block.raw)
      const kind = number(block.raw, 2)
      need(next === undefined || index < next || (index === next && kind !== 0), 'no object is passed over')
      this.#entry(block, index, kind, after, isKey)
      cursor = index + 1
    }
    this.#objects = after
  }

  #isYes(block: Block, context: number): boolean {
    const chance = this.#chances[context]!
    const isYes = block.symbol([chance, 32_768 - chance]) === 0
    this.#chances[context] = isYes ? chance + Math.floor((32_768 - chance) / 32) : chance - Math.floor(chance / 32)
    return isYes
  }

  #entry(block: Block, index: number, kind: number, objects: Map<number, Living>, isKey: boolean): void {
    const { raw } = block
    if (kind === 1) {
      const id = index * 65_536 + number(raw, 16)
      const type = number(raw, 8)
      const owner = varint(raw)
      const shape = this.#shapes[type]
      need(shape !== undefined && id % 65_536 !== 0, 'an entity of the game, and a generation')
      const former = objects.get(index)?.spoken ?? Array.from({ length: 8 }, () => false)
      objects.set(index, {
        id,
        type,
        owner,
        rows: [this.#row(block, type, 0, initialOf(shape), null), null, null],
        spoken: [true, ...former.slice(1)],
      })
      return
    }
    const known = objects.get(index)
    need(!isKey && known !== undefined, 'an object lives there')
    if (kind === 2) {
      objects.delete(index)
      return
    }
    const owner = kind === 3 ? varint(raw) : known.owner
    const [, base, older] = known.rows
    objects.set(index, {
      ...known,
      owner,
      rows: [this.#row(block, known.type, 1, base!, older!), base!, older!],
      spoken: [true, ...known.spoken.slice(1)],
    })
  }

  #row(
    block: Block,
    type: number,
    age: number,
    base: readonly number[],
    older: readonly number[] | null,
  ): readonly number[] {
    const shape = this.#shapes[type]!
    return readRow(block.of(type), {
      shape,
      ticksPerSecond: this.#head.tickRate,
      set: this.#set,
      age,
      base,
      older,
      olderTicks: 1,
      initial: initialOf(shape),
    })
  }

  /** Lanes of the members that the recording has. */
  #held(type: number, row: readonly number[]): number[] {
    let lane = 0
    return Object.values(this.#shapes[type]!).flatMap((field) => {
      const lanes = row.slice(lane, (lane += initialLanes(field).length))
      return ['all', 'team', 'owner'].indexOf(field.options.audience) <= this.#set
        && ['all', 'team', 'owner'].includes(field.options.audience)
        ? lanes
        : []
    })
  }
}

/** In which of the last four ticks it was coded, the latest in the highest bit. */
function contextOf({ spoken }: Living): number {
  return spoken.slice(0, 4).reduce((bits, was) => bits * 2 + (was ? 1 : 0), 0)
}

/** The generator's words, or the words after a number of draws (sfc32). */
function readDice(raw: BitSource, before: readonly number[], isKey: boolean): readonly number[] {
  const draws = isKey ? 0 : small(raw)
  need(draws <= 1023, 'too many draws')
  if (draws === 0) return [32, 32, 32, 32].map((width) => number(raw, width))
  let [a, b, c, counter] = before.map(BigInt) as [bigint, bigint, bigint, bigint]
  for (let draw = 0; draw < draws; draw++) {
    const word = BigInt.asUintN(32, a + b + counter)
    counter = BigInt.asUintN(32, counter + 1n)
    a = b ^ (b >> 9n)
    b = BigInt.asUintN(32, c + (c << 3n))
    c = BigInt.asUintN(32, ((c << 21n) | (c >> 11n)) + word)
  }
  return [a, b, c, counter].map(Number)
}

const initialOf = (shape: PlainShape): number[] => Object.values(shape).flatMap(initialLanes)

/** What a fresh object holds, as far as the vectors need it. */
function initialLanes({ spec, options }: Plain): number[] {
  const steps = (
    { min, max, precision }: { readonly min: number; readonly max: number; readonly precision: number },
    value: number,
  ): number => Math.round((Math.min(Math.max(value, min), max) - min) / precision)
  if (spec.kind === 'bool') return [options.initial === true ? 1 : 0]
  if (spec.kind === 'angle') return [0]
  if (spec.kind === 'vector') return spec.components.map((component) => steps(component, 0))
  need(spec.kind === 'int' || spec.kind === 'fixed', 'a field of the vectors')
  return [steps({ precision: 1, ...spec }, (options.initial ?? 0) as number)]
}
