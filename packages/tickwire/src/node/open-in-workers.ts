/** What `serve` and `serveRooms` do with the option `workers`: start workers, or be one. */

import { ConfigError } from '../core/base/assert.ts'
import type { Game } from '../core/game/define-game.ts'
import type { RoomServer, RoomServerParts } from './room-server.ts'
import type { RoomServerOptions } from './room-server-options.ts'
import { openWorkers, type ServingWorkers } from './serving-workers.ts'
import { workerIndex } from './worker-index.ts'
import { runWorker } from './worker-process.ts'

let hasWorkers = false

/** Undefined without workers. In a worker it never returns. */
export async function openInWorkers(
  types: { readonly [name: string]: { readonly game: Game; readonly capacity?: number } },
  options: RoomServerOptions,
  build: (parts: RoomServerParts) => RoomServer,
): Promise<ServingWorkers | undefined> {
  if (workerIndex() !== undefined) {
    // A server without workers belongs to the first process, which has its port.
    return options.workers === undefined ? await new Promise<never>(() => {}) : await runWorker(options, build)
  }
  if (options.workers === undefined) return undefined
  if (hasWorkers)
    throw new ConfigError('workers', 'given twice in one program', 'serve all games with one `serveRooms`.')
  hasWorkers = true
  try {
    return await openWorkers(types, options)
  } catch (error) {
    hasWorkers = false
    throw error
  }
}
