/**
 * The codec of a game's snapshots, as a value for its configuration: `codec: entropy(priors)`.
 *
 * Both sides must use the same: `text` is part of the game's fingerprint.
 */

import { hashHex } from '../base/hash.ts'
import { fingerprintOf } from '../schema/fingerprint.ts'
import { EntropyCoder } from './entropy-coder.ts'
import { PackedCoder } from './packed-coder.ts'
import { priorsText, TrainedTables, type EntityPriors } from './priors.ts'
import type { MakeRowCoder } from './row-coder.ts'

/** The result of training, by entity name; entities that are not in it use built-in tables. */
export type Priors = { readonly [entity: string]: EntityPriors }

/** The codec of a game's rows. `packed` and `entropy()` make one. */
export interface SnapshotCodec {
  /** Which of the two codecs it is. */
  readonly name: 'packed' | 'entropy'
  /** Makes the coder of one entity. */
  readonly make: MakeRowCoder
  /** The priors it uses. */
  readonly priors: Priors
  /** Canonical text, short: it has the hash of the priors. Equal text, equal bits. */
  readonly text: string
}

/** Incremented when built-in tables, contexts or predictions change: then old and new peers are incompatible. */
const ENTROPY_FORM = 2

/** Differences, without tables and without prediction: the simple codec. */
export const packed: SnapshotCodec = {
  name: 'packed',
  make: (schema) => new PackedCoder(schema),
  priors: {},
  text: 'packed',
}

/** Predicts motion and encodes residuals in few bits; with built-in tables, or with those of training. */
export function entropy(priors: Priors = {}): SnapshotCodec {
  const names = Object.keys(priors).sort()
  const textOf = (name: string): string =>
    `;${JSON.stringify(name)}:${hashHex(fingerprintOf(priorsText(priors[name])), 0)}`
  return {
    name: 'entropy',
    make: (schema, ticksPerSecond) => {
      const found = Object.hasOwn(priors, schema.name) ? priors[schema.name] : undefined
      return new EntropyCoder(
        schema,
        ticksPerSecond,
        found === undefined ? {} : { tables: (plan) => new TrainedTables(plan, found, `priors.${schema.name}`) },
      )
    },
    priors,
    text: `entropy(${ENTROPY_FORM}${names.map(textOf).join('')})`,
  }
}
