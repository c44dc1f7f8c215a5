/**
 * The code of docs/guide/desync.md. It is compiled with the tests and run by test/reference/desync-docs.test.ts.
 */

import { createRecordingFile, serveLockstep, type ServingLockstep } from 'tickwire/node'
import {
  DebugLog, GameReferee, LocalFeed, LockstepRunner, type DesyncFinding, type DesyncReport,
} from 'tickwire/lockstep'
import { game } from './lockstep/game.ts'

// #region serve
/** Serves matches. Every desync is a file in `folder`, and a line in the log. */
export async function serveMatches(folder: string, log: (line: string) => void): Promise<ServingLockstep> {
  return await serveLockstep({
    match: {
      game,
      // Two players, and no majority: the server steps the game itself. Leave it out where the server has no code.
      referee: new GameReferee(game),
      onDesync: (report) => { for (const line of summary(report)) log(line) },
    },
  }, { port: 0, reportFolder: folder })
}
// #endregion

// #region read
/** What a report says, one line for each diverged player. */
export function summary({ tick, verdict, diverged }: DesyncReport): string[] {
  return diverged.map(({ player, outcome, finding }) => {
    const { text } = (finding ?? { text: 'nothing was found' }) as DesyncFinding
    return `tick ${tick}, player ${player} (${verdict}, ${outcome}): ${text}`
  })
}
// #endregion

// #region nets
/** Plays a match of 300 ticks under all nets of development. Throws at the first mistake. */
export function testGame(): number {
  const runner = new LockstepRunner(game, new LocalFeed({ tickRate: 30, seed: 7, players: 2 }), {
    dual: true, heavy: true, checkPurity: true,
  })
  for (let now = 0; runner.tick < 300; now += 40) runner.update(now)
  return runner.tick
}
// #endregion

// #region debug
/** Keeps the order log of a runner, checks its caches, and writes an image every 300 ticks. */
export function keepLog(
  runner: LockstepRunner, folder: string, write: (path: string, image: Uint8Array) => void,
): DebugLog {
  return new DebugLog(runner, {
    level: 3,
    sink: createRecordingFile(`${folder}/order-log.bin`),
    onImage: (name, image) => write(`${folder}/${name}`, image),
  })
}
// #endregion
