import { expect, test } from 'vitest'
import { TickBodyWriter } from '../order/tick-body.ts'
import { TickLog } from '../order/tick-log.ts'
import { order } from './order.ts'
import { OwnOrders } from './own-orders.ts'

const PLAYER = 3
const Mark = order({}, 'Mark')

/** Own orders, given one after the other, and what became of each: its byte and the state. */
function given(...bytes: number[]): { readonly own: OwnOrders; readonly states: string[] } {
  const own = new OwnOrders()
  const states: string[] = []
  own.on(Mark, (values, state) => {
    if (state !== 'issued') states.push(`${(values as { byte?: number }).byte} ${state}`)
  })
  for (const byte of bytes) own.add(Mark, 0, Uint8Array.of(byte), { byte })
  return { own, states }
}

/** A tick with an order of a player for each byte. */
function body(player: number, ...bytes: number[]): Uint8Array {
  const writer = new TickBodyWriter()
  writer.begin()
  for (const byte of bytes) writer.add(player, 0, 0, Uint8Array.of(byte), 0, 1)
  writer.end()
  return writer.bytes.slice(0, writer.length)
}

/** An own order is stepped. */
function step(own: OwnOrders, tick: number, byte: number): void {
  expect(own.match(tick, 0, Uint8Array.of(byte), 0, 1)).toBe(true)
  own.settle('executed')
}

/** A log whose ticks 1 and 2 are missing, and their bytes. */
function gapped(...ticks: readonly [Uint8Array, Uint8Array]): { readonly log: TickLog; readonly missing: Uint8Array } {
  const missing = Uint8Array.of(...ticks[0], ...ticks[1])
  const log = new TickLog()
  expect(log.skip(2, missing.length)).toBe(true)
  return { log, missing }
}

test('[REJOIN7] an own order in skipped ticks is executed, and known when they have come', () => {
  const { own, states } = given(1, 2, 3)
  own.skip(0, 2)
  const { log, missing } = gapped(body(PLAYER + 1, 1), body(PLAYER, 1))
  expect(own.readSkipped(log, PLAYER)).toBe(false)
  // It is not lost because a newer one was stepped first.
  step(own, 5, 2)
  expect(states).toEqual(['2 executed'])
  expect(log.fill(0, missing)).toBe(true)
  expect(own.readSkipped(log, PLAYER)).toBe(true)
  expect(states).toEqual(['2 executed', '1 executed'])
  expect(own.waiting.map(({ data }) => data[0])).toEqual([3])
})

test('[REJOIN7] an own order that is in none of the skipped ticks is lost as soon as a newer one is stepped', () => {
  const { own, states } = given(1, 2)
  own.skip(0, 2)
  const { log, missing } = gapped(body(PLAYER), body(PLAYER))
  log.fill(0, missing)
  expect(own.readSkipped(log, PLAYER)).toBe(true)
  expect(states).toEqual([])
  step(own, 5, 2)
  expect(states).toEqual(['1 lost', '2 executed'])
})

test('[REJOIN7] nothing is read after ticks that were skipped while no order waited', () => {
  const { own } = given()
  own.skip(0, 2)
  expect(own.readSkipped(new TickLog(), PLAYER)).toBe(true)
})

test('[HAND3] ticks after the handover are not read, and orders in them wait again, in their order', () => {
  const { own, states } = given(1, 2, 3)
  own.skip(0, 2)
  step(own, 5, 3)
  step(own, 6, 2)
  const { log, missing } = gapped(body(PLAYER, 1), body(PLAYER))
  own.reopen(1)
  expect(own.waiting.map(({ data }) => data[0])).toEqual([1, 2, 3])
  log.fill(0, missing)
  expect(own.readSkipped(log, PLAYER)).toBe(true)
  expect(states).toEqual(['3 executed', '2 executed', '1 executed'])
})
