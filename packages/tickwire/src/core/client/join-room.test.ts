import { expect, test } from 'vitest'
import { seatName } from './join-room.ts'

test('[ROOM15] the name that a page stores its ticket under has no password', () => {
  expect(seatName('http://here', undefined)).toBe('http://here ')
  expect(seatName('http://here', { room: 'ABC', password: 'xyzzy' })).toBe('http://here {"room":"ABC"}')
  const options = { map: 2, seed: 3n }
  expect(seatName('http://here', { create: 'duel', password: 'xyzzy', options }))
    .toBe('http://here {"create":"duel","options":{"map":2,"seed":"3"}}')
})
