/** Development mode of a server: every tick is checked, and the warnings are in the log (docs/adr/0042). */

import { StepTraps } from '../core/base/step-traps.ts'
import type { RoomType } from '../core/game/room-type.ts'
import type { StepWarning } from '../core/game/step-checks.ts'
import type { ServeLog } from './status-log.ts'

/** Traps around the `step` of a lockstep game, unless they are off. They warn on the console. */
export function lockstepTraps({ development }: { development?: boolean }): { readonly traps: StepTraps } | undefined {
  if (!(development ?? process.env['NODE_ENV'] !== 'production')) return undefined
  return { traps: new StepTraps(({ message }) => { console.warn(message) }) }
}

type RoomTypes = { readonly [name: string]: RoomType }

/** The room types with checks, or unchanged when development mode is off. A type may have its own `onWarning`. */
export function inDevelopment(types: RoomTypes, { development }: { development?: boolean }, log: ServeLog): RoomTypes {
  if (!(development ?? process.env['NODE_ENV'] !== 'production')) return types
  const onWarning = ({ message, ...facts }: StepWarning): void =>
    log({ level: 'warn', event: 'step-warning', message, facts: { ...facts } })
  return Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { onWarning, ...type }]))
}
