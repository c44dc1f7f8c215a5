/**
 * Why a match could not be joined, in a sentence that says what to do.
 */

import type { CloseReason } from '../core/connection/close-reason.ts'

/** A match that let nobody in, or us not. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError'
  readonly reason: CloseReason

  constructor(url: string, reason: CloseReason, detail = '') {
    super(`Could not join the match at ${url}: ${explain(reason)}${detail === '' ? '' : ` (${detail})`}`)
    this.reason = reason
  }
}

function explain(reason: CloseReason): string {
  switch (reason.code) {
    case 'schema': return 'this page and the server are of different builds. Reload the page.'
    case 'version': return 'this page and the server speak different versions of Tickwire. Reload the page.'
    case 'full': return 'all seats are taken. Try again later.'
    case 'refused': return 'the server refused.'
    case 'token': return 'the token is not good here: expired, used, or for another server.'
    case 'identity': return 'whoever answers there is not the server that was meant.'
    case 'unreachable': case 'timed-out': case 'path-closed': case 'reset': return 'nobody answers there. Is the server running?'
    case 'broken': return 'the server sent what makes no sense.'
    case 'kicked': case 'flooding': return 'the server sent us away.'
    case 'left': case 'shutdown': case 'ended': return 'it is over.'
    case 'no-room': return 'there is no such room.'
    case 'locked': return 'the room lets nobody in any more.'
    case 'ticket': return 'the seat is not kept any longer.'
    case 'fault': return 'the room has broken down.'
    case 'replaced': return 'it was joined from elsewhere.'
    default: return reason satisfies never
  }
}
