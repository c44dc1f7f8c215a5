/**
 * The loop between an endpoint and a transport, used by every adapter and every test.
 *
 * Call it after every `handleDatagram`, `connect`, `send` and `close`, after every tick, and at the time it returned.
 */

import type { Millis } from '../base/time.ts'
import { createTransmit } from '../connection/transmit.ts'
import type { DatagramPort } from './datagram-port.ts'
import type { Endpoint, EndpointEvent } from './endpoint.ts'

const out = createTransmit()

/** Sends every pending datagram, delivers every event, and returns the time of the next call at the latest. */
export function drain(
  endpoint: Endpoint, now: Millis, port: Pick<DatagramPort, 'send'>, onEvent: (event: EndpointEvent) => void,
): Millis {
  while (endpoint.pollTransmit(now, out)) port.send(out.to, out.bytes, out.length)
  for (let event = endpoint.pollEvent(); event !== undefined; event = endpoint.pollEvent()) onEvent(event)
  return endpoint.pollTimeout(now)
}
