/** Development mode of a server: every tick is checked, and the warnings are in the log (docs/adr/0042). */

import type { RoomType } from '../core/game/room-type.ts'
import type { StepWarning } from '../core/game/step-checks.ts'
import type { ServeLog } from './status-log.ts'

type RoomTypes = { readonly [name: string]: RoomType }

/** The room types with checks, or unchanged when development mode is off. A type may have its own `onWarning`. */
export function inDevelopment(types: RoomTypes, { development }: { development?: boolean }, log: ServeLog): RoomTypes {
  if (!(development ?? process.env['NODE_ENV'] !== 'production')) return types
  const onWarning = ({ message, ...facts }: StepWarning): void =>
    log({ level: 'warn', event: 'step-warning', message, facts: { ...facts } })
  return Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { onWarning, ...type }]))
}
