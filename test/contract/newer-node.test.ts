/**
 * The same code on a newer Node: what stores records in `node:sqlite`, which the oldest supported Node does not have,
 * and the unit tests of the services and of the first game.
 */

import { describe, expect, test } from 'vitest'
import { findNewerNode, NEWER_NODE } from '../../tools/node-install.ts'
import { ROOT } from '../../tools/typecheck.ts'
import { runVitest } from '../../tools/vitest-run.ts'

const program = findNewerNode()
const reason = `node:sqlite is in Node ${NEWER_NODE}, which npm could not install here`

describe.skipIf(program === undefined && process.env['CI'] === undefined)(`on Node ${NEWER_NODE} (${reason})`, () => {
  test('[STORE12, STORE13, STORE14, ROOM20] records and the rooms of the guide are kept by node:sqlite', async () => {
    expect(program, reason).toBeDefined()
    const files = ['test/contract/records.test.ts', 'test/contract/persistence.test.ts']
    const run = await runVitest(ROOT, [...files, '--testNamePattern', 'node:sqlite'], true, program)
    expect(run.failures).toEqual([])
    // Six of the contract of records, and the store of the guide.
    expect([run.passed >= 7, run.failed]).toEqual([true, 0])
  }, 240_000)
})
