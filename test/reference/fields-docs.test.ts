import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { WIRE_FIELDS } from 'tickwire/engine'

test('[DEV8] the names of bits are those of docs/wire/FIELDS.md, all of them and no others', () => {
  const page = readFileSync(new URL('../../docs/wire/FIELDS.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `([\w.]+)` \| (.+) \|$/gm)].map(([, name, meaning]) => [name, meaning])
  expect(rows).toEqual(Object.entries(WIRE_FIELDS))
})
