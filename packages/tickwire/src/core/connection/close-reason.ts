/**
 * Why a connection ended: one union, told once, the same on both sides.
 *
 * `by` says who ended it. What I close `by: 'local'` my peer sees as `by: 'peer'` with the same code; what broke the
 * rules is `by: 'protocol'` on both sides; what nobody said is `by: 'network'`.
 */

/** Someone meant it: he, or the host; the room is over, or broke; he is here by another connection now. */
export type LeaveCode = 'left' | 'kicked' | 'shutdown' | 'ended' | 'fault' | 'replaced'

/** The rules forbid it. */
export type RuleCode =
  | 'version' | 'schema' | 'full' | 'refused' | 'broken' | 'token' | 'identity' | 'flooding' | 'no-room' | 'locked' | 'ticket'

/** Nobody said anything: the peer never answered, fell silent, its transport closed, or it no longer knows us. */
export type NetworkCode = 'unreachable' | 'timed-out' | 'path-closed' | 'reset'

/** Why a connection ended. */
export type CloseReason =
  | { readonly by: 'local' | 'peer'; readonly code: LeaveCode }
  | { readonly by: 'protocol'; readonly code: RuleCode }
  | { readonly by: 'network'; readonly code: NetworkCode }

/** What the wire carries in Disconnect and Rejected, one byte; 0 stands for nothing. */
const CODES: readonly (LeaveCode | RuleCode | undefined)[] = [
  undefined, 'left', 'kicked', 'shutdown', 'version', 'schema', 'full', 'refused', 'broken',
  'token', 'identity', 'flooding', 'ended', 'fault', 'replaced', 'no-room', 'locked', 'ticket',
]

/** The byte that tells the peer about `reason`; 0 when there is nothing to tell. */
export function closeReasonToByte(reason: CloseReason): number {
  const code: LeaveCode | RuleCode | undefined = reason.by === 'network' ? undefined : reason.code
  return code === undefined ? 0 : CODES.indexOf(code)
}

/** What the peer meant, or undefined when the byte means nothing. */
export function closeReasonFromByte(byte: number): CloseReason | undefined {
  const code = CODES[byte]
  switch (code) {
    case 'left': case 'kicked': case 'shutdown': case 'ended': case 'fault': case 'replaced': return { by: 'peer', code }
    case 'version': case 'schema': case 'full': case 'refused': case 'broken': case 'token': case 'identity':
    case 'flooding': case 'no-room': case 'locked': case 'ticket':
      return { by: 'protocol', code }
    case undefined: return undefined
    default: return code satisfies never
  }
}
