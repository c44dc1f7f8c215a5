/**
 * Bundles programs of the repository for tests that start many processes: a process that compiles the sources itself
 * needs more than a second of CPU time before it does anything.
 */

import { build } from 'esbuild'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { BUNDLED } from '../packages/services/build/bundled.ts'
import { ROOT } from '../tools/typecheck.ts'

/** Packages resolve from here, and Git ignores it. */
const CACHE = join(ROOT, '.cache')

/** Bundled programs, in a folder of their own. */
export interface ProgramBundle {
  /** Where they are: `NAME.mjs`, for each name that was given. */
  readonly folder: string
  remove(): void
}

/** Bundles the sources at `paths`, which are relative to the repository, by name. They share chunks. */
export async function bundlePrograms(paths: Readonly<Record<string, string>>): Promise<ProgramBundle> {
  mkdirSync(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'programs-'))
  const inside = ['tickwire', ...BUNDLED]
  const external = ['tickwire', 'services'].flatMap(packagesOf).filter((name) => !inside.includes(name))
  await build({
    absWorkingDir: ROOT,
    entryPoints: paths,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['tickwire-source'],
    external: external.flatMap((name) => [name, `${name}/*`]),
    logLevel: 'warning',
  })
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The packages that a package of this repository needs. */
function packagesOf(name: string): string[] {
  const { dependencies = {}, peerDependencies = {} } = JSON.parse(
    readFileSync(join(ROOT, 'packages', name, 'package.json'), 'utf8'),
  ) as { dependencies?: object; peerDependencies?: object }
  return Object.keys({ ...dependencies, ...peerDependencies })
}
