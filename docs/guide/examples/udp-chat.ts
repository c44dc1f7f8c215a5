/** The code that the server and the clients of the chat share. */

import { type Connection, type Endpoint, type EndpointEvent, ReliableOrderedChannel, drain } from 'tickwire/engine'
import { type UdpPort, monotonicNow } from 'tickwire/node'

/** Eight bytes that must be equal on both sides: a client with other bytes is refused. */
export const fingerprint = new TextEncoder().encode('udp-chat')

// #region channel
/** Gives a connection a channel for lines of text: each arrives once, in order. Both sides do the same. */
export function openChannel(connection: Connection): ReliableOrderedChannel {
  const channel = new ReliableOrderedChannel()
  connection.addSource(0, channel)
  connection.addSink(0, channel)
  return channel
}

/** The lines that have arrived. */
export function* linesOf(channel: ReliableOrderedChannel): Generator<string> {
  const bytes = new Uint8Array(1024)
  for (let length = channel.receive(bytes); length >= 0; length = channel.receive(bytes)) {
    yield new TextDecoder().decode(bytes.subarray(0, length))
  }
}
// #endregion

// #region run
/**
 * Connects an endpoint to a port: it handles received datagrams, sends what is due, and wakes the endpoint in time.
 * Returns `wake`. Call it after every command to the endpoint or to a channel.
 */
export function run(
  endpoint: Endpoint,
  port: UdpPort,
  onEvent: (event: EndpointEvent) => void,
  listen: () => void,
): () => void {
  let timer: NodeJS.Timeout | undefined
  const wake = (): void => {
    clearTimeout(timer)
    const wakeAt = drain(endpoint, monotonicNow(), port, onEvent)
    if (wakeAt !== Infinity) timer = setTimeout(wake, Math.max(0, wakeAt - monotonicNow()))
  }
  port.onDatagram = (from, bytes, length) => {
    endpoint.handleDatagram(monotonicNow(), from, bytes, length)
    listen()
    wake()
  }
  wake()
  return wake
}
// #endregion
