/** The version of this package, from its package.json. */

import { readFileSync } from 'node:fs'

// The package contains `src`, and bundles of it in `dist`.
const FILE = import.meta.url.endsWith('.ts') ? '../../package.json' : '../package.json'

export function packageVersion(): string {
  return (JSON.parse(readFileSync(new URL(FILE, import.meta.url), 'utf8')) as { version: string }).version
}
