/**
 * Which codec a game's snapshots use, as a value for its configuration: `codec: entropy(priors)`.
 *
 * Both sides must use the same: `text` belongs into the game's fingerprint.
 */

import { hashHex } from '../base/hash.ts'
import { fingerprintOf } from '../schema/fingerprint.ts'
import { EntropyCoder } from './entropy-coder.ts'
import { PackedCoder } from './packed-coder.ts'
import { priorsText, TrainedTables, type EntityPriors } from './priors.ts'
import type { MakeRowCoder } from './row-coder.ts'

/** What training found, by entity name; entities that are not in it have built-in tables. */
export type Priors = { readonly [entity: string]: EntityPriors }

export interface SnapshotCodec {
  readonly name: 'packed' | 'entropy'
  readonly make: MakeRowCoder
  /** What it was trained with. */
  readonly priors: Priors
  /** Canonical text, short: priors stand in it by their hash. Equal text, equal bits. */
  readonly text: string
}

/** Bumped when built-in tables, contexts or predictions change: then old and new do not understand each other. */
const ENTROPY_FORM = 2

/** Differences, without tables and without motion: the simple one. */
export const packed: SnapshotCodec = { name: 'packed', make: (schema) => new PackedCoder(schema), priors: {}, text: 'packed' }

/** Motion predicted, the rest in few bits; by built-in tables, or by those that training found. */
export function entropy(priors: Priors = {}): SnapshotCodec {
  const names = Object.keys(priors).sort()
  return {
    name: 'entropy',
    make: (schema, ticksPerSecond) => {
      const found = Object.hasOwn(priors, schema.name) ? priors[schema.name] : undefined
      return new EntropyCoder(schema, ticksPerSecond, found === undefined ? {} : { tables: (plan) => new TrainedTables(plan, found, `priors.${schema.name}`) })
    },
    priors,
    text: `entropy(${ENTROPY_FORM}${names.map((name) => `;${JSON.stringify(name)}:${hashHex(fingerprintOf(priorsText(priors[name])), 0)}`).join('')})`,
  }
}
