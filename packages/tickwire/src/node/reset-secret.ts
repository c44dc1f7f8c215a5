/**
 * The secret that a server process makes stateless resets with (`security.resetSecret`). It is derived from what
 * survives a restart: the identity, the machine's name and the port. Processes on one machine differ in port, and
 * machines differ in name. So a server that crashed and restarted can reset its old clients at once, and no process can
 * make the resets of another process with the same identity.
 */

import { createHmac } from 'node:crypto'
import { hostname } from 'node:os'

/** The reset secret of the process that listens on `port`, or of one of its workers. */
export function resetSecretOf(
  identity: Uint8Array, port: number, machine: string = hostname(), worker: number = 0,
): Uint8Array {
  const name = worker === 0 ? machine : `${machine}\0${worker}`
  return Uint8Array.from(
    createHmac('sha256', identity).update(`tickwire/v3/reset-secret\0${port}\0${name}`).digest(),
  )
}
