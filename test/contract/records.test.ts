/** Records: in memory, and in files of each library of SQLite, also when the writer is killed or the disk is full. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Registry } from 'prom-client'
import { afterAll, describe, expect, test } from 'vitest'
import { leaseIdOf, newLeaseId } from '../../packages/services/src/store/lease-key.ts'
import { MemoryRecords } from '../../packages/services/src/store/memory-records.ts'
import { openRecords } from '../../packages/services/src/store/open-store.ts'
import { RECORDS_WAITING_MAX } from '../../packages/services/src/store/records.ts'
import { findSqlite, type SqliteLibrary } from '../../packages/services/src/store/sqlite-file.ts'
import { openSqliteRecords } from '../../packages/services/src/store/sqlite-records.ts'
import { endPrograms, Program } from './program.ts'
import { describeRecords, untilOpen } from './records.contract.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwire-records-'))
const mounted: string[] = []
afterAll(async () => {
  await endPrograms()
  for (const path of mounted) spawnSync('umount', [path])
  rmSync(folder, { recursive: true, force: true })
})

describe('in memory', () => {
  describeRecords(async () => new MemoryRecords())

  test('[STORE13] memory has the last 10,000 records', async () => {
    const records = new MemoryRecords()
    for (let at = 0; at < RECORDS_WAITING_MAX + 5; at++) await records.add('result', leaseIdOf(`${at}`), at, '')
    expect(records.counts).toMatchObject({ stored: RECORDS_WAITING_MAX + 5, dropped: 5 })
    expect(await records.get('result', leaseIdOf('4'))).toBeUndefined()
    expect(await records.get('result', leaseIdOf('5'))).toMatchObject({ at: 5 })
  })
})

const hasNodeSqlite = findSqlite() === 'node:sqlite'
const hasLibsql = ((): boolean => {
  try {
    return import.meta.resolve('libsql') !== ''
  } catch {
    return false
  }
})()

for (const library of ['node:sqlite', 'libsql'] as const) {
  describe.skipIf(library === 'libsql' ? !hasLibsql : !hasNodeSqlite)(`in a file, by ${library}`, () => {
    describeRecords(async () => openSqliteRecords({ path: join(folder, `contract-${library.slice(-6)}.db`), library }))

    test('[STORE13] records that were stored are there after kill -9', async () => await killed(library))

    test('[STORE13] a file that cannot be opened is tried again, and the records wait', async () => {
      const path = join(folder, `later-${library.slice(-6)}`, 'records.db')
      const records = openSqliteRecords({ path, library })
      const id = newLeaseId()
      expect(await records.add('result', id, 1, 'early')).toBe('waiting')
      expect(await records.add('result', newLeaseId(), 2, 'early too')).toBe('waiting')
      expect(await records.get('result', id)).toBe('unavailable')
      expect(records.waiting).toBe(2)
      mkdirSync(join(path, '..'))
      await until(() => records.waiting === 0)
      expect(await records.get('result', id)).toMatchObject({ body: 'early' })
      expect(await records.add('result', newLeaseId(), 3, 'late')).toBe('stored')
      await records.close()
      expect(await records.add('result', newLeaseId(), 4, '')).toBe('failed')
    })

    test('[STORE14] on a full disk records wait in memory, and are stored when there is room', async (context) => {
      const place = join(folder, `full-${library.slice(-6)}`)
      mkdirSync(place)
      const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', place])
      if (status !== 0) return context.skip('a small disk cannot be mounted here')
      mounted.push(place)
      await fill(place, library)
    })
  })
}

test('[STORE13] a new process reads the records of the one before', async () => {
  const path = join(folder, 'again.db')
  const first = await openRecords(path)
  await untilOpen(first)
  const id = newLeaseId()
  expect(await first.add('result', id, 7, 'kept')).toBe('stored')
  await first.close()
  const registry = new Registry()
  const second = await openRecords(path, { isDurable: true, registry })
  await untilOpen(second)
  expect(await second.add('result', id, 8, 'again')).toBe('known')
  expect(await second.page('result', 0, 10)).toMatchObject({ records: [{ id, at: 7, body: 'kept' }], next: undefined })
  expect(await registry.metrics()).toContain('tickwire_records_total{result="known"} 1')
  await second.close()
})

async function killed(library: SqliteLibrary): Promise<void> {
  const path = join(folder, `killed-${library.slice(-6)}.db`)
  const file = new URL('./records-writer-process.ts', import.meta.url)
  const stored: string[] = []
  for (let round = 0; round < 3; round++) {
    const writer = new Program(file, [path, library])
    await writer.says(/(?:[0-9a-f]{32}\n){200}/)
    writer.child.kill('SIGKILL')
    await writer.ended
    // The last line may have been cut.
    stored.push(...writer.said.split('\n').filter((line) => /^[0-9a-f]{32}$/.test(line)))
  }
  const records = openSqliteRecords({ path, library })
  await untilOpen(records)
  let lost = 0
  for (const id of stored) if (typeof await records.get('result', id) !== 'object') lost++
  expect([lost, stored.length >= 600]).toEqual([0, true])
  await records.close()
}

async function fill(place: string, library: SqliteLibrary): Promise<void> {
  const records = openSqliteRecords({ path: join(place, 'records.db'), library })
  await untilOpen(records)
  expect(await records.add('result', newLeaseId(), 0, 'before')).toBe('stored')
  // What is left of the disk.
  const ballast = join(place, 'ballast')
  for (let bytes = 65_536; bytes >= 512;) {
    try {
      writeFileSync(ballast, Buffer.alloc(bytes), { flag: 'a' })
    } catch {
      bytes >>= 1
    }
  }
  const answers: string[] = []
  const ids = Array.from({ length: 300 }, () => newLeaseId())
  for (const id of ids) answers.push(await records.add('result', id, 1, 'x'.repeat(1000)))
  const waiting = ids.filter((_, at) => answers[at] === 'waiting')
  expect(waiting.length).toBeGreaterThan(200)
  expect(answers.filter((answer) => answer !== 'waiting' && answer !== 'stored')).toEqual([])
  expect(records.waiting).toBe(waiting.length)
  expect(records.problem).toMatch(/full|disk I\/O/i)
  rmSync(ballast)
  const roomAt = performance.now()
  await until(() => records.waiting === 0)
  expect(performance.now() - roomAt).toBeLessThan(5000)
  for (const [at, id] of ids.entries()) expect(await records.get('result', id), answers[at]).toMatchObject({ id })
  expect(records.counts).toMatchObject({ stored: 301, known: 0, failed: 0, dropped: 0 })
  await records.close()
}

async function until(isTrue: () => boolean): Promise<void> {
  for (const deadline = performance.now() + 15_000; !isTrue();) {
    if (performance.now() > deadline) throw new Error('never true')
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
