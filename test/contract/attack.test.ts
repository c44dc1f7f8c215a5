/**
 * The attacks of `npm run bench -- attack`, shorter: everything that is judged there must hold here too. Times are not
 * judged.
 */

import { describe, expect, test } from 'vitest'
import { dishonestMember, fragmentFlood, malformedFrames, memberFlood } from '../../bench/attack/members.ts'
import {
  bitFlips, forgedEndings, forgeries, garbage, guessedIds, hijack, longLife, replays,
} from '../../bench/attack/packets.ts'
import { type AttackReport, isHeld } from '../../bench/attack/stage.ts'
import { amplification, cookies, halfOpen, loops, requestFlood, slowLoris } from '../../bench/attack/strangers.ts'
import { tokens } from '../../bench/attack/tokens.ts'

function expectHeld(reports: readonly AttackReport[]): void {
  const judged = reports.filter(({ unit }) => unit !== 'us')
  expect(judged.length).toBeGreaterThan(0)
  expect(judged.filter((report) => !isHeld(report))).toEqual([])
}

describe('strangers', () => {
  test('[ATTACK1] a flood of requests costs one MAC each, and no memory', () => expectHeld(requestFlood(5000)))
  test('[ATTACK2] no packet of a stranger is answered with more bytes', () => expectHeld(amplification(61)))
  test('[ATTACK3] no reply to a stranger is replied to', () => expectHeld(loops()))
  test('[ATTACK4] a cookie is valid for one client, in time, once', () => expectHeld(cookies(100)))
  test('[ATTACK5] after a flood of half-open handshakes, an honest client connects within 2 s', () => {
    expectHeld(halfOpen(2560, 2, false))
    expectHeld(halfOpen(2000, 1, true))
    expectHeld(slowLoris(60))
  })
  test('[ATTACK6] an invalid token admits no client', () => expectHeld(tokens(2)))
})

describe('the wire', () => {
  test('[ATTACK7] an altered packet has no effect', () => expectHeld(bitFlips()))
  test('[ATTACK8] no packet takes effect twice', () => expectHeld(replays(100, 5000)))
  test('[ATTACK9] an attacker without keys ends no connection and opens none', () => {
    expectHeld(forgedEndings(3000))
    expectHeld(guessedIds(5000))
  })
  test('[ATTACK10] packets replayed from another address move nothing', () => expectHeld(hijack(1000)))
  test('[ATTACK11] no nonce is used twice, no message is lost over new keys, and forgeries end no connection', () => {
    expectHeld(longLife(68_000))
    expectHeld(forgeries(2 ** 20 + 1))
  })
  test('[ATTACK12] malformed bytes neither throw nor have an effect', () => expectHeld(garbage(3)))
})

describe('members', () => {
  test('[ATTACK13] fragments occupy bounded memory', () => expectHeld(fragmentFlood(2, 300)))
  test('[ATTACK14] false acks are ignored, and requests are answered once', () =>
    expectHeld(dishonestMember(500)))
  test('[ATTACK15] a misbehaving client ends its own connection, and no other', () => {
    expectHeld(malformedFrames(24))
    expectHeld(memberFlood(5000))
  })
})
