/**
 * Installs the programs that `npm test` uses beside its packages: tools of the network, JavaScript engines, a newer
 * Node, a browser.
 *
 * It runs as a separate process, so that apt-get works while the first tests run. It does nothing where the programs
 * are installed, or where it may not install.
 */

import { ENGINES } from '../test/engines/run-engines.ts'
import { ensureBrowser, ensureNetworkTools } from './browser-install.ts'
import { ensureEngines } from './engine-install.ts'
import { ensureNewerNode } from './node-install.ts'

ensureNetworkTools()
// Firefox is left to `npm run engines`: it is large.
ensureEngines(ENGINES.filter(({ name }) => name !== 'Firefox'))
ensureNewerNode()
if (!process.argv.includes('--no-browser')) ensureBrowser()
