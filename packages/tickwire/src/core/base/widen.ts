/** A longer array that begins with another array's content. */

type NumberArray = Uint8Array | Uint32Array | Int32Array | Float32Array | Float64Array

/** Copies `from` to the front of `to`, which is at least as long, and returns `to`. */
export function widen<T extends NumberArray>(from: T, to: T): T {
  to.set(from)
  return to
}
