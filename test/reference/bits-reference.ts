/**
 * The bits layer once more, slow and simple: bits are a string of '0' and '1', numbers are bigints, UTF-8 is
 * the platform's. Written from docs/spec/bits.md alone; imports nothing from src.
 *
 * The fast codecs are held equal to these twins, and `bits-checker.ts` reads the golden vectors with them.
 */

/** A run of bits, first bit first: a string of '0' and '1'. */
export type Bits = string

/** What a decoder here does with bits that the standard forbids. */
export class Refused extends Error {
  override readonly name = 'Refused'
}

/** Bits to decode from, in order. */
export class BitSource {
  readonly bits: Bits
  taken = 0

  constructor(bits: Bits) {
    this.bits = bits
  }

  take(count: number): Bits {
    if (this.taken + count > this.bits.length) throw new Refused('past the end')
    this.taken += count
    return this.bits.slice(this.taken - count, this.taken)
  }

  takeUnsigned(count: number): bigint {
    return count === 0 ? 0n : BigInt(`0b${this.take(count)}`)
  }

  takeBytes(count: number): number[] {
    return Array.from({ length: count }, () => Number(this.takeUnsigned(8)))
  }

  /** [BITS6] Only the writer's own padding may be left. */
  finish(): void {
    const rest = this.bits.slice(this.taken)
    refuseUnless(rest.length < 8 && !rest.includes('1'), 'padding')
  }
}

/** One operation, both ways. `args` are what the schema says about the field; they are not on the wire. */
export interface Twin<Value, Args extends readonly unknown[]> {
  encode(value: Value, ...args: Args): Bits
  decode(source: BitSource, ...args: Args): Value
}

export type Quant = { min: number; max: number; precision: number }
export type Quaternion = { x: number; y: number; z: number; w: number }

/** Every operation of the bits layer, by the name that vectors use. */
export const TWINS = {
  bits: twin<number, [width: number]>(
    (value, width) => unsigned(BigInt.asUintN(width, BigInt(value)), width),
    (source, width) => Number(source.takeUnsigned(width)),
  ),
  wideBits: twin<bigint, [width: number]>(
    (value, width) => unsigned(value, width),
    (source, width) => source.takeUnsigned(width),
  ),
  bool: twin<boolean, []>((value) => (value ? '1' : '0'), (source) => source.take(1) === '1'),
  byte: twin<number, []>((value) => unsigned(BigInt(value), 8), (source) => Number(source.takeUnsigned(8))),
  u16: twin<number, []>((value) => littleEndian(BigInt(value), 2), (source) => Number(takeLittleEndian(source, 2))),
  u32: twin<number, []>((value) => littleEndian(BigInt(value), 4), (source) => Number(takeLittleEndian(source, 4))),
  u64: twin<bigint, []>((value) => littleEndian(value, 8), (source) => takeLittleEndian(source, 8)),
  varint: twin<number, []>((value) => groups(BigInt(value), 8), (source) => {
    const value = takeGroups(source, 8)
    refuseUnless(value < 2n ** 53n, 'above 2^53 - 1')
    return Number(value)
  }),
  int: twin<number, []>((value) => groups(fold(BigInt(value)), 8), (source) => {
    const folded = takeGroups(source, 8)
    refuseUnless(folded < 2n ** 32n, 'above 32 bits')
    return Number(unfold(folded))
  }),
  long: twin<bigint, []>((value) => groups(fold(value), 9), (source) => unfold(takeGroups(source, 9))),
  rangedInt: twin<number, [min: number, max: number]>(
    (value, min, max) => unsigned(BigInt(value - min), bitsFor(BigInt(max - min))),
    (source, min, max) => Number(takeRanged(source, BigInt(max - min))) + min,
  ),
  rangedLong: twin<bigint, [min: bigint, max: bigint]>(
    (value, min, max) => unsigned(value - min, bitsFor(max - min)),
    (source, min, max) => takeRanged(source, max - min) + min,
  ),
  enum: twin<number, [count: number]>(
    (value, count) => unsigned(BigInt(value), bitsFor(BigInt(count - 1))),
    (source, count) => Number(takeRanged(source, BigInt(count - 1))),
  ),
  float: twin<number, []>(
    (value) => littleEndian(floatWord(finite(value, FLOAT_MAX)), 4),
    (source) => takeFloat(source, false),
  ),
  floatAny: twin<number, []>(
    (value) => littleEndian(floatWord(value), 4),
    (source) => takeFloat(source, true),
  ),
  double: twin<number, []>(
    (value) => littleEndian(doubleWord(finite(value, Number.MAX_VALUE)), 8),
    (source) => takeDouble(source, false),
  ),
  doubleAny: twin<number, []>(
    (value) => littleEndian(doubleWord(value), 8),
    (source) => takeDouble(source, true),
  ),
  compressedFloat: twin<number, [quant: Quant]>(encodeStep, decodeStep),
  vector3: twin<{ x: number; y: number; z: number }, [x: Quant, y: Quant, z: Quant]>(
    (value, x, y, z) => encodeStep(value.x, x) + encodeStep(value.y, y) + encodeStep(value.z, z),
    (source, x, y, z) => ({ x: decodeStep(source, x), y: decodeStep(source, y), z: decodeStep(source, z) }),
  ),
  quaternion: twin<Quaternion, [bits: number]>(encodeQuaternion, decodeQuaternion),
  string: twin<string, [maxBytes: number]>(
    (value) => {
      const bytes = new TextEncoder().encode(value)
      return groups(BigInt(bytes.length), 8) + bytesToBits(bytes)
    },
    (source, maxBytes) => utf8(source.takeBytes(takeSize(source, maxBytes))),
  ),
  fixedString: twin<string, [bytes: number]>(
    (value, size) => {
      const bytes = new TextEncoder().encode(value)
      const prefix = size > 256 ? 2 : 1
      return (
        littleEndian(BigInt(bytes.length), prefix) + bytesToBits(bytes) + '0'.repeat(8 * (size - prefix - bytes.length))
      )
    },
    (source, size) => {
      const prefix = size > 256 ? 2 : 1
      const length = Number(takeLittleEndian(source, prefix))
      refuseUnless(length <= size - prefix, 'longer than its bytes')
      const text = utf8(source.takeBytes(length))
      refuseUnless(!source.take(8 * (size - prefix - length)).includes('1'), 'filling')
      return text
    },
  ),
  bytes: twin<Uint8Array, [maxBytes: number]>(
    (value) => groups(BigInt(value.length), 8) + bytesToBits(value),
    (source, maxBytes) => Uint8Array.from(source.takeBytes(takeSize(source, maxBytes))),
  ),
} as const

/** Bits as bytes, the last one padded with zeros. */
export function bitsToBytes(bits: Bits): Uint8Array {
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '0')
  return Uint8Array.from(padded.match(/.{8}/g) ?? [], (byte) => Number(`0b${byte}`))
}

/** Bytes as bits. */
export function bytesToBits(bytes: Iterable<number>): Bits {
  return Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('')
}

function twin<Value, Args extends readonly unknown[]>(
  encode: (value: Value, ...args: Args) => Bits, decode: (source: BitSource, ...args: Args) => Value,
): Twin<Value, Args> {
  return { encode, decode }
}

function refuseUnless(condition: boolean, why: string): void {
  if (!condition) throw new Refused(why)
}

/** [BITS1] Most significant bit first. */
function unsigned(value: bigint, width: number): Bits {
  return width === 0 ? '' : value.toString(2).padStart(width, '0').slice(-width)
}

/** [BITS3] Low byte first; within a byte the highest bit first. */
function littleEndian(value: bigint, bytes: number): Bits {
  return Array.from({ length: bytes }, (_, index) => unsigned((value >> BigInt(8 * index)) & 255n, 8)).join('')
}

function takeLittleEndian(source: BitSource, bytes: number): bigint {
  return source.takeBytes(bytes).reduceRight((value, byte) => value * 256n + BigInt(byte), 0n)
}

/** [BITS8] Seven bits a byte, low group first, high bit set when more follow; a ninth byte carries eight. */
function groups(value: bigint, bytesMax: number): Bits {
  let bits = ''
  let rest = value
  for (let index = 0; ; index++) {
    if (index === 8 && bytesMax === 9) return bits + unsigned(rest, 8)
    if (rest < 128n) return bits + unsigned(rest, 8)
    bits += `1${unsigned(rest & 127n, 7)}`
    rest >>= 7n
  }
}

function takeGroups(source: BitSource, bytesMax: number): bigint {
  let value = 0n
  for (let index = 0; index < bytesMax; index++) {
    const byte = source.takeUnsigned(8)
    const isWhole = index === 8
    const goesOn = !isWhole && byte >= 128n
    value += (isWhole ? byte : byte & 127n) << BigInt(7 * index)
    if (goesOn) continue
    refuseUnless(index === 0 || byte !== 0n, 'over-long')
    return value
  }
  throw new Refused('too many bytes')
}

/** [BITS9] 0, -1, 1, -2, … become 0, 1, 2, 3, … */
function fold(value: bigint): bigint {
  return value >= 0n ? value * 2n : -value * 2n - 1n
}

function unfold(folded: bigint): bigint {
  return folded % 2n === 0n ? folded / 2n : -(folded + 1n) / 2n
}

/** [BITS11] As many bits as the largest code needs. */
function bitsFor(largest: bigint): number {
  return largest === 0n ? 0 : largest.toString(2).length
}

function takeRanged(source: BitSource, largest: bigint): bigint {
  const code = source.takeUnsigned(bitsFor(largest))
  refuseUnless(code <= largest, 'above its range')
  return code
}

const FLOAT_MAX = 2 ** 127 * (2 - 2 ** -23)

function finite(value: number, most: number): number {
  return Number.isNaN(value) ? 0 : Math.min(most, Math.max(-most, value))
}

function floatWord(value: number): bigint {
  const view = new DataView(new ArrayBuffer(4))
  view.setFloat32(0, value)
  return Number.isNaN(value) ? 0x7fc0_0000n : BigInt(view.getUint32(0))
}

function doubleWord(value: number): bigint {
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  return Number.isNaN(value) ? 0x7ff8_0000_0000_0000n : view.getBigUint64(0)
}

function takeFloat(source: BitSource, any: boolean): number {
  const word = takeLittleEndian(source, 4)
  const view = new DataView(new ArrayBuffer(4))
  view.setUint32(0, Number(word))
  const value = view.getFloat32(0)
  refuseUnless(any ? !Number.isNaN(value) || word === 0x7fc0_0000n : Number.isFinite(value), 'not a number of its kind')
  return value
}

function takeDouble(source: BitSource, any: boolean): number {
  const word = takeLittleEndian(source, 8)
  const view = new DataView(new ArrayBuffer(8))
  view.setBigUint64(0, word)
  const value = view.getFloat64(0)
  refuseUnless(
    any ? !Number.isNaN(value) || word === 0x7ff8_0000_0000_0000n : Number.isFinite(value),
    'not a number of its kind',
  )
  return value
}

/** [BITS15] Bits and highest step. Vectors are chosen so that the ratio is exact enough to round to twelve digits. */
function steps({ min, max, precision }: Quant): { bits: number; most: number } {
  const ratio = Number(((max - min) / precision).toPrecision(12))
  let bits = 0
  while (2 ** bits < ratio) bits++
  return { bits, most: Math.min(Math.floor(ratio), 2 ** bits - 1) }
}

function encodeStep(value: number, quant: Quant): Bits {
  const { bits, most } = steps(quant)
  const step = Math.round((finite(value, Number.MAX_VALUE) - quant.min) / quant.precision)
  return unsigned(BigInt(Math.min(most, Math.max(0, step))), bits)
}

function decodeStep(source: BitSource, quant: Quant): number {
  const { bits, most } = steps(quant)
  const step = Number(source.takeUnsigned(bits))
  refuseUnless(step <= most, 'above its range')
  return quant.min + step * quant.precision
}

const AXES = ['x', 'y', 'z', 'w'] as const

/** [BITS18] Whether (dropped, three steps) is the one encoding of its rotation. */
function isCanonical(half: bigint, dropped: number, ks: readonly bigint[]): boolean {
  const square = 2n * half * half - ks.reduce((sum, k) => sum + k * k, 0n)
  return ks.every((k, place) => {
    const axis = place < dropped ? place : place + 1
    return k >= -half && k <= half && (axis < dropped ? square > k * k : square >= k * k)
  })
}

function decodeQuaternion(source: BitSource, bits: number): Quaternion {
  const half = 2n ** BigInt(bits - 1) - 1n
  const dropped = Number(source.takeUnsigned(2))
  const ks = [0, 1, 2].map(() => source.takeUnsigned(bits) - half)
  refuseUnless(isCanonical(half, dropped, ks), 'not canonical')
  const unit = 2n * half * half
  const square = unit - ks.reduce((sum, k) => sum + k * k, 0n)
  const components = ks.map((k) => Number(k) * (Math.SQRT1_2 / Number(half)))
  components.splice(dropped, 0, Math.sqrt(Number(square) / Number(unit)))
  const [x, y, z, w] = components as [number, number, number, number]
  return { x, y, z, w }
}

/** Tries every drop in order and takes the nearest canonical row of whole steps around the exact components. */
function encodeQuaternion(value: Quaternion, bits: number): Bits {
  const half = 2n ** BigInt(bits - 1) - 1n
  const length = Math.hypot(value.x, value.y, value.z, value.w)
  let best = { error: Infinity, bits: '' }
  for (let dropped = 0; dropped < 4; dropped++) {
    const sign = value[AXES[dropped]!] < 0 ? -1 : 1
    const exact = AXES.filter((_, axis) => axis !== dropped).map(
      (axis) => ((sign * value[axis]) / length) * Number(half) * Math.SQRT2,
    )
    for (const ks of neighbours(exact)) {
      if (!isCanonical(half, dropped, ks)) continue
      const square = 2n * half * half - ks.reduce((sum, k) => sum + k * k, 0n)
      const whole = ((sign * value[AXES[dropped]!]) / length) * Number(half) * Math.SQRT2
      const error = ks.reduce(
        (sum, k, place) => sum + (Number(k) - exact[place]!) ** 2,
        (Math.sqrt(Number(square)) - whole) ** 2,
      )
      if (error < best.error - 1e-9) {
        best = { error, bits: unsigned(BigInt(dropped), 2) + ks.map((k) => unsigned(k + half, bits)).join('') }
      }
    }
  }
  return best.bits
}

function neighbours(exact: readonly number[]): bigint[][] {
  return exact.reduce<bigint[][]>(
    (rows, component) =>
      rows.flatMap((row) => [-1, 0, 1].map((near) => [...row, BigInt(Math.round(component) + near)])),
    [[]],
  )
}

function takeSize(source: BitSource, maxBytes: number): number {
  const size = takeGroups(source, 8)
  refuseUnless(size <= BigInt(maxBytes), 'above its maximum')
  return Number(size)
}

function utf8(bytes: number[]): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Uint8Array.from(bytes))
  } catch {
    throw new Refused('not UTF-8')
  }
}
