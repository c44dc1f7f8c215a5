/**
 * A connection whose peer has fallen silent, on a simulated cable.
 */

import { describe, expect, test } from 'vitest'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'

describe('silence', () => {
  test('[CONN12] a client sends four times a second while the server is silent, else once a second', () => {
    const pair = new Pair({ weather: { latencyMs: 30 } })
    const connection = pair.connect()
    pair.drive(5000)
    const sentIn = (ms: number): readonly [number, number] => {
      const before = [connection.stats.packetsSent, pair.accepted.stats.packetsSent] as const
      pair.drive(ms)
      return [connection.stats.packetsSent - before[0], pair.accepted.stats.packetsSent - before[1]]
    }
    pair.link.weather = { loss: 1 }
    pair.drive(2500)
    expect(sentIn(4000)).toEqual([16, 4])
    pair.link.weather = { latencyMs: 30 }
    pair.drive(2000)
    expect(sentIn(10_000)).toEqual([10, 10])
    expect(connection.isOpen && pair.accepted.isOpen).toBe(true)
  })

  test('[CONN4] old packets of a peer that arrive late do not keep it alive', () => {
    const pair = new Pair()
    const connection = pair.connect()
    pair.drive(3000)
    const held: Uint8Array[] = []
    pair.link.onFlight = ({ bytes, length }) => {
      if (held.length < 8) held.push(bytes.slice(0, length))
    }
    pair.link.weather = { loss: 1 }
    pair.drive(3900)
    const said = held.filter((bytes) => bytes.length > 0)
    const { packetsReceived } = connection.stats
    const hear = (): void => {
      const bytes = said.pop()
      if (bytes !== undefined) pair.client.endpoint.handleDatagram(pair.now, 'server', bytes, bytes.length)
    }
    while (connection.stats.packetsReceived === packetsReceived && said.length > 0) hear()
    const receivedAt = pair.now
    expect(connection.stats.packetsReceived, 'the newest packet arrived').toBe(packetsReceived + 1)
    while (connection.isOpen && pair.now < receivedAt + 20_000) {
      pair.drive(1000)
      hear()
    }
    expect(connection.stats.packetsReceived, 'and older packets after it').toBeGreaterThan(packetsReceived + 1)
    expect(connection.closeReason).toEqual({ by: 'network', code: 'timed-out' })
    expect(pair.now - receivedAt).toBe(10_000)
  })
})
