import { describe, expect, test } from 'vitest'
import { FIELD } from '../../packages/tickwire/src/core/order-relay/relay-state.ts'
import { form } from '../form.ts'
import { playLockstep, type Plant } from './lockstep-swarm.ts'

test('[LOCK26, DESYNC8, I12, I19, I23, I24, I25, I26, I27, I28, I35] matches of many seeds hold invariants', () => {
  const sums: Record<string, number> = {}
  for (let seed = 1; seed <= form(3, 200); seed++) {
    const { violation, counts } = playLockstep(seed)
    expect(violation && `seed ${seed}: ${violation.invariant} ${violation.problem}`).toBeUndefined()
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
  }
  const names = ['honest', 'orders', 'ticks', 'outage', 'resume', 'replayed', 'clock jumped']
  for (const name of names) expect(sums[name]).toBeGreaterThan(0)
})

test('[DESYNC8, I35] matches in which one number of one world changes end with equal worlds', () => {
  let healed = 0
  for (let seed = 1; seed <= form(4, 200); seed++) {
    const { violation, counts } = playLockstep(seed, () => {}, true)
    expect(violation && `seed ${seed}: ${violation.invariant} ${violation.problem}`).toBeUndefined()
    healed += counts['healed'] ?? 0
  }
  expect(healed).toBeGreaterThan(0)
})

test.each([
  { seed: 115, bug: 'orders that arrived after a loss counted as not sent, and the client sent without end' },
  { seed: 150, bug: 'the same, with a match that is paused' },
])('[DESYNC8] seed $seed with a changed world ends with equal worlds: $bug', ({ seed }) => {
  expect(playLockstep(seed, () => {}, true).violation).toBeUndefined()
})

/** Seeds that found a bug, and what it was. */
const FOUND = [
  { seed: 294, bug: 'a new player gave the waiting orders of the player that had left its slot' },
  { seed: 387, bug: 'two late ticks were taken for jitter, and all ticks after them were held for seconds' },
  { seed: 257, bug: 'orders in the first packet of a player were acknowledged before it had joined, and lost' },
  { seed: 50_133, bug: 'a client that resumed its seat after a minute counted as a new one, and its orders were lost' },
  { seed: 51_050, bug: 'a client that asked for a state again got no answer, and no ticks any more' },
] as const

test.each(FOUND)('[LOCK26] seed $seed holds its invariants: $bug', ({ seed }) => {
  expect(playLockstep(seed).violation).toBeUndefined()
})

test('[LOCK26] a lockstep match is a function of its seed', () => {
  expect(playLockstep(3).traceHash).toBe(playLockstep(3).traceHash)
})

/** Bugs of a peer or of the relay, by the invariant that must find them. */
const PLANTS: readonly { readonly finds: string; readonly name: string; readonly plant: Plant }[] = [
  {
    finds: 'I19', name: 'a round trip is measured backwards',
    plant: ({ clients: [first] }) => { for (const { rtt } of first!.client.endpoint.connections) rtt.times[0]! *= -1 },
  },
  {
    finds: 'I23', name: 'a client changes a received byte',
    plant: ({ clients }, isStorm) => {
      const { log } = clients[0]!.client.feed
      const at = log.endOf(40)
      if (isStorm && log.newest > 50) log.bytes[at] = log.bytes[at]! ^ 1
    },
  },
  {
    finds: 'I24', name: 'a page draws from the generator of the world',
    plant: ({ clients: [first] }) => {
      if (first!.client.runner?.tick === 90) first!.client.runner.world.prng.nextU32()
    },
  },
  {
    finds: 'I25', name: 'the relay forgets which orders it has',
    plant: ({ match: { relay } }) => {
      for (let slot = 0; slot < 8; slot++)
        relay.state.set(slot, FIELD.newest, Math.max(0, relay.state.get(slot, FIELD.newest) - 1))
    },
  },
  {
    finds: 'I26', name: 'the relay waits for a player',
    plant: ({ match: { relay }, clients, clock }) => {
      const wait = relay.log.newest > 60 && relay.log.newest < 70 && clients[0]!.client.runner !== undefined
      if (wait) relay.deadline.ms = 90 + (clock.now % 50)
    },
  },
  {
    finds: 'I27', name: 'a client does not step after an outage',
    plant: ({ clients, clock }, isStorm) => { if (!isStorm) clients[1]!.stuckUntil = clock.now + 1000 },
  },
  {
    finds: 'I35', name: 'the relay heals a client that is right',
    plant: ({ match }) => { match.judge.counts.healed++ },
  },
  {
    finds: 'I28', name: 'a client sees a pause one tick later',
    plant: ({ clients }) => {
      for (const event of clients[0]!.events) if (event[0] === 'join' && event[2] > 1) event[2]++
    },
  },
]

describe('planted bugs', () => {
  test.each(PLANTS)('[LOCK26, $finds] $name is found', ({ finds, plant }) => {
    for (let seed = 1; seed <= 12; seed++) {
      const { violation } = playLockstep(seed, plant)
      if (violation === undefined) continue
      expect(violation.invariant).toBe(finds)
      return
    }
    expect.unreachable('not found in 12 seeds')
  })
})
