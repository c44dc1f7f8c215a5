/**
 * State that `step` keeps outside the schema. The world saves, loads, hashes and encodes it together with its objects;
 * without that, a rollback or a restored image would leave it behind.
 *
 * A game writes two functions, `encode` and `decode`. The other three are optional: they replace the bytes where the
 * world saves every tick and a copy of an object is cheaper.
 */

import { ConfigError } from '../base/assert.ts'
import { hashBytes } from '../base/hash.ts'

/** State that `step` keeps outside the schema. The world saves, loads, hashes and encodes it. */
export interface External {
  /** The state as bytes. Equal states give equal bytes on every peer. */
  encode(): Uint8Array
  /** Replaces the state with one that `encode` returned. Throws if the bytes are not such a state. */
  decode(bytes: Uint8Array): void
  /**
   * A copy of the state for a save slot; by default the bytes. It may be loaded more than once and is never written to.
   */
  save?(): unknown
  /** Replaces the state with one that `save` returned. `save` and `load` come together. */
  load?(saved: unknown): void
  /** 32 bits of the state: equal states give equal bits. By default a hash of the bytes. */
  hash?(): number
}

/** External state with every function present. */
export type CompleteExternal = Required<External>

const NO_BYTES = new Uint8Array(0)

/** A world without external state. */
export const NO_EXTERNAL: CompleteExternal = {
  encode: () => NO_BYTES,
  decode: (bytes) => { if (bytes.length > 0) throw new RangeError('external: this world has no external state') },
  save: () => undefined,
  load: () => {},
  hash: () => 0,
}

/** Fills in the optional functions. Throws a ConfigError if a required one is missing. */
export function completeExternal(external: External): CompleteExternal {
  for (const name of ['encode', 'decode'] as const) {
    if (typeof external[name] !== 'function') {
      throw new ConfigError(
        `external.${name}`,
        'missing',
        'give encode(), which returns the state as bytes, and decode(bytes), which replaces it.',
      )
    }
  }
  if ((external.save === undefined) !== (external.load === undefined)) {
    throw new ConfigError('external.save', 'save without load, or load without save', 'give both or neither.')
  }
  const out = new Uint32Array(2)
  return {
    encode: () => external.encode(),
    decode: (bytes) => external.decode(bytes),
    save: () => external.save === undefined ? external.encode().slice() : external.save(),
    load: (saved) => {
      if (external.load !== undefined) external.load(saved)
      else if (saved instanceof Uint8Array) external.decode(saved)
    },
    hash: () => {
      if (external.hash !== undefined) return external.hash()
      const bytes = external.encode()
      hashBytes(bytes, 0, bytes.length, 0, out, 0)
      return out[0]
    },
  }
}
