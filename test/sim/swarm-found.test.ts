/**
 * Failures that seeds have found, each by itself, as tests with names. Those that are played as found:
 * swarm-regressions.test.ts.
 */

import { expect, test } from 'vitest'
import { drain } from '../../packages/tickwire/src/core/endpoint/drain.ts'
import { type Endpoint, createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { ClockSync } from '../../packages/tickwire/src/core/time/clock-sync.ts'
import { TickClock } from '../../packages/tickwire/src/core/time/tick-clock.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'

/**
 * Two endpoints side by side; `touch` may change the server's packets, by number. Returns the milliseconds until the
 * client has joined.
 */
function connectMs(touch: (number: number, bytes: Uint8Array) => void): number {
  const security = { provider: new StubCrypto() }
  const base = { fingerprint: new Uint8Array(8), security, assemble: () => {} }
  const server = createEndpoint({ ...base, entropy: new Dice(1), maxConnections: 1 })
  const client = createEndpoint({ ...base, entropy: new Dice(2) })
  const connection = client.connect(0, 'server')
  let said = 0
  const pass = (now: number, from: Endpoint, to: Endpoint, name: string): void => {
    drain(from, now, {
      send: (_to, bytes, length) => {
        const copy = bytes.slice(0, length)
        if (from === server) touch(++said, copy)
        to.handleDatagram(now, name, copy, length)
      },
    }, () => {})
  }
  for (let now = 0; now < 10_000; now += 5) {
    pass(now, client, server, 'client')
    pass(now, server, client, 'server')
    if (connection.isOpen) return now
  }
  return Infinity
}

test('[SIM5] one altered challenge costs a client two seconds, not all its tries (seeds 21307, 21851)', () => {
  let length = 0
  expect(connectMs((number, bytes) => { if (number === 1) length = bytes.length })).toBeLessThan(300)
  expect(length).toBeGreaterThan(60)
  for (let at = 0; at < length; at++) {
    const ms = connectMs((number, bytes) => { if (number === 1) bytes[at]! ^= 1 })
    expect(ms, `byte ${at}`).toBeLessThan(2600)
  }
})

test('[SIM5] a deadline within the rounding of now is waited for, and does not loop (seed 5110)', () => {
  const sync = new ClockSync(30)
  for (let at = 0; at < 8; at++) sync.sample(at * 3, at * 100, 40)
  const clock = new TickClock(sync)
  for (let now = 5803.889439099404; now < 6500; now = clock.timeOf(Math.floor(clock.ticks) + 1)) {
    clock.advance(now, 30)
    expect(clock.timeOf(Math.floor(clock.ticks) + 1)).toBeGreaterThan(now)
    expect(clock.timeOf(clock.ticks + 1e-13)).toBeGreaterThan(now)
  }
})
