/** Seats that players resume: after a reload, in time, once per ticket, and when the host drains. */

import { describe, expect, test } from 'vitest'
import { Guest, Party } from './rooms-party.ts'
import { Player, INPUT, game, seen } from './rooms-game.ts'

const ticketOf = (guest: Guest<typeof INPUT>): Uint8Array => guest.host.seat!.ticket

describe('resuming a seat', () => {
  test('[SEAT3] a player that reloads resumes its seat: same number, same objects, any address', () => {
    const back: number[] = []
    const party = new Party({ duel: { game, capacity: 1, onBack: (_room, { id }) => back.push(id) } })
    const first = party.ask(game)
    first.host.sampleInput = () => ({ right: true })
    party.run(1000)
    const [room] = party.host.rooms
    const x = (): number => [...room!.world.each(Player)][0]!.x
    const before = x()
    const object = [...room!.world.each(Player)][0]!.id
    party.unplug(first as never)
    const again = party.ask(game, { resume: ticketOf(first) })
    party.run(1000)
    expect([again.peer, again.host.seat!.isBack, again.host.seat!.room, back]).toEqual([1, true, room!.id, [1]])
    expect([...room!.world.each(Player)].map(({ id, owner }) => [id, owner])).toEqual([[object, 1]])
    expect(x()).toBeGreaterThanOrEqual(before)
    again.host.sampleInput = () => ({ right: true })
    const there = x()
    party.run(500)
    expect(x(), 'and plays on').toBeGreaterThan(there + 5)
    expect(again.host.predictor!.confirmed).toBeGreaterThan(5)
  })

  test('[SEAT4] a seat is reserved for a time: meanwhile it is not given away, and its player holds no input', () => {
    const calls: string[] = []
    const party = new Party({
      duel: {
        game,
        capacity: 1,
        resumeMs: 4000,
        emptyMs: Infinity,
        onAway: () => calls.push('away'),
        onLeave: (_room, _member, { code }) => calls.push(`leave ${code}`),
      },
    })
    const first = party.ask(game)
    first.host.sampleInput = () => ({ right: true })
    party.run(1000)
    const [room] = party.host.rooms
    party.unplug(first as never)
    party.run(11_000)
    expect([calls, room!.seats.of(1)!.state, room!.peers.length]).toEqual([['away'], 'held', 1])
    const stood = [...room!.world.each(Player)][0]!.x
    const refused = party.ask(game, { room: room!.id })
    party.run(500)
    expect([refused.closed?.code, [...room!.world.each(Player)][0]!.x]).toEqual(['full', stood])
    const again = party.ask(game, { resume: ticketOf(first) })
    party.run(500)
    expect([again.peer, again.host.seat!.isBack]).toEqual([1, true])
    party.unplug(again as never)
    party.run(16_000)
    expect([calls, room!.seats.isEmpty, [...room!.world.each(Player)].length]).toEqual([
      ['away', 'away', 'leave timed-out'],
      true,
      0,
    ])
    const late = party.ask(game, { resume: ticketOf(again) })
    party.run(500)
    expect([late.closed, party.host.door.tickets]).toEqual([
      { by: 'protocol', code: 'ticket' },
      { forged: 0, spent: 0, expired: 1, stolen: 0 },
    ])
  })

  test('[SEAT5] a ticket is valid once: forged, altered, used and foreign ones are refused and counted', () => {
    const party = new Party({ duel: { game, capacity: 4 } })
    const first = party.ask(game)
    party.run(500)
    const ticket = ticketOf(first)
    for (let at = 0; at < ticket.length; at++) {
      const touched = party.ask(game, { resume: ticket.map((byte, index) => index === at ? byte ^ 1 : byte) })
      party.run(300)
      expect(touched.closed?.code).toBe('ticket')
    }
    expect(party.host.door.tickets.forged).toBe(ticket.length)
    expect(first.closed).toBeUndefined()
    const again = party.ask(game, { resume: ticket })
    party.run(500)
    expect([again.peer, first.closed]).toEqual([1, { by: 'peer', code: 'replaced' }])
    const thief = party.ask(game, { resume: ticket })
    party.run(500)
    expect([thief.closed?.code, again.closed, party.host.door.tickets.spent]).toEqual(['ticket', undefined, 1])
    expect(ticketOf(again)).not.toEqual(ticket)
    const elsewhere = new Party({ duel: { game, capacity: 4 } }, { entropy: { fill: (bytes) => { bytes.fill(3) } } })
    const foreign = elsewhere.ask(game, { resume: ticketOf(again) })
    elsewhere.run(500)
    expect([foreign.closed?.code, elsewhere.host.door.tickets.forged]).toEqual(['ticket', 1])
  })

  test('[SEAT6] of two clients with one ticket at once, one gets the seat; the other gets nothing', () => {
    const party = new Party({ duel: { game, capacity: 4 } })
    const first = party.ask(game)
    party.run(500)
    party.unplug(first as never)
    const both = [party.ask(game, { resume: ticketOf(first) }), party.ask(game, { resume: ticketOf(first) })]
    party.run(1000)
    const winners = both.filter(({ closed }) => closed === undefined)
    expect(winners.map(({ peer }) => peer)).toEqual([1])
    const loser = both.find(({ closed }) => closed !== undefined)!
    if (loser.host.seat !== undefined) {
      const retry = party.ask(game, { resume: ticketOf(loser) })
      party.run(500)
      expect(retry.closed?.code).toBe('ticket')
    }
    expect(winners[0]!.closed).toBeUndefined()
    expect(party.host.rooms[0]!.seats.players).toBe(1)
  })

  test('[SEAT12] a client whose first packets are lost resumes with the new ticket, and holds one seat', () => {
    const party = new Party({ duel: { game, capacity: 4 } })
    const first = party.ask(game)
    party.run(500)
    party.unplug(first as never)
    // The Accepted arrives, and nothing that the client sends after it.
    let ticket = ticketOf(first)
    const spoilt = Array.from({ length: 6 }, () => {
      const guest = party.ask(game, { resume: ticket })
      guest.isHalfWay = true
      party.run(300)
      expect(guest.host.seat!.isBack).toBe(true)
      party.unplug(guest as never)
      ticket = ticketOf(guest)
      return ticket
    })
    const again = party.ask(game, { resume: ticket })
    party.run(500)
    expect([again.closed, again.peer, again.host.seat?.isBack]).toEqual([undefined, 1, true])
    expect(party.host.rooms.map(({ seats }) => seats.players)).toEqual([1])
    // The seat is taken: no other ticket for it is valid.
    for (const old of [ticketOf(first), ...spoilt]) {
      const late = party.ask(game, { resume: old })
      party.run(300)
      expect(late.closed?.code).toBe('ticket')
    }
    expect([again.closed, party.host.door.tickets.spent]).toEqual([undefined, 7])
  })

  test('[SEAT7] when the host drains it accepts no client, and rooms and players learn why', () => {
    const calls: number[] = []
    const party = new Party({ duel: { game, capacity: 4, onDrain: (_room, ms) => calls.push(ms) } })
    const first = party.ask(game)
    party.run(500)
    party.host.beginDrain(3000)
    party.host.beginDrain(3000)
    const late = party.ask(game)
    party.run(500)
    expect([calls, late.closed?.code, first.closed, seen(first)]).toEqual([[3000], 'full', undefined, 1])
    party.host.close(party.now)
    party.run(500)
    expect([first.closed, party.host.endpoint.connections.length, party.host.rooms.length]).toEqual([
      { by: 'peer', code: 'shutdown' },
      0,
      0,
    ])
  })
})
