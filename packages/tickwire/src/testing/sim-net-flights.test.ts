import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LinkTally } from './link-model-tally.ts'
import { Flights, createArrival } from './sim-net-flights.ts'

describe('flights', () => {
  test('[NET8] datagrams arrive by time, ties in the order they were sent, whole', () => {
    const operation = fc.record({ at: fc.nat(20), size: fc.nat(1500), isPoll: fc.boolean() })
    fc.assert(fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
      const flights = new Flights()
      const tally = new LinkTally()
      const out = createArrival()
      let model: { at: number; order: number; bytes: Uint8Array }[] = []
      operations.forEach(({ at, size, isPoll }, order) => {
        const bytes = new Uint8Array(size).fill(order)
        expect(flights.launch(at, bytes, size, `from ${order}`, 'to', tally)).toBeGreaterThanOrEqual(0)
        model.push({ at, order, bytes })
        if (!isPoll) return
        model = model.sort((a, b) => a.at - b.at || a.order - b.order)
        const first = model.shift()!
        expect(flights.nextAt()).toBe(first.at)
        expect(flights.land(out)).toBe(tally)
        expect([out.from, out.at, out.length]).toEqual([`from ${first.order}`, first.at, first.bytes.length])
        expect(out.bytes.slice(0, out.length)).toEqual(first.bytes)
      })
      expect(flights.count).toBe(model.length)
    }), { seed: 1, numRuns: 60 })
  })

  test('[NET8] a datagram can be hastened until it has arrived; later no other datagram in its place is', () => {
    const flights = new Flights()
    const tally = new LinkTally()
    const out = createArrival()
    const slot = flights.launch(100, Uint8Array.of(1), 1, 'a', 'b', tally)
    const order = flights.lastOrder
    flights.launch(50, Uint8Array.of(2), 1, 'a', 'b', tally)
    flights.hasten(slot, order, 200)
    expect(flights.nextAt()).toBe(50)
    flights.hasten(slot, order, 50)
    flights.land(out)
    expect(out.bytes[0]).toBe(2)
    flights.land(out)
    expect([out.bytes[0], out.at]).toEqual([1, 50])
    flights.release()
    expect(flights.launch(70, Uint8Array.of(3), 1, 'a', 'b', tally)).toBe(slot)
    const again = flights.lastOrder
    flights.hasten(slot, order, 10)
    expect(flights.nextAt()).toBe(70)
    flights.land(out)
    flights.launch(90, Uint8Array.of(4), 1, 'a', 'b', tally)
    flights.hasten(slot, again, 10)
    expect([flights.count, flights.nextAt()]).toEqual([1, 90])
  })

  test('[NET8] datagrams above the capacity are dropped and counted', () => {
    const flights = new Flights()
    const tally = new LinkTally()
    const bytes = new Uint8Array(1)
    for (let count = 0; count < 16_384 + 5; count++) flights.launch(count, bytes, 1, 'a', 'b', tally)
    expect([flights.count, tally.overflowed]).toEqual([16_384, 5])
  })

  test('[NET8] lent bytes do not change while others are sent', () => {
    const flights = new Flights()
    const tally = new LinkTally()
    const out = createArrival()
    flights.launch(0, Uint8Array.of(7), 1, 'a', 'b', tally)
    flights.land(out)
    for (let count = 0; count < 100; count++) flights.launch(1, Uint8Array.of(9), 1, 'a', 'b', tally)
    expect(out.bytes[0]).toBe(7)
  })
})
