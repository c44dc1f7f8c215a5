/**
 * docs/wire/STATE.md against the engine: the grammar of the game text, the text of every field, and the examples, all
 * read from the page.
 */

import fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { bool, defineGame, entity, entropy, message, packed, rpc, type GameDefinition, type Shape } from 'tickwire'
import { hash64 } from '../../packages/tickwire/src/core/base/hash.ts'
import * as kinds from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import type { Field } from '../../packages/tickwire/src/core/schema/field.ts'
import { describeShape } from '../../packages/tickwire/src/core/schema/fingerprint.ts'
import { planRow } from '../../packages/tickwire/src/core/codec/row-plan.ts'
import { Dice } from 'tickwire/testing'
import { drawEntity } from '../sim/draw-priors.ts'
import { codecText, fingerprintOf, readGameText, shapeText, writeGameText } from './game-text-reference.ts'
import { Grammar } from './grammar.ts'
import { referenceHash } from './hash-reference.ts'
import { schemaWithValues } from './schema-arbitrary.ts'
import { parseSchemaText } from './schema-text.ts'

const PAGE = readFileSync(new URL('../../docs/wire/STATE.md', import.meta.url), 'utf8')
const grammar = new Grammar(/```ebnf\n([\s\S]*?)```/.exec(PAGE)![1]!)
const EXAMPLES = Array.from(
  PAGE.matchAll(/```game\n([\s\S]*?)\nfingerprint ((?:\w\w ?){8})\n```/g),
  ([, text = '', hex = '']) => ({ text, hex: hex.replaceAll(' ', '') }),
)

/** The fields of the page's table: what is declared, and its text. */
const FIELDS = Array.from(PAGE.matchAll(/^\| `(.+)` \| `(.+)` \|$/gm), ([, declared = '', text = '']) => ({
  declared,
  text: text.replaceAll('\\|', '|'),
})).filter(({ declared }) => /^[a-z]\w*[.(]?/.test(declared) && (declared.match(/^\w+/)?.[0] ?? '') in kinds)

/** A field as the page declares it. */
function declaredField(code: string): Field<unknown> {
  // The code comes from our own page, and is what the test checks.
  return Function(...Object.keys(kinds), `return ${code}`)(...Object.values(kinds)) as Field<unknown>
}

test('[SCHEMA24] the page has the text of every field, role, audience and initial value', () => {
  for (const { declared, text } of FIELDS)
    expect(describeShape({ it: declaredField(declared) }), declared).toBe(`{it:${text}}`)
  const shown = new Set(FIELDS.map(({ declared }) => /^\w+/.exec(declared)![0]))
  // Vectors of three and four are like those of two; a manual field is in the table below the grammar.
  expect(Object.keys(kinds).filter((name) => !shown.has(name)).sort()).toEqual(['manual', 'vec3', 'vec4'])
})

test('[SCHEMA24] every text of the page, and of every random definition, matches the grammar', () => {
  for (const { text } of FIELDS) expect(grammar.matches('field', text), text).toBe(true)
  for (const { text } of EXAMPLES) expect(grammar.matches('game', text), text).toBe(true)
  for (const wrong of [
    'tickRate 30\ninput {}',
    'tickRate 30\ncodec entropy(2)\ninput {a:bool}\n',
    'tickRate 30\ncodec gzip\ninput {a:bool}',
  ])
    expect(grammar.matches('game', wrong)).toBe(false)
  fc.assert(
    fc.property(schemaWithValues(1), ({ schema: { text } }) => {
      expect(grammar.matches('shape', text), text).toBe(true)
      if (!text.includes('manual(')) expect(shapeText(parseSchemaText(text))).toBe(text)
    }),
    { numRuns: 200 },
  )
})

test("[SCHEMA25] the examples of the page, built again from parts, have the page's fingerprints", () => {
  expect(EXAMPLES).toHaveLength(3)
  for (const { text, hex } of EXAMPLES) {
    expect(writeGameText(readGameText(text))).toBe(text)
    expect(fingerprintOf(text)).toBe(hex)
  }
})

const Lamp = entity({ isLit: bool }, { name: 'Lamp' })
const Ball = entity({ at: kinds.vec2(0, 9, 0.1).position() }, { name: 'Ball', authority: 'shared' })
const Say = message({ text: kinds.text(9) }, 'Say', { delivery: 'unordered' })
const Now = message({ level: kinds.u8 }, 'Now', { delivery: 'latest' })
const Shout = message({ level: kinds.u8 }, 'Shout', { delivery: 'unreliable' })
const Ask = rpc({ seat: kinds.u8 }, { to: 'server', reply: { isYours: bool }, by: 'owner' })
const Tell = rpc({ seat: kinds.u8 }, { to: 'peer', delivery: 'unordered' })
const priors = {
  Lamp: drawEntity(planRow(Lamp.schema, 60), 60, 1, new Dice(5)),
  Ball: drawEntity(planRow(Ball.schema, 60), 60, 2, new Dice(6)),
}

const GAMES: { readonly [name: string]: Partial<GameDefinition<Shape>> } = {
  'as little as can be': {},
  'predict all': { predict: 'all' },
  'predict none': { predict: 'none' },
  'packed': { codec: packed },
  'packed, every third tick': { codec: packed, net: { snapshotRate: 20 } },
  'entropy, said': { codec: entropy() },
  'entropy(priors), every tick': { entities: [Lamp, Ball] as never, codec: entropy(priors), net: { snapshotRate: 60 } },
  'shared': { entities: [Lamp, Ball] as never },
  'messages and calls': { messages: [Say, Now, Shout] as never, rpcs: [Ask, Tell] as never },
  'an input': { input: { left: bool } as never },
}

test.each(Object.entries(GAMES))(
  "[SCHEMA25] game text and fingerprint written from the page are the engine's: %s",
  (_name, definition) => {
    const game = defineGame({ tickRate: 60, input: {}, entities: [Lamp] as never, step: () => {}, ...definition })
    expect(grammar.matches('game', game.text)).toBe(true)
    // Everything is taken from the definition except the shapes, whose texts are tested above.
    const shapeOf = (of: { readonly shape: Shape }): ReturnType<typeof parseSchemaText> =>
      parseSchemaText(describeShape(of.shape))
    const trained = (definition.codec?.priors ?? {}) as typeof priors
    const text = writeGameText({
      tickRate: 60,
      predictsAll: definition.predict === 'all',
      every: Math.round(60 / (definition.net?.snapshotRate ?? 30)),
      codec: definition.codec?.name === 'packed' ? 'packed' : codecText(trained),
      input: definition.input === undefined ? {} : parseSchemaText(describeShape(definition.input)),
      entities: (definition.entities ?? [Lamp]).map((each) => ({
        shape: shapeOf(each.schema),
        isShared: each.options.authority === 'shared',
      })),
      messages: (definition.messages ?? []).map(({ schema, delivery }) => ({ shape: shapeOf(schema), delivery })),
      calls: (definition.rpcs ?? []).map((each) => ({
        shape: shapeOf(each.args),
        to: each.target,
        delivery: each.delivery,
        byOwner: each.by === 'owner',
        reply: each.reply && shapeOf(each.reply),
      })),
    })
    expect(text).toBe(game.text)
    expect(fingerprintOf(text)).toBe(Buffer.from(game.fingerprint).toString('hex'))
  },
)

test('[WIRE1] the example of a content hash on the page is what the engine computes', () => {
  const [, hex = '', bits = '', hash = ''] = /is `((?:\w\w ?)+)`, (\d+) bits,\n?[\s\S]*?with seed \d+: `(\w+)`/.exec(
    PAGE,
  )!
  const bytes = Uint8Array.from(hex.split(' '), (byte) => Number.parseInt(byte, 16))
  expect(referenceHash(bytes, Number(bits)).toString(16).padStart(16, '0')).toBe(hash)
  expect(hash64(bytes, Number(bits))).toBe(BigInt(`0x${hash}`))
})
