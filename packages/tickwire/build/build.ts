/**
 * Makes `dist`: one file of JavaScript for each door of package.json, chunks that doors share, source maps, and
 * declarations.
 *
 * docs/adr/0036-bundled-dist.md has the reasons.
 *
 *   npm run build
 */

import { build } from 'esbuild'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { markNamespaces, markPure } from './mark-pure.ts'
import { rollTypes } from './roll-types.ts'

const PACKAGE = join(import.meta.dirname, '..')
const DIST = join(PACKAGE, 'dist')
/** Where `tsc -b` leaves the declarations of each source file. */
const EMITTED = join(PACKAGE, '.cache', 'types')
/** Programs that are started by their path, beside the doors. */
const PROGRAMS = { cli: 'src/cli/index.ts', 'learning-process': 'src/node/learning-process.ts' }

interface Door {
  readonly 'tickwire-source': string
  readonly types: string
  readonly default: string
}

const { exports } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8')) as {
  exports: Record<string, Door | string>
}
const doors = Object.values(exports).filter((door): door is Door => typeof door !== 'string')

rmSync(DIST, { recursive: true, force: true })
emitDeclarations()
await bundle()
writeTypes()

function emitDeclarations(): void {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
  const { status } = spawnSync(process.execPath, [compiler, '-b'], { cwd: PACKAGE, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

async function bundle(): Promise<void> {
  const entries = doors.map((door) => [basename(door.default, '.js'), door['tickwire-source']] as const)
  const { outputFiles } = await build({
    absWorkingDir: PACKAGE,
    entryPoints: Object.fromEntries([...entries, ...Object.entries(PROGRAMS)]),
    outdir: DIST,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2022',
    packages: 'external',
    sourcemap: true,
    sourcesContent: false,
    legalComments: 'none',
    chunkNames: 'chunk-[hash]',
    logLevel: 'warning',
    plugins: [markPure],
    write: false,
  })
  mkdirSync(DIST)
  for (const { path, text } of outputFiles) writeFileSync(path, path.endsWith('.js') ? markNamespaces(text) : text)
}

function writeTypes(): void {
  const paths = doors.map((door) => {
    const source = door['tickwire-source'].replace('./src/', '').replace(/\.ts$/, '.d.ts')
    return [basename(door.types), source] as const
  })
  for (const [path, text] of rollTypes(EMITTED, new Map(paths))) {
    mkdirSync(dirname(join(DIST, path)), { recursive: true })
    writeFileSync(join(DIST, path), text)
  }
}
