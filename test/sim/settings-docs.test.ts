/** The tables of docs/spec/settings.md have the values that the tests check. */

import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PROFILES, SETTING_NAMES, SETTINGS } from './settings-table.ts'

const page = readFileSync(new URL('../../docs/spec/settings.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| `(\w+)` \|(.*)\|$/gm)].map(([, name, rest]) => [
  name!,
  ...rest!.split('|').map((cell) => cell.trim()),
])

test('[SET1] the page has a row for every setting, with its default and the sides that use it', () => {
  const found = rows.filter(([name]) => name! in SETTINGS).map(([name, value]) => [name, Number(value)])
  expect(found).toEqual(SETTING_NAMES.map((name) => [name, SETTINGS[name].standard]))
  for (const [name, , server, client] of rows.filter(([first]) => first! in SETTINGS)) {
    const row = SETTINGS[name as keyof typeof SETTINGS]
    // A server never sends a handshake, so the timers of the handshake reach it and are never used.
    if (row.server !== undefined && !name!.startsWith('connect')) expect(server, name).not.toBe('')
    if (row.client !== undefined) expect(client, name).not.toBe('')
  }
})

test('[SET3] the page has a row for every profile, with its numbers', () => {
  const found = rows
    .filter(([name]) => name! in PROFILES)
    .map(([name, tickRate, predict, net]) => [
      name,
      {
        tickRate: Number(tickRate),
        predict,
        net: Object.fromEntries([...net!.matchAll(/`(\w+)` ([\d.]+)/g)].map(([, key, value]) => [key, Number(value)])),
      },
    ])
  expect(Object.fromEntries(found)).toEqual(PROFILES)
})
