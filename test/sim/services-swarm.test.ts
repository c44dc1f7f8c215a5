import { describe, expect, test, vi } from 'vitest'
import { form } from '../form.ts'
import { playServices, type ServicesPlant } from './services-swarm.ts'

// It takes seconds on an idle machine, and longer on a busy one.
vi.setConfig({ testTimeout: 120_000 })

test('[SIM21, I15, I20, I21, I47, I48, I49, I50, I51, I52] worlds of services hold their invariants', async () => {
  const sums: Record<string, number> = {}
  for (let seed = 1; seed <= form(6, 200); seed++) {
    const { violation, counts } = await playServices(seed)
    expect(violation && `seed ${seed}: ${violation.invariant} ${violation.problem}`).toBeUndefined()
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
  }
  const crashes = ['instance crashed', 'server crashed', 'server drained', 'store lost', 'wall clock set']
  const names = ['seated', 'results', ...crashes]
  for (const name of names) expect([name, sums[name]]).toEqual([name, expect.any(Number)])
})

/** Seeds that found a bug, and what it was. */
const FOUND = [
  { seed: 4, bug: 'leases in memory lived longer when the wall clock was set back' },
  { seed: 15, bug: 'a ticket that could not be removed was grouped again, and got other seats' },
] as const

test.each(FOUND)('[SIM21] seed $seed holds its invariants: $bug', async ({ seed }) => {
  expect((await playServices(seed)).violation).toBeUndefined()
})

test('[SIM21, I22] a world of services is a function of its seed', async () => {
  const { traceHash } = await playServices(2)
  expect((await playServices(2)).traceHash).toBe(traceHash)
  expect((await playServices(3)).traceHash).not.toBe(traceHash)
})

/** Bugs, by the invariants that may find them. */
const PLANTS: readonly { readonly finds: string; readonly name: string; readonly plant: ServicesPlant }[] = [
  {
    finds: 'I15', name: 'a room has fewer seats than it gave',
    plant: ({ servers: [first] }) => {
      for (const { seats } of first!.rooms.rooms) if (seats.reserved > 0) Object.assign(seats, { capacity: 0 })
    },
  },
  {
    finds: 'I20', name: 'a result is stored under a second id',
    plant: ({ records }) => {
      if (records.add.name === 'twice') return
      const { add } = records
      records.add = async function twice(kind, id, at, body) {
        await add.call(records, kind, id.replace(/^./, 'f'), at, body)
        return await add.call(records, kind, id, at, body)
      }
    },
  },
  { finds: 'I21', name: 'a server drains and gives seats', plant: ({ servers }) => { servers[0]!.isDraining = true } },
  { finds: 'I47', name: 'the store forgets', plant: ({ store: { leases } }) => { leases.get = async () => undefined } },
  {
    finds: 'I48', name: 'a token is cut off',
    plant: ({ instances }) => {
      for (const { seats } of instances) {
        if (seats.reserve.name === 'cut') continue
        const { reserve } = seats
        seats.reserve = async function cut(request) {
          const given = await reserve.call(seats, request)
          return typeof given === 'string' ? given : { ...given, tokens: given.tokens.map((text) => text.slice(9)) }
        }
      }
    },
  },
  { finds: 'I49', name: 'an old leader gets seats', plant: ({ servers }) => { servers[0]!.leader = Infinity } },
  {
    finds: 'I50', name: 'no instance groups after the storm',
    plant: ({ instances, isStorm }) => { if (!isStorm) for (const { matchmaker } of instances) matchmaker.close() },
  },
  { finds: 'I51', name: 'codes lead nowhere', plant: ({ sessions }) => { sessions.find = () => undefined } },
]

describe('planted bugs', () => {
  test.each(PLANTS)('[SIM21, $finds] $name is found', async ({ finds, plant }) => {
    for (let seed = 1; seed <= 6; seed++) {
      const { violation } = await playServices(seed, plant)
      if (violation === undefined) continue
      expect(violation.invariant).toBe(finds)
      return
    }
    expect.unreachable('not found in 6 seeds')
  })
})
