/**
 * The life of a connection as a table: which event leads from which state to which.
 *
 * Invariant: a connection moves only along an edge of this table; anything else is a bug of ours and throws.
 *
 * Bytes never decide an edge by themselves: the connection checks them first and then names the event.
 */

import { InvariantError } from '../base/assert.ts'

/** Where a connection is in its life. */
export type ConnectionState = 'disconnected' | 'connecting' | 'handshake' | 'connected' | 'disconnecting' | 'timeout'

/** What moves it. */
export type ConnectionStep =
  | 'connect'
  | 'admit'
  | 'challenged'
  | 'accepted'
  | 'rejected'
  | 'heard'
  | 'close'
  | 'closed-by-peer'
  | 'acknowledged'
  | 'grace-over'
  | 'silence'
  | 'told'
  | 'moved'
  | 'reset'

type Edges = Partial<Record<ConnectionStep, ConnectionState>>

/** Every edge there is. */
export const CONNECTION_STATES: Readonly<Record<ConnectionState, Readonly<Edges>>> = {
  // `admit` is the server's side: it keeps no connection until the client has proven its address.
  disconnected: { connect: 'connecting', admit: 'connected' },
  connecting: { challenged: 'handshake', rejected: 'disconnected', silence: 'timeout', close: 'disconnected' },
  // A challenge grows old: another takes its place.
  handshake: {
    challenged: 'handshake', accepted: 'connected', rejected: 'disconnected', silence: 'timeout', close: 'disconnected',
  },
  connected: {
    heard: 'connected', moved: 'connected', close: 'disconnecting', 'closed-by-peer': 'disconnecting', silence: 'timeout',
    reset: 'disconnected',
  },
  disconnecting: { acknowledged: 'disconnected', 'grace-over': 'disconnected', reset: 'disconnected' },
  timeout: { told: 'disconnected' },
}

/** The state after `step`; throws on an edge that does not exist. */
export function nextState(state: ConnectionState, step: ConnectionStep): ConnectionState {
  const next = CONNECTION_STATES[state][step]
  if (next === undefined) throw new InvariantError(`a ${state} connection has no edge for ${step}`)
  return next
}

/** The table as a mermaid diagram, for the docs. */
export function describeStates(): string {
  const lines = ['stateDiagram-v2', '  [*] --> disconnected']
  for (const [state, edges] of Object.entries(CONNECTION_STATES)) {
    for (const [step, next] of Object.entries(edges)) lines.push(`  ${state} --> ${next}: ${step}`)
  }
  return lines.join('\n')
}
