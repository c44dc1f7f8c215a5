/**
 * One peer in a network namespace: it prints its candidates, reads those of the other peer, and connects. The guest
 * sends a numbered reliable message every 20 ms; the host prints each second what it has received.
 *
 * It is started as `node … nat-peer-process.ts '{"role":"guest","relays":[…],"tokens":[…]}'`.
 */

import { checkCandidates } from 'tickwire/nat'
import { createInterface } from 'node:readline'
import { ChannelSet } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import { SEND_QUEUES } from '../../packages/tickwire/src/core/channel/send-queue.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { textToBytes } from '../../packages/tickwire/src/core/crypto/token-text.ts'
import { drain } from '../../packages/tickwire/src/core/endpoint/drain.ts'
import { createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { monotonicNow } from '../../packages/tickwire/src/node/clock.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { systemEntropy } from '../../packages/tickwire/src/node/entropy.ts'
import { openPeerPort } from '../../packages/tickwire/src/node/nat-port.ts'

interface Orders {
  readonly role: 'host' | 'guest'
  readonly relays: readonly string[]
  readonly tokens: readonly string[]
  /** The UDP port. Default: any. */
  readonly port?: number
}

const { role, relays, tokens, port: given = 0 }: Orders = JSON.parse(process.argv[2]!)
const isHost = role === 'host'
const provider = bestProvider()
const port = await openPeerPort({
  port: given,
  relays: relays.map((address, index) => ({ address, token: textToBytes(tokens[index]!)! })),
})
const channels = new ChannelSet([{ promise: 'ordered', queue: SEND_QUEUES.control }])
const connections: Connection[] = []
const endpoint = createEndpoint({
  fingerprint: new Uint8Array(8), entropy: systemEntropy, maxConnections: isHost ? 4 : 0, security: { provider },
  assemble: (connection) => {
    connections.push(connection)
    for (const source of channels.sources) connection.addSource(0, source)
    connection.addSink(0, channels)
  },
})
let [sent, received, isInOrder, gapMs, lastAt] = [0, 0, true, 0, 0]
const incoming = new Uint8Array(1024)

function wake(): void {
  drain(endpoint, monotonicNow(), port, () => {})
  while (channels.receive(0, incoming) >= 0) {
    isInOrder &&= new DataView(incoming.buffer).getUint32(0) === received
    const now = monotonicNow()
    if (received > 0) gapMs = Math.max(gapMs, now - lastAt)
    lastAt = now
    received++
  }
}

port.onDatagram = (from, bytes, length) => {
  endpoint.handleDatagram(monotonicNow(), from, bytes, length)
  wake()
}
await port.ready(10_000)
console.log(`candidates ${JSON.stringify(port.candidates('race'))}`)

createInterface({ input: process.stdin }).once('line', (line) => {
  port.addPeer({
    name: 'other', candidates: checkCandidates(JSON.parse(line)), key: new Uint8Array(16).fill(5), provider,
    isHost: !isHost,
  })
  if (!isHost) endpoint.connect(monotonicNow(), 'peer/other')
})

setInterval(() => {
  if (!isHost && connections[0]?.isOpen === true) {
    const bytes = new Uint8Array(4)
    new DataView(bytes.buffer).setUint32(0, sent)
    if (channels.send(0, bytes) === 'queued') sent++
  }
  wake()
}, 20)

setInterval(() => {
  const link = port.paths.peers.get('other')
  const path = link === undefined ? 'none' : port.paths.pathTo(link).kind
  const address = connections[0]?.address ?? ''
  console.log(`status ${JSON.stringify({ path, address, sent, received, isInOrder, gapMs: Math.round(gapMs) })}`)
}, 200)
