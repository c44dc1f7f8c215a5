/**
 * Makes test/vectors/bits.json: bytes and meaning of every form of the bits layer, as the engine writes them, and bits
 * that a reader must refuse.
 *
 * `node --conditions=tickwire-source --import tsx tools/gen-vectors-bits.ts` writes the file. A test holds the file to
 * this list, and an independent checker holds it to the rules; a change of either is a change of the wire.
 */

import { writeFileSync } from 'node:fs'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { BitReader } from '../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../packages/tickwire/src/core/bits/bit-writer.ts'
import { prefixCode, writeSymbol } from '../packages/tickwire/src/core/bits/prefix-code.ts'
import { PROBABILITY_HALF, RangeEncoder } from '../packages/tickwire/src/core/bits/range-coder.ts'
import { toJson, type BitsVector } from '../test/reference/bits-checker.ts'
import type { Coding } from '../test/reference/bits-entropy-reference.ts'
import { OPERATIONS } from '../test/reference/bits-operations.ts'

/** A value and its field. */
type Case = readonly [rule: string, op: string, value: unknown, ...args: unknown[]]
/** Bytes as hex digits, or bits after '0b', that must be refused. */
type Refusal = readonly [rule: string, op: string, why: string, bits: string, ...args: unknown[]]

const POSITION = { min: -4096, max: 4096, precision: 0.001 }
const SPEED = { min: -256, max: 256, precision: 0.01 }
const SCREEN = { min: 0, max: 640, precision: 0.1 }
const HALF = Math.SQRT1_2
const INT64_MIN = -(2n ** 63n)
const INT64_MAX = 2n ** 63n - 1n

const CASES: readonly Case[] = [
  ['BITS1', 'sequence', [5, 1023, true, 0x1234], ['bits', 3], ['bits', 10], ['bool'], ['u16']],
  ['BITS1', 'sequence', [true, -1, 'hi', 300], ['bool'], ['int'], ['string', 20], ['varint']],
  ['BITS2', 'bits', 0, 0],
  ['BITS2', 'bits', 1, 1],
  ['BITS2', 'bits', 5, 3],
  ['BITS2', 'bits', 0xdead_beef, 32],
  ['BITS2', 'wideBits', 0x123_4567_89ab_cdefn, 60],
  ['BITS2', 'wideBits', 2n ** 64n - 1n, 64],
  ['BITS2', 'bool', true],
  ['BITS2', 'byte', 200],
  ['BITS3', 'u16', 0x1234],
  ['BITS3', 'u32', 0x1234_5678],
  ['BITS3', 'u32', 0xffff_fffe],
  ['BITS3', 'u64', 0x1234_5678_9abc_def0n],
  ...[0, 1, 127, 128, 300, 2 ** 14, 2 ** 28 - 1, 2 ** 28, 2 ** 32, 2 ** 49, 2 ** 53 - 1].map((value): Case => [
    'BITS8',
    'varint',
    value,
  ]),
  ...[0, -1, 1, -64, 64, 2 ** 31 - 1, -(2 ** 31)].map((value): Case => ['BITS9', 'int', value]),
  ...[0n, -1n, 1n, 2n ** 55n - 1n, 2n ** 55n, 2n ** 62n, -(2n ** 62n), INT64_MAX, INT64_MIN].map((value): Case => [
    'BITS10',
    'long',
    value,
  ]),
  ['BITS11', 'rangedInt', 9, 0, 9],
  ['BITS11', 'rangedInt', 1023, 0, 1023],
  ['BITS11', 'rangedInt', -3, -5, 1000],
  ['BITS11', 'rangedInt', 7, 7, 7],
  ['BITS11', 'rangedInt', 2 ** 31 - 1, -(2 ** 31), 2 ** 31 - 1],
  ['BITS11', 'enum', 4, 5],
  ['BITS11', 'enum', 0, 1],
  ['BITS12', 'rangedLong', 2n ** 40n, -5n, 2n ** 40n],
  ['BITS12', 'rangedLong', INT64_MAX, INT64_MIN, INT64_MAX],
  ['BITS12', 'rangedLong', 3n, 0n, 1000n],
  ...[0, -0, 1, -1.5, 3.4028234663852886e38, 2 ** -149].map((value): Case => ['BITS13', 'float', value]),
  ...[0, 1, -0.1, Number.MAX_VALUE, Number.MIN_VALUE].map((value): Case => ['BITS13', 'double', value]),
  ...[NaN, Infinity, -Infinity, 0.5].flatMap((value): Case[] => [
    ['BITS14', 'floatAny', value],
    ['BITS14', 'doubleAny', value],
  ]),
  ['BITS15', 'compressedFloat', 1023, { min: 0, max: 1024, precision: 1 }],
  ['BITS15', 'compressedFloat', 640, SCREEN],
  ['BITS17', 'compressedFloat', -4096, POSITION],
  ['BITS17', 'compressedFloat', 4096, POSITION],
  ['BITS17', 'compressedFloat', 0, SPEED],
  ['BITS17', 'vector3', { x: -4096, y: 0, z: 640 }, POSITION, SPEED, SCREEN],
  ['BITS17', 'vector3', { x: 0, y: 0, z: 0 }, SPEED, SPEED, SPEED],
  ['BITS18', 'quaternion', { x: 0, y: 0, z: 0, w: 1 }, 10],
  ['BITS18', 'quaternion', { x: 1, y: 0, z: 0, w: 0 }, 10],
  ['BITS18', 'quaternion', { x: HALF, y: 0, z: 0, w: HALF }, 10],
  ['BITS18', 'quaternion', { x: 0, y: 0, z: HALF, w: -HALF }, 10],
  ['BITS18', 'quaternion', { x: 0.5, y: 0.5, z: 0.5, w: 0.5 }, 10],
  ['BITS18', 'quaternion', { x: 0.1, y: -0.2, z: 0.3, w: 0.9 }, 10],
  ['BITS18', 'quaternion', { x: 0.1, y: -0.9, z: 0.3, w: 0.2 }, 16],
  ['BITS18', 'quaternion', { x: 0.3, y: 0.3, z: -0.9, w: 0.2 }, 3],
  ['BITS20', 'string', '', 20],
  ['BITS20', 'string', 'player one', 20],
  ['BITS20', 'string', 'naïve €5 😀', 40],
  ['BITS20', 'string', '\0\ufeff', 20],
  ['BITS21', 'fixedString', 'abc', 8],
  ['BITS21', 'fixedString', '', 1],
  ['BITS21', 'fixedString', 'ß', 257],
  ['BITS22', 'bytes', new Uint8Array(0), 8],
  ['BITS22', 'bytes', Uint8Array.of(1, 2, 255), 8],
]

const REFUSALS: readonly Refusal[] = [
  ['BITS5', 'u32', 'cut', 'ffffff'],
  ['BITS5', 'sequence', 'cut', 'ff', ['bits', 3], ['bits', 6]],
  ['BITS8', 'varint', 'over-long 0', '8000'],
  ['BITS8', 'varint', 'over-long 1', '818000'],
  ['BITS8', 'varint', '2^53', '8080808080808010'],
  ['BITS8', 'varint', 'nine bytes', '808080808080808001'],
  ['BITS8', 'varint', 'cut', '8080'],
  ['BITS9', 'int', 'above 32 bits', '8080808010'],
  ['BITS9', 'int', 'over-long -1', '8100'],
  ['BITS10', 'long', 'over-long ninth byte', 'ffffffffffffffff00'],
  ['BITS10', 'long', 'over-long 0', '8000'],
  ['BITS11', 'rangedInt', '10 of 0..9', '0b1010', 0, 9],
  ['BITS11', 'enum', '5 of 5', '0b101', 5],
  ['BITS12', 'rangedLong', '1001 of 0..1000', '0b1111101001', 0n, 1000n],
  ['BITS13', 'float', 'NaN', '0000c07f'],
  ['BITS13', 'float', 'infinity', '0000807f'],
  ['BITS13', 'double', 'NaN', '000000000000f87f'],
  ['BITS13', 'double', 'negative infinity', '000000000000f0ff'],
  ['BITS14', 'floatAny', 'another NaN', '0100c07f'],
  ['BITS14', 'floatAny', 'a negative NaN', '0000c0ff'],
  ['BITS14', 'doubleAny', 'another NaN', '010000000000f87f'],
  ['BITS17', 'compressedFloat', 'step 6401 of 6400', '0b1100100000001', SCREEN],
  ['BITS18', 'quaternion', 'code 1023', `0b00${'1'.repeat(10)}${'0111111111'.repeat(2)}`, 10],
  ['BITS18', 'quaternion', 'y dropped though x is its equal', `0b011111111110${'0111111111'.repeat(2)}`, 10],
  ['BITS18', 'quaternion', 'longer than unit', `0b00${'1111111110'.repeat(3)}`, 10],
  ['BITS20', 'string', 'longer than the field', '0341414100', 2],
  ['BITS20', 'string', 'longer than the bytes', '044141', 20],
  ['BITS20', 'string', 'over-long slash', '02c0af', 20],
  ['BITS20', 'string', 'surrogate', '03eda080', 20],
  ['BITS20', 'string', 'above U+10FFFF', '04f4908080', 20],
  ['BITS20', 'string', 'cut character', '02e282', 20],
  ['BITS20', 'string', 'stray continuation', '0180', 20],
  ['BITS21', 'fixedString', 'filling', '01410100', 4],
  ['BITS21', 'fixedString', 'size', '04414243', 4],
  ['BITS22', 'bytes', 'more than the field', '03010203', 2],
  ['BITS22', 'bytes', 'more than there are', '040102', 8],
  ['BITS27', 'rangeCoded', 'a trailing zero', '8000', { fixed: 16384 }],
  ['BITS27', 'rangeCoded', 'a longer encoding', '8001', { fixed: 16384 }],
  ['BITS28', 'prefixCoded', 'cut', '0b11', 1, [1, 3, 2, 3]],
  ['BITS28', 'prefixCoded', 'incomplete', '0b00', 1, [1, 2]],
]

/** What test/vectors/bits.json holds. */
export function makeVectors(): BitsVector[] {
  return [...CASES.map(fromCase), ...rangeCoded(), ...prefixCoded(), ...REFUSALS.map(fromRefusal)]
}

function fromCase([rule, op, given, ...args]: Case): BitsVector {
  const { hex, bits } = written((writer) => {
    const fields = op === 'sequence' ? (args as [string, ...unknown[]][]) : [[op, ...args] as [string, ...unknown[]]]
    const values = op === 'sequence' ? (given as unknown[]) : [given]
    fields.forEach(([name, ...rest], index) => operationOf(name).write(writer, values[index], ...rest))
  })
  return { rule, op, args: args.map(toJson), value: toJson(isLossy(op) ? meaningOf(op, hex, args) : given), hex, bits }
}

/** Forms that keep the nearest step of what they were given. */
function isLossy(op: string): boolean {
  return op === 'quaternion' || op === 'compressedFloat' || op === 'vector3'
}

function meaningOf(op: string, hex: string, args: readonly unknown[]): unknown {
  const bytes = Uint8Array.from(hex.match(/../g) ?? [], (byte) => parseInt(byte, 16))
  return operationOf(op).read(new BitReader(bytes), ...args)
}

function fromRefusal([rule, op, refused, digits, ...args]: Refusal): BitsVector {
  if (!digits.startsWith('0b'))
    return { rule, op, args: args.map(toJson), refused, hex: digits, bits: digits.length * 4 }
  const bits = digits.slice(2)
  const { hex } = written((writer) => Array.from(bits, (bit) => writer.writeBits(Number(bit), 1)))
  return { rule, op, args: args.map(toJson), refused, hex, bits: bits.length }
}

function rangeCoded(): BitsVector[] {
  const cases: readonly (readonly [bits: string, coding: (index: number) => Coding])[] = [
    ['', () => ({ fixed: 16384 })], ['1', () => ({ fixed: 16384 })], ['0000000000000001', () => ({ fixed: 32000 })],
    ['11111111111111111111111111111111', () => ({ fixed: 16384 })], ['0110100110010110', () => ({ cell: 0 })],
    ['0000100000000000000000001000000000', (index) => ({ cell: index % 2 })], ['1111111111', () => ({ fixed: 32767 })],
  ]
  return cases.map(([text, coding]) => {
    const bits = Array.from(text, Number)
    const codings = bits.map((_, index) => coding(index))
    const bytes = new Uint8Array(100)
    const encoder = new RangeEncoder(bytes)
    const cells = new Uint16Array(2).fill(PROBABILITY_HALF)
    codings.forEach((one, index) => {
      if ('cell' in one) encoder.encodeBit(cells, one.cell, bits[index]!)
      else encoder.encodeFixed(one.fixed, bits[index]!)
    })
    const size = encoder.finish()
    return {
      rule: 'BITS26',
      op: 'rangeCoded',
      args: codings,
      value: bits,
      hex: toHex(bytes.subarray(0, size)),
      bits: size * 8,
    }
  })
}

function prefixCoded(): BitsVector[] {
  const deep = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12]
  const cases: readonly (readonly [lengths: number[], symbols: number[]])[] = [
    [
      [1, 3, 2, 3],
      [0, 1, 2, 3],
    ],
    [
      [0, 1, 0, 1],
      [3, 1],
    ],
    [deep, [12, 0, 11, 7, 8]],
    [[0], [0, 0]],
    [
      [2, 2, 2, 2],
      [3, 2, 1, 0],
    ],
  ]
  return cases.map(([lengths, symbols]) => {
    const { hex, bits } = written((writer) => {
      for (const symbol of symbols) writeSymbol(writer, prefixCode(lengths), symbol)
    })
    return { rule: 'BITS28', op: 'prefixCoded', args: [symbols.length, lengths], value: symbols, hex, bits }
  })
}

function operationOf(name: string): (typeof OPERATIONS)[number] {
  const found = OPERATIONS.find((operation) => operation.name === name)
  if (found === undefined) throw new Error(`no operation ${name}`)
  return found
}

function written(write: (writer: BitWriter) => void): { hex: string; bits: number } {
  const bytes = new Uint8Array(1000)
  const writer = new BitWriter(bytes)
  write(writer)
  return { hex: toHex(bytes.subarray(0, writer.finish())), bits: writer.bitLength }
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const lines = makeVectors().map((vector) => `  ${JSON.stringify(vector)}`)
  writeFileSync(fileURLToPath(new URL('../test/vectors/bits.json', import.meta.url)), `[\n${lines.join(',\n')}\n]\n`)
}
