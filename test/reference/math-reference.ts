/**
 * The elementary functions in whole numbers of any length: slow, clear, and right to 150 bits or more.
 *
 * An exact value is `n * 2^-bits`. Everything is a textbook series on a reduced argument; nothing is shared with the
 * fast functions, not even the constants: pi and ln 2 are computed here. Imports nothing from src.
 */

/** The number n * 2^-bits. */
export interface Exact {
  readonly n: bigint
  readonly bits: number
}

/** Bits behind the point for results near 1; smaller results get as many more as they are smaller. */
const PRECISION = 260
const REACH = 1100 + 2 * PRECISION

const abs = (n: bigint): bigint => (n < 0n ? -n : n)
const bitLength = (n: bigint): number => abs(n).toString(2).length
const floorDivide = (n: bigint, by: bigint): bigint => (n < 0n && n % by !== 0n ? n / by - 1n : n / by)
const shift = (n: bigint, by: number): bigint => (by >= 0 ? n << BigInt(by) : n >> BigInt(-by))

/** The exact value of a finite double. */
export function exactly(x: number): Exact {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, x)
  const raw = view.getBigUint64(0)
  const exponent = Number((raw >> 52n) & 0x7ffn)
  const fraction = raw & 0xf_ffff_ffff_ffffn
  const n = exponent === 0 ? fraction : fraction | (1n << 52n)
  return { n: raw >> 63n ? -n : n, bits: 1075 - Math.max(exponent, 1) }
}

/** The same number with `bits` bits behind the point, cut off. */
const withBits = (x: Exact, bits: number): bigint => shift(x.n, bits - x.bits)

/** How far `actual` is from the exact value, in units of the last place of a double of that size. */
export function ulpError(actual: number, exact: Exact): number {
  if (!Number.isFinite(actual)) return Infinity
  if (exact.n === 0n) return actual === 0 ? 0 : Infinity
  const ulpExponent = Math.max(bitLength(exact.n) - 1 - exact.bits - 52, -1074)
  const got = exactly(actual)
  const bits = Math.max(exact.bits, got.bits)
  const distance = abs(withBits(exact, bits) - withBits(got, bits))
  // 30 bits behind the point of an ulp are plenty for a figure to print.
  return Number(shift(distance, -bits - ulpExponent + 30)) / 2 ** 30
}

const integerRoot = (n: bigint, degree: bigint): bigint => {
  if (n === 0n) return 0n
  let root = 1n << BigInt(Math.ceil(bitLength(n) / Number(degree)) + 1)
  for (;;) {
    const next = ((degree - 1n) * root + n / root ** (degree - 1n)) / degree
    if (next >= root) return root
    root = next
  }
}

/** atan(1 / q) for a whole q, by Taylor's series. */
function atanInverse(q: bigint, bits: number): bigint {
  let power = (1n << BigInt(bits)) / q
  let sum = 0n
  for (let k = 1n; power !== 0n; k += 2n) {
    sum += k % 4n === 1n ? power / k : -(power / k)
    power /= q * q
  }
  return sum
}

/** Machin: pi = 16 atan(1/5) - 4 atan(1/239). */
const PI_BITS = REACH + 1100
const PI = 16n * atanInverse(5n, PI_BITS) - 4n * atanInverse(239n, PI_BITS)
const pi = (bits: number): bigint => PI >> BigInt(PI_BITS - bits)

/** ln((1 + s) / (1 - s)) = 2 (s + s^3/3 + s^5/5 + ...) */
function logOfRatio(s: bigint, bits: number): bigint {
  const square = (s * s) >> BigInt(bits)
  let power = s
  let sum = 0n
  for (let k = 1n; abs(power) > 1n; k += 2n) {
    sum += power / k
    power = (power * square) >> BigInt(bits)
  }
  return 2n * sum
}
const LN2_BITS = REACH
const LN2 = logOfRatio((1n << BigInt(LN2_BITS)) / 3n, LN2_BITS)
const ln2 = (bits: number): bigint => LN2 >> BigInt(LN2_BITS - bits)

/** Taylor's series of sine (first = 1) and cosine (first = 0). */
function sineSeries(x: bigint, first: 0n | 1n, bits: number): bigint {
  const square = (x * x) >> BigInt(bits)
  let term = first === 1n ? x : 1n << BigInt(bits)
  let sum = 0n
  for (let k = first; abs(term) > 1n; k += 2n) {
    sum += term
    term = -((term * square) >> BigInt(bits)) / ((k + 1n) * (k + 2n))
  }
  return sum
}

/** Sine of x + quarters * pi/2. */
function sine(x: number, quarters: bigint): Exact {
  const exact = exactly(x)
  const bits = PRECISION + Math.max(0, exact.bits - 52)
  // As many bits more as the angle has before the point: the multiple of pi/2 taken away multiplies pi's error.
  const spare = 60 + Math.max(0, bitLength(exact.n) - exact.bits)
  const angle = withBits(exact, bits + spare)
  const quarter = pi(bits + spare) >> 1n
  const n = floorDivide(angle + (quarter >> 1n), quarter)
  const rest = (angle - n * quarter) >> BigInt(spare)
  const turn = (((n + quarters) % 4n) + 4n) % 4n
  const value = sineSeries(rest, turn % 2n === 0n ? 1n : 0n, bits)
  return { n: turn < 2n ? value : -value, bits }
}

export const sin = (x: number): Exact => sine(x, 0n)
export const cos = (x: number): Exact => sine(x, 1n)
export function tan(x: number): Exact {
  const top = sin(x)
  const bottom = cos(x)
  const bits = Math.max(top.bits, bottom.bits)
  return { n: (withBits(top, bits) << BigInt(bits)) / withBits(bottom, bits), bits }
}

/** atan of y / x, both whole, 0 <= y, 0 < x, in the first quarter. */
function angle(y: bigint, x: bigint, bits: number): bigint {
  if (y > x) return (pi(bits) >> 1n) - angle(x, y, bits)
  const one = 1n << BigInt(bits)
  let t = (y << BigInt(bits)) / x
  // atan t = 2 atan(t / (1 + sqrt(1 + t^2))): thrice, so that t is below 1/10.
  for (let i = 0; i < 3; i++) t = (t << BigInt(bits)) / (one + integerRoot(one * one + t * t, 2n))
  const square = (t * t) >> BigInt(bits)
  let power = t
  let sum = 0n
  for (let k = 1n; power > 1n; k += 2n) {
    sum += k % 4n === 1n ? power / k : -(power / k)
    power = (power * square) >> BigInt(bits)
  }
  return 8n * sum
}

export function atan2(y: number, x: number): Exact {
  const top = exactly(y)
  const side = exactly(x)
  const common = Math.max(top.bits, side.bits)
  const a = withBits(top, common)
  const b = withBits(side, common)
  const bits = PRECISION + Math.max(0, bitLength(b) - bitLength(a))
  const first = b === 0n ? pi(bits) >> 1n : angle(abs(a), abs(b), bits)
  const upper = b < 0n ? pi(bits) - first : first
  return { n: a < 0n ? -upper : upper, bits }
}
export const atan = (x: number): Exact => atan2(x, 1)

/** sqrt(1 - x^2) as a whole number with `bits` bits behind the point. */
const otherSide = (x: Exact, bits: number): bigint => {
  const n = withBits(x, bits)
  return integerRoot((1n << BigInt(2 * bits)) - n * n, 2n)
}
export function asin(x: number): Exact {
  const exact = exactly(x)
  const bits = PRECISION + 2 * Math.max(0, exact.bits - 52)
  const value = angle(abs(withBits(exact, bits)), otherSide(exact, bits) || 1n, bits)
  return { n: x < 0 ? -value : value, bits }
}
export function acos(x: number): Exact {
  const exact = exactly(x)
  const bits = PRECISION + Math.max(0, exact.bits - 52)
  const value = angle(otherSide(exact, bits), abs(withBits(exact, bits)) || 1n, bits)
  return { n: x < 0 ? pi(bits) - value : value, bits }
}

/** e^x for x with `bits` bits behind the point; the result has `bits` good bits wherever its point is. */
function expOf(x: bigint, bits: number): Exact {
  const one = 1n << BigInt(bits)
  const k = floorDivide(2n * x + ln2(bits), 2n * ln2(bits))
  let rest = x - ((k * ln2(bits + 40)) >> 40n)
  rest >>= 8n
  let term = one
  let sum = 0n
  for (let i = 1n; abs(term) > 1n; i++) {
    sum += term
    term = ((term * rest) >> BigInt(bits)) / i
  }
  for (let i = 0; i < 8; i++) sum = (sum * sum) >> BigInt(bits)
  return { n: sum, bits: bits - Number(k) }
}
export const exp = (x: number): Exact => expOf(withBits(exactly(x), PRECISION + 60), PRECISION + 60)

/** ln of a positive exact number. */
function logOf(x: Exact, bits: number): bigint {
  const k = bitLength(x.n) - 1
  const m = shift(x.n, bits - k)
  const one = 1n << BigInt(bits)
  return logOfRatio(((m - one) << BigInt(bits)) / (m + one), bits) + BigInt(k - x.bits) * ln2(bits)
}
export const log = (x: number): Exact => ({ n: logOf(exactly(x), PRECISION), bits: PRECISION })
export const log2 = (x: number): Exact => {
  const bits = PRECISION
  return { n: (logOf(exactly(x), bits) << BigInt(bits)) / ln2(bits), bits }
}
/** x^y for x > 0. */
export function pow(x: number, y: number): Exact {
  const exponent = exactly(y)
  const bits = PRECISION + Math.max(0, exponent.bits)
  return expOf((logOf(exactly(x), bits) * withBits(exponent, bits)) >> BigInt(bits), bits)
}

export function cbrt(x: number): Exact {
  const exact = exactly(x)
  const bits = PRECISION + Math.max(0, Math.ceil(exact.bits / 3))
  const root = integerRoot(abs(withBits(exact, 3 * bits)), 3n)
  return { n: x < 0 ? -root : root, bits }
}
export function hypot(...sides: number[]): Exact {
  const exacts = sides.map(exactly)
  const bits = PRECISION + Math.max(0, ...exacts.map((side) => side.bits))
  return { n: integerRoot(exacts.reduce((sum, side) => sum + withBits(side, bits) ** 2n, 0n), 2n), bits }
}
