/**
 * The code of docs/guide/replays.md. It is compiled with the tests and run by test/reference/desync-docs.test.ts.
 */

import { readFileSync } from 'node:fs'
import { textToKey } from 'tickwire/engine'
import { connect, serveLockstep, type ServingLockstep } from 'tickwire/node'
import { readReplay, replay, type LockstepRoom } from 'tickwire/lockstep'
import { game } from './lockstep/game.ts'

// #region record
/** Serves matches and records each of them in `folder`. `keyFile`: server.key of `tickwire token keys`. */
export async function serveRecorded(folder: string, keyFile: string): Promise<ServingLockstep> {
  const secret = textToKey(readFileSync(keyFile, 'utf8').trim())
  if (secret?.kind !== 'server-secret') throw new Error(`${keyFile} is not the secret key of a server`)
  return await serveLockstep({ match: { game } }, { port: 0, replayFolder: folder, security: { identity: secret.key } })
}
// #endregion

// #region watch
/** Shows a recording: in a page, import `connect` from tickwire/browser. */
export async function watch(bytes: Uint8Array): Promise<LockstepRoom<typeof game.orders>> {
  const room = await connect(game, replay(readReplay(bytes)))
  room.seek(900) // half a minute in: from the nearest key image
  room.setSpeed(16) // fast forward
  return room
}
// #endregion
