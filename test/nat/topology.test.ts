import { createClientHost, createMatchHost } from 'tickwire/engine'
import { type Candidate, PacketRelay, type PathMode, PeerPort, RelayClient, issueRelayToken } from 'tickwire/nat'
import { expect, test } from 'vitest'
import { game } from '../../games/hello/game.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { StateHash } from '../../packages/tickwire/src/core/world/state-hash.ts'
import { SimClock } from '../../packages/tickwire/src/testing/sim-clock.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { SimNat } from '../../packages/tickwire/src/testing/sim-nat.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { form } from '../form.ts'
import { Machine } from './nat-stage.ts'

const RELAY = '203.0.113.10:7777'
const SECONDS = 1_800_000_000
const crypto = new StubCrypto()
const issuer = crypto.importSigning(new Uint8Array(32).fill(1))

function tokenOf(number: number): Uint8Array {
  return issueRelayToken(crypto, issuer, {
    session: new Uint8Array(16), id: new Uint8Array(16).fill(number), issuedAt: SECONDS, expiresAt: SECONDS + 60,
    audience: 'relay',
  })
}

interface Played {
  readonly path: string
  readonly hashes: readonly string[]
  readonly forwarded: number
}

/**
 * A match of hello between two homes, which begins when paths are known. The way by relay is as long as the direct one.
 */
function play(seed: number, mode: PathMode): Played {
  const clock = new SimClock()
  const isRelay = ({ address }: { readonly address: string }): boolean => address === RELAY
  const net = new SimNat({ seed, latencyMs: (from, to) => (isRelay(from) || isRelay(to) ? 15 : 30) })
  const relay = new PacketRelay({
    provider: crypto, entropy: new Dice(seed + 7), issuers: [issuer.publicKey], relayed: RELAY,
    wallSeconds: () => SECONDS, allocationsMax: 8,
  })
  const out = createTransmit()
  const relayHost = net.addHost(RELAY)
  clock.add(new Machine(net, relayHost, (now, from, bytes, length) => {
    if (relay.handleDatagram(now, from, bytes, length, out)) net.send(now, relayHost, out.to, out.bytes, out.length)
  }, (now) => {
    relay.pollTransmit(now, out)
    return relay.pollTimeout(now)
  }))

  const homes = [1, 2].map((number) => {
    const host = net.addHost(`10.0.0.${number}:4000`, net.addRouter(`198.51.100.${number}`, {}))
    const token = tokenOf(number)
    const client = new RelayClient({ provider: crypto, entropy: new Dice(seed + number), relay: RELAY, token })
    const port = new PeerPort([client])
    port.onSend = (to, bytes, length) => net.send(clock.now, host, to, bytes, length)
    return { host, client, port }
  })
  const [server, guest] = homes as [(typeof homes)[number], (typeof homes)[number]]
  const { rooms, host: match } = createMatchHost(game, {
    entropy: new Dice(seed + 20), security: { provider: crypto }, seed: 5,
  })
  const player = createClientHost(game, { entropy: new Dice(seed + 30), security: { provider: crypto } })
  let inputs = 0
  player.sampleInput = () => ({ right: (++inputs + seed) % 20 < 9, down: inputs % 34 < 12 })
  const hashes: string[] = []
  const hash = new StateHash(match.world)
  let lastTick = -1
  server.port.onDatagram = (from, bytes, length) => rooms.handleDatagram(clock.now, from, bytes, length)
  guest.port.onDatagram = (from, bytes, length) => player.handleDatagram(clock.now, from, bytes, length)
  const step = (now: number): void => {
    rooms.tick(now)
    if (match.world.tick === lastTick) return
    lastTick = match.world.tick
    hashes.push([...hash.update()].join())
  }
  clock.add(new Machine(net, server.host, (now, ...datagram) => server.port.handleDatagram(now, ...datagram), (now) => {
    step(now)
    return Math.min(rooms.drain(now, server.port), server.port.drain(now))
  }))
  clock.add(new Machine(net, guest.host, (now, ...datagram) => guest.port.handleDatagram(now, ...datagram), (now) => {
    player.tick(now)
    return Math.min(player.drain(now, guest.port), guest.port.drain(now))
  }))
  clock.driveUntil(() => homes.every(({ client }) => client.isReady), 2000)
  const candidatesOf = ({ client, host }: (typeof homes)[number]): Candidate[] => [
    { kind: 'host', address: host.address }, { kind: 'seen', address: client.seen },
    { kind: 'relay', address: RELAY, allocation: client.allocation },
  ]
  const shared = { provider: crypto, key: new Uint8Array(16).fill(9), mode }
  server.port.addPeer(clock.now, { ...shared, name: 'guest', candidates: candidatesOf(guest), isHost: false })
  guest.port.addPeer(clock.now, { ...shared, name: 'host', candidates: candidatesOf(server), isHost: true })
  server.port.drain(clock.now)
  guest.port.drain(clock.now)
  clock.drive(3000 - clock.now)
  player.connect(clock.now, 'peer/host')
  player.drain(clock.now, guest.port)
  clock.drive(5000)
  const path = guest.port.pathTo(guest.port.peers.get('host')!).kind
  return { path, hashes, forwarded: relay.counts.forwarded }
}

test('[NAT31] the simulation has the same hash in every tick, directly and by relay', () => {
  for (let seed = 1; seed <= form(2, 50); seed++) {
    const direct = play(seed, 'race')
    const relayed = play(seed, 'relay-only')
    expect([direct.path, relayed.path, direct.forwarded]).toEqual(['direct', 'relay', 0])
    expect(relayed.forwarded).toBeGreaterThan(200)
    expect(new Set(direct.hashes).size).toBeGreaterThan(100)
    expect(relayed.hashes).toEqual(direct.hashes)
  }
})
