import { describe, expect, test } from 'vitest'
import { form } from '../form.ts'
import { playHandover, type HandoverPlant } from './handover-swarm.ts'

test('[HAND8, I9, I23, I24, I25, I38, I39, I42] matches whose relays crash hold their invariants', () => {
  const sums: Record<string, number> = {}
  for (let seed = 1; seed <= form(12, 300); seed++) {
    const { violation, counts } = playHandover(seed)
    expect(violation && `seed ${seed}: ${violation.invariant} ${violation.problem}`).toBeUndefined()
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
  }
  const names = ['crash', 'asked', 'continued', 'ticks', 'verified after a handover']
  for (const name of names) expect(sums[name]).toBeGreaterThan(0)
})

test('[HAND8] seed 80215: ticks from before the image of a client that claimed late are still on their way', () => {
  expect(playHandover(80_215).violation).toBeUndefined()
})

test.each([775, 1059])('[HAND8] seed %d: ticks of the next relay overtake its answer', (seed) => {
  expect(playHandover(seed).violation).toBeUndefined()
})

test('[HAND8] seed 313: the second relay is lost before an observer has the ticks of its first checkpoint', () => {
  expect(playHandover(313).violation).toBeUndefined()
})

test('[HAND8] seed 1109: a player claims its seat while it fetches the ticks before its image', () => {
  expect(playHandover(1109).violation).toBeUndefined()
})

test('[HAND8] a match whose relay crashes is a function of its seed', () => {
  expect(playHandover(3).traceHash).toBe(playHandover(3).traceHash)
})

/** Bugs, by the invariant that must find them. */
const PLANTS: readonly { readonly finds: string; readonly name: string; readonly plant: HandoverPlant }[] = [
  {
    finds: 'I38', name: 'the next relay changes a tick that it took over',
    plant: ({ relays: [, next] }) => {
      const log = next?.match?.relay.log
      if (log !== undefined && log.newest > 10) log.bytes[log.startOf(5)] = 0
    },
  },
  {
    finds: 'I39', name: 'no relay follows',
    plant: ({ relays }) => { for (const node of relays) node.isDown ||= relays[0]!.isDown },
  },
]

describe('planted bugs', () => {
  test.each(PLANTS)('[HAND8, $finds] $name: found', ({ finds, plant }) => {
    for (let seed = 1; seed <= 12; seed++) {
      const { violation } = playHandover(seed, plant)
      if (violation === undefined) continue
      expect(violation.invariant).toBe(finds)
      return
    }
    expect.unreachable('not found in 12 seeds')
  })
})
