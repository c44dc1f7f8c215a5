/**
 * Builds the page of a game: its client.ts with all imports as public/client.js, and dynamic imports as chunks beside
 * it. The files are minified, and compressed with gzip for browsers that accept it.
 *
 * A game developer can use any bundler. Here it is esbuild, for `npm start` and for the browser tests.
 */

import { build } from 'esbuild'
import { readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gzipSync } from 'node:zlib'

/** Bundles `client.ts` of a game's folder into its `public` folder. */
export async function buildPage(folder: string): Promise<void> {
  const outdir = join(folder, 'public')
  const { metafile } = await build({
    entryPoints: [join(folder, 'client.ts')],
    outdir,
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    chunkNames: 'client-[name]-[hash]',
    sourcemap: true,
    conditions: ['tickwire-source'],
    logLevel: 'warning',
  })
  const made = new Set(Object.keys(metafile.outputs).map((path) => basename(path)))
  for (const name of made) if (name.endsWith('.js')) pack(join(outdir, name))
  for (const name of readdirSync(outdir))
    if (/^client-.*\.js/.test(name) && !made.has(name.replace(/\.gz$/, ''))) rmSync(join(outdir, name), { force: true })
}

/** Replaces the file atomically: a request gets either the old file or the new one. */
function pack(path: string): void {
  const part = `${path}.gz.${process.pid}`
  writeFileSync(part, gzipSync(readFileSync(path), { level: 9 }))
  renameSync(part, `${path}.gz`)
}
