import { describe, expect, test } from 'vitest'
import { form } from '../form.ts'
import { playMesh, type MeshPlant } from './mesh-swarm.ts'

test('[LOCK71, I19, I23, I24, I25, I28, I36, I37] meshes of many seeds hold their invariants', () => {
  const sums: Record<string, number> = {}
  for (let seed = 16; seed < 16 + form(3, 300); seed++) {
    const { violation, counts } = playMesh(seed)
    expect(violation && `seed ${seed}: ${violation.invariant} ${violation.problem}`).toBeUndefined()
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
  }
  const names = ['ticks', 'orders', 'outage', 'removed', 'line-lost', 'clock jumped']
  for (const name of names) expect(sums[name]).toBeGreaterThan(0)
})

/** Seeds that found a bug, and what it was. */
const FOUND = [
  { seed: 17, bug: 'a peer that had given up went on sending, and the other waited for it' },
  { seed: 47, bug: 'a player that had left ended with line-lost, because the others closed its connections' },
  { seed: 308, bug: 'a player that left in a pause never ended' },
] as const

test.each(FOUND)('[LOCK71] seed $seed holds its invariants: $bug', ({ seed }) => {
  expect(playMesh(seed).violation).toBeUndefined()
})

test('[LOCK71] a mesh is a function of its seed', () => {
  expect(playMesh(4).traceHash).toBe(playMesh(4).traceHash)
})

/** Bugs of a peer, by the invariant that must find them. */
const PLANTS: readonly { readonly finds: string; readonly name: string; readonly plant: MeshPlant }[] = [
  {
    finds: 'I19', name: 'a round trip is measured backwards',
    plant: ({ members: [first] }) => { for (const { rtt } of first!.client.endpoint.connections) rtt.times[0]! *= -1 },
  },
  {
    finds: 'I23', name: 'a peer changes a merged byte',
    plant: ({ members: [first] }, isStorm) => {
      const { log } = first!.client.feed
      const at = log.startOf(40)
      if (isStorm && log.newest >= 40 && log.bytes[at] === 0x5a) log.bytes[at] = 0x5b
    },
  },
  {
    finds: 'I24', name: 'a page draws from the generator of the world',
    plant: ({ members: [first] }) => {
      if (first!.tick === 45) first!.client.runner!.world.prng.nextU32()
    },
  },
  {
    finds: 'I28', name: 'a peer sees a deadline one tick later',
    plant: ({ members: [first] }) => {
      for (const event of first!.events) if (event[0] === 'deadline') event[3] += 1000
    },
  },
  {
    finds: 'I36', name: 'a peer removes another without a reason',
    plant: ({ members: [first] }) => {
      const peer = first!.client.feed.peers[0]!
      if (first!.tick > 140) peer.verdict ??= { reason: 1, newest: peer.log.newest }
    },
  },
  {
    finds: 'I37', name: 'a peer does not step after the storm',
    plant: ({ members, clock }, isStorm) => {
      for (const member of members) if (!isStorm && clock.now > 20_000) member.stuckUntil = Infinity
    },
  },
]

describe('planted bugs', () => {
  test.each(PLANTS)('[LOCK71, $finds] $name is found', ({ finds, plant }) => {
    for (let seed = 1; seed <= 12; seed++) {
      const { violation } = playMesh(seed, plant)
      if (violation === undefined) continue
      expect(violation.invariant).toBe(finds)
      return
    }
    expect.unreachable('not found in 12 seeds')
  })
})
