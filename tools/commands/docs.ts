/**
 * `npm run docs`: the docs site, built from docs/ and served on this machine.
 */

import { join } from 'node:path'
import { build, serve } from 'vitepress'
import { commandLine, wholeNumber } from '../command-line.ts'
import { SITE, stageSite } from '../site/stage.ts'

const HELP = `
npm run docs -- [options]      Builds the docs site from docs/ and serves it. Ctrl-C ends it.

  --build      only builds; any web server can serve the folder that is printed
  --port N     where it is served (default 4173)`

const { values } = commandLine(HELP, { build: { type: 'boolean' }, port: { type: 'string' } })
const port = wholeNumber(HELP, 'port', values.port, 4173)

const pages = stageSite()
process.env.TICKWIRE_SITE = SITE
await build(SITE)
console.log(`${pages.length} pages in ${join(SITE, '.vitepress', 'dist')}`)
if (values.build !== true) await serve({ root: SITE, port })
