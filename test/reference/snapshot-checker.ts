/**
 * Reads snapshot frames by the documented rules alone (docs/wire/SNAPSHOTS.md), slowly and clearly. Imports nothing
 * from src, so engine and vectors cannot be wrong together unless the rules are.
 *
 * `SnapshotReader` reads frames around rows of any form. `SnapshotChecker` is one for entities that have only bools, so
 * that a row's delta is its mask, and only frames can be wrong.
 */

import { BitSource, bytesToBits, Refused } from './bits-reference.ts'

/** A field of an entity, and its audience. */
export interface Flag {
  readonly name: string
  readonly audience: 'all' | 'team' | 'owner'
}

/** An object that the receiver holds, in a form that both readers use. */
export interface HeldObject<Row = string> {
  readonly id: number
  readonly type: number
  readonly set: number
  readonly owner: number
  /** Of a shared object: the first tick that its owner writes. */
  readonly writesFrom?: number
  readonly tick: number
  readonly row: Row | undefined
}

/** The rows that a delta is read against. */
export interface Against<Row> {
  /** Undefined: the initial row of the type. */
  readonly base: Row | undefined
  /** Age of the baseline in ticks, as the row's coder counts it; 0 for the initial row. */
  readonly age: number
  readonly older: Row | undefined
  /** Ticks from the older row to the baseline. */
  readonly olderTicks: number
}

/** How rows are read. */
export interface RowForm<Row> {
  /** How many entities the game has. */
  readonly typeCount: number
  /** Types whose objects are written by their owners. */
  readonly shared: readonly number[]
  /** Ticks from one snapshot to the next. */
  readonly strideTicks: number
  /** Whether the coder looks at the row before the baseline. */
  readonly usesOlder: boolean
  read(source: BitSource, type: number, set: number, against: Against<Row>): Row
}

/** A row in a frame. */
export interface FrameRow<Row> {
  readonly tick: number
  readonly id: number
  readonly type: number
  readonly set: number
  readonly owner: number
  readonly row: Row
}

interface ReceivedRow<Row> {
  readonly row: Row
  readonly owner: number
}

/** Only of shared objects. */
interface Token {
  readonly writesFrom?: number
}

interface Place<Row> {
  held: { id: number; type: number; set: number; owner: number; tick: number } & Token | undefined
  /** Rows received at this tick or before belong to another object, an earlier stay or another field set. */
  floor: number
  readonly rows: Map<number, ReceivedRow<Row> & { readonly id: number }>
}

const AUDIENCES = ['all', 'team', 'owner'] as const

/** One receiver of snapshots. It remembers every row that it ever received. */
export class SnapshotReader<Row> {
  readonly form: RowForm<Row>
  /** Called for every row of a frame. */
  onRow: (received: FrameRow<Row>) => void = () => {}
  readonly #places = new Map<number, Place<Row>>()

  constructor(form: RowForm<Row>) {
    this.form = form
  }

  /** Every object that is held, ascending. */
  get held(): HeldObject<Row>[] {
    return [...this.#places].sort(([first], [second]) => first - second).flatMap(([, { held, rows }]) =>
      held === undefined ? [] : [{ ...held, row: rows.get(held.tick)?.row }])
  }

  /** Takes the body of a frame. `read` reads its rows; by default the row form does. */
  accept(bytes: Uint8Array, read: RowForm<Row>['read'] = (...of) => this.form.read(...of)): 'ok' | 'no-ack' | 'broken' {
    const source = new BitSource(bytesToBits(bytes))
    try {
      return this.#frame(source, read)
    } catch (error) {
      if (error instanceof Refused) return 'broken'
      throw error
    }
  }

  #frame(source: BitSource, read: RowForm<Row>['read']): 'ok' | 'no-ack' {
    const tick = varint(source)
    let index = -1
    let age = 0
    let hasOlder = false
    while (source.bits.slice(source.taken, source.taken + 4).includes('1')) {
      const step = prefix(source, 4)
      const isPlain = step < 3
      index = step < 2 ? next(index, step + 1) : isPlain ? plainIndex(source, index) : gapIndex(source, index)
      const kind = isPlain ? 0 : prefix(source, 5)
      if (kind === 1) this.#full(source, tick, index, read)
      else if (kind === 2) this.#gone(tick, index, number(source, 1))
      else {
        let isRested = false
        if (!isPlain) {
          const said = ageOf(source)
          isRested = said > 1 && number(source, 1) === 1
          const older = kind !== 3 && !isRested && number(source, 1) === 1
          if (kind === 0 && !isRested && said === age && older === hasOlder)
            throw new Refused('the same manner as the delta before, in the long form')
          age = said
          hasOlder = older
        }
        if (age === 0 || age > tick) throw new Refused('no such age')
        if (!this.#delta(source, tick, index, kind, { age, isRested, hasOlder }, read)) return 'no-ack'
      }
    }
    source.finish()
    return 'ok'
  }

  #full(source: BitSource, tick: number, index: number, read: RowForm<Row>['read']): void {
    const generation = number(source, 16)
    const type = number(source, Math.ceil(Math.log2(this.form.typeCount)))
    const set = number(source, 2)
    const owner = varint(source)
    if (generation === 0 || type >= this.form.typeCount || set > 2 || owner > 0xffff_ffff)
      throw new Refused('no such object')
    const token = this.#token(source, tick, type)
    if (number(source, 1) === 1 && (tick - varint(source) < 0 || varint(source) > 0xffff))
      throw new Refused('no such birth')
    const id = index * 65_536 + generation
    const row = read(source, type, set, { base: undefined, age: 0, older: undefined, olderTicks: 1 })
    const place = this.#place(index)
    if ((place.rows.get(tick)?.id ?? id) !== id) throw new Refused('two objects in one place')
    place.rows.set(tick, { id, row, owner })
    this.onRow({ tick, id, type, set, owner, row })
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

  #delta(
    source: BitSource,
    tick: number,
    index: number,
    kind: number,
    head: DeltaHead,
    read: RowForm<Row>['read'],
  ): boolean {
    const { age, isRested, hasOlder } = head
    const place = this.#place(index)
    const said = kind === 4 ? varint(source) : undefined
    if (said !== undefined && said > 0xffff_ffff) throw new Refused('no such owner')
    const { held } = place
    if (held === undefined) return false
    const base = rowUpTo(place, held.id, tick - age)
    if (base === undefined) return false
    place.rows.set(tick - age, base)
    const token = said === undefined ? {} : this.#token(source, tick, held.type)
    if (hasOlder && !this.form.usesOlder) throw new Refused('a coder that looks at no older row')
    const older = hasOlder ? rowAt(place, held.id, tick - age - this.form.strideTicks) : undefined
    if (hasOlder && older === undefined) return false
    const against = isRested ? { base: base.row, age: 1, older: base.row, olderTicks: 1 }
      : { base: base.row, age, older: older?.row, olderTicks: this.form.strideTicks }
    const row = kind === 3 ? base.row : read(source, held.type, held.set, against)
    const owner = said ?? base.owner
    if (isRested)
      for (const each of [tick - 1, tick - this.form.strideTicks])
        if (each > tick - age && !place.rows.has(each)) place.rows.set(each, base)
    place.rows.set(tick, { id: held.id, row, owner })
    this.onRow({ tick, id: held.id, type: held.type, set: held.set, owner, row })
    if (tick > held.tick) place.held = { ...held, owner, ...token, tick }
    return true
  }

  #token(source: BitSource, tick: number, type: number): Token {
    if (!this.form.shared.includes(type)) return {}
    const since = varint(source)
    if (since > tick + 1) throw new Refused('a writer from before the first tick')
    return { writesFrom: tick + 1 - since }
  }

  #place(index: number): Place<Row> {
    const place = this.#places.get(index) ?? { held: undefined, floor: -1, rows: new Map() }
    this.#places.set(index, place)
    return place
  }
}

/** What stands before the row of a delta. */
interface DeltaHead {
  readonly age: number
  readonly isRested: boolean
  readonly hasOlder: boolean
}

/** A receiver of entities that have only bools. */
export class SnapshotChecker extends SnapshotReader<string> {
  /** `shared`: types whose objects are written by their owners. */
  constructor(entities: readonly (readonly Flag[])[], shared: readonly number[] = []) {
    super({
      typeCount: entities.length,
      shared,
      strideTicks: 1,
      usesOlder: false,
      read: (source, type, set, { base }) =>
        toggle(source, entities[type]!, set, base ?? '0'.repeat(entities[type]!.length)),
    })
  }
}

/** The row that is remembered of an object at just this tick. */
function rowAt<Row>({ rows, floor }: Place<Row>, id: number, tick: number): ReceivedRow<Row> | undefined {
  const row = tick > floor ? rows.get(tick) : undefined
  return row?.id === id ? row : undefined
}

/** The newest row of an object at a tick or before it. */
function rowUpTo<Row>(
  { rows, floor }: Place<Row>,
  id: number,
  tick: number,
): (ReceivedRow<Row> & { readonly id: number }) | undefined {
  for (let each = tick; each > floor; each--) {
    const row = rows.get(each)
    if (row?.id === id) return row
  }
  return undefined
}

/** One bit for each flag in the set: 1 = changed. */
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

/** An index in full: only where the gap is too wide for anything shorter. */
function spelt(source: BitSource, before: number, gapMin: number): number {
  const index = number(source, 16)
  if (index - before < gapMin) throw new Refused('a short gap, encoded at length')
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
