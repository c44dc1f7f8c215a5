/**
 * Bundles the simulated worlds into one file, with patched lines of the engine. This plants bugs and counts marks
 * without a switch in the shipped code.
 *
 * A patch names a file of the engine, a text that occurs there exactly once, and its replacement. A patch whose text is
 * not found throws, because a bug that was not planted would never be noticed.
 */

import { build, type Plugin } from 'esbuild'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ROOT } from './typecheck.ts'

/** One change of one line of the engine. */
export interface SourcePatch {
  /** Below packages/tickwire/src, or below packages/services/src if it begins with `services/`. */
  readonly file: string
  readonly find: string
  readonly replace: string
}

export interface BundleOptions {
  /** The first line of the bundle. */
  readonly banner?: string
  /** Called for a patch that does not find its line. By default it throws. */
  readonly onStale?: (problem: string) => void
}

interface Marks {
  readonly MARK_PATCHES: readonly SourcePatch[]
  readonly MARKS_GLOBAL: string
  readonly MARK_NAMES: readonly string[]
}

const SOURCES = join(ROOT, 'packages', 'tickwire', 'src')
const SERVICES = 'services/'
const SERVICES_SOURCES = join(ROOT, 'packages', 'services', 'src')
/** A folder from which packages can be resolved, outside of the sources. */
const OUT = join(ROOT, 'node_modules', '.cache', 'tickwire-sim')

/**
 * The source with its patches. `onStale` is called for a patch whose text does not occur exactly once. By default it
 * throws.
 */
export function patchedSource(
  file: string,
  patches: readonly SourcePatch[],
  onStale: (problem: string) => void = refuse,
): string {
  const path = file.startsWith(SERVICES) ? join(SERVICES_SOURCES, file.slice(SERVICES.length)) : join(SOURCES, file)
  let source = readFileSync(path, 'utf8')
  for (const { find, replace } of patches) {
    const count = source.split(find).length - 1
    if (count === 1) source = source.replace(find, () => replace)
    else
      onStale(
        `${file} has ${count} of ${JSON.stringify(find)}: it must occur once. Fix: update the patch.`,
      )
  }
  return source
}

function refuse(problem: string): never {
  throw new Error(problem)
}

/**
 * Bundles the swarm with marks in the engine; each run its own, for several may run at once. A mark whose line has
 * changed is left out, says so, and is never passed.
 */
export async function bundleMarked(): Promise<string> {
  const { MARK_PATCHES, MARKS_GLOBAL, MARK_NAMES }: Marks = await import(
    pathToFileURL(join(ROOT, 'test', 'sim', 'marks.ts')).href
  )
  const path = await bundleSwarm('swarm.ts', `swarm-${process.pid}`, MARK_PATCHES, {
    banner: `globalThis.${MARKS_GLOBAL} = new Float64Array(${MARK_NAMES.length});`,
    onStale: (problem) => console.error(`a mark is lost: ${problem}`),
  })
  process.once('exit', () => rmSync(path, { force: true }))
  return path
}

/** Bundles an entry below test/sim with some patches, and says where the file is. */
export async function bundleSwarm(
  entry: string,
  name: string,
  patches: readonly SourcePatch[],
  options: BundleOptions = {},
): Promise<string> {
  const { banner = '', onStale = refuse } = options
  const byFile = new Map<string, SourcePatch[]>()
  for (const patch of patches) byFile.set(patch.file, [...byFile.get(patch.file) ?? [], patch])
  const patching: Plugin = {
    name: 'patches',
    setup(into) {
      into.onLoad({ filter: /packages[\\/](tickwire|services)[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
        const isService = path.startsWith(SERVICES_SOURCES)
        const below = relative(isService ? SERVICES_SOURCES : SOURCES, path).replaceAll('\\', '/')
        const file = isService ? `${SERVICES}${below}` : below
        const own = byFile.get(file)
        return own === undefined ? undefined : { contents: patchedSource(file, own, onStale), loader: 'ts' }
      })
      into.onResolve({ filter: /^[^./]/ }, ({ path }) =>
        path.startsWith('tickwire') || path.startsWith('/') ? undefined : { path, external: true },
      )
    },
  }
  mkdirSync(OUT, { recursive: true })
  const outfile = join(OUT, `${name}.mjs`)
  await build({
    entryPoints: [join(ROOT, 'test', 'sim', entry)],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    conditions: ['tickwire-source'],
    banner: { js: banner },
    plugins: [patching],
    logLevel: 'error',
    sourcemap: 'inline',
    keepNames: false,
    absWorkingDir: ROOT,
  })
  return outfile
}
