/**
 * Splits a snapshot frame into entries: which object, why it was sent, against which baseline, and what changed.
 *
 * It keeps the rows received earlier, by object and tick, because deltas build on them. If a baseline is missing from
 * the recording, the rest of the frame cannot be decoded and is named `row.unread`.
 */

import type { ObjectId, PeerId, Tick } from '../../base/time.ts'
import { readVarint } from '../../bits/varint.ts'
import type { FieldSet, RowCoder } from '../../codec/row-coder.ts'
import { KIND, NO_ENTRY, readAge, readKind, readHead } from '../../replication/encode/entry-code.ts'
import { typeBits } from '../../replication/replicator.ts'
import type { World } from '../../world/world.ts'
import type { BitNaming } from './bit-naming.ts'
import { dissectRow, type Bases, type DissectedRow } from './dissect-row.ts'

/** One entry, with the reason why it was sent, as far as the receiver can tell. */
export interface DissectedEntry {
  readonly id: ObjectId
  readonly entity: string
  readonly reason: 'entered' | 'changed' | 'again in full' | 'gone' | 'confirmed' | 'new owner'
  readonly why: string
  readonly bits: number
  readonly changed: DissectedRow['changed']
}

/** Received rows that are known from another source than packets. */
export interface ReceivedRows {
  /** The row of an object at a tick. */
  rowAt(id: ObjectId, tick: Tick): Int32Array | undefined
  /** The object that was alive at an object index at a tick. */
  objectAt(
    index: number,
    tick: Tick,
  ): { readonly id: ObjectId; readonly type: number; readonly owner: PeerId; readonly set: FieldSet } | undefined
}

const NO_ROWS_RECEIVED: ReceivedRows = { rowAt: () => undefined, objectAt: () => undefined }

interface Held {
  readonly id: ObjectId
  readonly type: number
  readonly set: FieldSet
  owner: PeerId
  /** Rows by tick, the newest last. */
  readonly rows: Map<Tick, Int32Array>
}

/** The state of the entry reader: the object index of the last entry, and how the last delta was encoded. */
interface Manner {
  index: number
  age: number
  hasOlder: boolean
}

const KIND_NAMES: readonly string[] = Object.keys(KIND)
const NO_ROWS = new Int32Array(0)
/**
 * Rows kept per object. Covers the longest baseline of any window; for an unchanged object, the last row stands for
 * later ticks.
 */
const ROWS_KEPT = 512

export class SnapshotDissector {
  readonly #world: World
  #coders: readonly RowCoder[]
  /** Ticks from one snapshot to the next. */
  readonly #strideTicks: number
  readonly #held = new Map<number, Held>()
  readonly #received: ReceivedRows

  /**
   * `received` supplies rows for a recording that starts in the middle: the first deltas build on rows that no recorded
   * packet contains.
   */
  constructor(
    world: World,
    coders: readonly RowCoder[],
    strideTicks: number,
    received: ReceivedRows = NO_ROWS_RECEIVED,
  ) {
    this.#strideTicks = strideTicks
    this.#world = world
    this.#coders = coders
    this.#received = received
  }

  /** Adds a row of an object at a tick that is known from another source. */
  know(tick: Tick, type: number, id: ObjectId, owner: PeerId, set: FieldSet, row: Int32Array): void {
    this.#hold(id, type, set, owner).rows.set(tick, row.slice())
  }

  /** Names the bits of a frame up to `end`. Returns its tick and entries. Uses `coders` from now on. */
  dissect(
    naming: BitNaming,
    end: number,
    coders: readonly RowCoder[],
  ): { readonly tick: Tick; readonly entries: readonly DissectedEntry[] } {
    const entries: DissectedEntry[] = []
    this.#coders = coders
    naming.where = 'snapshot'
    const tick = naming.name('snapshot.tick', readVarint)
    const state: Manner = { index: -1, age: 0, hasOlder: false }
    for (;;) {
      naming.where = 'snapshot'
      const at = naming.reader.bitPosition
      const spanCount = naming.spans.length
      const step = naming.name(
        'entry.step',
        (reader) => readHead(reader, state.index),
        (value) => `+${value >> 1}${(value & 1) === 1 ? ', as before' : ''}`,
      )
      if (step === NO_ENTRY) break
      state.index += step >> 1
      const entry = this.#entry(naming, tick, state, (step & 1) === 1)
      if (entry === undefined) break
      for (let span = spanCount; span < naming.spans.length; span++) {
        const { where } = naming.spans[span]
        if (where === 'snapshot')
          naming.spans[span] = { ...naming.spans[span], where: `snapshot, ${entry.entity} ${state.index}` }
      }
      entries.push({ ...entry, bits: naming.reader.bitPosition - at })
    }
    naming.where = 'snapshot'
    naming.rest(end - naming.reader.bitPosition < 8 ? 'snapshot.padding' : 'row.unread', end)
    return { tick, entries }
  }

  #entry(naming: BitNaming, tick: Tick, state: Manner, isPlain: boolean): Omit<DissectedEntry, 'bits'> | undefined {
    const kind = isPlain ? KIND.delta : naming.name('entry.kind', readKind, (value) => KIND_NAMES[value] ?? '')
    const held = this.#held.get(state.index) ?? this.#recall(state.index, tick)
    if (kind === KIND.full) return this.#full(naming, tick, state.index, held)
    const entity = held === undefined ? 'object' : this.#world.stores[held.type].schema.name
    if (kind === KIND.gone) {
      const isDespawned = naming.name('entry.despawned', (reader) => reader.readBits(1)) === 1
      this.#held.delete(state.index)
      const why = isDespawned ? 'it is gone from the world' : 'it left what this client may see'
      return {
        id: held?.id ?? 0,
        entity,
        reason: 'gone',
        why: `${why}; repeated until it is acknowledged`,
        changed: [],
      }
    }
    let isRested = false
    if (!isPlain) {
      state.age = naming.name('entry.age', readAge)
      isRested = state.age > 1 && naming.name('entry.rested', (reader) => reader.readBits(1)) === 1
      state.hasOlder =
        kind !== KIND.same && !isRested && naming.name('entry.older', (reader) => reader.readBits(1)) === 1
    }
    return held === undefined ? undefined : this.#delta(naming, tick, kind, state, isRested, held)
  }

  /** An object that entered before the recording began. */
  #recall(index: number, tick: Tick): Held | undefined {
    const object = this.#received.objectAt(index, tick)
    return object && this.#hold(object.id, object.type, object.set, object.owner)
  }

  #full(
    naming: BitNaming,
    tick: Tick,
    index: number,
    before: Held | undefined,
  ): Omit<DissectedEntry, 'bits'> | undefined {
    const generation = naming.name('entry.generation', (reader) => reader.readBits(16))
    const type = naming.name(
      'entry.type',
      (reader) => reader.readBits(typeBits(this.#world)),
      (value) => this.#world.stores[value]?.schema.name ?? String(value),
    )
    const set = naming.name('entry.set', (reader) => reader.readBits(2))
    const owner = naming.name('entry.owner', readVarint)
    const store = this.#world.stores[type]
    if (store === undefined) return undefined
    if (store.isShared) naming.name('entry.token', readVarint)
    if (naming.name('entry.hasBirth', (reader) => reader.readBits(1)) === 1) {
      naming.name('entry.birthAge', readVarint)
      naming.name('entry.birthOrdinal', readVarint)
    }
    const id = index * 65_536 + generation
    naming.where = `snapshot, ${store.schema.name} ${index}`
    const bases: Bases = {
      baseRows: store.schema.initialRow,
      baseAt: 0,
      age: 0,
      olderRows: NO_ROWS,
      olderAt: -1,
      olderTicks: 1,
    }
    const { row, changed } = dissectRow(
      naming,
      store.schema,
      this.#coders[type],
      set === 0 ? 0 : set === 1 ? 1 : 2,
      bases,
      this.#world.heap,
    )
    if (before !== undefined && before.id !== id) this.#held.delete(index)
    this.#hold(id, type, set === 0 ? 0 : set === 1 ? 1 : 2, owner).rows.set(tick, row)
    const isNew = before?.id !== id
    const why = isNew
      ? 'this client has not confirmed any row of it yet'
      : 'there is no row that a delta could build on: it was asked for, or other fields may be seen'
    return { id, entity: store.schema.name, reason: isNew ? 'entered' : 'again in full', why, changed }
  }

  #delta(
    naming: BitNaming,
    tick: Tick,
    kind: number,
    { age, hasOlder }: Manner,
    isRested: boolean,
    held: Held,
  ): Omit<DissectedEntry, 'bits'> | undefined {
    const { schema, isShared } = this.#world.stores[held.type]
    const coder = this.#coders[held.type]
    naming.where = `snapshot, ${schema.name} ${held.id >>> 16}`
    if (kind === KIND.deltaOwned) {
      held.owner = naming.name('entry.owner', readVarint)
      if (isShared) naming.name('entry.token', readVarint)
    }
    const base = this.#rowAt(held, tick - age)
    const older = isRested ? base : hasOlder ? this.#olderAt(held, tick - age - this.#strideTicks) : undefined
    if (base === undefined || (hasOlder && older === undefined)) return undefined
    if (kind === KIND.same) {
      this.#keep(held, tick, base)
      return {
        id: held.id,
        entity: schema.name,
        reason: 'confirmed',
        why: `it is again what it was at tick ${tick - age}`,
        changed: [],
      }
    }
    const bases: Bases = {
      baseRows: base,
      baseAt: 0,
      age: isRested ? 1 : age,
      olderRows: older ?? NO_ROWS,
      olderAt: older === undefined ? -1 : 0,
      olderTicks: isRested ? 1 : this.#strideTicks,
    }
    const { row, changed } = dissectRow(naming, schema, coder, held.set, bases, this.#world.heap)
    this.#keep(held, tick, row)
    if (isRested)
      for (const rested of [tick - 1, tick - this.#strideTicks]) if (rested > tick - age) held.rows.set(rested, base)
    const fields = changed.map(({ field, before, after }) => `${field} ${before} → ${after}`).join(', ')
    const what = fields === '' ? 'a row that is lost or in flight was taken back' : fields
    const why = `since tick ${tick - age}, the newest acknowledged: ${what}`
    return {
      id: held.id,
      entity: schema.name,
      reason: kind === KIND.deltaOwned ? 'new owner' : 'changed',
      why,
      changed,
    }
  }

  /** The row one snapshot before a baseline. Never guessed: undefined when nothing that old is known. */
  #olderAt(held: Held, tick: Tick): Int32Array | undefined {
    for (const known of held.rows.keys()) if (known <= tick) return this.#rowAt(held, tick)
    return this.#received.rowAt(held.id, tick)
  }

  #rowAt(held: Held, tick: Tick): Int32Array | undefined {
    // Texts and lists are stored in the heap of the world that decoded them, so rows with such fields are usable only
    // from here.
    const isOurs = this.#world.stores[held.type].schema.heapLeaves.length > 0
    return (isOurs ? undefined : this.#received.rowAt(held.id, tick)) ?? rowAt(held, tick)
  }

  #hold(id: ObjectId, type: number, set: FieldSet, owner: PeerId): Held {
    const known = this.#held.get(id >>> 16)
    if (known?.id === id && known.set === set) {
      known.owner = owner
      return known
    }
    const held: Held = { id, type, set, owner, rows: new Map() }
    this.#held.set(id >>> 16, held)
    return held
  }

  #keep(held: Held, tick: Tick, row: Int32Array): void {
    held.rows.set(tick, row)
    if (held.rows.size <= ROWS_KEPT) return
    const [oldest] = held.rows.keys()
    if (oldest !== undefined) held.rows.delete(oldest)
  }
}

/** The row at a tick, or the newest row before it: an unchanged object is not sent again. */
function rowAt({ rows }: Held, tick: Tick): Int32Array | undefined {
  const exact = rows.get(tick)
  if (exact !== undefined) return exact
  let best: Tick = -1
  for (const known of rows.keys()) if (known <= tick && known > best) best = known
  return best >= 0 ? rows.get(best) : rows.values().next().value
}
