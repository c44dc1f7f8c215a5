/** Pages and Workers of test/browser-pages as files that a server can serve. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** A folder with an index.html that loads `match.js`, whose exports are `match` in the page. */
export class PageFolder {
  readonly path: string = mkdtempSync(join(tmpdir(), 'tickwire-pages-'))

  /** `files`: the entry points, by the names of the scripts. */
  static async build(files: { readonly [script: string]: URL }): Promise<PageFolder> {
    const folder = new PageFolder()
    await build({
      entryPoints: Object.fromEntries(Object.entries(files).map(([script, file]) => [script, fileURLToPath(file)])),
      outdir: folder.path, bundle: true, format: 'iife', globalName: 'match', conditions: ['tickwire-source'],
    })
    folder.write('index.html', '<!doctype html><script src="/match.js"></script>')
    return folder
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.path, name), text)
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true })
  }
}
