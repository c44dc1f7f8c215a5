import { expect, test } from 'vitest'
import { entity, message } from '../schema/definition.ts'
import { bool, fixed, struct, text, u8 } from '../schema/field-kinds.ts'
import { entropy, packed } from '../codec/snapshot-codec.ts'
import { ConfigError } from '../base/assert.ts'
import { rpc } from '../rpc/rpc.ts'
import { defineGame } from './define-game.ts'

const Player = entity({ x: fixed(0, 10, 0.1) })
const Other = entity({ hp: u8 })
const Chat = message({ text: text(20) })
/** Of one shape: another receiver, delivery, caller or answer is another call. */
const CALLS = [
  rpc({ seat: u8 }, { to: 'server' }), rpc({ seat: u8 }, { to: 'all' }), rpc({ seat: u8 }, { to: 'server', delivery: 'unordered' }),
  rpc({ seat: u8 }, { to: 'server', by: 'owner' }), rpc({ seat: u8 }, { to: 'server', reply: { isYours: bool } }), rpc({ chair: u8 }, { to: 'server' }),
]
const base = { tickRate: 30, input: { left: bool }, entities: [Player], step: () => {} }

test('[GAME1] a wrong game is refused at once, with the path and the fix', () => {
  expect(() => defineGame({ ...base, tickRate: 0 })).toThrow('tickRate: 0 ticks a second. Give a whole number from 1 to 1000.')
  expect(() => defineGame({ ...base, tickRate: 29.97 })).toThrow('tickRate: 29.97')
  expect(() => defineGame({ ...base, entities: [Player, Player] })).toThrow('entities: the same definition twice')
  expect(() => defineGame({ ...base, messages: [Chat, Chat] })).toThrow('messages: the same definition twice')
  expect(() => defineGame({ ...base, input: { keys: struct({}) } })).toThrow('input.keys: no fields')
  const torn = { form: 3, version: 1, ticksPerSecond: 30, items: ['entity.y'], tables: [], masks: [], ages: [] } as const
  expect(() => defineGame({ ...base, codec: entropy({ entity: torn }) })).toThrow('priors.entity: trained for other fields. Train again: npx tickwire train.')
  const old = JSON.parse('{ "form": 2, "version": 1, "items": ["entity.x"] }') as typeof torn
  expect(() => defineGame({ ...base, codec: entropy({ entity: old }) })).toThrow('priors.entity: not priors of form 3. Train again: npx tickwire train.')
  expect(() => defineGame({ ...base, codec: entropy({ Boat: torn }) })).toThrow('codec: priors for "Boat", which is no entity of the game')
})

test.each<[name: string, definition: unknown, message: string]>([
  ['nothing', undefined, 'game: missing. Give defineGame({ tickRate, input, entities, step }).'],
  ['no tick rate', { ...base, tickRate: undefined }, 'tickRate: missing. Give a whole number of ticks a second: tickRate: 60.'],
  ['a tick rate in words', { ...base, tickRate: '60' }, 'tickRate: "60". '],
  ['another spelling', { ...base, tickrate: 60 }, 'tickrate: nothing that a game has. Write tickRate.'],
  ['a setting in the wrong place', { ...base, snapshotRate: 20 }, 'snapshotRate: a number of the netcode. Write net: { snapshotRate }.'],
  ['a setting that there is not', { ...base, net: { snapshotrate: 20 } }, 'net.snapshotrate: no number of the netcode. There are predictionMs, '],
  ['no input', { ...base, input: undefined }, 'input: missing. '],
  ['an input that is no field', { ...base, input: { left: 1 } }, 'input.left: not a field. Use bool, '],
  ['entities by name', { ...base, entities: { Player } }, 'entities: an object. Give a list: entities: [Player].'],
  ['what is no entity', { ...base, entities: [Player, { x: u8 }] }, 'entities[1]: an object. Give what entity({ … }) returned.'],
  ['an entity that is null', { ...base, entities: [null] }, 'entities[0]: null. '],
  ['what is no message', { ...base, messages: [() => {}] }, 'messages[0]: a function. Give what message({ … }) returned.'],
  ['what is no rpc', { ...base, rpcs: [Chat] }, 'rpcs[0]: an object. Give what rpc({ … }, { to }) returned.'],
  ['no step', { ...base, step: undefined }, 'step: missing. Give step(world, inputs) { … }.'],
  ['hitboxes by name', { ...base, hitboxes: { Player: [] } }, 'hitboxes: an object. Give a list: '],
  ['a list for a handler', { ...base, onJoin: [] }, 'onJoin: a list. Give onJoin(world, peer) { … }.'],
  ['a codec by name', { ...base, codec: 'packed' }, 'codec: "packed". Say packed, entropy() or entropy(priors).'],
  ['a prediction of nothing known', { ...base, predict: 'self' }, `predict: "self". Give 'owned', 'all' or 'none'.`],
])('[GAME1] what is no game is refused, for those whom no compiler told: %s', (_name, definition, message) => {
  expect(() => defineGame(definition as typeof base)).toThrow(ConfigError)
  expect(() => defineGame(definition as typeof base)).toThrow(message)
})

test('[GAME2] the fingerprint is that of everything two builds must agree on', () => {
  const hex = (game: { fingerprint: Uint8Array }): string => [...game.fingerprint].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const fingerprintsOf = (definitions: readonly object[]): string[] => definitions.map((definition) => hex(defineGame({ ...base, ...definition } as typeof base)))
  const [own = ''] = fingerprintsOf([{}])
  expect(own).toHaveLength(16)
  const same = fingerprintsOf([
    { step: () => 1 }, { onJoin: () => {} }, { drawAhead: false }, { predict: 'owned' }, { predict: 'none' },
    // At 30 ticks a second both are a snapshot every tick.
    { net: { snapshotRate: 30 } }, { net: { snapshotRate: 25 } }, { net: { interpolationMs: 50, timeoutMs: 5000 } },
  ])
  expect(new Set(same)).toEqual(new Set([own]))
  const others = fingerprintsOf([
    { tickRate: 60 }, { codec: packed }, { net: { snapshotRate: 15 } }, { net: { snapshotRate: 10 } }, { predict: 'all' }, { input: { right: bool } },
    { entities: [Player, Other] }, { entities: [Other, Player] }, { entities: [Other] }, { entities: [entity({ x: fixed(0, 10, 0.1) }, { authority: 'shared' })] },
    { messages: [Chat] }, { messages: [message({ text: text(20) }, 'message', { delivery: 'unordered' })] }, ...CALLS.map((call) => ({ rpcs: [call] })), { rpcs: CALLS },
  ])
  expect(new Set([own, ...others]).size).toBe(1 + others.length)
})
