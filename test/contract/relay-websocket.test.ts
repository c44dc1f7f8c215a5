/** A relay for networks without UDP: one peer by WebSocket, the other by UDP, with real endpoints on both sides. */

import { afterAll, describe, expect, test } from 'vitest'
import { ChannelSet } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import { SEND_QUEUES } from '../../packages/tickwire/src/core/channel/send-queue.ts'
import { drain } from '../../packages/tickwire/src/core/endpoint/drain.ts'
import { createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { issueRelayToken } from '../../packages/tickwire/src/core/nat/relay-token.ts'
import { monotonicNow } from '../../packages/tickwire/src/node/clock.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { systemEntropy } from '../../packages/tickwire/src/node/entropy.ts'
import { type PeerUdpPort, openPeerPort } from '../../packages/tickwire/src/node/nat-port.ts'
import { openRelay } from '../../packages/tickwire/src/node/relay-server.ts'
import { openWebSocket } from '../../packages/tickwire/src/node/websocket.ts'

const provider = bestProvider()
const issuer = provider.importSigning(new Uint8Array(32).fill(4))
const SPECS = [{ promise: 'ordered', queue: SEND_QUEUES.control }] as const
const relay = await openRelay({
  issuers: [issuer.publicKey], port: 0, address: '127.0.0.1', relayed: '127.0.0.1', webSocket: {},
})
const url = relay.webSocket!.url
const ports: PeerUdpPort[] = []
let tokens = 0

afterAll(async () => {
  for (const port of ports) port.close()
  await relay.close()
})

function token(): Uint8Array {
  const issuedAt = Math.floor(Date.now() / 1000)
  return issueRelayToken(provider, issuer, {
    session: new Uint8Array(16).fill(1), id: new Uint8Array(16).fill(++tokens), issuedAt, expiresAt: issuedAt + 60,
    audience: 'relay',
  })
}

async function open(address: string): Promise<PeerUdpPort> {
  const port = await openPeerPort({ relays: [{ address, token: token() }] })
  ports.push(port)
  await port.ready()
  return port
}

interface Player {
  readonly received: Uint8Array[]
  send(bytes: Uint8Array): void
  connect(): void
}

/** An endpoint on a port. Everything that it receives is in `received`. */
function play(port: PeerUdpPort, isHost: boolean): Player {
  const channels = new ChannelSet(SPECS)
  const received: Uint8Array[] = []
  const endpoint = createEndpoint({
    fingerprint: new Uint8Array(8), entropy: systemEntropy, maxConnections: isHost ? 2 : 0, security: { provider },
    assemble: (connection) => {
      for (const source of channels.sources) connection.addSource(0, source)
      connection.addSink(0, channels)
    },
  })
  const incoming = new Uint8Array(1024)
  const wake = (): void => {
    drain(endpoint, monotonicNow(), port, () => {})
    for (let size = channels.receive(0, incoming); size >= 0; size = channels.receive(0, incoming))
      received.push(incoming.slice(0, size))
  }
  port.onDatagram = (from, bytes, length) => {
    endpoint.handleDatagram(monotonicNow(), from, bytes, length)
    wake()
  }
  const timer = setInterval(wake, 5)
  afterAll(() => clearInterval(timer))
  return {
    received, send: (bytes) => void channels.send(0, bytes),
    connect: () => void endpoint.connect(monotonicNow(), 'peer/host'),
  }
}

describe('a relay by WebSocket', () => {
  test('[NAT30] a guest by WebSocket plays with a host by UDP, in packets of full size', async () => {
    const [hostPort, guestPort] = await Promise.all([open(relay.relayed), open(url)])
    expect(guestPort.candidates('relay-only')).toEqual([
      { kind: 'relay', address: relay.relayed, allocation: expect.stringMatching(/^[0-9a-f]{16}$/) },
    ])
    const shared = { provider, key: new Uint8Array(16), mode: 'relay-only' } as const
    const [host, guest] = [play(hostPort, true), play(guestPort, false)]
    hostPort.addPeer({ ...shared, name: 'guest', candidates: guestPort.candidates('relay-only'), isHost: false })
    guestPort.addPeer({ ...shared, name: 'host', candidates: hostPort.candidates('relay-only'), isHost: true })
    guest.connect()
    const messages = Array.from({ length: 40 }, (_, index) => new Uint8Array(1000).fill(index))
    for (const message of messages) guest.send(message)
    await expect.poll(() => host.received.length, { timeout: 8000 }).toBe(40)
    expect(host.received).toEqual(messages)
    host.send(Uint8Array.of(1, 2, 3))
    await expect.poll(() => guest.received, { timeout: 8000 }).toEqual([Uint8Array.of(1, 2, 3)])
    expect(relay.webSocket!.port.stats.oversized).toBe(0)
    // The end of the socket frees the allocation at once.
    expect(relay.relay.allocations).toBe(2)
    guestPort.close()
    await expect.poll(() => relay.relay.allocations, { timeout: 5000 }).toBe(1)
  })

  test('[NAT30] STUN and TURN are not spoken on it, and text and long messages have no effect', async () => {
    const port = await openWebSocket(url)
    const answers: number[] = []
    port.onDatagram = (_from, _bytes, length) => answers.push(length)
    const binding = Buffer.from('000100002112a442000102030405060708090a0b', 'hex')
    const allocate = Buffer.from('000300082112a442000102030405060708090a0b0019000411000000', 'hex')
    for (const bytes of [binding, allocate]) port.send(url, bytes, bytes.length)
    // A Ping is answered, so the others were not.
    const ping = Buffer.alloc(47)
    Buffer.from('544b570305', 'hex').copy(ping)
    ping[13] = 10
    ping[14] = 1
    port.send(url, ping, ping.length)
    await expect.poll(() => answers, { timeout: 5000 }).toEqual([25])
    port.close()
  })

  test('[NAT30] a relay that drains says so by WebSocket too, and refuses new peers', async () => {
    const peer = await open(url)
    expect(peer.paths.relays[0]!.state).toBe('ready')
    const drained = relay.drain(300)
    await expect.poll(() => peer.paths.relays[0]!.state, { timeout: 5000 }).toBe('moving')
    const late = await open(url)
    expect([late.paths.relays[0]!.state, late.paths.relays[0]!.refusal]).toEqual(['refused', 'draining'])
    await drained
  })
})
