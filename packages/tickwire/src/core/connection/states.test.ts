import { describe, expect, test } from 'vitest'
import { InvariantError } from '../base/assert.ts'
import { CONNECTION_STATES, type ConnectionState, type ConnectionTrigger, describeStates, nextState } from './states.ts'

const EDGES: readonly [ConnectionState, ConnectionTrigger, ConnectionState][] = [
  ['disconnected', 'connect', 'connecting'],
  ['disconnected', 'admit', 'connected'],
  ['connecting', 'challenged', 'handshake'],
  ['connecting', 'rejected', 'disconnected'],
  ['connecting', 'silence', 'timeout'],
  ['connecting', 'close', 'disconnected'],
  ['handshake', 'challenged', 'handshake'],
  ['handshake', 'accepted', 'connected'],
  ['handshake', 'rejected', 'disconnected'],
  ['handshake', 'silence', 'timeout'],
  ['handshake', 'close', 'disconnected'],
  ['connected', 'received', 'connected'],
  ['connected', 'moved', 'connected'],
  ['connected', 'close', 'disconnecting'],
  ['connected', 'closed-by-peer', 'disconnecting'],
  ['connected', 'silence', 'timeout'],
  ['connected', 'reset', 'disconnected'],
  ['disconnecting', 'acknowledged', 'disconnected'],
  ['disconnecting', 'grace-over', 'disconnected'],
  ['disconnecting', 'reset', 'disconnected'],
  ['timeout', 'reported', 'disconnected'],
]
const STATES = [...new Set(EDGES.map(([state]) => state))]
const STEPS = [...new Set(EDGES.map(([, step]) => step))]

describe('states', () => {
  test('[CONN1] every edge of the table leads to its state, and every other trigger throws', () => {
    expect(STATES.toSorted()).toEqual(Object.keys(CONNECTION_STATES).toSorted())
    for (const state of STATES) {
      for (const step of STEPS) {
        const edge = EDGES.find(([from, by]) => from === state && by === step)
        if (edge !== undefined) expect(nextState(state, step)).toBe(edge[2])
        else expect(() => nextState(state, step), `${state} ${step}`).toThrow(InvariantError)
      }
    }
  })

  test('[CONN1] every state has a path to disconnected', () => {
    for (const start of STATES) {
      const reached = new Set<ConnectionState>([start])
      for (const state of reached) for (const next of Object.values(CONNECTION_STATES[state])) reached.add(next)
      expect(reached.has('disconnected'), start).toBe(true)
    }
  })

  test('the diagram has a line for every edge', () => {
    const lines = describeStates().split('\n')
    for (const [state, step, next] of EDGES) expect(lines).toContain(`  ${state} --> ${next}: ${step}`)
    expect(lines.length).toBe(EDGES.length + 2)
  })
})
