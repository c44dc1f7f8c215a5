/**
 * Makes `dist`: the door and the program as JavaScript, with chunks that they share, and declarations.
 *
 *   npm run build
 */

import { build } from 'esbuild'
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { BUNDLED } from './bundled.ts'

const PACKAGE = join(import.meta.dirname, '..')
const DIST = join(PACKAGE, 'dist')
const { dependencies, peerDependencies, optionalDependencies } = JSON.parse(
  readFileSync(join(PACKAGE, 'package.json'), 'utf8'),
) as { dependencies: object; peerDependencies: object; optionalDependencies: object }
const installed = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies })
  .filter((name) => !BUNDLED.includes(name))

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
  external: installed.flatMap((name) => [name, `${name}/*`]),
  sourcemap: true,
  sourcesContent: false,
  chunkNames: 'chunk-[hash]',
  logLevel: 'warning',
})
cpSync(join(PACKAGE, '.cache', 'types'), DIST, { recursive: true, filter: (path) => !path.endsWith('.tsbuildinfo') })
for (const name of BUNDLED) {
  const folder = join(PACKAGE, '..', '..', 'node_modules', name)
  const license = readdirSync(folder).find((file) => /^license/i.test(file))
  if (license === undefined) throw new Error(`${name} has no license to pack`)
  cpSync(join(folder, license), join(DIST, `${name.replaceAll('/', '-')}.license.txt`))
}
