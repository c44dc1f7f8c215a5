/**
 * Floats as whole numbers in the same order, so that close floats have a small difference. The bits of positive floats
 * are in order already, those of negative floats are in reverse order.
 */

/** The rank of a float among all floats, from its bits. Its own inverse. @hot */
export function orderFloat(bits: number): number {
  return bits ^ ((bits >> 31) & 0x7fff_ffff)
}

/** Whether a field may have a float of these bits; of all NaN patterns only the canonical one is allowed. */
export function isFieldFloat(bits: number, mustBeFinite: boolean): boolean {
  if ((bits & 0x7f80_0000) !== 0x7f80_0000) return true
  return !mustBeFinite && ((bits & 0x007f_ffff) === 0 || bits === 0x7fc0_0000)
}
