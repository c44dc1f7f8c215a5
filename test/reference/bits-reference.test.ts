/**
 * The fast bits layer compared with its slow twins: the same bits, values and refusals, and one encoding of each value.
 */

import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { BitBuffer } from '../../packages/tickwire/src/core/bits/bit-buffer.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { casesOf } from './bits-cases.ts'
import { OPERATIONS, type Operation } from './bits-operations.ts'
import { BitSource, bitsToBytes, bytesToBits, Refused, TWINS, type Twin } from './bits-reference.ts'

const CHECKS = { seed: 20, numRuns: 400 }

/** One step of a written sequence: any operation with a value and its arguments. */
type Step = { operation: Operation; value: unknown; args: unknown[] }

const step: fc.Arbitrary<Step> = fc.constantFrom(...OPERATIONS)
  .chain((operation) => casesOf(operation.name).map((of) => ({ operation, value: of[0], args: of.slice(1) })))
const twinOf = ({ operation }: { operation: Operation }): Twin<unknown, unknown[]> =>
  TWINS[operation.name] as unknown as Twin<unknown, unknown[]>

test('every twin has its operation, and every operation its twin', () => {
  expect(OPERATIONS.map((operation) => operation.name).sort()).toEqual(Object.keys(TWINS).sort())
})

/** Cuts bits at every length, and reads what is left. */
function expectRefusedWhenCut(bits: string, reader: BitReader, read: () => unknown): void {
  const whole = bitsToBytes(bits)
  for (let length = 0; length < bits.length; length++) {
    reader.resetBits(whole, 0, length)
    read()
    expect(reader.failed).toBe(true)
  }
}

describe.each(OPERATIONS.map((operation) => [operation.name, operation] as const))('%s', (_, operation) => {
  const twin = twinOf({ operation })
  const bytes = new Uint8Array(600)
  const writer = new BitWriter(bytes)
  const reader = new BitReader(bytes)

  test('[BITS24] writes the bits of its twin at every alignment, and both read them back', () => {
    fc.assert(fc.property(casesOf(operation.name), fc.nat(31), ([value, ...args], head) => {
      writer.reset(bytes)
      writer.writeBits(-1, head)
      operation.write(writer, value, ...args)
      const size = writer.finish()
      const expected = twin.encode(value, ...args)
      // The fast quantiser may choose the neighbour of the nearest rotation; its choice is checked below.
      if (operation.name !== 'quaternion') {
        expect(bytesToBits(bytes.subarray(0, size)).slice(0, writer.bitLength)).toBe('1'.repeat(head) + expected)
      }
      reader.reset(bytes, 0, size)
      reader.skipBits(head)
      const read = operation.read(reader, ...args)
      const source = new BitSource(bytesToBits(bytes.subarray(0, size)))
      source.take(head)
      expect(read).toEqual(twin.decode(source, ...args))
      if (operation.name !== 'quaternion') expect(read).toEqual(value)
      expect(reader.bitPosition).toBe(source.taken)
      expect(reader.finish()).toBe(true)
    }), CHECKS)
  })

  test('[BITS24] reads any bits as its twin does: the same value and the same bits again, or a refusal', () => {
    const noise = fc.oneof(fc.uint8Array({ minLength: 0, maxLength: 24 }), sparse())
    const counts = { read: 0, refused: 0 }
    fc.assert(
      fc.property(
        casesOf(operation.name),
        noise,
        fc.nat(7),
        fc.boolean(),
        ([value, ...args], random, head, isNearMiss) => {
          const bits = isNearMiss ? nearMiss(twin.encode(value, ...args), random) : bytesToBits(random)
          const padded = bitsToBytes('1'.repeat(head) + bits)
          reader.resetBits(padded, head, bits.length)
          const source = new BitSource(bits)
          const read = operation.read(reader, ...args)
          const expected = attempt(() => twin.decode(source, ...args))
          expect(reader.failed).toBe(expected === undefined)
          counts[reader.failed ? 'refused' : 'read']++
          if (reader.failed) return
          expect(read).toEqual(expected)
          expect(reader.bitPosition - head).toBe(source.taken)
          writer.reset(bytes)
          operation.write(writer, read, ...args)
          writer.finish()
          expect(bytesToBits(bytes).slice(0, writer.bitLength)).toBe(bits.slice(0, source.taken))
        },
      ),
      CHECKS,
    )
    expect(counts.read).toBeGreaterThan(20)
  })

  test('[BITS5] is refused when cut anywhere', () => {
    fc.assert(fc.property(casesOf(operation.name), ([value, ...args]) => {
      expectRefusedWhenCut(twin.encode(value, ...args), reader, () => operation.read(reader, ...args))
    }), { ...CHECKS, numRuns: 30 })
  })
})

test('[BITS1] a sequence of any fields is their bits, one after the other', () => {
  const bytes = new Uint8Array(20_000)
  const writer = new BitWriter(bytes)
  const reader = new BitReader(bytes)
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    const exact = steps.filter(({ operation }) => operation.name !== 'quaternion')
    writer.reset(bytes)
    for (const { operation, value, args } of exact) operation.write(writer, value, ...args)
    const size = writer.finish()
    const bits = exact.map((one) => twinOf(one).encode(one.value, ...one.args)).join('')
    expect(writer.bitLength).toBe(bits.length)
    expect(Array.from(bytes.subarray(0, size))).toEqual(Array.from(bitsToBytes(bits)))
    reader.reset(bytes, 0, size)
    for (const { operation, value, args } of exact) expect(operation.read(reader, ...args)).toEqual(value)
    expect(reader.finish()).toBe(true)
  }), CHECKS)
})

test('[BITS23] a BitBuffer writes and reads the bits of the separate functions', () => {
  const apart = new Uint8Array(20_000)
  const joint = new Uint8Array(20_000)
  const writer = new BitWriter(apart)
  const buffer = new BitBuffer()
  const through = ({ operation, args }: Step, value: unknown): unknown => operation.both?.(buffer, value, ...args)
  fc.assert(fc.property(fc.array(step.filter((one) => one.operation.both !== null), { maxLength: 40 }), (steps) => {
    writer.reset(apart)
    for (const { operation, value, args } of steps) operation.write(writer, value, ...args)
    const size = writer.finish()

    const other = new BitWriter(joint)
    buffer.overWriter(other)
    for (const one of steps) expect(through(one, one.value)).toEqual(one.value)
    expect(other.finish()).toBe(size)
    expect(Array.from(joint.subarray(0, size))).toEqual(Array.from(apart.subarray(0, size)))

    const reader = new BitReader(apart)
    buffer.overReader(new BitReader(joint))
    for (const one of steps) expect(through(one, one.value)).toEqual(one.operation.read(reader, ...one.args))
    expect(buffer.failed).toBe(false)
  }), CHECKS)
})

/** Mostly bytes of 0 and 255: the edge cases of padding and over-long forms. */
function sparse(): fc.Arbitrary<Uint8Array> {
  return fc.array(fc.constantFrom(0, 0, 0x80, 0xff, 0x7f, 1), { maxLength: 24 }).map((bytes) => Uint8Array.from(bytes))
}

/** Valid bits with a few of them flipped, and more bits after them. */
function nearMiss(bits: string, random: Uint8Array): string {
  const turned = bits.split('')
  for (const byte of random.subarray(0, 2)) {
    const at = Math.floor((byte / 256) * turned.length)
    if (turned.length > 0) turned[at] = turned[at] === '0' ? '1' : '0'
  }
  return turned.join('') + bytesToBits(random.subarray(2))
}

function attempt<T>(decode: () => T): T | undefined {
  try {
    return decode()
  } catch (error) {
    if (error instanceof Refused) return undefined
    throw error
  }
}
