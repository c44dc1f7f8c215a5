/**
 * The tables of the entropy codec again, from docs/wire/CODEC.md and docs/wire/codec-tables.json alone: built-in ones,
 * and those of a priors file. Imports nothing from src.
 */

import { readFileSync } from 'node:fs'
import { prefixCodes } from './bits-entropy-reference.ts'
import type { Bits } from './bits-reference.ts'
import type { Item, Plan, Role } from './entropy-items.ts'

/**
 * By symbol: its prefix code, as text, and its share of 2^15. Built-in codes of one name adapt together, where codes
 * adapt.
 */
export interface Code {
  readonly name: string
  readonly codes: readonly Bits[]
  readonly shares: readonly number[]
}

export interface Masks {
  readonly masks: readonly number[]
  readonly code: Code
}

/** The tables of one class of age. */
export interface Tables {
  weight(item: number, motion: number): number
  bend(item: number, motion: number, isDown: boolean): number
  token(item: number, context: number): Code
  dropped(item: number): Code
  /** The activity of what changed from the older row to the baseline, first item lowest. */
  activity(chunk: number, changed: number): number
  /** By activity; 62 and 63 without an older row, resting and moving. */
  masks(chunk: number, context: number): Masks
}

const RESTING = 62
const MOVING = 63

interface TablesFile {
  readonly weights: readonly (readonly [string, number, readonly number[]])[]
  readonly odds: readonly (readonly [string, string, readonly number[]])[]
  readonly shapes: readonly (readonly [number, number, readonly number[], readonly number[]])[]
}

const FILE = JSON.parse(
  readFileSync(new URL('../../docs/wire/codec-tables.json', import.meta.url), 'utf8'),
) as TablesFile
const TICKS = [0, 1, 2.5, 5.5, 9.5, 13.5, 24]

export function ageClass(age: number): number {
  return [1, 2, 4, 8, 12, 16].filter((least) => age >= least).length
}

/** Code lengths of at most 12 bits that cost least: package-merge. */
export function lengthsOf(shares: readonly number[]): number[] {
  type Node = { readonly weight: number; readonly symbols: readonly number[] }
  const leaves: Node[] = shares
    .map((weight, symbol) => ({ weight, symbols: [symbol] }))
    .sort((a, b) => a.weight - b.weight || a.symbols[0]! - b.symbols[0]!)
  let level = leaves
  for (let bits = 2; bits <= 12; bits++) {
    const pairs = level
      .slice(0, level.length & ~1)
      .flatMap((node, at, all): Node[] =>
        at % 2 === 1
          ? []
          : [{ weight: node.weight + all[at + 1]!.weight, symbols: [...node.symbols, ...all[at + 1]!.symbols] }],
      )
    // A stable sort: of equals the single symbol comes first.
    level = [...leaves, ...pairs].sort((a, b) => a.weight - b.weight)
  }
  const lengths = shares.map(() => 0)
  for (const { symbols } of level.slice(0, 2 * shares.length - 2)) for (const symbol of symbols) lengths[symbol]!++
  return lengths
}

/** Frequencies as shares of 2^15. */
export function sharesOf(frequencies: readonly number[]): number[] {
  const sum = frequencies.reduce((total, each) => total + each, 0)
  const spare = 32_768 - frequencies.length
  const shares = frequencies.map((each) => 1 + (sum > 0 ? Math.floor((each * spare) / sum) : 0))
  shares[shares.indexOf(Math.max(...shares))]! += 32_768 - shares.reduce((total, each) => total + each, 0)
  return shares
}

const codeOf = (name: string, lengths: readonly number[], shares: readonly number[]): Code => ({
  name,
  codes: prefixCodes(lengths) as Bits[],
  shares,
})
function codeOfFrequencies(name: string, frequencies: readonly number[]): Code {
  const shares = sharesOf(frequencies)
  return codeOf(name, lengthsOf(shares), shares)
}

/** The masks of a list with how often each occurs, and last how often any other occurs. */
function masksOf(name: string, masks: readonly number[], frequencies: readonly number[], chunk: number): Masks {
  const sum = frequencies.reduce((total, each) => total + each, 0)
  return { masks, code: codeOfFrequencies(name, chunk === 0 ? [...frequencies, sum / 4096] : frequencies) }
}

/** The built-in tables of a class of age. */
export function builtIn({ items, chunks }: Plan, age: number): Tables {
  const widths = (item: Item): number => (item.largest < 1 ? 0 : Math.floor(Math.log2(item.largest)) + 1)
  const within = (chunk: number): readonly Item[] => items.slice(chunks[chunk], chunks[chunk + 1])
  return {
    weight: (at, motion) => weightOf(items, at, motion, age),
    bend: () => 0,
    token: (at, context) =>
      shape(...meanOf(items[at]!, widths(items[at]!), age, context >> 5, Math.min(context & 7, 4))),
    dropped: () => codeOfFrequencies('dropped', [1, 1, 1]),
    activity: (chunk, changed) =>
      within(chunk).reduce((activity, { role }, at) => activity | ((changed >> at) & 1 ? ACTIVITY[role] : 0), 0),
    masks: (chunk, context) => builtInMasks(within(chunk), chunk, age, context),
  }
}

function weightOf(items: readonly Item[], at: number, motion: number, age: number): number {
  const { role, isPart, round } = items[at]!
  if (role === 'carried') return motion === 0 && isPart && !items[at - 1]!.isPart ? 32 : 0
  if (role === 'other') return 0
  const name = role === 'rate' ? 'rate' : round < 2 ** 32 ? 'head' : 'mover'
  return FILE.weights.find(([which, of]) => which === name && of === age)![2][motion]!
}

/** The mean that a token's shape is chosen by, and its skew. */
function meanOf(
  { role, kind, carrier }: Item,
  width: number,
  age: number,
  motion: number,
  before: number,
): readonly [mean: number, lopsided: number] {
  const ticks = TICKS[age]!
  if (age === 0) return [2 ** Math.max(0, Math.min(width, 20) - 2), 0]
  const near = [1, 0.6, 0.8, 1, 1.5][before]!
  const step = motion === 0 ? 0 : 0.75 * 2 ** motion
  const unknown = 2 ** (Math.min(width, 24) / 3 - 1)
  if (role === 'carried')
    return [0.05 + 0.02 * ticks + step * Math.abs(carrier!.a) * ticks * 0.12, motion === 0 ? 1 : 0]
  if (kind === 'float')
    return [(motion === 0 || motion === 7 ? 2 ** 14 : 2 ** (4 * motion - 4)) * ticks ** 0.6 * near, 0]
  if (motion === 7) return [unknown * ticks ** 0.6, 0]
  if (motion === 0)
    return [role === 'rate' ? unknown * ticks ** 0.5 * near : role === 'mover' ? ticks ** 0.7 * near : unknown * 0.6, 0]
  return [(0.4 + step * (role === 'other' ? 0.3 : 0.22)) * ticks ** 0.6 * near, 0]
}

function shape(mean: number, lopsided: number): Code {
  let number = 0
  while (number < 25 && mean > 0.15 * 2 ** number * (1 + 1e-9)) number++
  const [, , lengths, shares] = FILE.shapes.find(([which, skew]) => which === number && skew === lopsided)!
  return codeOf(`shape ${number} ${lopsided}`, lengths, shares)
}

const ACTIVITY: { readonly [R in Role]: number } = { rate: 1, carried: 2, mover: 2, other: 4 }

function builtInMasks(items: readonly Item[], chunk: number, age: number, context: number): Masks {
  const isStill = items.every(({ role }) => role === 'other')
  const known = context < RESTING ? context % 8 : isStill ? 0 : context
  let frequencies = [1]
  for (const item of items) {
    const odds = oddsOf(item, age, known)
    frequencies = [...frequencies.map((each) => each * (1 - odds)), ...frequencies.map((each) => each * odds)]
  }
  const sum = frequencies.reduce((total, each) => total + each, 0)
  const masks = frequencies.map((_, mask) => mask).filter((mask) => frequencies[mask]! * 8192 > sum)
    .sort((a, b) => frequencies[b]! - frequencies[a]! || a - b).slice(0, 254).sort((a, b) => a - b)
  const listed = masks.map((mask) => frequencies[mask]!)
  return masksOf(
    age === 0 ? `masks 0 ${chunk}` : `masks ${age} ${chunk} ${known}`,
    masks,
    [...listed, Math.max(sum - listed.reduce((total, each) => total + each, 0), sum / 4096)],
    chunk,
  )
}

function oddsOf({ kind, role }: Item, age: number, activity: number): number {
  const [rates, movers, others] = [(activity & 1) !== 0, (activity & 3) !== 0, (activity & 4) !== 0]
  const name = kind === 'dropped' || (kind === 'flag' && role === 'other') ? kind : role
  const known = name === 'rate' || name === 'carried' ? (rates ? 'rates' : movers ? 'movers' : 'none')
    : name === 'mover' || name === 'dropped' ? (movers ? 'movers' : 'none') : others ? 'others' : 'none'
  const when = activity === MOVING ? 'unknown moving' : activity === RESTING ? 'unknown resting' : known
  return FILE.odds.find(([which, of]) => which === name && of === when)![2][age]!
}

/** What a priors file says about one entity, as far as bits depend on it. */
export interface PriorsFile {
  readonly tables: readonly (readonly number[])[]
  readonly masks: readonly { readonly masks: readonly number[]; readonly counts: readonly number[] }[]
  readonly ages: readonly ({
    readonly weights: readonly number[]
    readonly bends: readonly number[]
    readonly tokens: readonly number[]
    readonly dropped: readonly (readonly number[])[]
    readonly activities: readonly (readonly number[])[]
    readonly masks: readonly number[]
  } | null)[]
}

/** The value at an index of a list that is stored as runs: values with their counts. */
function inRuns(runs: readonly number[], place: number): number {
  let at = 0
  for (let left = place - runs[1]!; left >= 0; left -= runs[at + 1]!) at += 2
  return runs[at]!
}

/** The tables that priors describe; built-in ones where there are none. */
export function trained(plan: Plan, priors: PriorsFile, age: number): Tables {
  const rest = builtIn(plan, age)
  const found = priors.ages[age]
  if (found === null || found === undefined) return rest
  return {
    weight: (item, motion) => inRuns(found.weights, item * 8 + motion),
    bend: (item, motion, isDown) => inRuns(found.bends, item * 16 + motion * 2 + (isDown ? 1 : 0)),
    token: (item, context) => {
      const counts = priors.tables[inRuns(found.tokens, item * 256 + context)]!
      return codeOfFrequencies('', [...counts, ...new Array<number>(67 - counts.length).fill(0)])
    },
    dropped: (item) =>
      found.dropped[item]!.length === 0 ? rest.dropped(item) : codeOfFrequencies('', found.dropped[item]!),
    activity: (chunk, changed) => found.activities[chunk]!.indexOf(changed) + 1,
    masks: (chunk, context) => {
      const table = inRuns(found.masks, chunk * 64 + context)
      return table === -1
        ? rest.masks(chunk, context)
        : masksOf('', priors.masks[table]!.masks, priors.masks[table]!.counts, chunk)
    },
  }
}
