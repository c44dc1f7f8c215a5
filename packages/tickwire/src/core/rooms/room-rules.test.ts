import { expect, test } from 'vitest'
import { PLAYERS_DEFAULT, PLAYERS_PER_MATCH_MAX, ROOM_EMPTY_MS, SEAT_HOLD_MS } from '../base/limits.ts'
import { completeRules } from './room-rules.ts'

const game = { fingerprint: new Uint8Array(8) }

test('options that are left out of a room type have their defaults, and given options stay', () => {
  expect(completeRules('duel', { game })).toEqual({
    game,
    capacity: PLAYERS_DEFAULT,
    spectators: 0,
    metadata: {},
    mayCreate: true,
    emptyMs: ROOM_EMPTY_MS,
    resumeMs: SEAT_HOLD_MS,
  })
  expect(completeRules('duel', { game, capacity: 2, emptyMs: Infinity, resumeMs: 0 })).toMatchObject({
    capacity: 2, emptyMs: Infinity, resumeMs: 0,
  })
})

test.each([
  ['capacity', [0, 1.5, PLAYERS_PER_MATCH_MAX + 1, NaN]],
  ['spectators', [-1, 0.5, PLAYERS_PER_MATCH_MAX + 1]],
  ['emptyMs', [-1, NaN]],
  ['resumeMs', [-1, Infinity, NaN]],
] as const)('an invalid %s is refused by its path and value', (name, values) => {
  for (const value of values)
    expect(() => completeRules('duel', { game, [name]: value })).toThrow(`rooms.duel.${name}: invalid`)
  for (const value of values) expect(() => completeRules('duel', { game, [name]: value })).toThrow(`(got ${value})`)
})
