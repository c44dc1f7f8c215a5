import { describe, expect, test } from 'vitest'
import { form } from '../form.ts'
import { type PathPlant, playPath } from './path-swarm.ts'

test('[SIM20, I1, I13, I14, I16, I17, I18, I19, I45, I46] worlds of paths of many seeds hold their invariants', () => {
  const sums: Record<string, number> = {}
  for (let seed = 1; seed <= form(8, 300); seed++) {
    const { violation, counts } = playPath(seed)
    expect(violation && `seed ${seed}: ${violation.invariant} ${violation.problem}`).toBeUndefined()
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count
  }
  const names = ['attacker', 'forged', 'relay crashed', 'relay restarted', 'router restarted', 'slept', 'messages']
  for (const name of names) expect([name, sums[name]]).toEqual([name, expect.any(Number)])
})

/** Seeds that found a bug, and what it was. */
const FOUND = [{ seed: 20, bug: 'a peer never asked a relay again that had refused it while it drained' }] as const

test.each(FOUND)('[SIM20] seed $seed holds its invariants: $bug', ({ seed }) => {
  expect(playPath(seed).violation).toBeUndefined()
})

test('[SIM20, I22] a world of paths is a function of its seed', () => {
  expect(playPath(5).traceHash).toBe(playPath(5).traceHash)
  expect(playPath(5).traceHash).not.toBe(playPath(6).traceHash)
})

/** Calls `change` once for every process of a relay. */
function onRelays(change: (relay: Parameters<PathPlant>[0]['relays'][number]) => void): PathPlant {
  const known = new Set<object>()
  return ({ relays }) => {
    for (const relay of relays) {
      if (known.has(relay)) continue
      known.add(relay)
      change(relay)
    }
  }
}

/** A bug, and the invariants that may find it. */
interface Planted {
  readonly finds: readonly string[]
  readonly name: string
  readonly plant: () => PathPlant
}
const PLANTS: readonly Planted[] = [
  {
    finds: ['I1'], name: 'a message arrives twice',
    plant: () => ({ host: { received } }) => { if (received.length === 30) received.push(29) },
  },
  {
    finds: ['I46'], name: 'a relay changes what it forwards',
    plant: () => onRelays((relay) => {
      const { handleDatagram } = relay
      relay.handleDatagram = (now, from, bytes, length, out) => {
        const isSent = handleDatagram.call(relay, now, from, bytes, length, out)
        if (isSent && out.bytes[0]! >= 0x40 && out.length > 60) out.bytes[50]! ^= 1
        return isSent
      }
    }),
  },
  {
    finds: ['I14'], name: 'the answers of a relay are longer than the questions',
    plant: () => onRelays((relay) => {
      const { handleDatagram } = relay
      relay.handleDatagram = (now, from, bytes, length, out) => {
        const isSent = handleDatagram.call(relay, now, from, bytes, length, out)
        if (out.bytes[0] === 0x54 && out.length < 100) out.length += 100
        return isSent
      }
    }),
  },
  {
    finds: ['I13'], name: 'a relay never frees an allocation',
    plant: () => onRelays((relay) => {
      relay.pollTransmit = () => false
      relay.pollTimeout = () => Infinity
    }),
  },
  {
    finds: ['I17'], name: 'a host that sleeps counts as connected',
    plant: () => ({ host: { machine } }, isStorm) => { machine.isAsleep ||= !isStorm },
  },
  {
    finds: ['I19'], name: 'a clock runs backwards',
    plant: () => ({ guest }) => { guest.port.relays[0]!.rttMs = -1 },
  },
  {
    finds: ['I16'], name: 'a path that failed is still used',
    plant: () => ({ guest }) => { for (const { race } of guest.port.peers.values()) race.direct ||= '192.0.2.1:1' },
  },
]

describe('planted bugs', () => {
  test.each(PLANTS)('[SIM20, $finds] $name is found', ({ finds, plant }) => {
    for (let seed = 1; seed <= 8; seed++) {
      const { violation } = playPath(seed, plant())
      if (violation === undefined) continue
      expect(finds).toContain(violation.invariant)
      return
    }
    expect.unreachable('not found in 8 seeds')
  })
})
