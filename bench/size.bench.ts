/**
 * Script bytes that a page downloads to join a match, beside @colyseus/sdk, in one run of one bundler.
 *
 * `first load` is what a page fetches until it draws the first snapshot: its script, and all that the script imports.
 * `whole` adds the chunks that are fetched when they are needed. All are minified, as ES modules for the same target,
 * and each file is compressed by itself, as servers do.
 *
 * Two comparisons: the whole browser door beside the whole SDK (every name exported), and the page of games/hello
 * beside a page that joins the same game with the SDK, each without what it does not use. The door
 * `tickwire/worker` has a row of its own: only the page of a hosting player starts such a Worker.
 */

import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { build, type Metafile } from 'esbuild'
import { readFileSync } from 'node:fs'
import type { Bench, BenchResult } from './harness.ts'

const ROOT = join(import.meta.dirname, '..')
const OUT = '/out'

/** The page of hello, made with the SDK: a room, its state, and inputs. */
const PEER_PAGE = `
import { Client } from '@colyseus/sdk'
const room = await new Client(location.origin).joinOrCreate('hello')
addEventListener('keydown', (event) => room.send('input', event.key))
room.onStateChange((state) => console.log(state))`

interface Sizes {
  readonly bytes: number
  readonly gzipBytes: number
  readonly brotliBytes: number
}

interface Page {
  readonly name: string
  readonly first: Sizes
  readonly whole: Sizes
  readonly files: number
}

export const bench: Bench = {
  name: 'size',
  summary: 'what a page downloads, first and in all: the browser door beside @colyseus/sdk',
  options: [],
  run: async () => await run(),
}

async function run(): Promise<BenchResult> {
  const door = `export * from 'tickwire/browser'`
  const ours = await bundle('tickwire/browser', door)
  const both = await bundle('tickwire and tickwire/browser', `export * from 'tickwire'\n${door}`)
  const worker = await bundle(
    'the Worker of a hosted match', `import { runRelay } from 'tickwire/worker'\nrunRelay()`,
  )
  const theirs = await bundle('@colyseus/sdk', `export * from '@colyseus/sdk'`)
  const page = await bundle('the page of games/hello', `import './games/hello/client.ts'`)
  const peerPage = await bundle('the same by @colyseus/sdk', PEER_PAGE)
  const { version } = JSON.parse(readFileSync(join(ROOT, 'node_modules/@colyseus/sdk/package.json'), 'utf8')) as {
    version: string
  }
  const against = `@colyseus/sdk ${version}`
  const ratio = (name: string, value: number): BenchResult['figures'][number] => ({
    name,
    value,
    unit: 'ratio',
    against,
  })
  const bytes = (name: string, value: number): BenchResult['figures'][number] => ({
    name,
    value,
    unit: 'B',
    against: null,
  })
  return {
    tables: [
      {
        title: 'bundled and minified by esbuild, bytes: first load',
        columns: ['bundle', 'minified', 'gzip -9', 'brotli', 'whole, gzip -9', 'files'],
        rows: [ours, both, theirs, page, peerPage, worker].map(({ name, first, whole, files }) => [
          name,
          first.bytes,
          first.gzipBytes,
          first.brotliBytes,
          whole.gzipBytes,
          files,
        ]),
      },
    ],
    figures: [
      {
        ...ratio('browser_first_load_gzip_ratio_colyseus', ours.first.gzipBytes / theirs.first.gzipBytes),
        atMost: 1,
      },
      { ...ratio('browser_gzip_ratio_colyseus', ours.whole.gzipBytes / theirs.whole.gzipBytes), atMost: 0.8 },
      ratio('browser_brotli_ratio_colyseus', ours.whole.brotliBytes / theirs.whole.brotliBytes),
      ratio('hello_first_load_gzip_ratio_colyseus', page.first.gzipBytes / peerPage.first.gzipBytes),
      bytes('browser_first_load_gzip_bytes', ours.first.gzipBytes),
      bytes('browser_gzip_bytes', ours.whole.gzipBytes),
      bytes('hello_page_first_load_gzip_bytes', page.first.gzipBytes),
      bytes('hello_page_gzip_bytes', page.whole.gzipBytes),
      bytes('relay_worker_gzip_bytes', worker.whole.gzipBytes),
    ],
  }
}

async function bundle(name: string, entry: string): Promise<Page> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: entry, resolveDir: ROOT, loader: 'ts' },
    absWorkingDir: '/',
    outdir: OUT,
    bundle: true,
    splitting: true,
    minify: true,
    metafile: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    legalComments: 'none',
    logLevel: 'error',
    conditions: ['tickwire-source'],
  })
  const sizes = new Map(outputFiles.map(({ path, contents }) => [path.slice(1), sizesOf(contents)]))
  const first = firstLoad(metafile)
  return {
    name,
    first: sum([...sizes].filter(([path]) => first.has(path)).map(([, size]) => size)),
    whole: sum([...sizes.values()]),
    files: sizes.size,
  }
}

/** The entry and all modules that it imports, except by `import()`. */
function firstLoad({ outputs }: Metafile): Set<string> {
  const found = new Set(Object.keys(outputs).filter((path) => outputs[path]?.entryPoint === '<stdin>'))
  for (const path of found) {
    for (const { path: next, kind } of outputs[path]?.imports ?? []) if (kind === 'import-statement') found.add(next)
  }
  return found
}

function sizesOf(contents: Uint8Array): Sizes {
  return {
    bytes: contents.length,
    gzipBytes: gzipSync(contents, { level: 9 }).length,
    brotliBytes: brotliCompressSync(contents, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }).length,
  }
}

function sum(sizes: readonly Sizes[]): Sizes {
  const add = (pick: (each: Sizes) => number): number => sizes.reduce((total, each) => total + pick(each), 0)
  return {
    bytes: add(({ bytes }) => bytes),
    gzipBytes: add(({ gzipBytes }) => gzipBytes),
    brotliBytes: add(({ brotliBytes }) => brotliBytes),
  }
}
