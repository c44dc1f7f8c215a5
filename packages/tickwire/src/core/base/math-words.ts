/**
 * The product that JavaScript's integers lack: the high half of 32 x 32 bits. `Math.imul` is the low half.
 */

/** @hot The high 32 bits of the product of two unsigned words, as int32, in halves of 16 bits that cannot overflow. */
export function multiplyHigh(a: number, b: number): number {
  const aLow = a & 0xffff
  const aHigh = a >>> 16
  const bLow = b & 0xffff
  const bHigh = b >>> 16
  const middle = (Math.imul(aHigh, bLow) + (Math.imul(aLow, bLow) >>> 16)) >>> 0
  const cross = (Math.imul(aLow, bHigh) + (middle & 0xffff)) >>> 0
  return (Math.imul(aHigh, bHigh) + (middle >>> 16) + (cross >>> 16)) | 0
}
