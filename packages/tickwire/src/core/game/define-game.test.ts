import { expect, test } from 'vitest'
import { entity, message } from '../schema/definition.ts'
import { bool, fixed, struct, text, u8 } from '../schema/field-kinds.ts'
import { entropy, packed } from '../codec/snapshot-codec.ts'
import { defineGame } from './define-game.ts'

const Player = entity({ x: fixed(0, 10, 0.1) })
const Other = entity({ hp: u8 })
const Chat = message({ text: text(20) })
const base = { tickRate: 30, input: { left: bool }, entities: [Player], step: () => {} }

test('[GAME1] a wrong game is refused at once, with the path and the fix', () => {
  expect(() => defineGame({ ...base, tickRate: 0 })).toThrow('tickRate: 0 ticks a second. Give a whole number from 1 to 1000.')
  expect(() => defineGame({ ...base, tickRate: 29.97 })).toThrow('tickRate: 29.97')
  expect(() => defineGame({ ...base, entities: [Player, Player] })).toThrow('entities: the same definition twice')
  expect(() => defineGame({ ...base, messages: [Chat, Chat] })).toThrow('messages: the same definition twice')
  expect(() => defineGame({ ...base, input: { keys: struct({}) } })).toThrow('input.keys: no fields')
  const torn = { form: 2, version: 1, ticksPerSecond: 30, items: ['entity.y'], tables: [], ages: [] } as const
  expect(() => defineGame({ ...base, codec: entropy({ entity: torn }) })).toThrow('priors.entity: trained for other fields. Train again: npx tickwire train.')
  expect(() => defineGame({ ...base, codec: entropy({ Boat: torn }) })).toThrow('codec: priors for "Boat", which is no entity of the game')
})

test('[GAME2] the fingerprint is that of everything two builds must agree on', () => {
  const hex = (game: { fingerprint: Uint8Array }): string => [...game.fingerprint].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const same = [defineGame(base), defineGame({ ...base, step: () => 1 as unknown as void })].map(hex)
  expect(same[0]).toBe(same[1])
  expect(same[0]).toHaveLength(16)
  const others = [
    { ...base, tickRate: 60 }, { ...base, input: { right: bool } }, { ...base, entities: [Player, Other] },
    { ...base, entities: [Other] }, { ...base, messages: [Chat] }, { ...base, codec: packed },
  ].map((definition) => hex(defineGame(definition as typeof base)))
  expect(new Set([same[0], ...others]).size).toBe(7)
})
