/** The contract of records. Every store of them must pass it. */

import { afterAll, beforeAll, expect, test } from 'vitest'
import { leaseIdOf, newLeaseId } from '../../packages/services/src/store/lease-key.ts'
import { RECORD_BYTES_MAX, type Records } from '../../packages/services/src/store/records.ts'

/** Waits until the store answers. Its thread compiles itself first here, which may take longer than a deadline. */
export async function untilOpen(records: Records): Promise<void> {
  for (const until = Date.now() + 30_000; await records.get('result', newLeaseId()) === 'unavailable';)
    if (Date.now() > until) throw new Error('the store does not open')
}

/** Runs the contract. */
export function describeRecords(open: () => Promise<Records>): void {
  let records: Records
  beforeAll(async () => {
    records = await open()
    await untilOpen(records)
  })
  afterAll(async () => await records.close())

  test('[STORE12] a record that is added a thousand times is stored once, as it was first', async () => {
    const id = newLeaseId()
    const answers = await Promise.all(Array.from({ length: 1000 }, async (_, at) =>
      await records.add('result', id, 1_800_000_000_000 + at, `{"winner":${at}}`)))
    expect(answers.every((answer) => answer === 'stored' || answer === 'known')).toBe(true)
    expect(await records.add('result', id, 0, 'other')).toBe('known')
    expect(await records.get('result', id)).toMatchObject({ id, at: 1_800_000_000_000, body: '{"winner":0}' })
    expect(await records.get('other', id)).toBeUndefined()
    expect(await records.add('other', id, 0, 'ü\n"')).toBe('stored')
    expect(await records.get('other', id)).toMatchObject({ body: 'ü\n"' })
    expect(records.counts).toMatchObject({ failed: 0, dropped: 0 })
    expect(records.waiting).toBe(0)
  })

  test('[STORE12] pages have every record of a kind once, in the order in which they were stored', async () => {
    const ids = Array.from({ length: 23 }, (_, at) => leaseIdOf(`record ${at}`))
    for (const [at, id] of ids.entries()) expect(await records.add('page', id, at, `${at}`)).toBe('stored')
    for (const limit of [1, 7, 22, 23, 500]) {
      const seen: string[] = []
      for (let after = 0, rounds = 0; rounds < 100; rounds++) {
        const page = await records.page('page', after, limit)
        if (page === 'unavailable') throw new Error(page)
        seen.push(...page.records.map(({ id }) => id))
        if (page.next === undefined) break
        after = page.next
      }
      expect(seen, `pages of ${limit}`).toEqual(ids)
    }
  })

  test('[STORE12] an invalid record is refused and counted', async () => {
    const id = newLeaseId()
    for (const [kind, name, at, body] of [
      ['Result', id, 0, ''], ['', id, 0, ''], ["r'; DROP TABLE records; --", id, 0, ''], ['result', 'bad id', 0, ''],
      ['result', id, -1, ''], ['result', id, 0, 'a\0b'], ['result', id, 0.5, ''],
      ['result', id, 0, 'x'.repeat(RECORD_BYTES_MAX + 1)],
    ] as const) expect(await records.add(kind, name, at, body)).toBe('failed')
    expect(records.counts.failed).toBe(8)
    expect(await records.get('result', id)).toBeUndefined()
    expect(await records.get('result', "' OR 1=1")).toBeUndefined()
  })
}
