/**
 * Binds the HTTP server of a game to its port.
 */

import type { Server } from 'node:http'
import { ConfigError } from '../core/base/assert.ts'

export const PORT_DEFAULT = 4000

/** The port that a server listens on. `otherwise`: it does not listen. */
export function portOf(server: Server, otherwise: number): number {
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : otherwise
}

/** Listens. Throws ConfigError if the port is taken. */
export async function listen(server: Server, port: number, address: string | undefined): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const isTaken = error.code === 'EADDRINUSE'
      reject(
        isTaken
          ? new ConfigError(
            'port',
            `${port} is in use by another program`,
            'stop that program, or give another port; 0 takes any free port.',
          )
          : error,
      )
    })
    server.listen({ port, ...(address !== undefined && { host: address }) }, resolve)
  })
}
