import { type Connection, type ReliableOrderedChannel, createEndpoint } from 'tickwire/engine'
import { monotonicNow, openUdp, systemEntropy } from 'tickwire/node'
import { fingerprint, linesOf, openChannel, run } from './udp-chat.ts'

// #region server
const port = await openUdp({ port: Number(process.env.PORT ?? 4000) })
const guests = new Map<Connection, ReliableOrderedChannel>()

const endpoint = createEndpoint({
  fingerprint,
  entropy: systemEntropy,
  maxConnections: 100,
  assemble: (connection) => guests.set(connection, openChannel(connection)),
})

const wake = run(endpoint, port, (event) => {
  if (event.type === 'opened') return tellAll(`${event.connection.address} is here`)
  guests.delete(event.connection)
  tellAll(`${event.connection.address} is gone: ${event.reason.code}`)
}, () => {
  for (const [{ address }, channel] of guests) for (const line of linesOf(channel)) tellAll(`${address}: ${line}`)
})

function tellAll(line: string): void {
  console.log(line)
  for (const channel of guests.values()) channel.send(new TextEncoder().encode(line))
}

console.log(`listening on ${port.localAddress}`)
// #endregion

// Closes the connections before it ends, so that no client waits for a server that is gone.
process.once('SIGINT', leave).once('SIGTERM', leave)

function leave(): void {
  endpoint.close(monotonicNow())
  wake()
  setTimeout(() => process.exit(), 300)
}
