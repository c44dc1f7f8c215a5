import { describe, expect, test } from 'vitest'
import { SchemaEngine } from '../../../../../test/reference/schema-engine.ts'
import type { BitBuffer } from '../bits/bit-buffer.ts'
import { readBool, writeBool } from '../bits/byte.ts'
import { floatQuant } from '../bits/quantize.ts'
import { readEnum, readRangedInt, writeEnum, writeRangedInt } from '../bits/ranged-int.ts'
import { readVector3, writeVector3 } from '../bits/vector.ts'
import type { Field, ManualCodec } from './field.ts'
import { bool, fixedText, int, list, manual, oneOf, struct, text, u8, vec3 } from './field-kinds.ts'
import { compileSchema } from './schema.ts'
import type { Vec3 } from './value-types.ts'

const ORIGIN = floatQuant(-4096, 4096, 0.01)
const VELOCITY = floatQuant(-512, 512, 0.01)
const KINDS = ['bullet', 'rocket', 'arrow'] as const

interface Projectile { origin: Vec3; velocity: Vec3; charge: number; piercing: boolean; kind: (typeof KINDS)[number] }

const create = (): Projectile =>
  ({ origin: { x: 0, y: 0, z: 0 }, velocity: { x: 0, y: 0, z: 0 }, charge: 0, piercing: false, kind: 'bullet' })

/** The same fields three times: declared, in two functions, and in one. */
const FORMS: { readonly [form: string]: Field<Projectile> } = {
  declared: struct({
    origin: vec3(-4096, 4096, 0.01),
    velocity: vec3(-512, 512, 0.01),
    charge: int(0, 1023),
    piercing: bool,
    kind: oneOf(...KINDS),
  }),
  twins: manual<Projectile>({
    create,
    write(writer, value) {
      writeVector3(writer, value.origin, ORIGIN)
      writeVector3(writer, value.velocity, VELOCITY)
      writeRangedInt(writer, value.charge, 0, 1023)
      writeBool(writer, value.piercing)
      writeEnum(writer, KINDS.indexOf(value.kind), KINDS.length)
    },
    read(reader) {
      const value = create()
      readVector3(reader, value.origin, ORIGIN)
      readVector3(reader, value.velocity, VELOCITY)
      value.charge = readRangedInt(reader, 0, 1023)
      value.piercing = readBool(reader)
      value.kind = KINDS[readEnum(reader, KINDS.length)] ?? 'bullet'
      return value
    },
  }),
  both: manual<Projectile>({
    create,
    serialize(buffer: BitBuffer, value: Projectile): Projectile {
      buffer.vector3(value.origin, ORIGIN)
      buffer.vector3(value.velocity, VELOCITY)
      const charge = buffer.rangedInt(value.charge, 0, 1023)
      const piercing = buffer.bool(value.piercing)
      const kind = KINDS[buffer.enum(KINDS.indexOf(value.kind), KINDS.length)] ?? 'bullet'
      return { ...value, charge, piercing, kind }
    },
  }),
}

const SHOT: Projectile = {
  origin: { x: 12.34, y: -4096, z: 4095.99 },
  velocity: { x: 1, y: -511.5, z: 0.01 },
  charge: 700,
  piercing: true,
  kind: 'arrow',
}

describe('a manual field', () => {
  const engines = Object.values(FORMS).map(
    (shot) => new SchemaEngine(compileSchema('Projectile', { alive: bool, shot, after: u8 })),
  )

  test('[SCHEMA20] has the same bits as the declared field, in both forms', () => {
    const written = engines.map((engine) =>
      engine.writeDelta(engine.row({ alive: true, shot: SHOT, after: 5 }), engine.schema.initialRow),
    )
    expect(written[0]).toHaveLength(3 + 3 * 20 + 3 * 17 + 10 + 1 + 2 + 8)
    expect(written).toEqual([written[0], written[0], written[0]])
  })

  test('[SCHEMA20] reads the bits of the declared field', () => {
    const bits = engines[0]!.writeDelta(engines[0]!.row({ shot: SHOT }), engines[0]!.schema.initialRow)
    const read = engines.map((engine) => engine.values(engine.readDelta(bits, engine.schema.initialRow)!))
    expect(read).toEqual([read[0], read[0], read[0]])
    expect(read[0]).toMatchObject({ shot: { charge: 700, piercing: true, kind: 'arrow' } })
  })

  test('[SCHEMA20] of one function starts from a fresh value every time: no value leaks into another', () => {
    const engine = engines[2]!
    const rows = [1, 2, 3].map((charge) => engine.row({ shot: { ...SHOT, charge, origin: { x: charge, y: 0, z: 0 } } }))
    const read = rows.map((row) =>
      engine.readDelta(engine.writeDelta(row, engine.schema.initialRow), engine.schema.initialRow)!,
    )
    expect(read.map((row) => engine.values(row)['shot'])).toMatchObject(
      [1, 2, 3].map((charge) => ({ charge, origin: { x: charge } })),
    )
    expect(engine.values(engine.schema.initialRow)['shot']).toEqual(create())
  })
})

describe('a codec that misbehaves', () => {
  const engineOf = (codec: ManualCodec<number>): SchemaEngine =>
    new SchemaEngine(compileSchema('T', { m: manual(codec), after: u8 }))
  const write: (writer: { writeBits(value: number, width: number): void }, value: number) => void = (writer, value) =>
    writer.writeBits(value, 8)

  test('[SCHEMA20] by throwing on unexpected bytes makes the read fail, and nothing else', () => {
    const engine = engineOf({
      create: () => 0,
      write,
      read: (reader) => {
        if (reader.readBits(8) === 9) throw new Error('nine')
        return 0
      },
    })
    expect(engine.readDelta('10' + '00001001', engine.schema.initialRow)).toBeUndefined()
  })

  test('[SCHEMA20] by reading two encodings of one value: the second is refused', () => {
    const engine = engineOf({ create: () => 0, write, read: (reader) => reader.readBits(8) & 0x7f })
    expect(engine.readDelta('10' + '00000001', engine.schema.initialRow)).toBeDefined()
    expect(engine.readDelta('10' + '10000001', engine.schema.initialRow)).toBeUndefined()
  })

  test('[SCHEMA20] by reading more or less than it writes is refused', () => {
    for (const width of [7, 9]) {
      const codec: ManualCodec<number> = { create: () => 0, write, read: (reader) => reader.readBits(width) }
      expect(() => engineOf(codec)).toThrow(/^T\.m: its initial value does not fit/)
    }
  })

  test('[SCHEMA20] inside a list is detected when the definition is compiled', () => {
    const codec: ManualCodec<number> = {
      create: () => {
        throw new Error('no zero')
      },
      write,
      read: (reader) => reader.readBits(8),
    }
    expect(() =>
      compileSchema('T', {
        l: list(struct({ m: manual({ ...codec, create: () => 300, write: (writer) => writer.writeBits(0, 9) }) }), 3),
      }),
    ).toThrow(/^T\.l\[\]\.m: its initial value/)
    expect(() => compileSchema('T', { m: manual(codec) })).toThrow('no zero')
  })

  test('[SCHEMA20] by writing into its own value does no harm: the value is not frozen', () => {
    const tally = manual<{ n: number }>({
      create: () => ({ n: 0 }),
      serialize: (buffer, value) => {
        value.n = buffer.rangedInt(value.n, 0, 9)
        return value
      },
    })
    const engine = new SchemaEngine(compileSchema('T', { one: tally, some: list(tally, 3) }))
    const values = engine.values(engine.row({ one: { n: 3 }, some: [{ n: 4 }] })) as {
      one: { n: number }
      some: readonly { n: number }[]
    }
    expect(engine.values(engine.row({ one: values.some[0], some: [...values.some, values.one] }))).toEqual({
      one: { n: 4 },
      some: [{ n: 4 }, { n: 3 }],
    })
  })

  test('[SCHEMA20] by writing an invalid value is an error of the game, with the path', () => {
    const engine = new SchemaEngine(
      compileSchema('T', {
        m: manual<number>({ create: () => 0, serialize: (buffer, value) => buffer.rangedInt(value, 0, 9) }),
      }),
    )
    expect(() => engine.row({ m: 10 })).toThrow(/^T\.m: the value cannot be written/)
    expect(engine.values(engine.row({ m: 9 }))).toEqual({ m: 9 })
  })
})

describe('text and lists', () => {
  test('[SCHEMA18] that are too long are refused when they are read, and cut when the game writes them', () => {
    const engine = new SchemaEngine(compileSchema('T', { t: text(3), f: fixedText(4), l: list(u8, 2) }))
    const cut = (values: { t?: string; f?: string; l?: number[] }): unknown => engine.values(engine.row(values))
    expect(cut({ t: 'four' })).toEqual({ t: 'fou', f: '', l: [] })
    expect(cut({ t: 'éé' })).toEqual({ t: 'é', f: '', l: [] })
    expect(cut({ t: 'a😀' })).toEqual({ t: 'a', f: '', l: [] })
    // Half of a surrogate pair is U+FFFD, three bytes.
    expect(cut({ t: '\ud83d\ude00' })).toEqual({ t: '', f: '', l: [] })
    expect(cut({ t: '\ude00' })).toEqual({ t: '\ufffd', f: '', l: [] })
    expect(cut({ t: 'a\ud83d' })).toEqual({ t: 'a', f: '', l: [] })
    expect(cut({ f: 'four', l: [1, 2, 3] })).toEqual({ t: '', f: 'fou', l: [1, 2] })
    expect(engine.heap.counts).toEqual({ clipped: 7, refused: 0 })
    expect(() => engine.row({ t: 4 })).toThrow('T.t: 4 is not a string.')
    const fresh = engine.schema.initialRow
    expect(engine.readDelta('100' + '00000011' + '01100001'.repeat(3), fresh)).toBeDefined()
    expect(engine.readDelta('100' + '00000100' + '01100001'.repeat(4), fresh)).toBeUndefined()
    expect(engine.readDelta('100' + '00000001' + '11111111', fresh)).toBeUndefined()
    expect(engine.readDelta('001' + '11' + '0'.repeat(24), fresh)).toBeUndefined()
    expect(engine.readDelta('010' + '00000100' + '0'.repeat(24), fresh)).toBeUndefined()
    expect(engine.readDelta('010' + '00000000' + '0'.repeat(23) + '1', fresh)).toBeUndefined()
  })
})
