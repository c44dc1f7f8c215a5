/**
 * Makes `dist`: the door and the program as JavaScript, with chunks that they share, and declarations.
 *
 *   npm run build
 */

import { build } from 'esbuild'
import { spawnSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const PACKAGE = join(import.meta.dirname, '..')
const DIST = join(PACKAGE, 'dist')

rmSync(DIST, { recursive: true, force: true })
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
const { status } = spawnSync(process.execPath, [compiler, '-b'], { cwd: PACKAGE, stdio: 'inherit' })
if (status !== 0) process.exit(status ?? 1)
await build({
  absWorkingDir: PACKAGE,
  // Programs that are started by their path are beside the door.
  entryPoints: { index: 'src/index.ts', cli: 'src/cli/index.ts', 'records-process': 'src/store/records-process.ts' },
  outdir: DIST,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  packages: 'external',
  sourcemap: true,
  sourcesContent: false,
  chunkNames: 'chunk-[hash]',
  logLevel: 'warning',
})
cpSync(join(PACKAGE, '.cache', 'types'), DIST, { recursive: true, filter: (path) => !path.endsWith('.tsbuildinfo') })
