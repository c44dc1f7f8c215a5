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
  rpc({ seat: u8 }, { to: 'server' }),
  rpc({ seat: u8 }, { to: 'all' }),
  rpc({ seat: u8 }, { to: 'server', delivery: 'unordered' }),
  rpc({ seat: u8 }, { to: 'server', by: 'owner' }),
  rpc({ seat: u8 }, { to: 'server', reply: { isYours: bool } }),
  rpc({ chair: u8 }, { to: 'server' }),
]
const base = { tickRate: 30, input: { left: bool }, entities: [Player], step: () => {} }

test('[GAME1] a wrong game is refused at once, with the path and the fix', () => {
  expect(() => defineGame({ ...base, tickRate: 0 })).toThrow(
    'tickRate: invalid rate (expected an integer from 1 to 1000, got 0). Fix: give ticks a second.',
  )
  expect(() => defineGame({ ...base, tickRate: 29.97 })).toThrow('got 29.97')
  expect(() => defineGame({ ...base, entities: [Player, Player] })).toThrow('entities: the same definition twice')
  expect(() => defineGame({ ...base, messages: [Chat, Chat] })).toThrow('messages: the same definition twice')
  expect(() => defineGame({ ...base, input: { keys: struct({}) } })).toThrow('input.keys: no fields')
  const torn = {
    form: 3,
    version: 1,
    ticksPerSecond: 30,
    items: ['entity.y'],
    tables: [],
    masks: [],
    ages: [],
  } as const
  expect(() => defineGame({ ...base, codec: entropy({ entity: torn }) })).toThrow(
    'priors.entity: trained for other fields. Fix: train again: npx tickwire train.',
  )
  const old = JSON.parse('{ "form": 2, "version": 1, "items": ["entity.x"] }') as typeof torn
  expect(() => defineGame({ ...base, codec: entropy({ entity: old }) })).toThrow(
    'priors.entity: not priors of form 3. Fix: train again: npx tickwire train.',
  )
  expect(() => defineGame({ ...base, codec: entropy({ Boat: torn }) })).toThrow(
    'codec: priors for "Boat", which is not an entity of the game',
  )
})

test.each<[name: string, definition: unknown, message: string]>([
  ['nothing', undefined, 'game: not a definition (got nothing). Fix: pass defineGame({ tickRate, input, entities, '],
  [
    'no tick rate',
    { ...base, tickRate: undefined },
    'tickRate: wrong type (got nothing). Fix: write a whole number of ticks a second: tickRate: 60.',
  ],
  ['a tick rate in words', { ...base, tickRate: '60' }, 'tickRate: wrong type (got "60"). '],
  ['another spelling', { ...base, tickrate: 60 }, 'game: unknown option "tickrate". Did you mean tickRate?'],
  [
    'a setting in the wrong place',
    { ...base, snapshotRate: 20 },
    'snapshotRate: a netcode setting outside of `net`. Fix: write net: { snapshotRate }.',
  ],
  [
    'a setting that there is not',
    { ...base, net: { snapshotrate: 20 } },
    'net.snapshotrate: unknown setting. Fix: use one of predictionMs, ',
  ],
  ['no input', { ...base, input: undefined }, 'input: wrong type (got nothing). '],
  ['an input that is not a field', { ...base, input: { left: 1 } }, 'input.left: not a field. Fix: use bool, '],
  [
    'entities by name',
    { ...base, entities: { Player } },
    'entities: wrong type (got an object). Fix: write a list: entities: [Player].',
  ],
  [
    'an entity of the wrong type',
    { ...base, entities: [Player, { x: u8 }] },
    'entities[1]: wrong type (got an object). Fix: pass the result of entity({ … }).',
  ],
  ['an entity that is null', { ...base, entities: [null] }, 'entities[0]: wrong type (got null). '],
  [
    'a message of the wrong type',
    { ...base, messages: [() => {}] },
    'messages[0]: wrong type (got a function). Fix: pass the result of message({ … }).',
  ],
  [
    'an rpc of the wrong type',
    { ...base, rpcs: [Chat] },
    'rpcs[0]: wrong type (got an object). Fix: pass the result of rpc({ … }, { to }).',
  ],
  ['no step', { ...base, step: undefined }, 'step: wrong type (got nothing). Fix: write step(world, inputs) { … }.'],
  ['hitboxes by name', { ...base, hitboxes: { Player: [] } }, 'hitboxes: wrong type (got an object). Fix: write a'],
  ['a list for a handler', { ...base, onJoin: [] }, 'onJoin: wrong type (got a list). Fix: write onJoin(world, peer, '],
  ['a codec by name', { ...base, codec: 'packed' }, 'codec: wrong type (got "packed"). Fix: write packed, entropy()'],
  [
    'an unknown prediction',
    { ...base, predict: 'self' },
    `predict: unknown value (expected 'owned', 'all' or 'none', got "self"). Fix: write 'owned', 'all' or 'none'.`,
  ],
])('[GAME1] an invalid definition is refused without the help of the compiler: %s', (_name, definition, message) => {
  expect(() => defineGame(definition as typeof base)).toThrow(ConfigError)
  expect(() => defineGame(definition as typeof base)).toThrow(message)
})

test('[GAME2] the fingerprint is that of everything two builds must agree on', () => {
  const hex = (game: { fingerprint: Uint8Array }): string =>
    [...game.fingerprint].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const fingerprintsOf = (definitions: readonly object[]): string[] =>
    definitions.map((definition) => hex(defineGame({ ...base, ...definition } as typeof base)))
  const [own = ''] = fingerprintsOf([{}])
  expect(own).toHaveLength(16)
  const same = fingerprintsOf([
    { step: () => 1 }, { onJoin: () => {} }, { drawAhead: false }, { predict: 'owned' }, { predict: 'none' },
    // At 30 ticks a second both are a snapshot every tick.
    { net: { snapshotRate: 30 } }, { net: { snapshotRate: 25 } }, { net: { interpolationMs: 50, timeoutMs: 5000 } },
  ])
  expect(new Set(same)).toEqual(new Set([own]))
  const others = fingerprintsOf([
    { tickRate: 60 },
    { codec: packed },
    { net: { snapshotRate: 15 } },
    { net: { snapshotRate: 10 } },
    { predict: 'all' },
    { input: { right: bool } },
    { entities: [Player, Other] },
    { entities: [Other, Player] },
    { entities: [Other] },
    { entities: [entity({ x: fixed(0, 10, 0.1) }, { authority: 'shared' })] },
    { messages: [Chat] },
    { messages: [message({ text: text(20) }, 'message', { delivery: 'unordered' })] },
    ...CALLS.map((call) => ({ rpcs: [call] })),
    { rpcs: CALLS },
  ])
  expect(new Set([own, ...others]).size).toBe(1 + others.length)
})
