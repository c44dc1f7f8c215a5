/** Serves the arena. See `node server.ts --help`. */

import { startArena } from './start-arena.ts'

await startArena(process.argv.slice(2))
