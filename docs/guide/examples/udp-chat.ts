/** What the server and the clients of the chat have in common. */

import { type Connection, type Endpoint, type EndpointEvent, ReliableOrderedChannel, drain } from 'tickwire'
import { type UdpPort, monotonicNow } from 'tickwire/node'

/** Eight bytes that both sides must share: a build that says otherwise is not let in. */
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
 * Lets an endpoint live on a port: what arrives goes in, what is due goes out, and it is woken when it asked to be.
 * Returns `wake`, to be called after telling the endpoint or a channel something.
 */
export function run(endpoint: Endpoint, port: UdpPort, onEvent: (event: EndpointEvent) => void, listen: () => void): () => void {
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
