import { describe, expect, test } from 'vitest'
import { ConfigError } from '../base/assert.ts'
import { ORIGIN_LIMITS, OriginGuard, completeLimits } from './origin-limits.ts'

const entropy = { fill: (bytes: Uint8Array): void => void bytes.fill(0x5a) }

describe('limits per origin', () => {
  test('[SEC9] handshakes and challenges a second are limited; after the limit, none until time has passed', () => {
    const guard = new OriginGuard(ORIGIN_LIMITS, entropy)
    const asks = (count: number, now: number, ask: (now: number, address: string) => boolean): number =>
      Array.from({ length: count }, (_, index) => ask(now, `203.0.113.7:${1000 + index}`)).filter(Boolean).length
    expect(asks(200, 0, (now, address) => guard.mayShakeHands(now, address))).toBe(10)
    expect(asks(200, 0, (now, address) => guard.mayChallenge(now, address))).toBe(50)
    expect(asks(200, 500, (now, address) => guard.mayShakeHands(now, address))).toBe(5)
    expect(asks(200, 60_000, (now, address) => guard.mayShakeHands(now, address))).toBe(10)
    expect(guard.mayShakeHands(0, '203.0.113.8:1')).toBe(true)
  })

  test('[SEC9] a household counts as one origin: all of an IPv6 /64, in any notation', () => {
    const guard = new OriginGuard(ORIGIN_LIMITS, entropy)
    const from = (index: number): string => `[2001:db8:1:2::${index.toString(16)}]:9`
    expect(
      Array.from({ length: 50 }, (_, index) => guard.mayShakeHands(0, from(index + 1))).filter(Boolean).length,
    ).toBe(10)
    expect(guard.mayShakeHands(0, '[2001:db8:1:3::1]:9')).toBe(true)
  })

  test('[ORIGIN8] S11: 65,536 /64s of one /48 count as 16 origins and not as 65,536, and those of one /56 as 4', () => {
    const asked = (guard: OriginGuard, count: number, from: (index: number) => string): number =>
      Array.from({ length: count }, (_, index) => guard.mayShakeHands(0, from(index))).filter(Boolean).length
    const guard = new OriginGuard(ORIGIN_LIMITS, entropy)
    expect(asked(guard, 65_536, (index) => `[2001:db8:1:${index.toString(16)}::1]:9`)).toBe(160)
    expect(asked(guard, 256, (index) => `[2001:db8:2:${index.toString(16)}::1]:9`)).toBe(40)
    expect(guard.mayShakeHands(0, '[2001:db8:3::1]:9'), 'another network').toBe(true)
    const others = Array.from({ length: 300 }, (_, index) => `[2001:db8:4:${(index % 60).toString(16)}::${index}]:9`)
    expect([19, 20, 300].map((count) => guard.isCrowded('[2001:db8:4:ff::1]:9', others.slice(0, count)))).toEqual([
      false,
      true,
      true,
    ])
    expect([20, 79, 80].map((count) => guard.isCrowded('[2001:db8:4:ff00::1]:9', others.slice(0, count)))).toEqual([
      false,
      false,
      true,
    ])
    expect(guard.isCrowded('[2001:db8:5::1]:9', others)).toBe(false)
  })

  test('[SEC9] the local machine and network are exempt by default; an address without origin is not limited', () => {
    const lenient = new OriginGuard(ORIGIN_LIMITS, entropy)
    const strict = new OriginGuard(completeLimits({ areLocalExempt: false, handshakes: 1 }), entropy)
    for (const address of ['127.0.0.1:1', '192.168.1.2:1', '[::1]:1', '10.1.2.3:4']) {
      for (let ask = 0; ask < 100; ask++) expect(lenient.mayShakeHands(0, address)).toBe(true)
      expect(strict.mayShakeHands(0, address)).toBe(true)
      expect(strict.mayShakeHands(0, address)).toBe(false)
    }
    for (let ask = 0; ask < 100; ask++) expect(strict.mayShakeHands(0, 'ws:7')).toBe(true)
    const behind = new OriginGuard(completeLimits({ handshakes: 1, originOf: () => '203.0.113.7' }), entropy)
    expect([behind.mayShakeHands(0, 'ws:7'), behind.mayShakeHands(0, 'ws:8')]).toEqual([true, false])
  })

  test('[SEC9] a flood of origins uses no more memory, and one origin that keeps asking stays limited', () => {
    const guard = new OriginGuard(ORIGIN_LIMITS, entropy)
    let granted = 0
    for (let round = 0; round < 200_000; round++) {
      guard.mayShakeHands(round / 1000, `${1 + (round % 100)}.${(round >>> 3) & 255}.${(round >>> 11) & 255}.9:1`)
      if (round % 10 === 0 && guard.mayShakeHands(round / 1000, '203.0.113.7:5')) granted++
    }
    expect(granted).toBeLessThan(30)
  })

  test('[SEC9] connections of one origin are counted at their current address', () => {
    const guard = new OriginGuard(ORIGIN_LIMITS, entropy)
    const others = ['203.0.113.7:1', '203.0.113.7:2', '203.0.113.9:1', 'ws:1', '203.0.113.7:3', '203.0.113.7:4']
    expect(guard.isCrowded('203.0.113.7:9', others)).toBe(false)
    expect(guard.isCrowded('203.0.113.7:9', [...others, '203.0.113.7:5'])).toBe(true)
    expect(guard.isCrowded('203.0.113.9:9', [...others, '203.0.113.7:5'])).toBe(false)
    expect(guard.isCrowded('127.0.0.1:9', others.map(() => '127.0.0.1:9'))).toBe(false)
  })

  test('limits that would admit no client are refused', () => {
    expect(() => completeLimits({ handshakes: 0 })).toThrow(ConfigError)
    expect(() => completeLimits({ connections: Number.NaN })).toThrow(ConfigError)
    expect(completeLimits({ connections: Infinity }).connections).toBe(Infinity)
  })
})
