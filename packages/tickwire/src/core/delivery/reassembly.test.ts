import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ConfigError } from '../base/assert.ts'
import { FRAGMENT_BYTES, LARGE_MESSAGE_BYTES_MAX } from '../base/limits.ts'
import { FragmentPool, FragmentQuota } from './fragment-pool.ts'
import { Reassembler } from './reassembly.ts'

const make = (limits = { partsMax: 4096, bytesMax: 2 ** 22 }) => {
  const pool = new FragmentPool()
  const quota = new FragmentQuota(pool, limits)
  return { pool, quota, reassembler: new Reassembler(quota) }
}

const FULL = new Uint8Array(FRAGMENT_BYTES)
const messageOf = (length: number, salt: number): Uint8Array =>
  new Uint8Array(length).map((_, at) => (at * 31 + (at >>> 8) + salt) & 0xff)

const isSame = (a: Uint8Array, b: Uint8Array): boolean => a.length === b.length && a.every((byte, at) => byte === b[at])

/** The fragments of a message, cut as the standard says. */
function cut(message: Uint8Array, group: number): Uint8Array[] {
  const count = Math.ceil(message.length / FRAGMENT_BYTES)
  return Array.from({ length: count }, (_, index) => {
    const data = message.subarray(index * FRAGMENT_BYTES, (index + 1) * FRAGMENT_BYTES)
    const fragment = new Uint8Array(5 + data.length)
    fragment.set([1, group >>> 8, group & 0xff, index, count - 1])
    fragment.set(data, 5)
    return fragment
  })
}

/** The slow, clear twin: a map of maps. */
class Model {
  readonly groups = new Map<number, Map<number, Uint8Array>>()

  insert(fragment: Uint8Array): Uint8Array | undefined {
    const group = fragment[1]! * 256 + fragment[2]!
    const parts = this.groups.get(group) ?? new Map<number, Uint8Array>()
    this.groups.set(group, parts)
    if (!parts.has(fragment[3]!)) parts.set(fragment[3]!, fragment.slice(5))
    if (parts.size <= fragment[4]!) return undefined
    this.groups.delete(group)
    return Uint8Array.from([...parts].sort(([a], [b]) => a - b).flatMap(([, part]) => [...part]))
  }

  get parts(): number {
    return [...this.groups.values()].reduce((sum, parts) => sum + parts.size, 0)
  }
}

describe('reassembly', () => {
  test('[FRAG2] in any order, mixed and repeated, the fast and the slow implementation deliver the same', () => {
    const lengths = fc.array(fc.integer({ min: 1024, max: 9000 }), { minLength: 1, maxLength: 8 })
    fc.assert(fc.property(lengths, fc.infiniteStream(fc.nat()), fc.nat(3), (sizes, draw, repeats) => {
      const { pool, quota, reassembler } = make()
      const model = new Model()
      const fragments = sizes.flatMap((length, group) => cut(messageOf(length, group), group * 8191))
      const out = new Uint8Array(9000)
      const next = (below: number): number => draw.next().value! % below
      while (fragments.length > 0) {
        const at = next(fragments.length)
        const isRepeat = repeats > 0 && next(4) < repeats
        const [fragment] = isRepeat ? [fragments[at]!] : fragments.splice(at, 1)
        const expected = model.insert(fragment!)
        const verdict = reassembler.insert(0, fragment!, fragment!.length)
        expect(verdict === 'complete').toBe(expected !== undefined)
        if (verdict === 'complete') expect(isSame(out.slice(0, reassembler.take(out)), expected!)).toBe(true)
        expect([quota.parts, pool.parts]).toEqual([model.parts, model.parts])
      }
    }), { seed: 21, numRuns: 30 })
  })

  test('[FRAG1] the largest message is 256 fragments', () => {
    const { reassembler, quota } = make()
    const message = messageOf(LARGE_MESSAGE_BYTES_MAX, 3)
    const fragments = cut(message, 65_535)
    expect(fragments.length).toBe(256)
    const verdicts = fragments.reverse().map((fragment) => reassembler.insert(0, fragment, fragment.length))
    expect(verdicts.at(-1)).toBe('complete')
    expect(reassembler.completeLength).toBe(message.length)
    const out = new Uint8Array(message.length)
    reassembler.take(out)
    expect(isSame(out, message)).toBe(true)
    expect([quota.parts, quota.bytes, reassembler.openCount]).toEqual([0, 0, 0])
  })

  test.each<[string, number[], number]>([
    ['no data', [1, 0, 0, 0, 1], 0],
    ['one fragment alone', [1, 0, 0, 0, 0], 9],
    ['an index after the last', [1, 0, 0, 3, 2], 9],
    ['a fragment in the middle that is not full', [1, 0, 0, 0, 2], FRAGMENT_BYTES - 1],
    ['a fragment that is longer than any', [1, 0, 0, 0, 2], FRAGMENT_BYTES + 1],
    ['two fragments for what fits one message', [1, 0, 0, 1, 1], 4],
  ])('[FRAG5] %s is broken, and costs nothing', (_name, head, dataBytes) => {
    const { reassembler, quota } = make()
    const fragment = Uint8Array.of(...head, ...new Uint8Array(dataBytes))
    expect(reassembler.insert(0, fragment, fragment.length)).toBe('broken')
    expect([quota.parts, reassembler.openCount]).toEqual([0, 0])
  })

  test('[FRAG5] a group that changes its size is broken', () => {
    const { reassembler } = make()
    const [first] = cut(messageOf(5000, 1), 7)
    const [other] = cut(messageOf(3000, 1), 7)
    expect(reassembler.insert(0, first!, first!.length)).toBe('held')
    expect(reassembler.insert(0, other!, other!.length)).toBe('broken')
  })

  test('[FRAG3] parts and bytes are bounded, for a peer and for all, on every insert', () => {
    const pool = new FragmentPool({ partsMax: 10, bytesMax: 2 ** 20 })
    const greedy = new Reassembler(new FragmentQuota(pool, { partsMax: 6, bytesMax: 2 ** 20 }))
    const other = new Reassembler(new FragmentQuota(pool, { partsMax: 6, bytesMax: 5 * FRAGMENT_BYTES }))
    const insertAll = (reassembler: Reassembler) =>
      cut(messageOf(9 * FRAGMENT_BYTES, 1), 1)
        .map((fragment) => reassembler.insert(0, fragment, fragment.length))
        .filter((verdict) => verdict === 'held').length
    expect(insertAll(greedy)).toBe(6)
    expect(insertAll(other)).toBe(4)
    greedy.clear()
    expect([pool.parts, pool.bytes]).toEqual([4, 4 * FRAGMENT_BYTES])
    const [, , , , fifth, sixth] = cut(messageOf(9 * FRAGMENT_BYTES, 1), 1)
    expect(other.insert(0, fifth!, fifth!.length)).toBe('held')
    expect(other.insert(0, sixth!, sixth!.length)).toBe('no-room')
  })

  test('[FRAG3] a flood of first fragments uses no more than its quota, and no more than 64 groups', () => {
    const { reassembler, quota, pool } = make()
    for (let group = 0; group < 300; group++) {
      const first = Uint8Array.of(1, group >>> 8, group & 0xff, 0, 255, ...FULL)
      reassembler.insert(0, first, first.length)
      expect(quota.parts).toBeLessThanOrEqual(64)
    }
    expect(reassembler.openCount).toBe(64)
    expect(pool.bytes).toBe(64 * FRAGMENT_BYTES)
  })

  test('[FRAG6] a group that is too old is discarded, and its memory is free', () => {
    const { reassembler, quota } = make()
    cut(messageOf(5000, 1), 1).slice(1).forEach((fragment) => reassembler.insert(100, fragment, fragment.length))
    cut(messageOf(5000, 1), 2).slice(1).forEach((fragment) => reassembler.insert(200, fragment, fragment.length))
    reassembler.abandon(199)
    expect([reassembler.openCount, quota.parts, reassembler.abandonedCount]).toEqual([1, 4, 1])
    expect([reassembler.abandonOldest(), reassembler.abandonOldest()]).toEqual([true, false])
    expect([quota.parts, quota.bytes]).toEqual([0, 0])
  })

  test('[FRAG3] limits that do not fit one large message are refused at once', () => {
    expect(() => new FragmentPool({ partsMax: 1, bytesMax: 1e6 })).toThrow(ConfigError)
  })
})
