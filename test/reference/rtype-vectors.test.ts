import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeRtype, rtypeCapacity, rtypeNameOf } from '../../packages/tickwire/src/core/rtype/codec.ts'
import { RTYPE_COMPONENTS } from '../../packages/tickwire/src/core/rtype/components.ts'
import { RTYPE_PACKETS, type RtypePacketName } from '../../packages/tickwire/src/core/rtype/packet-table.ts'
import { makeRtypeVectors, rtypeVectorsText } from '../../tools/gen-vectors-rtype.ts'
import vectors from '../vectors/rtype.json' with { type: 'json' }
import { readRtype, type CheckerOptions, type RtypeMeaning } from './rtype-checker.ts'
import { engineReadsRtype, engineWritesRtype } from './rtype-engine.ts'
import { RTYPE_SAMPLES } from './rtype-samples.ts'
import { COMPONENT_STRUCTS, PACKET_STRUCTS } from './rtype-structs.ts'

const bytesOf = ({ bytes }: { readonly bytes: string }): Uint8Array => Uint8Array.from(Buffer.from(bytes, 'hex'))

function checkerReads(bytes: Uint8Array, options: CheckerOptions = {}): RtypeMeaning | undefined {
  try {
    return readRtype(bytes, options)
  } catch {
    return undefined
  }
}

describe('R-Type vectors', () => {
  const packets: readonly { readonly name: string; readonly bytes: string; readonly meaning: unknown }[] =
    vectors.packets

  test('[RTYPE1] the file is what its generator makes, and has every packet', () => {
    const file = readFileSync(new URL('../vectors/rtype.json', import.meta.url), 'utf8')
    expect(file).toBe(rtypeVectorsText(makeRtypeVectors()))
    expect(new Set(RTYPE_SAMPLES.map(({ type }) => type)).size).toBe(36)
  })

  test.each(packets)('[RTYPE1] $name: the protocol, the reader and the writer of the engine agree', (vector) => {
    const bytes = bytesOf(vector)
    expect(readRtype(bytes)).toEqual(vector.meaning)
    const read = decodeRtype(bytes, bytes.length)
    if (typeof read === 'string') throw new Error(read)
    const { flags, sequence, timestamp } = read.header
    expect(engineWritesRtype(read.packet, sequence, timestamp, { flags })).toEqual(bytes)
  })

  test.each(vectors.refused)('[RTYPE2] refused by the protocol and by the engine: $name', (vector) => {
    expect(checkerReads(bytesOf(vector))).toBeUndefined()
    expect(engineReadsRtype(bytesOf(vector))).toBeUndefined()
  })

  test('[RTYPE2] every packet is refused at every shorter length, and with one more byte', () => {
    for (const vector of packets) {
      const whole = bytesOf(vector)
      for (let length = 0; length < whole.length; length++) {
        expect(typeof decodeRtype(whole, length), `${vector.name} cut to ${length}`).toBe('string')
      }
      const longer = Uint8Array.of(...whole, 0)
      expect(typeof decodeRtype(longer, longer.length), vector.name).toBe('string')
      expect(typeof decodeRtype(longer, longer.length, { lenientSizes: true }), vector.name).toBe('string')
    }
  })

  test('[RTYPE2] on mutated packets, the engine and the protocol accept the same, with the same meaning', () => {
    const mutations = fc.array(fc.tuple(fc.nat(80), fc.nat(255)), { minLength: 0, maxLength: 3 })
    let accepted = 0
    fc.assert(fc.property(
      fc.constantFrom(...packets), mutations, fc.integer({ min: -2, max: 3 }), fc.boolean(), fc.boolean(),
      (vector, changes, cut, lenientSizes, forceComponentLegacy) => {
        const whole = Uint8Array.of(...bytesOf(vector), 0, 0)
        const bytes = whole.slice(0, whole.length - 2 - cut)
        for (const [at, value] of changes) if (at < bytes.length) bytes[at] = value
        const options = { lenientSizes, forceComponentLegacy }
        const meaning = checkerReads(bytes, options)
        expect(engineReadsRtype(bytes, options)).toEqual(meaning)
        if (meaning !== undefined) accepted++
      },
    ), { seed: 30, numRuns: 3000 })
    expect(accepted).toBeGreaterThan(300)
  })

  test('[RTYPE1] the tables of the engine have the codes, names, fields and sizes of the protocol', () => {
    for (const { code, name, bytes, list } of PACKET_STRUCTS) {
      expect(rtypeNameOf(code)).toBe(name)
      expect(RTYPE_PACKETS[name as RtypePacketName].code).toBe(code)
      if (!list.startsWith('0x')) continue
      const entry = 4 + COMPONENT_STRUCTS[Number(list) - 1]!.bytes
      expect(rtypeCapacity(name as RtypePacketName)).toBe(Math.floor((1188 - bytes) / entry))
    }
    expect(Object.keys(RTYPE_PACKETS)).toEqual(PACKET_STRUCTS.map(({ name }) => name))
    expect(Object.entries(RTYPE_COMPONENTS).map(([name, { code }]) => [name, code])).toEqual(
      COMPONENT_STRUCTS.map(({ name, code }) => [name, code]),
    )
    expect(COMPONENT_STRUCTS.map(({ bytes }) => bytes)).toEqual([8, 8, 4, 5, 8, 7, 5, 4, 7, 4, 4, 6, 5, 2, 8])
  })
})

describe('docs/wire/RTYPE.md', () => {
  const page = readFileSync(new URL('../../docs/wire/RTYPE.md', import.meta.url), 'utf8')

  test('[RTYPE12] has a row for every packet and component, with its code, fields and size', () => {
    for (const { code, name, bytes, list, fields } of PACKET_STRUCTS) {
      const start = `| 0x${code.toString(16).padStart(2, '0')} | ${name} |`
      const row = page.split('\n').find((line) => line.startsWith(start))
      expect(row, name).toBeDefined()
      const entry = list.startsWith('0x') ? ` + ${4 + COMPONENT_STRUCTS[Number(list) - 1]!.bytes}n` : ''
      const head = 12 + bytes + (list === 'one' ? 2 : 0)
      const size = `${head}${entry}${list === 'one' ? ' + size' : list === 'many' ? ' + sum of (2 + size)' : ''}`
      expect(row).toContain(`| ${size} |`)
      for (const field of fields) expect(row).toContain(field.name)
    }
    for (const { code, name, bytes, fields } of COMPONENT_STRUCTS) {
      const row = page.split('\n').find((line) => line.startsWith(`| ${code} | ${name} | ${bytes} |`))
      expect(row, name).toBeDefined()
      for (const field of fields) expect(row).toContain(field.name)
    }
  })
})
