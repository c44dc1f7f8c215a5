/**
 * The contract of a fuzz target: one decoder, and valid inputs to start mutating from.
 *
 * A file `test/fuzz/<name>.fuzz.ts` exports `targets: readonly FuzzTarget[]`; `npm run fuzz` and the short run inside
 * `npm test` find it by that name. No other file lists it.
 */

/** One decoder that is fuzzed. */
export interface FuzzTarget {
  /** Stable and unique: it is part of the command that replays a failure. */
  readonly name: string
  /** Valid inputs. Each is mutated, spliced with the others, and cut at every length. */
  seeds(): readonly Uint8Array[]
  /**
   * Decodes `bytes` to the end. May refuse them in any way that is not a throw. May check its result and throw, for
   * example if an accepted input does not encode again to the same bytes.
   */
  run(bytes: Uint8Array): void
  /** Bytes one `run` may allocate before it counts as a failure; 1 MiB where it is not given. */
  readonly allocationBytesMax?: number
}
