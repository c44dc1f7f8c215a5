/**
 * The attacks of `npm run bench -- attack`, shorter: whatever is judged there must hold here too. Times are not judged.
 */

import { describe, expect, test } from 'vitest'
import { dishonestMember, fragmentFlood, malformedFrames, memberFlood } from '../../bench/attack/members.ts'
import { bitFlips, forgedEndings, forgeries, garbage, guessedIds, hijack, longLife, replays } from '../../bench/attack/packets.ts'
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
  test('[ATTACK2] nothing a stranger sends is answered with more', () => expectHeld(amplification(61)))
  test('[ATTACK3] no answer is answered', () => expectHeld(loops()))
  test('[ATTACK4] a cookie is of use to one, in time, once', () => expectHeld(cookies(100)))
  test('[ATTACK5] half-open handshakes keep honest clients out for a moment', () => {
    expectHeld(halfOpen(2560, 2, false))
    expectHeld(halfOpen(2000, 1, true))
    expectHeld(slowLoris(60))
  })
  test('[ATTACK6] a token that is not good lets nobody in', () => expectHeld(tokens(2)))
})

describe('the wire', () => {
  test('[ATTACK7] a touched packet has no effect', () => expectHeld(bitFlips()))
  test('[ATTACK8] nothing is taken twice', () => expectHeld(replays(100, 5000)))
  test('[ATTACK9] who has no keys ends nothing and gets in nowhere', () => {
    expectHeld(forgedEndings(3000))
    expectHeld(guessedIds(5000))
  })
  test('[ATTACK10] packets carried elsewhere move nothing', () => expectHeld(hijack(1000)))
  test('[ATTACK11] keys last, and are replaced in time', () => {
    expectHeld(longLife(68_000))
    expectHeld(forgeries(2 ** 20 + 1))
  })
  test('[ATTACK12] nonsense is neither thrown nor felt', () => expectHeld(garbage(3)))
})

describe('members', () => {
  test('[ATTACK13] fragments pin what they may, and no more', () => expectHeld(fragmentFlood(2, 300)))
  test('[ATTACK14] lies about acks are not believed, questions are answered once', () => expectHeld(dishonestMember(500)))
  test('[ATTACK15] who misbehaves ends himself, and nobody else', () => {
    expectHeld(malformedFrames(24))
    expectHeld(memberFlood(5000))
  })
})
