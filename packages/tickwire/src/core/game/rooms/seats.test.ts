import { expect, test } from 'vitest'
import { Prng } from '../../base/prng.ts'
import { Seats, type Seat } from './seats.ts'

test('[SEAT1] a thousand race for 16 seats, a thousand times, in any order of asking, waiting, coming and going: never one too many', () => {
  for (let race = 0; race < 1000; race++) {
    const dice = new Prng(race)
    const seats = new Seats(16)
    const sitting = new Set<Seat>()
    const waiting: Seat[] = []
    let asked = 0
    let now = 0
    while (asked < 1000) {
      now++
      // What happens next is drawn: somebody asks, an answer that was awaited comes (yes, or no), somebody leaves.
      const next = dice.nextInt(0, 99)
      if (next < 70) {
        asked++
        const seat = seats.reserve(now + 50, asked)
        if (seat !== undefined) waiting.push(seat)
      } else if (next < 90 && waiting.length > 0) {
        const [seat] = waiting.splice(dice.nextInt(0, waiting.length - 1), 1)
        if (seat!.state !== 'reserved') continue
        if (next < 80) sitting.add(seat!)
        if (next < 80) seats.take(seat!, 0)
        else seats.release(seat!)
      } else if (next >= 97 && sitting.size > 0) {
        const [seat] = sitting
        sitting.delete(seat!)
        seats.release(seat!)
      }
      if ((now & 15) === 0) seats.expire(now, () => {})
      if (seats.players > 16 || sitting.size > seats.players) throw new Error(`race ${race}: ${seats.players} seats, ${sitting.size} sit`)
    }
    seats.expire(now + 100, () => {})
    expect(seats.players).toBe(sitting.size)
  }
})

test('[SEAT2] a seat goes the ways of its table, numbers are never given twice, and what is kept too long is free', () => {
  const seats = new Seats(2, 1)
  const first = seats.reserve(10, 1)!
  const second = seats.reserve(20, 2)!
  expect([seats.reserve(30, 3), seats.reserve(30, 4, true)?.peer, seats.reserve(30, 5, true)]).toEqual([undefined, 3, undefined])
  expect(() => seats.lose(first, 5)).toThrow('a seat goes the ways of its table')
  seats.take(first, 7)
  seats.lose(first, 40)
  seats.take(first, 8)
  expect([first.state, first.serial, first.peer, seats.nextAt <= 20]).toEqual(['taken', 8, 1, true])
  const gone: [number, string][] = []
  seats.expire(25, ({ peer }, was) => gone.push([peer, was]))
  expect([gone, second.state, seats.players, seats.spectators]).toEqual([[[2, 'reserved']], 'free', 1, 1])
  expect(() => seats.take(second, 1)).toThrow()
  expect(seats.reserve(100, 1)!.peer).toBe(4)
  seats.release(second)
  expect(seats.players).toBe(2)
})
