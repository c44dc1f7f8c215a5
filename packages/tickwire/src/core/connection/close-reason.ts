/**
 * Why a connection ended: one union, reported once, the same on both sides.
 *
 * `by` is the side that ended it. A close with `by: 'local'` is seen by the peer as `by: 'peer'` with the same code. A
 * violation of the protocol is `by: 'protocol'` on both sides. A close without a message is `by: 'network'`.
 */

/**
 * An intended close: the client left, the host kicked it, the server shuts down, the room ended or failed, the client
 * has a newer connection, or the player whose machine hosts the match has left.
 */
export type LeaveCode = 'left' | 'kicked' | 'shutdown' | 'ended' | 'fault' | 'replaced' | 'host-left'

/** A refusal or a violation of the protocol. `moved`: the room is in another process now, and its seats with it. */
export type RuleCode =
  | 'version'
  | 'schema'
  | 'full'
  | 'refused'
  | 'broken'
  | 'token'
  | 'identity'
  | 'flooding'
  | 'no-room'
  | 'locked'
  | 'ticket'
  | 'password'
  | 'moved'

/**
 * No message: the peer never answered, fell silent, its transport closed, or it no longer knows the connection.
 * `line-lost`: the peers of a mesh lost each other, and none of them can know whose line it was.
 */
export type NetworkCode = 'unreachable' | 'timed-out' | 'path-closed' | 'reset' | 'line-lost'

/** Why a connection ended. */
export type CloseReason =
  | { readonly by: 'local' | 'peer'; readonly code: LeaveCode }
  | { readonly by: 'protocol'; readonly code: RuleCode }
  | { readonly by: 'network'; readonly code: NetworkCode }

/** Codes of Disconnect, Rejected and Refused on the wire. Indexed by the byte; 0 means no code. */
const CODES: readonly (LeaveCode | RuleCode | undefined)[] = [
  undefined, 'left', 'kicked', 'shutdown', 'version', 'schema', 'full', 'refused', 'broken',
  'token', 'identity', 'flooding', 'ended', 'fault', 'replaced', 'no-room', 'locked', 'ticket',
  'password', 'host-left', 'moved',
]

/** The reason of a connection that the local side ends. */
export function closedHere(code: LeaveCode | RuleCode): CloseReason {
  return isLeave(code) ? { by: 'local', code } : { by: 'protocol', code }
}

/** The byte that is sent to the peer for `reason`; 0 when there is none. */
export function closeReasonToByte(reason: CloseReason): number {
  const code: LeaveCode | RuleCode | undefined = reason.by === 'network' ? undefined : reason.code
  return code === undefined ? 0 : CODES.indexOf(code)
}

/** The reason for a received byte, or undefined when the byte is not valid. */
export function closeReasonFromByte(byte: number): CloseReason | undefined {
  const code = CODES[byte]
  if (code === undefined) return undefined
  return isLeave(code) ? { by: 'peer', code } : { by: 'protocol', code }
}

function isLeave(code: LeaveCode | RuleCode): code is LeaveCode {
  switch (code) {
    case 'left':
    case 'kicked':
    case 'shutdown':
    case 'ended':
    case 'fault':
    case 'replaced':
    case 'host-left':
      return true
    default:
      code satisfies RuleCode
      return false
  }
}
