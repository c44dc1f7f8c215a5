/**
 * Where the bits of snapshots go, counted on arrival: by entity, object and reason, as the server counts them
 * (`BitAccount`), and by field.
 *
 * Fields are metered for one row in `FIELD_EVERY`, because a coder reports the length of a row, but not of its fields:
 * each metered row is coded again without each field that changed. The shares are exact for the metered rows; the bits
 * shown are those shares of the entity's total.
 */

import type { PeerId, Tick } from '../core/base/time.ts'
import type { FieldSet, RowCoder, RowPair } from '../core/codec/row-coder.ts'
import { BitAccount } from '../core/bandwidth/bit-account.ts'
import { FieldMeter } from '../core/bandwidth/bit-account-fields.ts'
import type { Probe, RowProbe } from '../core/replication/probe.ts'
import type { World } from '../core/world/world.ts'

const FIELD_EVERY = 4
const FIELD_SETS: readonly FieldSet[] = [0, 1, 2]

/** The share of a field in its entity's bits. */
export interface FieldShare {
  /** `Player.x`. `Player` alone is what belongs to no field: which object, and which fields. */
  readonly path: string
  /** 0 to 1, of all metered rows. */
  readonly share: number
}

export class ReceivedBits implements Probe, RowProbe {
  readonly account: BitAccount
  /** Bits of entries, in total. */
  entryBits = 0
  headBits = 0
  readonly #world: World
  /** Indexed by type and field set. */
  readonly #meters: readonly FieldMeter[]
  #rows = 0

  constructor(world: World, coders: readonly RowCoder[]) {
    this.#world = world
    this.account = new BitAccount(world)
    this.#meters = world.stores.flatMap(({ schema }, type) =>
      FIELD_SETS.map((set) => new FieldMeter(schema, coders[type], set, world.heap)),
    )
  }

  onEntry(client: PeerId, index: number, type: number, reason: number, bits: number): void {
    this.account.onEntry(client, index, type, reason, bits)
  }

  onFrame(client: PeerId, tick: Tick, headBits: number, entryBits: number): void {
    this.headBits += headBits
    this.entryBits += entryBits
    this.account.onFrame(client, tick, headBits, entryBits)
  }

  onRow(type: number, set: number, pair: RowPair): void {
    if (this.#rows++ % FIELD_EVERY === 0) this.#meters[type * FIELD_SETS.length + set].add(pair)
  }

  /** The fields, the most expensive first. Allocates. */
  fields(): FieldShare[] {
    const total = this.#meters.reduce((sum, { totalBits }) => sum + totalBits, 0)
    if (total === 0) return []
    const bits = new Map<string, number>()
    this.#meters.forEach((meter, at) => {
      const { name } = this.#world.stores[Math.floor(at / FIELD_SETS.length)].schema
      meter.members.forEach(({ path }, member) => bits.set(path, (bits.get(path) ?? 0) + meter.bits[member]))
      bits.set(name, (bits.get(name) ?? 0) + meter.sharedBits)
    })
    return [...bits]
      .map(([path, each]) => ({ path, share: each / total }))
      .filter(({ share }) => share > 0)
      .sort((a, b) => b.share - a.share)
  }
}
