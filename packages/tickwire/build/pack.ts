/**
 * What `npm pack` and `npm publish` do around packing: `before` builds `dist`, and takes the sources out of the
 * manifest; `after` puts the manifest back.
 *
 * Sources are not in the package: they are half of its size. In a checkout, the condition `tickwire-source` leads to
 * them (docs/adr/0001-one-package-with-doors.md).
 */

import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MANIFEST = join(import.meta.dirname, '..', 'package.json')
const KEPT = `${MANIFEST}.kept`

const [when] = process.argv.slice(2)
if (when === 'before') {
  await import('./build.ts')
  copyFileSync(MANIFEST, KEPT)
  const manifest = JSON.parse(readFileSync(MANIFEST, 'utf8')) as { exports: Record<string, Record<string, string>> }
  for (const door of Object.values(manifest.exports)) delete door['tickwire-source']
  writeFileSync(MANIFEST, `${JSON.stringify(manifest, null, 2)}\n`)
} else if (existsSync(KEPT)) {
  renameSync(KEPT, MANIFEST)
}
