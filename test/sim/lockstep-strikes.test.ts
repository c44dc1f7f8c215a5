import { expect, test } from 'vitest'
import { OrderRelay } from '../../packages/tickwire/src/core/order-relay/order-relay.ts'
import { readTicks } from '../reference/lockstep-checker.ts'
import { game, Take } from './lockstep-game.ts'
import { LockstepParty } from './lockstep-party.ts'
import './unplanned-heals.ts'

test('[LOCK44] a player with too many strikes is removed from a ranked match, in the same tick everywhere', () => {
  const party = new LockstepParty({
    game: game as never, seed: 3, clients: 3, lagging: 'drop', relay: { strikesMax: 6, stallMs: 60_000 },
  })
  party.run(1000)
  party.clients[2]!.stuckUntil = Infinity
  party.run(6000)
  expect(party.notices.filter(({ kind }) => kind === 'lagging').map(({ peer }) => peer)).toEqual([3])
  expect(party.clients[2]!.closedBy).toBe('kicked')
  const leaves = party.clients.slice(0, 2).map(({ events }) => events.filter(([name]) => name === 'leave'))
  expect(leaves[0]).toHaveLength(1)
  expect(leaves[1]).toEqual(leaves[0])
  const [given] = readTicks(party.match.relay.log.bytes.slice(0, party.match.relay.log.length))
    .flat().filter(({ type }) => type === 0xc1)
  expect(given!.data).toBe('0303')
  // Without the rule the player is only reported.
  const casual = new LockstepParty({
    game: game as never, seed: 3, clients: 3, relay: { strikesMax: 6, stallMs: 60_000 },
  })
  casual.run(1000)
  casual.clients[2]!.stuckUntil = Infinity
  casual.run(6000)
  expect(casual.notices.some(({ kind }) => kind === 'lagging')).toBe(true)
  expect(casual.clients[2]!.isClosed).toBe(false)
})

test('[LOCK30] a relay takes every card that is valid: games of 1 to 3 ticks a second, too', () => {
  for (const tickRate of [1, 3, 4, 30, 128]) {
    const relay = new OrderRelay({ tickRate, players: 2, secret: 1, deadlineMs: 1 })
    expect(relay.deadline.ms).toBeGreaterThan(1000 / tickRate)
  }
})

test('[LOCK20] orders of an observer are in no tick, whatever its client says', () => {
  const party = new LockstepParty({ game: game as never, seed: 5, clients: 2, observerDelayTicks: 60 })
  party.run(1000)
  const observer = party.add({ role: 'spectator' })
  party.run(3000)
  for (let each = 0; each < 20; each++) {
    observer.order(party.clock.now, Take as never, { crate: 999 })
    party.clients[0]!.order(party.clock.now, Take as never, { crate: each })
    party.run(100)
  }
  party.run(3000)
  const { log, counts } = party.match.relay
  const all = readTicks(log.bytes.slice(0, log.length)).flat()
  const orders = all.filter(({ player, type }) => player > 0 || type < 0xc0)
  expect(orders.map(({ player }) => player)).toEqual(Array.from({ length: 20 }, () => party.clients[0]!.client.player))
  expect(counts.placed).toBe(20)
  expect(observer.client.runner!.tick).toBeGreaterThan(100)
})
