/** Development mode of servers and clients: every tick is checked, and mistakes are warned of (docs/adr/0042). */

import { StepTraps } from '../core/base/step-traps.ts'
import type { RoomType } from '../core/game/room-type.ts'
import { StepChecks, type StepWarning } from '../core/game/step-checks.ts'
import type { RunnerOptions } from '../core/lockstep/runner-options.ts'
import type { ServeLog } from './status-log.ts'

/** Checks of what a client predicts, unless they are off. They warn on the console. */
export function clientChecks({ development }: { development?: boolean }): { readonly checks: StepChecks } | undefined {
  if (!(development ?? process.env['NODE_ENV'] !== 'production')) return undefined
  return { checks: new StepChecks(({ message }) => { console.warn(message) }) }
}

/** Traps around `step` of a lockstep game, and a check of its checks, unless they are off. Both warn on the console. */
export function lockstepChecks(
  { development }: { development?: boolean },
): Pick<RunnerOptions, 'traps' | 'checkPurity'> | undefined {
  if (!(development ?? process.env['NODE_ENV'] !== 'production')) return undefined
  const checkPurity = (problem: string): void => { console.warn(problem) }
  return { traps: new StepTraps(({ message }) => { console.warn(message) }), checkPurity }
}

type RoomTypes = { readonly [name: string]: RoomType }

/** The room types with checks, or unchanged when development mode is off. A type may have its own `onWarning`. */
export function inDevelopment(types: RoomTypes, { development }: { development?: boolean }, log: ServeLog): RoomTypes {
  if (!(development ?? process.env['NODE_ENV'] !== 'production')) return types
  const onWarning = ({ message, ...facts }: StepWarning): void =>
    log({ level: 'warn', event: 'step-warning', message, facts: { ...facts } })
  return Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { onWarning, ...type }]))
}
