/** Serves the shooter. See `node server.ts --help`. */

import { startShmup } from './start-shmup.ts'

await startShmup(process.argv.slice(2))
