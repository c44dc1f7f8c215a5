/**
 * The match that a page hosts, in a Worker of that page. Timers of a Worker are not throttled when the page is hidden,
 * so the match goes on for the others.
 *
 * ```ts
 * import { runHost } from 'tickwire/worker'
 * import { game } from './game.ts'
 * runHost(game)
 * ```
 */

import type { Game } from '../core/game/define-game.ts'
import type { LockstepGame } from '../core/lockstep/define-lockstep.ts'
import type { Shape } from '../core/schema/field.ts'
import type { HostCommand, HostReport } from '../browser/host-messages.ts'
import type { RunHostOptions } from './run-host-options.ts'
import { WorkerHosting } from './worker-hosting.ts'

/** Runs the match of a page that hosts, as the page commands. Call it once, in the script of a Worker. */
export function runHost<I extends Shape>(game: Game<I> | LockstepGame, options: RunHostOptions = {}): void {
  const report = (said: HostReport): void => globalThis.postMessage(said)
  const fail = (error: unknown): void => report({ name: 'failed', message: String(error) })
  const hosting = new WorkerHosting(game as Game | LockstepGame, options, report)
  globalThis.addEventListener('message', ({ data }: MessageEvent<HostCommand>) => {
    if (data.name === 'host') hosting.open(data).catch(fail)
    else hosting.handle(data)
  })
}
