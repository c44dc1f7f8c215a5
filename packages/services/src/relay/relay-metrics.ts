/** The metrics of a packet relay, read when they are scraped. None of them has an address. */

import type { Registry } from 'prom-client'
import type { RelayServer } from 'tickwire/node'
import { readCounter, readGauge } from '../telemetry/metrics.ts'

/** Adds the metrics of a relay to those of its process. */
export function addRelayMetrics({ relay, port, webSocket }: RelayServer, registry: Registry): void {
  readGauge(registry, {
    name: 'tickwire_relay_allocations', help: 'Current allocations.', read: () => relay.allocations,
  })
  readGauge(registry, {
    name: 'tickwire_relay_draining', help: '1 while the relay accepts no new peers.',
    read: () => Number(relay.isDraining),
  })
  readCounter(registry, {
    name: 'tickwire_relay_total', help: 'Datagrams and allocations, by what happened.', read: () => relay.counts,
  })
  readCounter(registry, {
    name: 'tickwire_datagrams_total', help: 'Datagrams of the socket, by event.', read: () => port.stats,
  })
  if (webSocket !== undefined) {
    readCounter(registry, {
      name: 'tickwire_websocket_messages_total', help: 'Messages of the WebSocket, by event.',
      read: () => webSocket.port.stats,
    })
  }
  readGauge(registry, {
    name: 'tickwire_relay_receive_buffer_bytes', help: 'The kernel\'s receive buffer of the socket.',
    read: () => port.recvBufferBytes,
  })
}
