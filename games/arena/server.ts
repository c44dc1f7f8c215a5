/** Serves the arena. `node server.ts --help` says how. */

import { startArena } from './start-arena.ts'

await startArena(process.argv.slice(2))
