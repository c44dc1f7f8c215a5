/**
 * One version of the repository, bundled and loaded: the files here, or those of a commit in the git history. Bundles
 * are kept in `.cache/house`.
 */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'

/** The arena of `bench/tick`, as every version has it. */
export interface ArenaMatchLike {
  readonly bytesOut: number
  join(): void
  run(): void
  serveClients(): void
  serve(): void
}

interface ArenaOptions {
  readonly fighters: number
  readonly spectators: number
  readonly seed: number
  readonly provider: unknown
  readonly delayTicks: number
}

export interface Tree {
  readonly ArenaMatch: new (options: ArenaOptions) => ArenaMatchLike
  bestProvider(): unknown
}

/** Modules that stay outside of a bundle: they are native, or looked for at run time. */
const EXTERNAL = ['sodium-native', 'ws', '@matrixai/*', 'node-datachannel', 'werift']
const ENTRY = `
export { ArenaMatch } from './bench/tick/arena-match.ts'
export { bestProvider } from './packages/tickwire/src/node/crypto.ts'
`

/** Loads the working tree, or the tree of a commit. Throws when the git history does not have that commit. */
export async function loadTree(root: string, commit?: string): Promise<Tree> {
  const cache = join(root, '.cache', 'house')
  mkdirSync(cache, { recursive: true })
  const folder = commit === undefined ? root : checkOut(root, commit)
  const outfile = join(cache, `${commit ?? 'now'}.mjs`)
  await build({
    stdin: { contents: ENTRY, resolveDir: folder, loader: 'ts' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile,
    // Without this the package of the other tree would be found, by the link in node_modules.
    alias: {
      'tickwire/engine': join(folder, 'packages/tickwire/src/engine/index.ts'),
      tickwire: join(folder, 'packages/tickwire/src/core/index.ts'),
    },
    conditions: ['tickwire-source'], external: EXTERNAL, logLevel: 'error',
  })
  return (await import(pathToFileURL(outfile).href)) as Tree
}

/** Puts the files of a commit into `.cache/house`, and returns the folder. */
export function checkOut(root: string, commit: string): string {
  const folder = join(root, '.cache', 'house', commit)
  if (existsSync(join(folder, 'package.json'))) return folder
  mkdirSync(folder, { recursive: true })
  let archive: Buffer
  try {
    archive = execFileSync('git', ['archive', '--format=tar', commit, 'packages', 'bench', 'package.json'], {
      cwd: root,
      maxBuffer: 2 ** 28,
    })
  } catch {
    throw new Error(
      `The git history here does not have ${commit}, which is measured against. Fix: run in a full clone.`,
    )
  }
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  // Its packages are found where ours are.
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'dir')
  return folder
}
