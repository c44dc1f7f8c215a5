/**
 * What a decoder under fuzz looks like to the fuzz driver.
 *
 * A file `test/fuzz/*.fuzz.ts` exports `targets: readonly FuzzTarget[]`, one per decoder. The driver feeds each target
 * random bytes, mutations of its seeds, and its seeds cut at every length. `run` must return on every input: it may
 * not throw, loop, or allocate beyond the decoder's limits. A property that a decoder owes (what decodes encodes back
 * to the same bytes) is checked inside `run`, by throwing when it breaks.
 */

/** One decoder under fuzz. */
export type FuzzTarget = {
  /** Stable, kebab-case: it names the corpus and the replay command. */
  readonly name: string
  /** Valid inputs to mutate and to cut. */
  readonly seeds: () => readonly Uint8Array[]
  /** Decodes `bytes`; returns whatever they hold, throws only on a bug. */
  readonly run: (bytes: Uint8Array) => void
}
