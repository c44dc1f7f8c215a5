/**
 * Makes the page of a game: its client.ts and all it imports, as the one file public/client.js.
 *
 * A game developer uses the bundler he likes; here it is esbuild, for `npm start` and for the browser tests.
 */

import { build } from 'esbuild'
import { join } from 'node:path'

/** Bundles `client.ts` of a game's folder into its `public` folder. */
export async function buildPage(folder: string): Promise<void> {
  await build({
    entryPoints: [join(folder, 'client.ts')],
    outfile: join(folder, 'public', 'client.js'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    sourcemap: true,
    conditions: ['tickwire-source'],
    logLevel: 'warning',
  })
}
