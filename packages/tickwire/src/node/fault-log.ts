/** Errors of a game's code, in the log of its server. */

import { isWorthLogging, type CodeFault } from '../core/base/user-code.ts'
import type { Match } from '../core/game/match.ts'
import type { ServeLog } from './status-log.ts'

/** Logs an error. For a callback that throws repeatedly, the log has a few lines, with the count. */
export function logFault(log: ServeLog, fault: CodeFault, room: Match | undefined): void {
  if (!isWorthLogging(fault)) return
  const { callback, peer, count, isFatal, error } = fault
  const place = room === undefined ? '' : ` in a room of type "${room.typeName}"`
  const effect = isFatal ? ', and the room has ended' : count > 1 ? `, ${count} times so far` : ''
  log({
    level: 'error',
    event: isFatal ? 'room-fault' : callback === 'onAuth' ? 'auth-fault' : 'callback-fault',
    message: `${callback} threw${place}${effect}: ${textOf(error)}`,
    facts: {
      callback,
      peer,
      count,
      ...(room && { room: room.id, type: room.typeName, players: room.seats.players }),
    },
  })
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error)
}
