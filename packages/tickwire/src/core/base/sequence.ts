/**
 * Sixteen-bit sequence numbers: which of two is newer, and which whole number a 16-bit one stands for.
 *
 * The wire carries the low 16 bits of a sequence; inside the engine a sequence is a whole double below 2^53 and
 * never wraps. Everything here is exact while fewer than 32,768 sequences lie between the two numbers compared.
 *
 * It does not decide whether a sequence was received before or is too old: the replay window does.
 */

const HALF = 0x8000
const LOW_16 = 0xffff
const SPAN = 0x10000

/**
 * Whether `a` was sent after `b`, both 16-bit. At a distance of exactly half the circle the greater number is
 * the newer one, so that of two different numbers exactly one is newer (SEQ1).
 */
export function isNewer16(a: number, b: number): boolean {
  return a > b ? a - b <= HALF : b - a > HALF
}

/**
 * The full sequence nearest to `near` that ends in `low16` (SEQ2). For sequences that may be ahead of `near`, such as
 * that of an arriving packet. At a distance of exactly half the circle it is the older one: a stale packet costs
 * nothing, a jump ahead would move the window.
 */
export function expand16(low16: number, near: number): number {
  // Shifting left and right again wraps the difference into -32768..32767 without a branch; `&` is exact to 2^53.
  const distance = ((low16 - (near & LOW_16)) << 16) >> 16
  const expanded = near + distance
  return expanded < 0 ? expanded + SPAN : expanded
}

/**
 * The newest full sequence at or below `highest` that ends in `low16` (SEQ3), negative when there is none. For
 * sequences that cannot be ahead, such as an acknowledgement of a sent packet.
 */
export function expand16AtMost(low16: number, highest: number): number {
  return highest - (((highest & LOW_16) - low16) & LOW_16)
}
