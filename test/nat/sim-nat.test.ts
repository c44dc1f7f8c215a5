import { describe, expect, test } from 'vitest'
import { form } from '../form.ts'
import type { NatKind, NatSight } from '../../packages/tickwire/src/testing/sim-nat.ts'
import { NatStage } from './nat-stage.ts'

const SIGHTS: readonly NatSight[] = ['none', 'address', 'port']
const KINDS: readonly Required<Pick<NatKind, 'mapping' | 'filtering'>>[] = SIGHTS.flatMap((mapping) =>
  SIGHTS.map((filtering) => ({ mapping, filtering })),
)
type Kind = (typeof KINDS)[number]

/** Whether a probe of `from` to the announced address of `to` arrives, and its answer too. */
function answers(from: Kind, to: Kind): boolean {
  const isOpen = to.filtering === 'none'
    || (to.mapping === 'none' && (to.filtering === 'address' || from.mapping === 'none'))
  return isOpen && (to.mapping === 'none' || from.filtering !== 'port')
}

function expectedPath(host: Kind, guest: Kind): string {
  // Both routers use a new port for every port of the other, so a direct path is impossible.
  if (host.mapping === 'port' && guest.mapping === 'port') return 'relay'
  return answers(guest, host) || answers(host, guest) ? 'direct' : 'relay'
}

const textOf = ({ mapping, filtering }: Kind): string => `${mapping}/${filtering}`
const PAIRS = KINDS.flatMap((host) =>
  KINDS.map((guest) => ({ host, guest, name: `${textOf(host)} x ${textOf(guest)}` })),
)
const SEEDS = form(1, 50)

function expectWhole(stage: NatStage): void {
  expect(stage.host.received).toEqual(Array.from({ length: stage.host.received.length }, (_, index) => index))
  expect(stage.host.received.length).toBeGreaterThanOrEqual(stage.sent - 20)
}

describe('paths', () => {
  test.each(PAIRS)('[NAT15] $name reach the expected path, without a lost message', ({ host, guest }) => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const stage = new NatStage(host, guest, { seed, jitterMs: 5 })
      stage.meet()
      stage.play(1500)
      expect([`seed ${seed}`, stage.path]).toEqual([`seed ${seed}`, expectedPath(host, guest)])
      expect(stage.sent).toBeGreaterThan(40)
      expectWhole(stage)
    }
  })

  test('[NAT15] the connection begins by relay and moves to the direct path without a gap', () => {
    const stage = new NatStage({}, {}, { seed: 3 })
    stage.meet('relay-only')
    stage.play(500)
    expect(stage.path).toBe('relay')
    stage.trickle()
    stage.play(1000)
    expect(stage.addresses[0]).toMatch(/^relay\/0\//)
    expect(stage.addresses.at(-1)).toMatch(/^198\.51\.100\.2:/)
    expect(stage.host.connections).toHaveLength(1)
    expectWhole(stage)
    // Most packets of this second went directly, not by relay.
    expect(stage.relays[0]!.counts.forwarded).toBeLessThan(80)
  })

  test.each([{ hasHairpin: true }, { hasHairpin: false }])('[NAT15] two peers behind one router, %o', (kind) => {
    const stage = new NatStage(kind, 'same', { seed: 4 })
    stage.meet()
    stage.play(1000)
    expect(stage.path).toBe('direct')
    expect(stage.addresses.at(-1)).toMatch(/^10\.0\.0\.3:/)
    expectWhole(stage)
  })

  test.each([true, false])('[NAT15] routers that keep ports (%s), with loss', (keepsPorts) => {
    const stage = new NatStage({ keepsPorts }, { keepsPorts }, { seed: 5, loss: 0.1, jitterMs: 20 })
    stage.meet()
    stage.play(4000)
    expect(stage.path).toBe('direct')
    expectWhole(stage)
  })

  test('[NAT16] kill -9 of the relay in use: the standby carries on, with every message in order', () => {
    const symmetric: NatKind = { mapping: 'port', filtering: 'port' }
    for (let seed = 1; seed <= form(5, 50); seed++) {
      const stage = new NatStage(symmetric, symmetric, { seed })
      stage.meet()
      stage.play(2000)
      const before = stage.host.received.length
      stage.relayHosts[0]!.isDead = true
      stage.play(1300)
      expect(stage.host.received.length).toBeGreaterThan(before + 40)
      stage.play(1000)
      expect([stage.path, stage.addresses.at(-1)]).toEqual(['relay', expect.stringMatching(/^relay\/1\//)])
      expectWhole(stage)
      expect(stage.host.connections).toHaveLength(1)
    }
  })

  test('[NAT16] a direct path that falls silent: the relay carries on, and the race begins again', () => {
    const stage = new NatStage({}, {}, { seed: 6 })
    stage.meet()
    stage.play(1000)
    expect(stage.path).toBe('direct')
    // Both routers restart and forget every port, the relays' included.
    stage.host.machine.host.router!.forget()
    stage.guest.machine.host.router!.forget()
    stage.play(5000)
    expect(stage.guest.connections[0]!.isOpen).toBe(true)
    expectWhole(stage)
  })

  test.each([true, false])('[NAT37] a machine that goes to another network (noticed: %s)', (isNoticed) => {
    const symmetric: NatKind = { mapping: 'port', filtering: 'port' }
    for (let seed = 1; seed <= form(4, 50); seed++) {
      for (const kind of [{}, symmetric]) {
        const stage = new NatStage({}, {}, { seed, jitterMs: 2 })
        stage.meet()
        stage.play(1500)
        expect(stage.path).toBe('direct')
        stage.moveGuest(kind, 50, isNoticed)
        stage.play(4000)
        expect([seed, kind, stage.path]).toEqual([seed, kind, kind === symmetric ? 'relay' : 'direct'])
        if (kind !== symmetric) expect(stage.addresses.at(-1)).toMatch(/^198\.51\.100\.9:/)
        expect(stage.host.connections).toHaveLength(1)
        expectWhole(stage)
      }
    }
  })

  test('[NAT32] a guest that meets its host by a code is connected soon, whichever relay answers first', () => {
    const symmetric: NatKind = { mapping: 'port', filtering: 'port' }
    for (let seed = 1; seed <= form(10, 50); seed++) {
      for (const kind of [{}, symmetric]) {
        const stage = new NatStage(kind, kind, { seed, jitterMs: 2 })
        stage.prepareHost()
        stage.meetByCode(50)
        // Of two relays the second may answer first: the handshake stays on the path that it began with.
        expect(stage.clock.driveUntil(() => stage.guest.connections[0]?.isOpen === true, 700)).toBe(true)
        stage.play(1000)
        expect(stage.path).toBe(kind === symmetric ? 'relay' : 'direct')
        expectWhole(stage)
      }
    }
  })

  test('[NAT39] a relay that drains refuses a guest, restarts, and is used', () => {
    const symmetric: NatKind = { mapping: 'port', filtering: 'port' }
    const stage = new NatStage(symmetric, symmetric, { seed: 8, relays: 1 })
    stage.prepareHost()
    stage.relays[0]!.drain(stage.clock.now, 10_000)
    stage.meetByCode(50)
    stage.announceChanges(50)
    stage.clock.drive(2000)
    expect(stage.guest.port.relays[0]).toMatchObject({ state: 'refused', refusal: 'draining' })
    stage.restartRelay(0, 9)
    stage.clock.drive(6000)
    expect(stage.guest.port.relays[0]).toMatchObject({ state: 'ready', refusal: undefined })
    stage.play(1000)
    expect(stage.path).toBe('relay')
    expectWhole(stage)
  })

  test('[NAT17] relay-only announces no address and probes none', () => {
    const stage = new NatStage({}, {}, { seed: 7, mode: 'relay-only' })
    stage.meet()
    expect(stage.host.candidates('relay-only').every(({ kind }) => kind === 'relay')).toBe(true)
    stage.play(1000)
    expect(stage.path).toBe('relay')
    expect(stage.addresses).toEqual([expect.stringMatching(/^relay\/0\//)])
    expectWhole(stage)
  })
})
