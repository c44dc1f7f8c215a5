/** Handover: a relay is lost, and the match goes on at the next one, from what its clients hold. */

import { expect, test } from 'vitest'
import { END_REASONS } from '../../packages/tickwire/src/core/order/tick-event.ts'
import { RANKED_ROOM, type LockstepGame } from 'tickwire/lockstep'
import { Crate, game, Spawn, Take, Unit } from './lockstep-game.ts'
import { HandoverParty, type HandoverClient, type HandoverOptions } from './handover-party.ts'
import './unplanned-heals.ts'

const LINE = { latencyMs: 25, jitterMs: 5 }

function play(options: Partial<HandoverOptions> = {}, seconds = 5): HandoverParty {
  const party = new HandoverParty({
    game: game as unknown as LockstepGame, seed: 4, clients: 3, weather: () => LINE, ...options,
  })
  party.run(1000)
  for (let second = 0; second < seconds; second++) {
    party.clients[second % party.clients.length]!.order(party.clock.now, Spawn as never, { count: 1 })
    party.run(1000)
  }
  return party
}

/** Every tick that clients stepped has the same hash. */
function expectSame({ clients }: HandoverParty): void {
  const known: string[] = []
  clients.forEach(({ hashes }, number) => hashes.forEach((hash, tick) => {
    known[tick] ??= hash
    expect(hash, `client ${number}, tick ${tick}`).toBe(known[tick])
  }))
}

test('[HAND1] a match whose relay is lost goes on at the next one within 6 s, with all ticks before', () => {
  const party = play()
  const before = party.clients[0]!.client.feed.log
  const bytes = before.bytes.slice(0, before.endOf(before.newest))
  party.crash(0)
  const crashedAt = party.clock.now
  party.run(6000)
  for (const { continued, relay, executedAt } of party.clients) {
    expect(continued.length).toBe(1)
    expect(relay).toBe(1)
    expect(executedAt[continued[0]!.tick + 1]! - crashedAt).toBeLessThan(6000)
  }
  const { log } = party.relays[1]!.match!.relay
  expect(log.bytes.slice(0, bytes.length)).toEqual(bytes)
  expect(log.newest).toBeGreaterThan(party.clients[0]!.continued[0]!.tick + 60)
  expectSame(party)
})

test('[HAND1] the event `handover` is in the same tick everywhere, and the roster counts it', () => {
  const party = play({ relays: 3 })
  party.crash(0)
  party.run(5000)
  party.crash(1)
  party.run(6000)
  for (const { events, client, relay } of party.clients) {
    expect(relay).toBe(2)
    expect(events.filter(({ name }) => name === 'handover').map(({ value }) => value)).toEqual([1, 2])
    expect(client.runner!.roster.handovers).toBe(2)
  }
  expectSame(party)
})

test('[HAND1] a paused match goes on paused at the next relay, and resumes there', () => {
  const party = play()
  party.clients[0]!.client.runner!.pause(party.clock.now)
  party.run(1000)
  party.crash(0)
  party.run(5000)
  const { relay } = party.relays[1]!.match!
  expect(relay.isPaused).toBe(true)
  const { newest } = relay.log
  party.clients[1]!.client.runner!.resume(party.clock.now)
  party.run(5000)
  expect(relay.log.newest).toBeGreaterThan(newest + 20)
  expectSame(party)
})

test('[HAND2] a tick that one player alone holds is not in the match: the player goes back, with its orders', () => {
  const party = play()
  const [ahead, second, third] = party.clients as [HandoverClient, HandoverClient, HandoverClient]
  const states: string[] = []
  ahead.client.runner!.onOrder(Spawn as never, (_values, state) => { states.push(state) })
  for (const { links } of [second, third]) links[0]!.weather = { loss: 1 }
  ahead.order(party.clock.now, Spawn as never, { count: 1 })
  party.run(300)
  const { tick } = ahead.client.runner!
  expect(tick).toBeGreaterThan(second.client.feed.log.newest)
  expect(states).toEqual(['issued', 'executed'])
  const units = ahead.client.runner!.world.count(Unit)
  party.crash(0)
  party.run(6000)
  expect(ahead.continued[0]!.tick).toBeLessThan(tick)
  expectSame(party)
  // The order was in a tick that is not in the match. It is executed once, and reported once.
  expect(states).toEqual(['issued', 'executed'])
  for (const { client } of party.clients) expect(client.runner!.world.count(Unit)).toBe(units)
})

test('[HAND2] a player that claims a longer chain of its own gains nothing', () => {
  const party = play()
  const [liar] = party.clients as [HandoverClient]
  party.crash(0)
  party.run(500)
  const honest = party.clients[1]!.client.feed.log.newest
  liar.onClaim = () => {
    const { log } = liar.client.feed
    for (let each = 0; each < 20; each++) log.append(Uint8Array.of(0x5a), 1)
    liar.onClaim = () => {}
  }
  party.run(6000)
  for (const { continued } of party.clients) expect(continued[0]!.tick).toBe(honest)
  expectSame(party)
})

test('[HAND2] a player that claims other ticks than those that were signed gains nothing', () => {
  const party = play()
  const [liar] = party.clients as [HandoverClient]
  party.crash(0)
  party.run(500)
  const honest = party.clients[1]!.client.feed.log.newest
  liar.onClaim = () => {
    const { log } = liar.client.feed
    log.bytes[log.startOf(30)] = log.bytes[log.startOf(30)]! ^ 1
    log.bytes.fill(0x5a, log.startOf(log.newest - 5), log.endOf(log.newest))
  }
  party.run(9000)
  for (const { continued } of party.clients.slice(1)) expect(continued[0]!.tick).toBe(honest)
  const [, second, third] = party.clients as [HandoverClient, HandoverClient, HandoverClient]
  const last = Math.min(second.client.runner!.tick, third.client.runner!.tick)
  expect(last).toBeGreaterThan(honest + 60)
  expect(second.hashes[last]).toBe(third.hashes[last])
})

test('[HAND3] orders that the lost relay had taken into no tick are executed once at the next relay', () => {
  const party = play()
  const executed = party.clients.map(() => 0)
  party.clients.forEach(({ client }, number) => client.runner!.onOrder(Take as never, (_values, state) => {
    if (state === 'executed') executed[number]!++
  }))
  // They are acknowledged, and wait for their tick.
  for (let each = 0; each < 3; each++)
    for (const client of party.clients)
      expect(client.order(party.clock.now, Take as never, { crate: each })).toBe('sent')
  party.run(55)
  party.crash(0)
  party.run(6000)
  expect(executed).toEqual([3, 3, 3])
  expectSame(party)
})

test('[HAND2] ticks of the next relay that overtake its answer are not taken for own ticks', () => {
  const party = play()
  const [ahead, second, third] = party.clients as [HandoverClient, HandoverClient, HandoverClient]
  for (const { links } of [second, third]) links[0]!.weather = { loss: 1 }
  party.run(300)
  party.crash(0)
  const link = ahead.links[1]!
  const send = link.send.bind(link)
  let lost = 0
  // The first datagram with the answer is lost, so the ticks arrive first.
  link.send = (now, side, bytes, length) => {
    const isAnswered = side === 0 && party.relays[1]!.match?.succession?.desk?.stage === 'done'
    if (!isAnswered || lost++ > 0) send(now, side, bytes, length)
  }
  party.run(6000)
  expect(lost).toBeGreaterThan(0)
  expect(ahead.client.feed.log.newest).toBeGreaterThan(party.relays[1]!.match!.relay.log.newest - 10)
  expectSame(party)
})

test.each([0, 5000])('[HAND3] an order in ticks that an image replaced is not given again %d ms later', (ms) => {
  const party = play()
  const [cut] = party.clients as [HandoverClient]
  const link = cut.links[0]!
  const send = link.send.bind(link)
  const states: string[] = []
  cut.client.runner!.onOrder(Take as never, (_values, state) => { states.push(state) })
  const takes = (): number => [...cut.client.runner!.world.each(Crate)][0]!.takes
  // Nothing comes from the relay, and the order reaches it.
  link.send = (now, side, bytes, length) => { if (side === 1) send(now, side, bytes, length) }
  cut.order(party.clock.now, Take as never, { crate: 7 })
  party.run(14_000)
  link.send = send
  const { log } = party.relays[0]!.match!.relay
  expect(party.runUntil(() => cut.client.runner!.tick > log.newest - 5, 10_000)).toBe(true)
  party.run(ms)
  party.crash(0)
  party.run(9000)
  expect([cut.relay, cut.continued.length, takes(), states]).toEqual([1, 1, 1, ['issued', 'executed']])
  expect(cut.order(party.clock.now, Take as never, { crate: 8 })).toBe('sent')
  party.run(1000)
  expect([takes(), states]).toEqual([2, ['issued', 'executed', 'issued', 'executed']])
  expectSame(party)
})

test('[HAND4] without more than half of the players the next relay does not go on; the client returns', () => {
  const party = play()
  const [cut] = party.clients as [HandoverClient]
  cut.links[0]!.weather = { loss: 1 }
  party.run(4500)
  expect(cut.continued).toEqual([])
  cut.links[0]!.weather = LINE
  party.run(6000)
  expect(party.relays[1]!.match).toBeUndefined()
  expect(cut.relay).toBe(0)
  expect(cut.client.runner!.tick).toBeGreaterThan(party.relays[0]!.match!.relay.log.newest - 10)
  expectSame(party)
})

test('[HAND4] a player that has just gone on from an image counts: the match of two goes on at once', () => {
  const party = play({ clients: 2 })
  const [cut] = party.clients as [HandoverClient]
  cut.links[0]!.weather = { loss: 1 }
  party.run(14_000)
  cut.links[0]!.weather = LINE
  const { log } = party.relays[0]!.match!.relay
  expect(party.runUntil(() => cut.client.runner!.tick > log.newest - 3, 10_000)).toBe(true)
  expect(cut.client.feed.log.isWhole).toBe(false)
  party.crash(0)
  party.run(4500)
  for (const { continued, relay } of party.clients) expect([continued.length, relay]).toEqual([1, 1])
  party.run(4000)
  expect(cut.client.runner!.tick).toBeGreaterThan(party.relays[1]!.match!.relay.log.newest - 10)
  expectSame(party)
})

test('[HAND4] with one of three players gone, the other two go on within 6 s, and the third is away', () => {
  const party = play()
  const third = party.clients[2]!
  third.isGone = true
  party.crash(0)
  const crashedAt = party.clock.now
  party.run(6500)
  for (const { continued, executedAt, client } of party.clients.slice(0, 2)) {
    expect(executedAt[continued[0]!.tick + 1]! - crashedAt).toBeLessThan(6000)
    expect(client.runner!.roster.isAway(third.client.player)).toBe(true)
  }
  expectSame(party)
})

test('[HAND5] a ranked match is void: it ends in the same tick for all, with the reason', () => {
  const party = play({ rules: RANKED_ROOM })
  party.crash(0)
  party.run(6000)
  const ends = party.clients.map(({ events }) => events.filter(({ name }) => name === 'end').map(({ value }) => value))
  expect(ends).toEqual([[8], [8], [8]])
  expect(END_REASONS[8]).toBe('relay-lost')
  expectSame(party)
})

test('[HAND7] a player that comes later claims its seat, and goes on from where the others are', () => {
  const party = play({}, 8)
  const late = party.clients[2]!
  late.frozenUntil = party.clock.now + 12_000
  party.crash(0)
  party.run(11_000)
  expect(party.clients[0]!.client.runner!.roster.isAway(late.client.player)).toBe(true)
  party.run(9000)
  expect(late.relay).toBe(1)
  expect(party.clients[0]!.client.runner!.roster.isAway(late.client.player)).toBe(false)
  expect(late.client.runner!.tick).toBeGreaterThan(party.relays[1]!.match!.relay.log.newest - 10)
  expect(late.order(party.clock.now, Spawn as never, { count: 1 })).toBe('sent')
  party.run(1000)
  expectSame(party)
})

test('[HAND7] an observer goes on, too', () => {
  const party = play()
  const observer = party.add(true)
  party.run(5000)
  party.crash(0)
  party.run(9000)
  expect(observer.continued.length).toBe(1)
  expect(observer.client.runner!.tick).toBeGreaterThan(party.relays[1]!.match!.relay.log.newest - 80)
  expectSame(party)
})

test('[HAND1] a match whose seed was agreed on goes on', () => {
  const party = play({ rules: { seed: 'agreed' } })
  party.crash(0)
  party.run(6000)
  for (const { continued } of party.clients) expect(continued.length).toBe(1)
  expectSame(party)
})

test('[HAND13] a relay that is asked to end hands its match on: no tick is lost, and no client waits', () => {
  const party = play()
  party.clients.forEach((client, each) => client.order(party.clock.now, Take as never, { crate: each }))
  const { log } = party.relays[0]!.match!.relay
  const stoppedAt = party.clock.now
  party.stop(0)
  party.run(2000)
  const [first] = party.clients as [HandoverClient]
  const { tick } = first.continued[0]!
  // Every tick that the first relay closed is in the match.
  expect(tick).toBe(log.newest)
  for (const { continued, relay, executedAt, closedBy } of party.clients) {
    expect([continued.map((each) => each.tick), relay, closedBy]).toEqual([[tick], 1, 'moved'])
    expect(executedAt[tick + 1]! - stoppedAt).toBeLessThan(600)
  }
  expect(party.relays[0]!.host.rooms).toEqual([])
  expect(party.relays[1]!.match!.relay.log.newest).toBeGreaterThan(tick + 30)
  expectSame(party)
})

test('[HAND13] every order that was taken while the match moves is executed once, and reported once', () => {
  const party = play()
  const sent = party.clients.map(() => [] as number[])
  const executed = party.clients.map(() => [] as number[])
  party.clients.forEach(({ client }, number) => client.runner!.onOrder(Take as never, (values, state) => {
    if (state === 'executed') executed[number]!.push((values as unknown as { crate: number }).crate)
  }))
  for (let crate = 0; crate < 40; crate++) {
    if (crate === 5) party.stop(0)
    party.clients.forEach((client, number) => {
      if (client.order(party.clock.now, Take as never, { crate }) === 'sent') sent[number]!.push(crate)
    })
    party.run(20)
  }
  party.run(3000)
  expect(executed).toEqual(sent)
  // Orders were taken before and after the end of the first relay.
  for (const crates of sent) expect([crates.slice(0, 6), crates.at(-1)]).toEqual([[0, 1, 2, 3, 4, 5], 39])
  for (const { client } of party.clients) expect(client.runner!.ownOrders.waiting).toEqual([])
  expectSame(party)
})

test('[HAND13] two relays in turn: the match returns to the first one, and a paused match stays paused', () => {
  const party = play()
  party.stop(0)
  party.run(2000)
  party.relays[0]!.isDown = true
  party.clients[0]!.client.runner!.pause(party.clock.now)
  party.run(500)
  party.relays[0] = party.restarted(0)
  party.stop(1)
  party.run(2000)
  expect(party.clients.map(({ relay, continued }) => [relay, continued.length])).toEqual([[0, 2], [0, 2], [0, 2]])
  expect(party.relays[0].match!.relay.isPaused).toBe(true)
  party.clients[0]!.client.runner!.resume(party.clock.now)
  party.run(5000)
  expect(party.relays[0].match!.relay.isPaused).toBe(false)
  expectSame(party)
})

test('[HAND13] the next relay is down: clients go to the one after it', () => {
  const party = play({ relays: 3 })
  party.crash(1)
  party.stop(0)
  party.run(3000)
  expect(party.clients.map(({ relay }) => relay)).toEqual([2, 2, 2])
  expectSame(party)
})

test('[HAND13] an observer and a player that is away go on, too', () => {
  const party = play()
  const observer = party.add(true)
  party.run(5000)
  const late = party.clients[2]!
  late.frozenUntil = party.clock.now + 9000
  party.run(6000)
  party.stop(0)
  party.run(1500)
  expect(party.clients.slice(0, 2).map(({ relay }) => relay)).toEqual([1, 1])
  party.run(12_000)
  expect([late.relay, observer.relay]).toEqual([1, 1])
  expect(late.client.runner!.tick).toBeGreaterThan(party.relays[1]!.match!.relay.log.newest - 10)
  expectSame(party)
})

test('[HAND14] a ranked match is not handed on: it is void in the same tick for all', () => {
  const party = play({ rules: RANKED_ROOM })
  const { exit } = party.relays[0]!.match!
  party.stop(0)
  party.run(1000)
  expect([exit.isLeaving, party.clients.map(({ relay }) => relay)]).toEqual([false, [0, 0, 0]])
  expect(exit.makeVoid()).toBe(true)
  party.run(500)
  const ends = party.clients.map(({ events }) => events.filter(({ name }) => name === 'end').map(({ value }) => value))
  expect(ends).toEqual([[8], [8], [8]])
  expect([exit.isDelivered, exit.makeVoid()]).toEqual([true, false])
  expectSame(party)
})

test('[HAND6] a relay that does not know the key of the lost relay refuses', () => {
  const party = play()
  const stranger = new HandoverParty({
    game: game as unknown as LockstepGame, seed: 5, clients: 0, relays: 2, keyShift: 50,
  })
  party.relays[1] = stranger.relays[1]!
  party.crash(0)
  party.run(6000)
  for (const { continued } of party.clients) expect(continued).toEqual([])
  expect(party.relays[1].host.rooms).toEqual([])
})
