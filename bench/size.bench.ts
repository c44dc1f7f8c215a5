/**
 * What a page downloads to join a match: our browser door beside @colyseus/sdk, in one run of one bundler.
 *
 * Both are bundled whole (every name exported), minified, as ES modules for the same target, and compressed alike. Ours
 * has prediction, interpolation, three transports and cryptography in it; theirs has WebSocket, HTTP and state decoding.
 * `hello` is what a small game's page really is, game included. Nothing is fetched later by either: what is counted is the first download, and all.
 */

import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { readFileSync } from 'node:fs'
import type { Bench, BenchResult } from './harness.ts'

const ROOT = join(import.meta.dirname, '..')

interface Bundle {
  readonly name: string
  readonly bytes: number
  readonly gzipBytes: number
  readonly brotliBytes: number
}

export const bench: Bench = {
  name: 'size',
  summary: 'what a page downloads: the browser door beside @colyseus/sdk',
  options: [],
  run: async () => await run(),
}

async function run(): Promise<BenchResult> {
  const ours = await bundle('tickwire/browser', `export * from 'tickwire/browser'`)
  const whole = await bundle('tickwire and tickwire/browser', `export * from 'tickwire'\nexport * from 'tickwire/browser'`)
  const theirs = await bundle('@colyseus/sdk', `export * from '@colyseus/sdk'`)
  const page = await bundle('the page of games/hello', `import './games/hello/client.ts'`)
  const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules/@colyseus/sdk/package.json'), 'utf8')) as { version: string }
  const against = `@colyseus/sdk ${version}`
  return {
    tables: [{
      title: 'bundled and minified by esbuild, bytes',
      columns: ['bundle', 'minified', 'gzip -9', 'brotli'],
      rows: [ours, whole, page, theirs].map(({ name, bytes, gzipBytes, brotliBytes }) => [name, bytes, gzipBytes, brotliBytes]),
    }],
    figures: [
      { name: 'browser_gzip_ratio_colyseus', value: ours.gzipBytes / theirs.gzipBytes, unit: 'ratio', against, atMost: 0.8 },
      { name: 'browser_brotli_ratio_colyseus', value: ours.brotliBytes / theirs.brotliBytes, unit: 'ratio', against },
      { name: 'browser_gzip_bytes', value: ours.gzipBytes, unit: 'B', against: null },
      { name: 'hello_page_gzip_bytes', value: page.gzipBytes, unit: 'B', against: null },
    ],
  }
}

async function bundle(name: string, entry: string): Promise<Bundle> {
  const { outputFiles } = await build({
    stdin: { contents: entry, resolveDir: ROOT, loader: 'ts' },
    bundle: true, minify: true, write: false, format: 'esm', platform: 'browser', target: 'es2022', legalComments: 'none', logLevel: 'error',
    conditions: ['tickwire-source'],
  })
  const [{ contents } = { contents: new Uint8Array(0) }] = outputFiles
  return {
    name,
    bytes: contents.length,
    gzipBytes: gzipSync(contents, { level: 9 }).length,
    brotliBytes: brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length,
  }
}
