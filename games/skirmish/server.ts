/** Serves skirmish. See `node server.ts --help`. */

import { startSkirmish } from './start-skirmish.ts'

await startSkirmish(process.argv.slice(2))
