/** The roads of docs/architecture.md, compared with the files that they lead through. */

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../../tools/typecheck.ts'

const ENGINE = join(ROOT, 'packages/tickwire/src')
const STATION = /^\| \d[^|]* \| (`[^|]+) \| ([^|]*)/gm

const page = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')
const stations = Array.from(page.matchAll(STATION), ([, files = '', does = '']) => ({
  files: Array.from(files.matchAll(/`([^`]+)`/g), ([, path = '']) => path),
  names: Array.from(does.matchAll(/`(?:room\.)?(#?[a-z]\w+)`/g), ([, name = '']) => name),
}))

test('[TIDY21] the stations of docs/architecture.md exist and have the functions that it names', () => {
  expect(stations.length).toBeGreaterThan(35)
  for (const { files, names } of stations) {
    for (const file of files) {
      const path = join(ENGINE, file)
      expect(existsSync(path), file).toBe(true)
      const code = readFileSync(path, 'utf8')
      for (const name of names) expect(code.includes(name), `${file}: ${name}`).toBe(true)
    }
  }
})
