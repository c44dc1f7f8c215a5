import { LineSignaling, MemorySignaling, issueRelayToken, decodeSignal } from 'tickwire/nat'
import { afterAll, expect, test } from 'vitest'
import { serveRendezvous } from '../../packages/services/src/index.ts'
import { Rendezvous } from '../../packages/tickwire/src/core/client/rendezvous.ts'
import { RendezvousSignaling, type SignalPass } from '../../packages/tickwire/src/core/nat/rendezvous-signaling.ts'
import type { Signaling } from '../../packages/tickwire/src/core/nat/signaling.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { nodeRendezvous } from '../../packages/tickwire/src/node/rendezvous-machine.ts'
import { openRelay } from '../../packages/tickwire/src/node/relay-server.ts'
import {
  type SocketSignaling, openDirectSignaling, openRelaySignaling,
} from '../../packages/tickwire/src/node/signal-line.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { type SignalingStage, signalingContract } from './signaling.contract.ts'

signalingContract('[SIGNAL1, SIGNAL2] memory', () => {
  const members = new Map<string, MemorySignaling>()
  const [host, guest] = [new MemorySignaling(members, 'host'), new MemorySignaling(members, 'guest')]
  return Promise.resolve({ host, guest, settle: () => Promise.resolve(), close: () => Promise.resolve() })
})

/** Two members on real sockets, after a first message between them. */
async function overSockets(host: SocketSignaling, guest: SocketSignaling): Promise<SignalingStage> {
  // Messages of one connection are in order: when the last one has arrived, all have.
  guest.send('host', { kind: 'reject', reason: 'hello' })
  for (const end = performance.now() + 20_000; host.poll() === undefined && performance.now() < end;) await sleep(10)
  const settle = async (): Promise<void> => {
    let arrivedAt = performance.now()
    const counted = [host, guest].map((member) => member.onArrival)
    for (const member of [host, guest]) {
      const { onArrival } = member
      member.onArrival = () => {
        onArrival()
        arrivedAt = performance.now()
      }
    }
    const startedAt = performance.now()
    while (performance.now() - arrivedAt < 150 && performance.now() - startedAt < 5000) await sleep(20)
    ;[host, guest].forEach((member, index) => {
      member.onArrival = counted[index]!
    })
  }
  return {
    host, guest, settle,
    close: async () => {
      host.close()
      guest.close()
      await Promise.all([host.closed, guest.closed])
    },
  }
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

signalingContract('[SIGNAL1, SIGNAL2] direct', async () => {
  const host = await openDirectSignaling({ name: 'host', guestsMax: 4, address: '127.0.0.1' })
  const peers = { host: host.localAddress }
  return overSockets(host, await openDirectSignaling({ name: 'guest', peers, address: '127.0.0.1' }))
})

const provider = bestProvider()
const issuer = provider.importSigning(new Uint8Array(32).fill(3))
const relay = openRelay({ issuers: [issuer.publicKey], port: 0, address: '127.0.0.1', relayed: '127.0.0.1' })
afterAll(async () => (await relay).close())
let tokens = 0

signalingContract('[SIGNAL1, SIGNAL2] relay', async () => {
  const session = new Uint8Array(16).fill(++tokens)
  const open = async (name: string, guestsMax: number) => {
    const issuedAt = Math.floor(Date.now() / 1000)
    const token = issueRelayToken(provider, issuer, {
      session, id: new Uint8Array(16).fill(++tokens), issuedAt, expiresAt: issuedAt + 60, audience: 'relay',
    })
    return openRelaySignaling({ name, guestsMax, relay: { address: (await relay).relayed, token } })
  }
  const [host, guest] = await Promise.all([open('host', 4), open('guest', 0)])
  host.addPeer('guest', guest.allocation, false)
  guest.addPeer('host', host.allocation, true)
  return overSockets(host, guest)
})

/** Names of guests are drawn by the rendezvous: the stage calls its only guest `guest`. */
function renamed(signals: RendezvousSignaling, guest: string): Signaling {
  const box: Signaling = {
    onArrival: () => {},
    send: (peer, signal) => signals.send(peer === 'guest' ? guest : peer, signal),
    poll: () => {
      const next = signals.poll()
      return next === undefined ? undefined : [next[0] === guest ? 'guest' : next[0], next[1]]
    },
    close: () => signals.close(),
  }
  signals.onArrival = () => box.onArrival()
  return box
}

signalingContract('[SIGNAL1, SIGNAL2] rendezvous', async () => {
  const serving = await serveRendezvous({ port: 0, address: '127.0.0.1' })
  const rendezvous = new Rendezvous(`http://127.0.0.1:${serving.port}`, nodeRendezvous)
  const own = await rendezvous.create({ fingerprint: '00'.repeat(8), identity: '00'.repeat(32), capacity: 4 }, false)
  const enter = async (pass: SignalPass): Promise<RendezvousSignaling> => {
    const signals = new RendezvousSignaling(await rendezvous.openSignals(), pass)
    await new Promise<void>((resolve) => { signals.onWelcome = resolve })
    return signals
  }
  const { session, code, key, secret } = own
  const host = await enter({ session, code, key, secret })
  const { ticket } = await rendezvous.join(code, '00'.repeat(8))
  const guest = await enter({ session, ticket })
  const settle = (): Promise<void> => sleep(150)
  await settle()
  return {
    host: renamed(host, guest.name), guest: renamed(guest, guest.name), settle,
    close: async () => {
      host.close()
      guest.close()
      await serving.close()
    },
  }
})

test('[SIGNAL3] a member cannot take the name of another', () => {
  const config = { provider: new StubCrypto(), isLoopbackAllowed: true }
  const host = new LineSignaling({ ...config, entropy: new Dice(1), name: 'host', guestsMax: 4 })
  const guests = ['ann', 'ann', 'bob'].map(
    (name, index) => new LineSignaling({ ...config, entropy: new Dice(2 + index), name }),
  )
  guests.forEach((guest, index) => guest.connect(index * 100, 'host', 'the host'))
  for (let now = 0; now < 2000; now += 10) {
    guests.forEach((guest, index) => {
      const port = { send: (_to: string, bytes: Uint8Array, length: number) =>
        host.handleDatagram(now, `guest ${index}`, bytes.slice(), length) }
      if (now >= index * 100) guest.drain(now, port)
    })
    host.drain(now, {
      send: (to, bytes, length) => guests[Number(to.slice(6))]!.handleDatagram(now, 'the host', bytes.slice(), length),
    })
  }
  expect(host.peers).toEqual(['ann', 'bob'])
  expect(guests.map(({ peers }) => peers)).toEqual([['host'], [], ['host']])
  const wrong = { ...config, entropy: new Dice(9), name: 'a b' }
  expect(() => new LineSignaling(wrong)).toThrow(/signaling.name: not a name/)
})

test('[SIGNAL2] text that is not a message is refused, and candidates in it are checked', () => {
  const refused = [
    '', 'x', '5', 'null', '[]', '{}', '{"kind":"offer"}', '{"kind":"reject","reason":5}', '{"kind":"candidate"}',
    '{"kind":"offer","identity":"ab","key":"cd","candidates":[]}', JSON.stringify({ kind: 'other', candidates: [] }),
    JSON.stringify({ kind: 'reject', reason: 'x'.repeat(20_000) }),
  ]
  expect(refused.filter((text) => decodeSignal(text) !== undefined)).toEqual([])
  const text = JSON.stringify({ kind: 'candidate', candidates: [{ kind: 'seen', address: '127.0.0.1:22' }] })
  expect(decodeSignal(text)).toEqual({ kind: 'candidate', candidates: [] })
})
