/** How a connection ends: disconnects, protocol errors and closed transports, on a simulated cable. */

import { describe, expect, test } from 'vitest'
import { collect } from '../../bench/harness.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'
import { verdictSink, Poke } from './connection-poke.ts'

describe('leaving', () => {
  test('[CONN5] a goodbye is sent three times within 200 ms, and one of three is enough', () => {
    let reported = 0
    let losses = 0
    for (let seed = 1; seed <= 200; seed++) {
      const pair = new Pair({ seed, weather: { latencyMs: 10 } })
      const connection = pair.connect()
      const accepted = pair.accepted
      pair.link.weather = { latencyMs: 150, loss: 0.5 }
      const before = pair.link.stats.lost
      connection.close(pair.now)
      pair.drive(201)
      expect(connection.state).toBe('disconnected')
      pair.drive(400)
      losses += pair.link.stats.lost - before
      if (accepted.closeReason?.by === 'peer') reported++
    }
    expect(losses).toBeGreaterThan(250)
    // All three disconnects are lost once in eight times.
    expect(reported).toBeGreaterThan(155)
    expect(reported).toBeLessThan(195)
  })

  test('[CONN5] a goodbye of a second is sent ten times, and reaches nearly every peer at 50 percent loss', () => {
    let reported = 0
    for (let seed = 1; seed <= 200; seed++) {
      const pair = new Pair({ seed, weather: { latencyMs: 10 }, client: { timers: { graceMs: 1000 } } })
      const connection = pair.connect()
      const { accepted } = pair
      pair.link.weather = { latencyMs: 10, loss: 0.5 }
      connection.close(pair.now)
      pair.drive(1001)
      expect(connection.state).toBe('disconnected')
      pair.drive(50)
      if (accepted.closeReason?.by === 'peer') reported++
    }
    // All ten disconnects are lost once in a thousand times.
    expect(reported).toBeGreaterThanOrEqual(198)
  })

  test('[CONN5] the answer to a goodbye ends the connection at once', () => {
    const pair = new Pair({ weather: { latencyMs: 10 } })
    const connection = pair.connect()
    connection.close(pair.now, 'kicked')
    pair.drive(21)
    expect(connection.state).toBe('disconnected')
    expect(pair.server.events.at(-1)).toMatchObject({ type: 'closed', reason: { by: 'peer', code: 'kicked' } })
    expect(pair.server.endpoint.connections).toEqual([])
  })

  test('[CONN6] both sides may leave at the same moment; each connection ends once', () => {
    const pair = new Pair({ weather: { latencyMs: 10 } })
    const connection = pair.connect()
    pair.accepted.close(pair.now, 'shutdown')
    connection.close(pair.now, 'left')
    pair.drive(1000)
    expect(pair.client.events.map((event) => event.type)).toEqual(['opened', 'closed'])
    expect(pair.server.events.map((event) => event.type)).toEqual(['opened', 'closed'])
    expect(pair.client.events.at(-1)).toMatchObject({ reason: { by: 'local', code: 'left' } })
  })

  test('[CONN6] a thousand connections that ended leave no state behind', async () => {
    const pair = new Pair({ weather: { latencyMs: 5 } })
    const ended: WeakRef<object>[] = []
    for (let round = 0; round < 1000; round++) {
      const connection = pair.connect()
      pair.drive(50)
      ended.push(new WeakRef(connection), new WeakRef(pair.accepted))
      connection.close(pair.now)
      pair.drive(500)
      pair.client.events.length = 0
      pair.server.events.length = 0
    }
    expect(pair.server.endpoint.connections).toEqual([])
    expect(pair.client.endpoint.connections).toEqual([])
    // A weak reference holds its target until the current job ends.
    await new Promise((resolve) => setImmediate(resolve))
    collect()
    // A few may still be in a register or on the stack.
    expect(ended.filter((each) => each.deref() !== undefined).length).toBeLessThan(10)
  })

  test('[CONN6] a client that leaves before it was answered ends at once', () => {
    const pair = new Pair({ weather: { latencyMs: 100 } })
    const connection = pair.client.endpoint.connect(0, 'server')
    pair.drive(50)
    connection.close(pair.now)
    pair.drive(5000)
    expect(pair.client.events).toEqual([{ type: 'closed', connection, reason: { by: 'local', code: 'left' } }])
    expect(pair.server.events).toEqual([])
  })

  test('[ACK6] packets that are open when a connection ends are reported as lost', () => {
    const reported: string[] = []
    const poke = new Poke()
    poke.onLost = () => reported.push('lost')
    poke.onDelivered = () => reported.push('delivered')
    const pair = new Pair({
      weather: { latencyMs: 50 },
      client: { assemble: (connection) => connection.addSource(3, poke) },
    })
    const connection = pair.connect()
    pair.drive(1000)
    poke.isWanted = true
    pair.flush()
    connection.close(pair.now)
    expect(reported).toEqual(['lost'])
    pair.drive(1000)
    expect(reported).toEqual(['lost'])
  })

  test('[CONN7] a frame with invalid bits ends the connection, with one reason on both sides', () => {
    const poke = new Poke()
    const pair = new Pair({
      client: { assemble: (connection) => connection.addSource(3, poke) },
      server: { assemble: (connection) => connection.addSink(3, verdictSink('broken')) },
    })
    const connection = pair.connect()
    poke.isWanted = true
    pair.drive(1000)
    expect(connection.closeReason).toEqual({ by: 'protocol', code: 'broken' })
    expect(pair.server.events.at(-1)).toMatchObject({ reason: { by: 'protocol', code: 'broken' } })
  })

  test('[CONN10] a transport that closes ends its connections at once', () => {
    const pair = new Pair()
    const connection = pair.connect()
    pair.client.endpoint.handlePathClosed('elsewhere')
    expect(connection.isOpen).toBe(true)
    pair.client.endpoint.handlePathClosed('server')
    pair.flush()
    expect(pair.client.events.at(-1)).toMatchObject({ reason: { by: 'network', code: 'path-closed' } })
    expect(pair.client.endpoint.connections).toEqual([])
  })

  test('[CONN5] an endpoint that closes says goodbye to all its peers and accepts no more', () => {
    const pair = new Pair({ weather: { latencyMs: 5 } })
    const connection = pair.connect()
    pair.server.endpoint.close(pair.now)
    pair.drive(1000)
    expect(connection.closeReason).toEqual({ by: 'peer', code: 'shutdown' })
    expect(pair.connect().closeReason).toEqual({ by: 'protocol', code: 'full' })
  })
})
