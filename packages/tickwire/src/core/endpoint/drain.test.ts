import { expect, test } from 'vitest'
import type { EndpointEvent } from './endpoint.ts'
import { createEndpoint } from './endpoint.ts'
import { drain } from './drain.ts'

test('drain sends all that is due, then reports all events, and returns the next deadline', () => {
  const endpoint = createEndpoint({
    fingerprint: new Uint8Array(8),
    entropy: { fill: (bytes) => bytes.fill(255) },
    assemble() {},
  })
  const log: string[] = []
  const port = { send: (to: string, _bytes: Uint8Array, length: number) => log.push(`${length} to ${to}`) }
  const onEvent = (event: EndpointEvent): void => void log.push(event.type)
  expect(drain(endpoint, 0, port, onEvent)).toBe(Infinity)
  endpoint.connect(0, 'a')
  const second = endpoint.connect(0, 'b')
  expect(drain(endpoint, 0, port, onEvent)).toBe(250)
  second.close(100)
  expect(drain(endpoint, 100, port, onEvent)).toBe(250)
  expect(drain(endpoint, 250, port, onEvent)).toBe(500)
  expect(log).toEqual(['1200 to a', '1200 to b', 'closed', '1200 to a'])
})
