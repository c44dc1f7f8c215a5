import { describe, expect, test } from 'vitest'
import { createTransmit } from '../connection/transmit.ts'
import { pureProvider } from '../crypto/pure-provider.ts'
import { announced, checkCandidates, isReachable } from './candidates.ts'
import { PATH_TABLE, PathRace } from './path-race.ts'

const seen = (address: string) => ({ kind: 'seen', address }) as const

describe('candidates', () => {
  test('[NAT18] addresses that no player has are dropped, whatever their spelling', () => {
    const refused = [
      '127.0.0.1:80', '[::1]:80', '[::ffff:127.0.0.1]:80', '[::ffff:7f00:1]:80', '0.0.0.0:80', '[::]:80',
      '224.0.0.1:80',
      '255.255.255.255:80', '169.254.1.1:80', '[fe80::1]:80', '[ff02::1]:80', '[64:ff9b::7f00:1]:80',
      '[2002:7f00:1::]:80', '[2002:c0a8:101::1]:80', '0177.0.0.1:80', '0x7f.0.0.1:80', '2130706433:80', '127.1:80',
      'localhost:80', 'example.com:80', '192.0.2.1', '192.0.2.1:0', '192.0.2.1:65536', '192.0.2.1:080', '',
    ]
    expect(refused.filter((address) => isReachable(address))).toEqual([])
    const fine = ['8.8.8.8:80', '192.168.1.5:4000', '[2606:4700::1]:4000']
    expect(fine.filter((address) => !isReachable(address))).toEqual([])
    expect(isReachable('127.0.0.1:80', true)).toBe(true)
  })

  test('[NAT18] a list has at most 8 candidates, each once; other values have none', () => {
    const many = Array.from({ length: 100 }, (_, index) => seen(`8.8.8.${index}:5`))
    expect(checkCandidates(many)).toHaveLength(8)
    expect(checkCandidates([many[0], many[0], { kind: 'relay', address: '8.8.8.8:7777', allocation: 'x' }])).toEqual([
      many[0],
    ])
    const items = [null, 5, 'x', {}, { kind: 'seen' }, { kind: 'other', address: '8.8.8.8:1' }]
    for (const value of [null, 'x', 5, { length: 3 }, items])
      expect(checkCandidates(value)).toEqual([])
  })

  test('[NAT17] relay-only announces relays, direct-only announces none', () => {
    const all = [
      seen('8.8.8.8:5'), { kind: 'host', address: '10.0.0.1:5' } as const,
      { kind: 'relay', address: '8.8.4.4:7777', allocation: '0011223344556677' } as const,
    ]
    expect(announced(all, 'relay-only').map(({ kind }) => kind)).toEqual(['relay'])
    expect(announced(all, 'direct-only').map(({ kind }) => kind)).toEqual(['seen', 'host'])
    expect(announced(all, 'race')).toEqual(all)
  })
})

describe('the race', () => {
  const [key, other] = [new Uint8Array(16).fill(1), new Uint8Array(16).fill(2)]
  const [a, b] = ['8.8.8.8:1', '8.8.4.4:2'] as const

  function probeOf(race: PathRace, now: number): Uint8Array {
    const out = createTransmit()
    expect(race.pollTransmit(now, out)).toBe(true)
    return out.bytes.slice(0, out.length)
  }

  test('[NAT19] a probe under another key has no effect; one under the right key is answered to its source', () => {
    const race = new PathRace({ provider: pureProvider, key })
    const peer = new PathRace({ provider: pureProvider, key })
    const stranger = new PathRace({ provider: pureProvider, key: other })
    for (const one of [peer, stranger]) one.start(0, [seen(a)])
    const forged = probeOf(stranger, 0)
    expect(race.handleDatagram(0, b, forged, forged.length)).toBe(false)
    expect(race.pollTransmit(0, createTransmit())).toBe(false)
    const probe = probeOf(peer, 0)
    expect(race.handleDatagram(0, b, probe, probe.length)).toBe(true)
    const out = createTransmit()
    expect(race.pollTransmit(0, out)).toBe(true)
    expect([out.to, out.length]).toEqual([b, probe.length])
  })

  test('[NAT19] a reply counts only from the address that was probed', () => {
    const [race, peer] = [new PathRace({ provider: pureProvider, key }), new PathRace({ provider: pureProvider, key })]
    race.start(0, [seen(a)])
    const probe = probeOf(race, 0)
    peer.handleDatagram(0, b, probe, probe.length)
    const reply = probeOf(peer, 0)
    race.handleDatagram(10, '8.8.4.4:9', reply, reply.length)
    expect(race.state).toBe('racing')
    race.handleDatagram(10, a, reply, reply.length)
    expect(race).toMatchObject({ state: 'direct', direct: a, rttMs: 10, reason: 'probe-answered' })
  })

  test('[NAT19] at most 8 addresses are learnt, and a race ends after 5 s', () => {
    const [race, peer] = [new PathRace({ provider: pureProvider, key }), new PathRace({ provider: pureProvider, key })]
    race.start(0, [])
    peer.start(0, [seen(a)])
    const probe = probeOf(peer, 0)
    for (let index = 1; index <= 50; index++) race.handleDatagram(0, `8.8.8.8:${index}`, probe, probe.length)
    const targets = new Set<string>()
    const out = createTransmit()
    for (let now = 0; now < 5000; now += 10) while (race.pollTransmit(now, out)) targets.add(out.to)
    expect(targets.size).toBe(8)
    expect(race.pollTransmit(5000, out)).toBe(false)
    expect(race).toMatchObject({ state: 'relayed', reason: 'no-answer' })
  })

  test('[NAT15] every state of the table can be left, and every next state exists', () => {
    for (const [state, events] of Object.entries(PATH_TABLE)) {
      expect(Object.keys(events).length, state).toBeGreaterThan(0)
      for (const [next] of Object.values(events)) expect(Object.keys(PATH_TABLE)).toContain(next)
    }
  })
})
