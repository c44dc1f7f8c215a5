/** The attacks on relays of `npm run bench -- attack`, shorter. */

import { describe, expect, test } from 'vitest'
import { relayAmplification, relayForgeries, relaySpellings } from '../../bench/attack/relay.ts'
import { relaySink } from '../../bench/attack/relay-sink.ts'
import { type AttackReport, isHeld } from '../../bench/attack/stage.ts'
import { whyNoNamespaces } from './nat-homes.ts'

function expectHeld(reports: readonly AttackReport[]): void {
  expect(reports.length).toBeGreaterThan(0)
  expect(reports.filter((report) => !isHeld(report))).toEqual([])
}

describe('relays', () => {
  const why = whyNoNamespaces()
  test('[NAT33] whatever address a member names, a relay sends it nothing', () => expectHeld(relaySpellings()))
  test.skipIf(why !== undefined && process.env['CI'] === undefined)(
    `[NAT33] the kernel counts no byte to other addresses${why === undefined ? '' : `: ${why}`}`,
    async () => expectHeld(await relaySink()),
  )
  test('[NAT34] a stranger gets little more than it sends', () => expectHeld(relayAmplification(12)))
  test('[NAT35] forged control messages move nothing', () => expectHeld(relayForgeries(20_000)))
})
