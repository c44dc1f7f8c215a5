/**
 * Reads snapshot frames from the documented rules alone (docs/wire/SNAPSHOTS.md), slowly and clearly. Imports nothing from
 * src, so engine and vectors cannot be wrong together unless the rules are.
 *
 * Entities here have only bools, so that a row's delta is its mask, and frames are all there is to get wrong.
 */

import { BitSource, bytesToBits, Refused } from './bits-reference.ts'

/** A field of an entity, and who holds it. */
export interface Flag {
  readonly name: string
  readonly audience: 'all' | 'team' | 'owner'
}

/** Who is held, in words that both readers speak. */
export interface HeldObject {
  readonly id: number
  readonly type: number
  readonly set: number
  readonly owner: number
  /** Of a shared object: the first tick that its owner writes. */
  readonly writesFrom?: number
  readonly tick: number
  readonly row: string
}

interface Told {
  readonly row: string
  readonly owner: number
}

/** Only of shared objects. */
interface Token {
  readonly writesFrom?: number
}

interface Place {
  held: { id: number; type: number; set: number; owner: number; tick: number } & Token | undefined
  /** Rows told at this tick or before belong to somebody or something else. */
  floor: number
  readonly rows: Map<number, Told & { readonly id: number }>
}

const AUDIENCES = ['all', 'team', 'owner'] as const

/** One receiver of snapshots. He remembers every row he was ever told. */
export class SnapshotChecker {
  readonly #entities: readonly (readonly Flag[])[]
  readonly #shared: readonly number[]
  readonly #places = new Map<number, Place>()

  /** `shared`: types whose objects are written by who owns them. */
  constructor(entities: readonly (readonly Flag[])[], shared: readonly number[] = []) {
    this.#entities = entities
    this.#shared = shared
  }

  /** Everybody held, ascending. */
  get held(): HeldObject[] {
    return [...this.#places].sort(([first], [second]) => first - second).flatMap(([, { held, rows }]) =>
      held === undefined ? [] : [{ ...held, row: rows.get(held.tick)?.row ?? '?' }])
  }

  accept(bytes: Uint8Array): 'ok' | 'no-ack' | 'broken' {
    const source = new BitSource(bytesToBits(bytes))
    try {
      return this.#frame(source)
    } catch (error) {
      if (error instanceof Refused) return 'broken'
      throw error
    }
  }

  #frame(source: BitSource): 'ok' | 'no-ack' {
    const tick = varint(source)
    let index = -1
    let age = 0
    let hasOlder = false
    while (source.bits.slice(source.taken, source.taken + 4).includes('1')) {
      const step = prefix(source, 4)
      const isPlain = step < 3
      index = step < 2 ? next(index, step + 1) : isPlain ? plainIndex(source, index) : gapIndex(source, index)
      const kind = isPlain ? 0 : prefix(source, 5)
      if (kind === 1) this.#full(source, tick, index)
      else if (kind === 2) this.#gone(tick, index, number(source, 1))
      else {
        let isRested = false
        if (!isPlain) {
          const said = ageOf(source)
          isRested = said > 1 && number(source, 1) === 1
          const older = kind !== 3 && !isRested && number(source, 1) === 1
          if (kind === 0 && !isRested && said === age && older === hasOlder) throw new Refused('as the delta before, and not said so')
          age = said
          hasOlder = older
        }
        if (age === 0 || age > tick) throw new Refused('no such age')
        if (!this.#delta(source, tick, index, kind, age, isRested, hasOlder)) return 'no-ack'
      }
    }
    source.finish()
    return 'ok'
  }

  #full(source: BitSource, tick: number, index: number): void {
    const generation = number(source, 16)
    const type = number(source, Math.ceil(Math.log2(this.#entities.length)))
    const set = number(source, 2)
    const owner = varint(source)
    const flags = this.#entities[type]
    if (generation === 0 || flags === undefined || set > 2 || owner > 0xffff_ffff) throw new Refused('no such object')
    const token = this.#token(source, tick, type)
    if (number(source, 1) === 1 && (tick - varint(source) < 0 || varint(source) > 0xffff)) throw new Refused('no such birth')
    const id = index * 65_536 + generation
    const row = toggle(source, flags, set, '0'.repeat(flags.length))
    const place = this.#place(index)
    if ((place.rows.get(tick)?.id ?? id) !== id) throw new Refused('two objects in one place')
    place.rows.set(tick, { id, row, owner })
    const isHeld = place.held?.id === id && place.held.type === type && place.held.set === set
    if (tick <= place.floor || (place.held !== undefined && tick <= place.held.tick)) {
      if (!isHeld) place.floor = Math.max(place.floor, tick)
      return
    }
    if (!isHeld) place.floor = Math.max(place.floor, place.held?.tick ?? -1)
    place.held = { id, type, set, owner, ...token, tick }
  }

  #gone(tick: number, index: number, _isDespawned: number): void {
    const place = this.#place(index)
    place.floor = Math.max(place.floor, tick)
    if (place.held !== undefined && tick > place.held.tick) place.held = undefined
  }

  #delta(source: BitSource, tick: number, index: number, kind: number, age: number, isRested: boolean, hasOlder: boolean): boolean {
    const place = this.#place(index)
    const said = kind === 4 ? varint(source) : undefined
    if (said !== undefined && said > 0xffff_ffff) throw new Refused('no such owner')
    const { held } = place
    if (held === undefined) return false
    const base = rowUpTo(place, held.id, tick - age)
    if (base === undefined) return false
    place.rows.set(tick - age, base)
    const flags = this.#entities[held.type]!
    const token = said === undefined ? {} : this.#token(source, tick, held.type)
    if (hasOlder) throw new Refused('a coder that looks at no older row')
    const row = kind === 3 ? base.row : toggle(source, flags, held.set, base.row)
    const owner = said ?? base.owner
    if (isRested && tick > held.tick && !place.rows.has(tick - 1)) place.rows.set(tick - 1, base)
    place.rows.set(tick, { id: held.id, row, owner })
    if (tick > held.tick) place.held = { ...held, owner, ...token, tick }
    return true
  }

  #token(source: BitSource, tick: number, type: number): Token {
    if (!this.#shared.includes(type)) return {}
    const since = varint(source)
    if (since > tick + 1) throw new Refused('a writer from before the first tick')
    return { writesFrom: tick + 1 - since }
  }

  #place(index: number): Place {
    const place = this.#places.get(index) ?? { held: undefined, floor: -1, rows: new Map() }
    this.#places.set(index, place)
    return place
  }
}

/** The newest row told of an object at a tick or before it. */
function rowUpTo({ rows, floor }: Place, id: number, tick: number): Told & { readonly id: number } | undefined {
  for (let each = tick; each > floor; each--) {
    const row = rows.get(each)
    if (row?.id === id) return row
  }
  return undefined
}

/** One bit for each flag that the set holds: 1 = not what it was. */
function toggle(source: BitSource, flags: readonly Flag[], set: number, base: string): string {
  return flags.map(({ audience }, at) => {
    const bit = base[at]!
    return AUDIENCES.indexOf(audience) <= set && source.take(1) === '1' ? (bit === '0' ? '1' : '0') : bit
  }).join('')
}

/** Zeros before a 1 among the next bits. */
function prefix(source: BitSource, most: number): number {
  for (let zeros = 0; zeros < most; zeros++) if (source.take(1) === '1') return zeros
  throw new Refused('no such kind')
}

function next(before: number, gap: number): number {
  if (before + gap > 65_535) throw new Refused('no such index')
  return before + gap
}

/** An index as such: only where the gap is too wide for anything shorter. */
function spelt(source: BitSource, before: number, gapMin: number): number {
  const index = number(source, 16)
  if (index - before < gapMin) throw new Refused('a short gap, spelt at length')
  return index
}

/** After 001. */
function plainIndex(source: BitSource, before: number): number {
  if (source.take(1) === '0') return next(before, 3 + number(source, 2))
  if (source.take(1) === '0') return next(before, 7 + number(source, 4))
  if (source.take(1) === '0') return next(before, 23 + number(source, 8))
  return spelt(source, before, 279)
}

/** After 0001. */
function gapIndex(source: BitSource, before: number): number {
  if (source.take(1) === '1') return next(before, 1)
  if (source.take(1) === '1') return next(before, 2 + number(source, 2))
  if (source.take(1) === '1') return next(before, 6 + number(source, 4))
  if (source.take(1) === '1') return next(before, 22 + number(source, 8))
  return spelt(source, before, 278)
}

function ageOf(source: BitSource): number {
  if (number(source, 1) === 0) return 1 + number(source, 4)
  if (number(source, 1) === 0) return 17 + number(source, 7)
  return 145 + varint(source)
}

function number(source: BitSource, width: number): number {
  let value = 0
  for (let bit = 0; bit < width; bit++) value = value * 2 + (source.take(1) === '1' ? 1 : 0)
  return value
}

function varint(source: BitSource): number {
  let value = 0
  for (let group = 0; group < 8; group++) {
    const byte = number(source, 8)
    value += (byte & 127) * 2 ** (7 * group)
    if (byte < 128) {
      if ((group > 0 && byte === 0) || value > Number.MAX_SAFE_INTEGER) throw new Refused('an over-long number')
      return value
    }
  }
  throw new Refused('an over-long number')
}
