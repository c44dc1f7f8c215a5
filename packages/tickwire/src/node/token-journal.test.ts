import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { SpentTokens } from '../core/crypto/spent-tokens.ts'
import { openTokenJournal } from './token-journal.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwire-journal-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const id = (value: number): Uint8Array => new Uint8Array(16).fill(value)
const key = (value: number): Uint8Array => new Uint8Array(32).fill(value)

test.each([false, true])(
  '[TOKEN8] on disk a token stays spent when the process is killed (durable: %s)',
  (isDurable) => {
    const path = join(folder, 'made', `spent-${isDurable}`)
    const first = openTokenJournal(path, { isDurable })
    expect(new SpentTokens(0, first).spend(0, id(1), key(1), 300)).toBe('fresh')
    // The file is not closed, as after a killed process.
    const second = openTokenJournal(path)
    expect(new SpentTokens(10, second).spend(10, id(1), key(2), 300)).toBe('spent')
    expect(statSync(path).mode & 0o077).toBe(0)
    first.close()
    second.close()
  },
)

test('[TOKEN8] a truncated end on disk is cut, and later records are in step', () => {
  const path = join(folder, 'torn')
  const first = openTokenJournal(path)
  const spent = new SpentTokens(0, first)
  spent.spend(0, id(1), key(1), 300)
  first.close()
  appendFileSync(path, Buffer.alloc(17, 0xff))
  const second = openTokenJournal(path)
  const after = new SpentTokens(10, second)
  expect(after).toMatchObject({ count: 1, damagedRecords: 1 })
  expect(after.spend(10, id(2), key(1), 300)).toBe('fresh')
  expect(readFileSync(path)).toHaveLength(128)
  expect(existsSync(`${path}.next`)).toBe(false)
  second.close()
})

test('[TOKEN8] a file left by a crash in the middle of a replacement does no harm', () => {
  const path = join(folder, 'half')
  writeFileSync(`${path}.next`, 'half a journal')
  const journal = openTokenJournal(path)
  expect(new SpentTokens(0, journal).spend(0, id(1), key(1), 300)).toBe('fresh')
  expect(readFileSync(path)).toHaveLength(64)
  journal.close()
})

test('[TOKEN8] a missing journal is reported, and nothing throws', () => {
  const path = join(folder, 'gone')
  const journal = openTokenJournal(path)
  const spent = new SpentTokens(0, journal)
  journal.close()
  expect(spent.spend(0, id(1), key(1), 300)).toBe('unwritten')
  expect(() => openTokenJournal(join(path, 'below a file'))).toThrow()
})
