import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { SpentTokens } from '../core/crypto/spent-tokens.ts'
import { sweepTokens, WorkerTokens } from './worker-tokens.ts'

const folder = mkdtempSync(join(tmpdir(), 'tickwire-tokens-'))
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('[WORK6] a token that one worker has spent is spent in all, for every other client', () => {
  const [first, second] = [new SpentTokens(100), new SpentTokens(100)].map((own) => new WorkerTokens(own, folder))
  const [token, ada, eve] = [new Uint8Array(16).fill(1), new Uint8Array(32).fill(2), new Uint8Array(32).fill(3)]
  expect(second!.isSpent(token, eve)).toBe(false)
  expect(first!.spend(100, token, ada, 200)).toBe('fresh')
  expect([second!.isSpent(token, eve), second!.spend(100, token, eve, 200)]).toEqual([true, 'spent'])
  // Its answer was lost, and the client tries again, in another worker.
  expect([second!.isSpent(token, ada), second!.spend(100, token, ada, 200)]).toEqual([false, 'fresh'])
  second!.finish(token)
  expect([first!.isSpent(token, ada), first!.spend(100, token, ada, 200)]).toEqual([true, 'spent'])
  sweepTokens(folder, 199)
  expect(readdirSync(folder)).toHaveLength(1)
  sweepTokens(folder, 201)
  expect(readdirSync(folder)).toHaveLength(0)
})
