/**
 * Why a match could not be joined, with the fix. The texts are the same in a page and in Node.
 */

import type { Millis } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { Diagnosis } from './platform.ts'

/**
 * Why a code leads to no match: no match has it, the rendezvous got too many wrong ones from here, the host is not
 * connected to the rendezvous, or no path to the host was found.
 */
export type CodeProblem = 'no-such-code' | 'too-many-guesses' | 'host-away' | 'no-path'

/** Why a match could not be joined: a code of `CloseReason`, or what answers at the address instead of the server. */
export type ConnectCode = CloseReason['code'] | 'origin' | 'other-service' | CodeProblem

/** What is known about a failure, besides the reason. */
export interface FailureFacts {
  /** What happened to each transport. Default: nothing known. */
  readonly detail?: string
  /** What answers at the address. Default: not asked. */
  readonly found?: Diagnosis
  /** How long ago this program was loaded. Default: unknown. */
  readonly ageMs?: Millis
}

/** The match was not reached, or it refused the client. */
export class ConnectError extends Error {
  override readonly name = 'ConnectError'
  /** How the attempt ended. */
  readonly reason: CloseReason
  /**
   * Which it was: the code of `reason`, 'origin' (the server refuses this page's origin), 'other-service', or what is
   * wrong with a join code.
   */
  readonly code: ConnectCode
  /** With code 'schema' or 'version': the side whose program was loaded first. Undefined when it is unknown. */
  readonly older: 'client' | 'server' | undefined

  constructor(url: string, reason: CloseReason, { detail = '', found, ageMs }: FailureFacts = {}) {
    const code = codeOf(reason, found)
    const older = found?.kind !== 'server' || ageMs === undefined ? undefined : ageMs > found.upMs ? 'client' : 'server'
    const origin = found?.kind === 'origin' ? found.origin : ''
    super(
      `Could not join the match at ${url}: ${explain(code, older, origin)}${detail === '' ? '' : ` (${detail})`}`,
    )
    this.reason = reason
    this.code = code
    this.older = older
  }

  /** Whether another attempt may succeed without a change by people: the server starts, or is about to be restarted. */
  get isPassing(): boolean {
    if (this.code === 'origin' || this.code === 'other-service' || this.code === 'too-many-guesses') return false
    return this.reason.by === 'network' || this.code === 'moved' || (this.code === 'schema' && this.older === 'server')
  }
}

function codeOf(reason: CloseReason, found: Diagnosis | undefined): ConnectCode {
  if (found?.kind === 'code') return found.problem
  const isUnreached = reason.by === 'network'
  return isUnreached && (found?.kind === 'origin' || found?.kind === 'other-service') ? found.kind : reason.code
}

const OLDER = {
  client: 'The client is older. Fix: reload the page, or restart the program.',
  server: 'The server is older. Fix: restart the server.',
  unknown: 'Fix: reload the page, and restart the server if that does not help.',
}

function explain(code: ConnectCode, older: 'client' | 'server' | undefined, origin: string): string {
  switch (code) {
    case 'origin':
      return `the server does not allow pages of ${origin}. Fix: serve(game, { origins: ['${origin}'] }).`
    case 'other-service':
      return 'another service answers there, and not a Tickwire server. Fix: check the port.'
    case 'schema':
      return `the client and the server have different builds of the game. ${OLDER[older ?? 'unknown']}`
    case 'version':
      return `the client and the server have different versions of Tickwire. ${OLDER[older ?? 'unknown']}`
    case 'full':
      return 'all seats are taken. Try again later.'
    case 'refused':
      return 'the server refused.'
    case 'token':
      return 'the token is not valid here: it is expired, used, or for another server. Fix: get a new token.'
    case 'identity':
      return 'the server that answers there is not the expected one: its identity key differs.'
    case 'unreachable':
    case 'timed-out':
    case 'path-closed':
    case 'reset':
      return 'no server answers there. Is the server running?'
    case 'broken':
      return 'the server sent an invalid packet.'
    case 'kicked':
    case 'flooding':
      return 'the server disconnected this client.'
    case 'left':
    case 'shutdown':
    case 'ended':
      return 'it is over.'
    case 'no-room':
      return 'there is no such room.'
    case 'locked':
      return 'the room is closed to new players.'
    case 'ticket':
      return 'the seat is not kept any longer.'
    case 'password':
      return 'the room has a password, and this is not it. Fix: pass join: { room, password }. '
        + 'After ten tries, wait ten seconds for each.'
    case 'moved':
      return 'the room is in another process now. Fix: ask the fleet again.'
    case 'fault':
      return 'the room has ended because of an error in the game.'
    case 'replaced':
      return 'it was joined from elsewhere.'
    case 'host-left':
      return 'the player who hosted it has left.'
    case 'no-such-code':
      return 'no match has this code. Fix: check the code; it may have expired.'
    case 'too-many-guesses':
      return 'too many wrong codes came from here. Fix: wait some minutes.'
    case 'host-away':
      return 'its host is not connected to the rendezvous. Fix: try again in a few seconds.'
    case 'no-path':
      return 'no path to its host was found, neither direct nor by relay. Fix: give the rendezvous a relay.'
    case 'line-lost':
      return 'the players lost each other.'
    default:
      return code satisfies never
  }
}
