/**
 * The simulated worlds as one file, with lines of the engine changed on the way: how bugs are planted and coverage is marked
 * without a switch in anything that ships.
 *
 * A patch names a file of the engine, a piece of it that stands there exactly once, and what stands there instead. One that no
 * longer finds its piece throws: a planted bug that is not planted would be the best-hidden of all.
 */

import { build, type Plugin } from 'esbuild'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './typecheck.ts'

/** One change of one line of the engine. */
export interface SourcePatch {
  /** Below packages/tickwire/src. */
  readonly file: string
  readonly find: string
  readonly replace: string
}

export interface BundleOptions {
  /** What stands first in the file. */
  readonly banner?: string
  /** Told of a patch that does not find its line. Default: it throws. */
  readonly onStale?: (problem: string) => void
}

interface Marks {
  readonly MARK_PATCHES: readonly SourcePatch[]
  readonly MARKS_GLOBAL: string
  readonly MARK_NAMES: readonly string[]
}

const SOURCES = join(ROOT, 'packages', 'tickwire', 'src')
/** Where packages are still found from, and nobody looks. */
const OUT = join(ROOT, 'node_modules', '.cache', 'tickwire-sim')

/** The source with its patches. When one does not stand there exactly once, `onStale` is told, which throws unless it is given. */
export function patchedSource(file: string, patches: readonly SourcePatch[], onStale: (problem: string) => void = refuse): string {
  let source = readFileSync(join(SOURCES, file), 'utf8')
  for (const { find, replace } of patches) {
    const count = source.split(find).length - 1
    if (count === 1) source = source.replace(find, () => replace)
    else onStale(`${file} has ${count} of ${JSON.stringify(find)}: it must be there once. Look what became of it, and say it anew.`)
  }
  return source
}

function refuse(problem: string): never {
  throw new Error(problem)
}

/**
 * Bundles the swarm with marks in the engine; each run its own, for several may run at once. A mark whose line has changed is
 * left out, says so, and is never passed.
 */
export async function bundleMarked(): Promise<string> {
  const { MARK_PATCHES, MARKS_GLOBAL, MARK_NAMES }: Marks = await import(pathToFileURL(join(ROOT, 'test', 'sim', 'marks.ts')).href)
  const path = await bundleSwarm('swarm.ts', `swarm-${process.pid}`, MARK_PATCHES, {
    banner: `globalThis.${MARKS_GLOBAL} = new Float64Array(${MARK_NAMES.length});`, onStale: (problem) => console.error(`a mark is lost: ${problem}`),
  })
  process.once('exit', () => rmSync(path, { force: true }))
  return path
}

/** Bundles an entry below test/sim with some patches, and says where the file is. */
export async function bundleSwarm(entry: string, name: string, patches: readonly SourcePatch[], options: BundleOptions = {}): Promise<string> {
  const { banner = '', onStale = refuse } = options
  const byFile = new Map<string, SourcePatch[]>()
  for (const patch of patches) byFile.set(patch.file, [...byFile.get(patch.file) ?? [], patch])
  const patching: Plugin = {
    name: 'patches',
    setup(into) {
      into.onLoad({ filter: /packages[\\/]tickwire[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
        const file = relative(SOURCES, path).replaceAll('\\', '/')
        const own = byFile.get(file)
        return own === undefined ? undefined : { contents: patchedSource(file, own, onStale), loader: 'ts' }
      })
      into.onResolve({ filter: /^[^./]/ }, ({ path }) => (path.startsWith('tickwire') || path.startsWith('/') ? undefined : { path, external: true }))
    },
  }
  mkdirSync(OUT, { recursive: true })
  const outfile = join(OUT, `${name}.mjs`)
  await build({
    entryPoints: [join(ROOT, 'test', 'sim', entry)], outfile, bundle: true, format: 'esm', platform: 'node', target: 'node20', conditions: ['tickwire-source'],
    banner: { js: banner }, plugins: [patching], logLevel: 'error', sourcemap: 'inline', keepNames: false, absWorkingDir: ROOT,
  })
  return outfile
}
