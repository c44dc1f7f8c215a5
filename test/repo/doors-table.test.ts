/** The table of the doors in docs/spec/attacks.md against the limits themselves. */

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import * as doors from '../../packages/tickwire/src/core/base/limits-doors.ts'
import * as limits from '../../packages/tickwire/src/core/base/limits.ts'

const page = readFileSync(new URL('../../docs/spec/attacks.md', import.meta.url), 'utf8')
const [head = '', ...rows] = page
  .slice(page.indexOf('| door |'))
  .split('\n\n', 1)[0]!
  .split('\n')
  .filter((line) => !line.startsWith('|---'))

test('[DOOR12] every limit in the table exists and has the value that the table says', () => {
  const all: { readonly [name: string]: unknown } = limits
  const named = rows.flatMap((row) =>
    [...row.matchAll(/\b([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+) (\d+)/g)].map(
      ([, name = '', value]) => [name, Number(value)] as const,
    ),
  )
  expect(named.length).toBeGreaterThan(40)
  expect(named.map(([name]) => [name, all[name]])).toEqual(named.map(([name, value]) => [name, value]))
})

test('[DOOR12] every limit of the doors is in the table, and every door has a rule', () => {
  const text = rows.join('\n')
  // Limits that follow from others, or are about our own side.
  const elsewhere = new Set(['PATHS_PER_CONNECTION', 'WEBSOCKET_OPEN_MS'])
  expect(Object.keys(doors).filter((name) => !elsewhere.has(name) && !new RegExp(`\\b${name} \\d`).test(text))).toEqual(
    [],
  )
  expect(head.split(' | ')).toHaveLength(6)
  expect(rows.filter((row) => !/\| [A-Z]+\d+(, [A-Z]+\d+)* \|$/.test(row))).toEqual([])
})

test('[DOOR12] limits that are computed from other limits have the computed value', () => {
  expect(limits.PATHS_PER_ORIGIN).toBe(limits.PATHS_PER_CONNECTION * limits.CONNECTIONS_PER_ORIGIN)
  expect(limits.WEBSOCKET_FRAMES_PER_SECOND).toBe(limits.INBOUND_END_TIMES * limits.PEER_PACKETS_PER_SECOND)
})
