/**
 * The states of a connection as a table: which event leads from which state to which.
 *
 * Invariant: a connection moves only along an edge of this table. Anything else is a bug of the engine and throws.
 *
 * Received bytes never select an edge directly: the connection checks them first and then names the event.
 */

import { InvariantError } from '../base/assert.ts'

/** The state of a connection. */
export type ConnectionState = 'disconnected' | 'connecting' | 'handshake' | 'connected' | 'disconnecting' | 'timeout'

/** An event that changes the state. */
export type ConnectionTrigger =
  | 'connect'
  | 'admit'
  | 'challenged'
  | 'accepted'
  | 'rejected'
  | 'received'
  | 'close'
  | 'closed-by-peer'
  | 'acknowledged'
  | 'grace-over'
  | 'silence'
  | 'reported'
  | 'moved'
  | 'reset'

type Edges = Partial<Record<ConnectionTrigger, ConnectionState>>

/** All edges. */
export const CONNECTION_STATES: Readonly<Record<ConnectionState, Readonly<Edges>>> = {
  // `admit` is used on the server, which keeps no connection until the client has proven its address.
  disconnected: { connect: 'connecting', admit: 'connected' },
  connecting: { challenged: 'handshake', rejected: 'disconnected', silence: 'timeout', close: 'disconnected' },
  // A challenge expires and is replaced by a newer one.
  handshake: {
    challenged: 'handshake', accepted: 'connected', rejected: 'disconnected', silence: 'timeout', close: 'disconnected',
  },
  connected: {
    received: 'connected',
    moved: 'connected',
    close: 'disconnecting',
    'closed-by-peer': 'disconnecting',
    silence: 'timeout',
    reset: 'disconnected',
  },
  disconnecting: { acknowledged: 'disconnected', 'grace-over': 'disconnected', reset: 'disconnected' },
  timeout: { reported: 'disconnected' },
}

/** The state after `step`; throws on an edge that does not exist. */
export function nextState(state: ConnectionState, trigger: ConnectionTrigger): ConnectionState {
  const next = CONNECTION_STATES[state][trigger]
  if (next === undefined) throw new InvariantError(`a ${state} connection has no edge for ${trigger}`)
  return next
}

/** The table as a mermaid diagram, for the docs. */
export function describeStates(): string {
  const lines = ['stateDiagram-v2', '  [*] --> disconnected']
  for (const [state, edges] of Object.entries(CONNECTION_STATES)) {
    for (const [trigger, next] of Object.entries(edges)) lines.push(`  ${state} --> ${next}: ${trigger}`)
  }
  return lines.join('\n')
}
