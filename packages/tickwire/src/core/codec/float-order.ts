/**
 * Floats as whole numbers in the same order, so that near ones have a small difference: the bits of a positive float are
 * in order already, those of a negative one backwards.
 */

/** The place of a float among all floats, from its bits. Its own inverse. @hot */
export function orderFloat(bits: number): number {
  return bits ^ ((bits >> 31) & 0x7fff_ffff)
}

/** Whether a field may hold a float of these bits; of all patterns of not-a-number, only the canonical one. */
export function isFieldFloat(bits: number, mustBeFinite: boolean): boolean {
  if ((bits & 0x7f80_0000) !== 0x7f80_0000) return true
  return !mustBeFinite && ((bits & 0x007f_ffff) === 0 || bits === 0x7fc0_0000)
}
