/** Ports for a group of two relays. */

import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { STANDBY_ABOVE } from '../games/skirmish/serve-group.ts'

/** A port that is free, as the one of the standby is. Both are below those that the system gives to clients. */
export async function freePair(): Promise<number> {
  for (let tries = 0; tries < 50; tries++) {
    const port = 20_000 + randomInt(10_000)
    if (await isFree(port) && await isFree(port + STANDBY_ABOVE)) return port
  }
  throw new Error('no two ports are free for a group of relays')
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer()
  return await new Promise((resolve) => {
    server.once('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })
}
