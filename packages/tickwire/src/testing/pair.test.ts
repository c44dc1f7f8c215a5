import { expect, test } from 'vitest'
import { Pair } from './pair.ts'

test('a pair connects, stays up and closes', () => {
  const pair = new Pair({ seed: 1, weather: { latencyMs: 20 } })
  const connection = pair.connect()
  expect(connection.isOpen).toBe(true)
  expect(pair.accepted.isOpen).toBe(true)
  pair.drive(60_000)
  expect(connection.isOpen).toBe(true)
  expect(connection.stats.packetsSent).toBeLessThan(70)
  connection.close(pair.now)
  const accepted = pair.accepted
  pair.drive(1000)
  expect(connection.closeReason).toEqual({ by: 'local', code: 'left' })
  expect(accepted.closeReason).toEqual({ by: 'peer', code: 'left' })
  expect(pair.server.events.map((event) => event.type)).toEqual(['opened', 'closed'])
  expect(pair.client.events.map((event) => event.type)).toEqual(['opened', 'closed'])
})
