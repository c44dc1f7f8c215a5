import { describe, expect, test } from 'vitest'
import { form } from '../form.ts'
import type { RtypePlant } from './rtype-net.ts'
import { playRtype } from './rtype-swarm.ts'

test('[RTSWARM1, I29, I30, I31, I32, I33] R-Type worlds of many seeds hold their invariants', () => {
  const sums: Record<string, number> = {}
  for (let seed = 1; seed <= form(12, 300); seed++) {
    const { violation, counts, tally } = playRtype(seed)
    expect(violation && `seed ${seed}: ${violation.invariant} ${violation.problem}`).toBeUndefined()
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
    // A tenth of the datagrams of the storm is lost. The calm is longer and loses none.
    expect(tally.lost / tally.sent).toBeGreaterThan(0.02)
  }
  for (const name of ['join', 'move', 'leave', 'forged', 'marks', 'entities', 'input']) {
    expect([name, sums[name]]).toEqual([name, expect.any(Number)])
  }
})

/** Seeds that found a bug, and what it was. */
const FOUND = [
  { seed: 11, bug: 'a client that was accepted and found no seat got more bytes than it had sent' },
  { seed: 36, bug: 'likewise, with another order of arrivals' },
  { seed: 1735, bug: 'the answer to such a client was lost, and not repeated' },
] as const

test.each(FOUND)('[RTSWARM1] seed $seed holds its invariants: $bug', ({ seed }) => {
  expect(playRtype(seed).violation).toBeUndefined()
})

test('[RTSWARM1] an R-Type world is a function of its seed', () => {
  expect(playRtype(5).traceHash).toBe(playRtype(5).traceHash)
  expect(playRtype(5).traceHash).not.toBe(playRtype(6).traceHash)
})

const [ACK, DESTROY, FULL_TRANSFORM, ACCEPT, INPUT, LEVEL_START] = [0x70, 0x22, 0x24, 0x02, 0x10, 0x63]
let draws = 0

/** Bugs of a server, by the invariants that may find them. */
const PLANTS: readonly { readonly finds: readonly string[]; readonly name: string; readonly plant: RtypePlant }[] = [
  {
    finds: ['I29', 'I31'], name: 'a lost reliable packet is not sent again',
    plant: (bytes, toClient) => (toClient && bytes[2] === LEVEL_START && bytes[7]! % 7 === 0 ? undefined : bytes),
  },
  {
    finds: ['I29', 'I31'], name: 'a repeated packet gets a new sequence',
    plant: (bytes, toClient) => {
      if (toClient && bytes[2] === LEVEL_START) bytes[5] = ++draws % 250
      return bytes
    },
  },
  {
    finds: ['I30'], name: 'the wrong entities are destroyed',
    plant: (bytes, toClient) => {
      if (toClient && bytes[2] === DESTROY) bytes[12] = 0x80
      return bytes
    },
  },
  {
    finds: ['I30'], name: 'no full snapshots are sent',
    plant: (bytes, toClient) => (toClient && bytes[2] === FULL_TRANSFORM && bytes[7]! > 9 ? undefined : bytes),
  },
  {
    finds: ['I31'], name: 'no client is accepted in time',
    plant: (bytes, toClient) => (toClient && bytes[2] === ACCEPT ? undefined : bytes),
  },
  {
    finds: ['I33'], name: 'inputs carry old bits',
    plant: (bytes, toClient) => {
      if (!toClient && bytes[2] === INPUT && ++draws % 3 === 0) bytes[17] = (bytes[17]! + 100) & 0x7f
      return bytes
    },
  },
  {
    finds: ['I29', 'I31'], name: 'acknowledgements do not arrive',
    plant: (bytes, toClient) => (!toClient && bytes[2] === ACK ? undefined : bytes),
  },
]

describe('planted bugs', () => {
  test.each(PLANTS)('[RTSWARM1, $finds] $name is found', ({ finds, plant }) => {
    for (let seed = 1; seed <= 12; seed++) {
      const { violation } = playRtype(seed, plant)
      if (violation === undefined) continue
      expect(finds).toContain(violation.invariant)
      return
    }
    expect.unreachable('not found in 12 seeds')
  })
})
