import { beforeEach, expect, test } from 'vitest'
import { EVENTS_WAITING_MAX } from '../base/limits.ts'
import type { StepEvent } from './event-codec.ts'
import { EventMail } from './event-mail.ts'

const PEER = 4
const TICK_RATE = 20

let seen = new Set<number>()
let sent: number[] = []
let mail = new EventMail(PEER, { knows: () => false }, TICK_RATE, () => {})

beforeEach(() => {
  seen = new Set()
  sent = []
  mail = new EventMail(PEER, { knows: (id) => seen.has(id) }, TICK_RATE, ({ object }) => sent.push(object))
})

function eventOf(object: number, tick: number, owner = 0): StepEvent {
  return { tick, object, ordinal: 0, birth: [0, owner, 1, 0], message: {} as never, values: {} }
}

test('an event of an own object, of an object in view, or of an entity for all clients is sent at once', () => {
  seen.add(2)
  mail.post(eventOf(1, 10, PEER), false)
  mail.post(eventOf(2, 10), false)
  mail.post(eventOf(3, 10), true)
  expect(sent).toEqual([1, 2, 3])
})

test('any other event waits until its object is in view, for 250 ms, and keeps its order', () => {
  mail.post(eventOf(1, 10), false)
  mail.post(eventOf(2, 10), false)
  mail.post(eventOf(3, 11), false)
  mail.deliver(10)
  seen.add(1).add(3)
  mail.deliver(12)
  expect(sent).toEqual([1, 3])
  // 250 ms are five ticks.
  mail.deliver(15)
  mail.deliver(16)
  seen.add(2)
  mail.deliver(17)
  expect(sent).toEqual([1, 3])
})

test('the waiting events are bounded: the oldest is dropped', () => {
  for (let object = 1; object <= EVENTS_WAITING_MAX + 1; object++) {
    seen.delete(object)
    mail.post(eventOf(object, 10), false)
  }
  for (let object = 1; object <= EVENTS_WAITING_MAX + 1; object++) seen.add(object)
  mail.deliver(10)
  expect(sent.length).toBe(EVENTS_WAITING_MAX)
  expect(sent[0]).toBe(2)
})
