/** The contract of leases. Every store of them must pass it. */

import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { leaseIdOf, newLeaseId } from '../../packages/services/src/store/lease-key.ts'
import { LEASE_BYTES_MAX, MESSAGE_BYTES_MAX, type Leases } from '../../packages/services/src/store/leases.ts'
import { form } from '../form.ts'

/** How the contract gets at a store. */
export interface LeasesLab {
  readonly name: string
  /** Another instance of the same store: it sees the same leases. */
  open(): Promise<Leases>
  /** Loses everything that the store has. */
  empty(): Promise<void>
}

const wait = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms))

/** Runs the contract. */
export function describeLeases(lab: () => Promise<LeasesLab>): void {
  let leases: Leases
  let other: Leases
  let store: LeasesLab
  beforeAll(async () => {
    store = await lab()
    leases = await store.open()
    other = await store.open()
  })
  afterAll(async () => await Promise.all([leases.close(), other.close()]))

  describe('owners', () => {
    test('[STORE1] only its owner renews, replaces or drops a lease', async () => {
      const id = newLeaseId()
      const number = await leases.put('listing', id, 'ada', 'one', 5000)
      expect(number).toBeGreaterThan(0)
      expect(await other.put('listing', id, 'bob', 'two', 5000)).toBe('taken')
      expect(await other.touch('listing', id, 'bob', 5000)).toBe('gone')
      expect(await other.drop('listing', id, 'bob')).toBe('gone')
      expect(await other.get('listing', id)).toEqual({ id, owner: 'ada', value: 'one', number })
      expect(await other.put('listing', id, 'ada', 'three', 5000)).toBe(number)
      expect(await leases.get('listing', id)).toEqual({ id, owner: 'ada', value: 'three', number })
      expect(await leases.touch('listing', id, 'ada', 5000)).toBe('ok')
      expect(await leases.drop('listing', id, 'ada')).toBe('ok')
      expect(await leases.get('listing', id)).toBeUndefined()
      expect(await leases.touch('listing', id, 'ada', 5000)).toBe('gone')
      expect(await leases.drop('listing', id, 'ada')).toBe('gone')
    })

    test('[STORE2] a lease that is not renewed expires; a renewed one lives on', async () => {
      const [short, long] = [newLeaseId(), newLeaseId()]
      await leases.put('server', short, 'ada', '', 200)
      await leases.put('server', long, 'ada', '', 200)
      await leases.touch('server', long, 'ada', 10_000)
      await wait(260)
      expect(await leases.get('server', short)).toBeUndefined()
      expect(await leases.touch('server', short, 'ada', 200)).toBe('gone')
      expect(await leases.take('server', short)).toBeUndefined()
      expect((await leases.get('server', long))).toMatchObject({ id: long })
      const page = await leases.page('server', '', 500)
      expect(page === 'unavailable' ? page : page.leases.map(({ id }) => id)).toEqual([long])
      expect(await other.put('server', short, 'bob', '', 200)).toBeGreaterThan(0)
    })

    test('[STORE3] every new owner gets a higher number, also after the store was emptied', async () => {
      const id = newLeaseId()
      let last = 0
      for (let round = 0; round < 50; round++) {
        const owner = `owner-${round}`
        const number = await (round % 2 === 0 ? leases : other).put('leader', id, owner, '', 5000)
        expect(number).toBeGreaterThan(last)
        expect(await leases.put('leader', id, owner, '', 5000)).toBe(number)
        last = Number(number)
        if (round % 10 === 9) await store.empty()
        else await leases.drop('leader', id, owner)
      }
    })

    test('[STORE4] of many that put or take at once, one succeeds', async () => {
      for (let round = 0; round < form(60, 600); round++) {
        const id = newLeaseId()
        const puts = await Promise.all(Array.from({ length: 16 }, async (_, at) =>
          await (at % 2 === 0 ? leases : other).put('code', id, `o${at}`, `v${at}`, 5000)))
        const winners = puts.flatMap((answer, at) => (typeof answer === 'number' ? [at] : []))
        expect(winners).toHaveLength(1)
        expect(puts.filter((answer) => answer === 'taken')).toHaveLength(15)
        const takes = await Promise.all(Array.from({ length: 16 }, async (_, at) =>
          await (at % 2 === 0 ? leases : other).take('code', id)))
        expect(takes.filter((taken) => taken !== undefined)).toEqual([
          { id, owner: `o${winners[0]}`, value: `v${winners[0]}`, number: puts[winners[0] ?? 0] },
        ])
      }
    })
  })

  describe('reading', () => {
    test('[STORE5] pages have every lease of a kind once, in the order of ids, and no other kind', async () => {
      const ids = Array.from({ length: 57 }, (_, at) => leaseIdOf(`page ${at}`)).sort()
      for (const id of ids) await leases.put('relay', id, 'ada', `text of ${id}`, 20_000)
      await leases.put('ticket', newLeaseId(), 'ada', '', 20_000)
      for (const limit of [1, 10, 19, 56, 57, 500]) {
        const seen: string[] = []
        for (let after = '', rounds = 0; rounds < 100; rounds++) {
          const page = await other.page('relay', after, limit)
          if (page === 'unavailable') throw new Error(page)
          for (const { id, value } of page.leases) expect(value).toBe(`text of ${id}`)
          seen.push(...page.leases.map(({ id }) => id))
          if (page.next === undefined) break
          after = page.next
        }
        expect(seen, `pages of ${limit}`).toEqual(ids)
      }
      await leases.drop('relay', ids[3]!, 'ada')
      const page = await leases.page('relay', ids[1]!, 2)
      expect(page === 'unavailable' ? page : page.leases.map(({ id }) => id)).toEqual([ids[2], ids[4]])
    })

    test('[STORE6] a counter counts for all instances, and begins again after its window', async () => {
      const id = newLeaseId()
      expect(await leases.count('origin', id, 300)).toBe(1)
      expect(await other.count('origin', id, 300)).toBe(2)
      await wait(150)
      expect(await leases.count('origin', id, 300)).toBe(3)
      await wait(200)
      expect(await leases.count('origin', id, 300)).toBe(1)
    })

    test('[STORE7] a text reaches the instance that listens, and no other', async () => {
      const [mine, its] = [newLeaseId(), newLeaseId()]
      const [first, second]: [string[], string[]] = [[], []]
      const stop = leases.onMessage(mine, (text) => first.push(text))
      other.onMessage(its, (text) => second.push(text))
      // A listener is known to a shared store a moment after it was added.
      for (let tries = 0; tries < 200 && await other.send(mine, 'are you there?') !== 'ok'; tries++) await wait(10)
      for (let tries = 0; tries < 200 && await leases.send(its, 'and you?') !== 'ok'; tries++) await wait(10)
      expect(await other.send(mine, 'ü'.repeat(1000))).toBe('ok')
      for (let tries = 0; tries < 200 && first.length < 2; tries++) await wait(10)
      expect(first).toEqual(['are you there?', 'ü'.repeat(1000)])
      expect(second).toEqual(['and you?'])
      expect(await leases.send(mine, 'x'.repeat(MESSAGE_BYTES_MAX))).toBe('ok')
      expect(await leases.send(mine, 'x'.repeat(MESSAGE_BYTES_MAX + 1))).toBe('too-large')
      for (let tries = 0; tries < 200 && first.length < 3; tries++) await wait(10)
      expect(first[2]).toHaveLength(MESSAGE_BYTES_MAX)
      expect(await leases.send(newLeaseId(), 'nothing listens')).toBe('gone')
      stop()
      for (let tries = 0; tries < 200 && await other.send(mine, 'late') === 'ok'; tries++) await wait(10)
      expect(await other.send(mine, 'late')).toBe('gone')
    })
  })

  describe('hostile input', () => {
    test('[STORE8] an id that could name another key leads to no lease', async () => {
      const ids = [
        '', 'short', 'A*', '*'.repeat(10), 'listing:lease:00', '../../../etc', 'ABCDEFGH\r\n', 'abc defgh', 'ÄÖÜÄÖÜÄÖ',
        'A'.repeat(27), 'f'.repeat(65), '__proto__', 'constructor', 'tw:{code}:ids', '0'.repeat(7), 'ABCDEFG1',
        '\0'.repeat(8), '%0d%0aSET%20a', 'A'.repeat(65_536),
      ]
      for (const id of ids) {
        expect(await leases.put('code', id, 'ada', '', 1000), id).toBe('invalid')
        expect(await leases.touch('code', id, 'ada', 1000)).toBe('gone')
        expect(await leases.drop('code', id, 'ada')).toBe('gone')
        expect(await leases.get('code', id)).toBeUndefined()
        expect(await leases.take('code', id)).toBeUndefined()
        expect(await leases.count('code', id, 1000)).toBe('unavailable')
        expect(await leases.send(id, '')).toBe('gone')
      }
      const id = newLeaseId()
      for (const owner of ['', 'a b', 'x'.repeat(129), 'a\n'])
        expect(await leases.put('code', id, owner, '', 1000)).toBe('invalid')
      for (const ttlMs of [0, -1, 1.5, NaN, Infinity, 1e9])
        expect(await leases.put('code', id, 'ada', '', ttlMs)).toBe('invalid')
      expect(await leases.put('code', id, 'ada', 'x'.repeat(LEASE_BYTES_MAX + 1), 1000)).toBe('invalid')
      expect(await leases.put('code', id, 'ada', 'x'.repeat(LEASE_BYTES_MAX), 1000)).toBeGreaterThan(0)
      expect(await leases.page('code', '*', 10)).toMatchObject({ leases: [{ id }] })
    })

    test('[STORE9] a kind has a limit; a full one takes the next lease when another has gone', async () => {
      await store.empty()
      const ids = Array.from({ length: 100 }, (_, at) => leaseIdOf(`leader ${at}`))
      for (const id of ids) expect(await leases.put('leader', id, 'ada', '', 30_000)).toBeGreaterThan(0)
      expect(await other.put('leader', newLeaseId(), 'ada', '', 30_000)).toBe('full')
      expect(await other.put('leader', ids[0]!, 'ada', 'more', 200)).toBeGreaterThan(0)
      await wait(260)
      expect(await other.put('leader', newLeaseId(), 'ada', '', 30_000)).toBeGreaterThan(0)
      expect(await other.put('leader', newLeaseId(), 'ada', '', 30_000)).toBe('full')
    })
  })
}
