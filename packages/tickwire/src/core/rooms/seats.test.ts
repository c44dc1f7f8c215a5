import { expect, test } from 'vitest'
import { GUEST_MS } from '../base/limits.ts'
import { Prng } from '../base/prng.ts'
import { Seats, type Seat } from './seats.ts'

test('[SEAT1] 1,000 clients that join, disconnect, resume and leave at random never have more than 16 seats', () => {
  for (let race = 0; race < 1000; race++) {
    const dice = new Prng(race)
    const seats = new Seats(16)
    const sitting: Seat[] = []
    let [came, now] = [0, 0]
    while (came < 1000) {
      now++
      const next = dice.nextInt(0, 99)
      if (next < 70) {
        came++
        const seat = seats.sit(seats.drawPeer(), came)
        if (seat !== undefined) sitting.push(seat)
      } else if (sitting.length > 0) {
        const at = dice.nextInt(0, sitting.length - 1)
        const seat = sitting[at]!
        if (next < 80 && seat.state === 'taken') seats.lose(seat, now + 50)
        else if (next < 90 && seat.state !== 'free') seats.take(seat, came)
        else if (next >= 95) sitting.splice(at, 1).forEach((each) => seats.release(each))
      }
      if ((now & 15) === 0) seats.expire(now, (seat) => sitting.splice(sitting.indexOf(seat), 1))
      if (seats.players > 16 || sitting.length !== seats.players)
        throw new Error(`race ${race}: ${seats.players} seats, ${sitting.length} sit`)
    }
  }
})

test('[SEAT2] a seat changes its state by the table, an id is never reused, and a held seat expires', () => {
  const seats = new Seats(2, 1)
  const [first, second] = [seats.sit(seats.drawPeer(), 1)!, seats.sit(seats.drawPeer(), 2)!]
  expect([
    seats.sit(seats.drawPeer(), 3),
    seats.sit(seats.drawPeer(), 4, true)?.peer,
    seats.sit(seats.drawPeer(), 5, true),
  ]).toEqual([undefined, 4, undefined])
  seats.lose(first, 40)
  expect(() => seats.lose(first, 5)).toThrow('a seat goes the ways of its table')
  seats.take(first, 8)
  seats.lose(second, 20)
  expect([first.state, first.serial, first.peer, seats.nextAt, second.untilMax]).toEqual([
    'taken',
    8,
    1,
    20,
    20 + GUEST_MS,
  ])
  const gone: number[] = []
  seats.expire(25, ({ peer }) => gone.push(peer))
  expect([gone, second.state, seats.players, seats.spectators]).toEqual([[2], 'free', 1, 1])
  expect(() => seats.take(second, 1)).toThrow()
  expect(seats.drawPeer()).toBe(6)
  seats.skipTo(9)
  expect(seats.sit(seats.drawPeer(), 1)!.peer).toBe(10)
  seats.release(second)
  expect(seats.players).toBe(2)
})
