/**
 * T28: does the duration of a comparison reveal at which byte two secrets differ? Two classes of wrong cookies, and of
 * wrong tags, one wrong in its first byte and one in its last, are timed in turns. The result is Welch's t of the two
 * samples.
 *
 * The result informs and does not decide: on a shared machine a large t may be chance, and a small t proves little.
 */

import { ChallengeKeys } from '../../packages/tickwire/src/core/crypto/challenge-keys.ts'
import { SUITE } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import type { AttackReport } from './stage.ts'

/** T28, `count` samples of each class. */
export function timing(count: number): AttackReport[] {
  const provider = bestProvider()
  const challenges = new ChallengeKeys(provider, new Dice(28), provider.importSigning(new Uint8Array(32).fill(7)))
  const clientKey = new Uint8Array(32).fill(8)
  const { cookie } = challenges.challenge(1000, '203.0.113.1:1', clientKey)
  const cookieWrongAt = (byte: number): (() => void) => {
    const wrong = cookie.slice()
    // Not the lowest bit of the first byte: that bit selects the time bucket.
    wrong[byte]! ^= 0x80
    return () => void challenges.recognise(1000, '203.0.113.1:1', clientKey, wrong)
  }
  const aead = provider.importAead(SUITE.chacha20Poly1305, new Uint8Array(32).fill(1))
  const nonce = new Uint8Array(12)
  const sealed = new Uint8Array(300)
  aead.seal(nonce, sealed, 16, 200)
  const tagWrongAt = (byte: number): (() => void) => {
    const wrong = sealed.slice()
    wrong[216 + byte]! ^= 0x80
    return () => void aead.open(nonce, wrong, 16, 216)
  }
  const report = (what: string, early: () => void, late: () => void): AttackReport => ({
    threat: 'T28',
    what: `${what}: |t| of first byte wrong against last (leak above 4.5)`,
    count,
    value: Math.abs(welch(early, late, count)),
    unit: 't',
  })
  return [report('cookies', cookieWrongAt(0), cookieWrongAt(15)), report('tags', tagWrongAt(0), tagWrongAt(15))]
}

function welch(early: () => void, late: () => void, count: number): number {
  const samples: [number[], number[]] = [[], []]
  const dice = new Dice(29)
  for (let index = 0; index < count * 2 + 2000; index++) {
    const which = dice.word() & 1
    const act = which === 0 ? early : late
    const startedAt = process.hrtime.bigint()
    act()
    const ns = Number(process.hrtime.bigint() - startedAt)
    if (index >= 2000) samples[which]!.push(ns)
  }
  // Times above a limit, which the operating system caused, are cut off at the same limit for both classes.
  const cut = [...samples[0], ...samples[1]].sort((a, b) => a - b)[Math.floor(count * 1.8)]!
  const [a, b] = samples.map((all) => moments(all.filter((ns) => ns <= cut)))
  return (a!.mean - b!.mean) / Math.sqrt(a!.variance / a!.count + b!.variance / b!.count)
}

function moments(values: readonly number[]): { mean: number; variance: number; count: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1)
  return { mean, variance, count: values.length }
}
