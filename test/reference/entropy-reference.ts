/**
 * The entropy coder again, slow and from docs/wire/CODEC.md alone: a string of '0' and '1', the rows that the receiver
 * holds, and the tables become the lanes of a row. Imports nothing from src.
 */

import { BitSource, Refused } from './bits-reference.ts'
import { planItems, type Item, type Plan } from './entropy-items.ts'
import { ageClass, builtIn, trained, type Code, type Masks, type PriorsFile, type Tables } from './entropy-tables.ts'
import { decodePacked } from './packed-reference.ts'
import type { PlainShape } from './schema-reference.ts'
import { readValueLane } from './value-lanes.ts'
import { bitsOf, around, ordered, unitOf, codesOf, rotorOf, turned } from './entropy-numbers.ts'

/** The rows that a delta refers to. */
export interface Held {
  readonly shape: PlainShape
  readonly name?: string
  readonly ticksPerSecond: number
  readonly set: 0 | 1 | 2
  readonly age: number
  readonly base: readonly number[]
  readonly older: readonly number[] | null
  /** Ticks from the older row to the baseline. */
  readonly olderTicks: number
  readonly initial: readonly number[]
  readonly priors?: PriorsFile
}

const FAR = 2 ** 18
const WORD = 2 ** 32

/** The source of symbols and raw bits. */
export interface Spoken {
  symbol(code: Code): number
  readonly raw: BitSource
}

/** The row that bits turn a baseline into, and how many bits that took. */
export function decodeEntropy(text: string, held: Held): { readonly row: number[]; readonly taken: number } {
  const raw = new BitSource(text)
  const symbol = ({ codes }: Code): number => {
    for (let bits = raw.take(1); ; bits += raw.take(1)) if (codes.includes(bits)) return codes.indexOf(bits)
  }
  const row = readRow({ symbol, raw }, held)
  return { row, taken: raw.taken }
}

/** The row that is coded next. */
export function readRow(spoken: Spoken, held: Held): number[] {
  const { plan, tables } = tablesOf(held)
  return new RowReader(spoken, held, plan, tables).read()
}

type Planned = { readonly plan: Plan; readonly tables: Tables }
const NO_PRIORS = {}
const planned = new WeakMap<PlainShape, WeakMap<object, Map<string, Planned>>>()

/** Made once for a shape, its priors, a field set and a class of age: thousands of rows use the same. */
function tablesOf({ shape, ticksPerSecond, set, name = 'Thing', priors, age }: Held): Planned {
  const ofShape = planned.get(shape) ?? new WeakMap<object, Map<string, Planned>>()
  const ofPriors = ofShape.get(priors ?? NO_PRIORS) ?? new Map<string, Planned>()
  planned.set(shape, ofShape)
  ofShape.set(priors ?? NO_PRIORS, ofPriors)
  const key = `${ageClass(age)} ${set} ${ticksPerSecond} ${name}`
  const found = ofPriors.get(key)
  if (found !== undefined) return found
  const plan = planItems(shape, ticksPerSecond, set, name)
  const tables = priors === undefined ? builtIn(plan, ageClass(age)) : trained(plan, priors, ageClass(age))
  const made = { plan, tables: remembered(tables) }
  ofPriors.set(key, made)
  return made
}

/** The same tables, each code made once. */
function remembered(tables: Tables): Tables {
  const [tokens, dropped, masks] = [new Map<number, Code>(), new Map<number, Code>(), new Map<number, Masks>()]
  const once = <T>(kept: Map<number, T>, key: number, make: () => T): T => {
    const found = kept.get(key) ?? make()
    kept.set(key, found)
    return found
  }
  return {
    ...tables,
    token: (item, context) => once(tokens, item * 256 + context, () => tables.token(item, context)),
    dropped: (item) => once(dropped, item, () => tables.dropped(item)),
    masks: (chunk, context) => once(masks, chunk * 64 + context, () => tables.masks(chunk, context)),
  }
}

class RowReader {
  readonly #spoken: Spoken
  readonly #held: Held
  readonly #plan: Plan
  readonly #tables: Tables
  readonly #ticks: number
  readonly #row: number[]
  /** By item: the residual as it was coded. */
  readonly #said: number[]
  /** By item: whether it differs from its prediction. */
  #isSaid: readonly boolean[] = []
  /** By carried item: its prediction from the rate alone. */
  readonly #carried: number[]
  /** For the rotation being read: predicted lanes, unit components, and by code class and sign. */
  #rotation = { dropped: 0, codes: [0, 0, 0], unit: [0, 0, 0, 0], motion: 7, classes: [7, 7, 7], signs: [1, 1, 1] }

  constructor(spoken: Spoken, held: Held, plan: Plan, tables: Tables) {
    this.#spoken = spoken
    this.#held = held
    this.#plan = plan
    this.#tables = tables
    this.#ticks = Math.min(held.age, 32)
    this.#row = [...held.base]
    this.#said = plan.items.map(() => 0)
    this.#carried = plan.items.map(() => 0)
  }

  read(): number[] {
    const isSaid: boolean[] = []
    for (let chunk = 0; chunk + 1 < this.#plan.chunks.length; chunk++) {
      const mask = this.#mask(chunk)
      if (mask === 'packed') {
        const { shape, base, initial, set } = this.#held
        const { raw } = this.#spoken
        const { row, taken } = decodePacked(raw.bits.slice(raw.taken), shape, base, initial, set)
        raw.take(taken)
        return row
      }
      for (let item = this.#plan.chunks[chunk]!; item < this.#plan.chunks[chunk + 1]!; item++)
        isSaid.push(((mask >> (item - this.#plan.chunks[chunk]!)) & 1) === 1)
    }
    this.#isSaid = isSaid
    this.#plan.items.forEach((item, at) => this.#item(item, at, isSaid[at]!))
    return this.#row
  }

  #symbol(code: Code): number {
    return this.#spoken.symbol(code)
  }

  #take(count: number): number {
    return Number(this.#spoken.raw.takeUnsigned(count))
  }

  #mask(chunk: number): number | 'packed' {
    const { base, older } = this.#held
    const items = this.#plan.items.slice(this.#plan.chunks[chunk], this.#plan.chunks[chunk + 1])
    const changed = items.reduce(
      (bits, { lane }, at) => bits | (older !== null && base[lane] !== older[lane] ? 1 << at : 0),
      0,
    )
    const moves = ({ kind, carrier }: Item): boolean =>
      kind === 'number' && carrier !== undefined && Math.abs(carrier.a * base[carrier.lanes[0]!]! + carrier.b) > 0.25
    const context = older !== null ? this.#tables.activity(chunk, changed) : items.some(moves) ? 63 : 62
    const { masks, code } = this.#tables.masks(chunk, context)
    const symbol = this.#symbol(code)
    if (symbol > masks.length) return 'packed'
    const mask = symbol < masks.length ? masks[symbol]! : this.#take(items.length)
    if (symbol === masks.length && masks.includes(mask)) throw new Refused('a mask that has a symbol')
    const lasting = items.reduce(
      (bits, { kind, role }, at) =>
        bits | (kind === 'flag' || kind === 'value' || kind === 'dropped' || role === 'carried' ? 0 : 1 << at),
      0,
    )
    return mask ^ (changed & lasting)
  }

  #item(item: Item, at: number, isSaid: boolean): void {
    const { lane, kind, group } = item
    if (group >= 0 && this.#row[group] === 0) {
      if (isSaid) throw new Refused('of a group that is not here')
      this.#row[lane] = this.#held.initial[lane]!
    } else if (kind === 'flag') {
      if (isSaid) this.#row[lane] = 1 - this.#row[lane]!
    } else if (kind === 'dropped') this.#dropped(item, at, isSaid)
    else if (kind === 'code') this.#code(item, at, isSaid)
    else if (kind === 'value') {
      if (isSaid) this.#value(item)
    } else {
      const guess =
        kind === 'float'
          ? this.#guessFloat(item, at)
          : item.carrier === undefined
            ? this.#guessFree(item, at)
            : this.#guessCarried(item, at)
      const residual = isSaid
        ? this.#token(at, guess.motion * 32 + this.#spread(item, at) + this.#near(item, at), guess.sign)
        : 0
      if (around(residual, item.round) !== residual) throw new Refused('the long way round')
      this.#row[lane] =
        kind === 'float' ? ordered(around(guess.value + residual, WORD)) : this.#lane(item, guess.value + residual)
    }
  }

  #value({ lane, field }: Item): void {
    this.#row[lane] = readValueLane(this.#spoken.raw, field)
    if (this.#row[lane] === this.#held.base[lane]) throw new Refused('a value that is the baseline\'s')
  }

  /** A number as a lane. */
  #lane({ round, largest, isSigned }: Item, value: number): number {
    const lane = ((value % round) + round) % round
    if (lane > largest) throw new Refused('above the largest')
    return isSigned || round === WORD ? around(lane, round) : lane
  }

  /** Reads a residual that is not 0. */
  #token(at: number, context: number, sign: number): number {
    const symbol = this.#symbol(this.#tables.token(at, context))
    const said = this.#residual(symbol)
    this.#said[at] = said
    return (said * sign) | 0
  }

  #residual(symbol: number): number {
    if (symbol === 66) {
      const residual = around(this.#take(32), WORD)
      if (Math.abs(residual) - 1 < FAR) throw new Refused('what has a symbol')
      return residual
    }
    if (symbol < 16) return ((symbol >> 1) + 1) * (symbol % 2 === 1 ? -1 : 1)
    if (symbol < 56) {
      const octave = 3 + ((symbol - 16) >> 3)
      const size = (4 + (((symbol - 16) >> 1) & 3)) * 2 ** (octave - 2) + this.#take(octave - 2)
      return (size + 1) * (symbol % 2 === 1 ? -1 : 1)
    }
    const octave = symbol - 56 + 8
    const isNegative = this.#take(1) === 1
    return (2 ** octave + this.#take(octave) + 1) * (isNegative ? -1 : 1)
  }

  /** The context from earlier items: how far they differ, or how fast a vector moved. */
  #near({ vector, carrier, isPart }: Item, at: number): number {
    const { base, older } = this.#held
    if (vector.length > 0 && older !== null && carrier === undefined)
      return bitsOf(Math.max(...vector.map((lane) => Math.abs(base[lane]! - older[lane]!))), 7)
    if (at === 0) return 0
    const isThird = isPart && this.#plan.items[at - 1]!.isPart
    return Math.max(bitsOf(this.#said[at - 1]!, 7), isThird ? bitsOf(this.#said[at - 2]!, 7) : 0)
  }

  /** How many items of the chunk differ, or were in motion: in eighths. */
  #spread({ kind, carrier, isPart, vector }: Item, at: number): number {
    const { base, older } = this.#held
    const { chunks, items } = this.#plan
    const chunk = chunks.findLastIndex((first) => first <= at)
    const byMask = kind === 'code' || (carrier === undefined && (isPart || vector.length > 0))
    const places = items.map((_, place) => place).slice(chunks[chunk], chunks[chunk + 1])
    const count = places.filter((place) =>
      byMask ? this.#isSaid[place]! : older !== null && base[items[place]!.lane] !== older[items[place]!.lane],
    ).length
    return count < 3 ? 0 : count < 5 ? 8 : count < 6 ? 16 : 24
  }

  #settled({ isBound, largest }: Item, value: number): number {
    return isBound ? Math.min(Math.max(value, 0), largest) : value
  }

  /** How far a movement continues. */
  #going(at: number, motion: number, step: number): number {
    const { olderTicks } = this.#held
    return Math.floor((this.#ticks * this.#tables.weight(at, motion) * step + 16 * olderTicks) / (32 * olderTicks))
  }

  #guessFree(item: Item, at: number): { readonly value: number; readonly motion: number; readonly sign: number } {
    const { base, older } = this.#held
    const value = base[item.lane]!
    if (older === null) return { value, motion: 7, sign: 1 }
    const step = around(value - older[item.lane]!, item.round)
    const motion = bitsOf(step, 6)
    const sign = step < 0 ? -1 : 1
    if (step === 0 || Math.abs(step) > FAR) return { value, motion, sign }
    const going = this.#going(at, motion, step)
    const bending = Math.floor((this.#ticks * (this.#ticks + 1) * this.#tables.bend(at, motion, step < 0) + 16) / 32)
    return { value: this.#settled(item, value + going + bending), motion, sign }
  }

  #guessFloat(item: Item, at: number): { readonly value: number; readonly motion: number; readonly sign: number } {
    const { base, older } = this.#held
    const value = ordered(base[item.lane]!)
    if (older === null) return { value, motion: 7, sign: 1 }
    const step = around(value - ordered(older[item.lane]!), WORD)
    const motion = (bitsOf(step, 24) + 3) >> 2
    const going = Math.abs(step) > FAR ? 0 : this.#going(at, motion, step)
    return { value: value + going, motion, sign: step < 0 ? -1 : 1 }
  }

  #guessCarried(item: Item, at: number): { readonly value: number; readonly motion: number; readonly sign: number } {
    const { base } = this.#held
    const { a, b, lanes } = item.carrier!
    const [v0, v1] = [base[lanes[0]!]!, this.#row[lanes[0]!]!]
    const way = (a * ((this.#ticks - 1) * v0 + (this.#ticks + 1) * v1)) / 2 + b * this.#ticks
    const whole = this.#ticks === 0 || Math.abs(way) > FAR ? 0 : Math.floor(way + 0.5)
    const change = v1 - v0
    const plain = base[item.lane]! + whole
    this.#carried[at] = plain
    if (change === 0) return { value: this.#settled(item, plain), motion: 0, sign: way < whole ? -1 : 1 }
    const follows = this.#tables.weight(at, 0) !== 0 ? this.#following(item, at, change) : 0
    return { value: this.#settled(item, plain + follows), motion: bitsOf(change, 6), sign: change < 0 ? -1 : 1 }
  }

  /** What the component before predicts of this one. */
  #following({ isPart }: Item, at: number, change: number): number {
    const lead = this.#plan.items[at - 1]
    if (!isPart || lead?.carrier === undefined) return 0
    const off = this.#row[lead.lane]! - this.#carried[at - 1]!
    const itsChange = this.#row[lead.carrier.lanes[0]!]! - this.#held.base[lead.carrier.lanes[0]!]!
    if (Math.abs(off) < 2 || Math.abs(itsChange) < 4) return 0
    const share = Math.floor((off * change) / itsChange + 0.5)
    return Math.abs(share) > FAR ? 0 : share
  }

  #dropped(item: Item, at: number, isSaid: boolean): void {
    this.#predict(item, at)
    const rotation = this.#rotation
    if (isSaid) {
      const turned = this.#symbol(this.#tables.dropped(at)) + 1
      this.#said[at] = turned
      rotation.dropped = (rotation.dropped + turned) % 4
      rotation.codes = codesOf(item.bits, rotation.unit, rotation.dropped)
      rotation.classes = [rotation.motion, rotation.motion, rotation.motion]
      rotation.signs = [1, 1, 1]
    }
    this.#row[item.lane] = rotation.dropped
  }

  #code(item: Item, at: number, isSaid: boolean): void {
    const { code, lane, bits } = item
    const rotation = this.#rotation
    const before = code === 1 ? this.#said.slice(Math.max(0, at - 4), at - 1) : this.#said.slice(at - (code - 1), at)
    const near = Math.max(0, ...before.map((residual) => bitsOf(residual, 7)))
    const residual = isSaid
      ? this.#token(at, rotation.classes[code - 1]! * 32 + this.#spread(item, at) + near, rotation.signs[code - 1]!)
      : 0
    this.#row[lane] = rotation.codes[code - 1]! + residual
    if (this.#row[lane]! < 0 || this.#row[lane]! > 2 ** bits - 2) throw new Refused('no such code')
  }

  /** Predicts a rotation: continues the turn of the baseline. */
  #predict(item: Item, at: number): void {
    const { base, older } = this.#held
    const rotation = this.#rotation
    const { lane, bits, carrier } = item
    const lanes = base.slice(lane, lane + 4)
    const unit = unitOf(bits, lanes)
    Object.assign(rotation, {
      dropped: lanes[0],
      codes: lanes.slice(1),
      unit,
      motion: 7,
      classes: [7, 7, 7],
      signs: [1, 1, 1],
    })
    let rotor: readonly number[] | undefined
    if (carrier !== undefined) {
      const changes = carrier.lanes.map((each) => Math.abs(this.#row[each]! - base[each]!))
      rotation.motion = bitsOf(changes.reduce((sum, each) => sum + each, 0), 6)
      rotation.classes = rotation.classes.map(() => rotation.motion)
      const { a, b } = carrier
      rotor = carrier.lanes.map(
        (each) => (a / 2) * ((this.#ticks - 1) * base[each]! + (this.#ticks + 1) * this.#row[each]!) + b * this.#ticks,
      )
    } else if (older !== null) {
      const steps = [1, 2, 3].map((code) => base[lane + code]! - older[lane + code]!)
      const isOther = base[lane] !== older[lane]
      rotation.classes = steps.map((step) => (isOther ? 6 : bitsOf(step, 6)))
      rotation.signs = steps.map((step) => (step < 0 ? -1 : 1))
      rotation.motion = Math.max(...rotation.classes)
      const weight = this.#tables.weight(at, rotation.motion)
      if (rotation.motion > 0 && weight > 0)
        rotor = rotorOf(
          unitOf(bits, older.slice(lane, lane + 4)),
          unit,
          (this.#ticks * weight) / (32 * this.#held.olderTicks),
        )
    }
    if (rotor === undefined) return
    rotation.unit = turned(unit, rotor)
    rotation.dropped = rotation.unit.reduce(
      (largest, part, axis, all) => (Math.abs(part) > Math.abs(all[largest]!) ? axis : largest),
      0,
    )
    rotation.codes = codesOf(bits, rotation.unit, rotation.dropped)
  }
}
