import { describe, expect, test } from 'vitest'
import { form } from '../form.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { issueToken } from '../../packages/tickwire/src/core/crypto/connect-token.ts'
import { PacketHeader, writeHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import { PacketRelay } from '../../packages/tickwire/src/core/nat/packet-relay.ts'
import {
  CHANNEL_HEAD_BYTES, RelayClient, type RelayPeer, channelOf,
} from '../../packages/tickwire/src/core/nat/relay-client.ts'
import type { PacketRelayConfig } from '../../packages/tickwire/src/core/nat/relay-options.ts'
import { type RelayGrant, issueRelayToken } from '../../packages/tickwire/src/core/nat/relay-token.ts'
import { RELAY_KIND, RelayMessage, sealRelay } from '../../packages/tickwire/src/core/nat/relay-wire.ts'
import { isStun } from '../../packages/tickwire/src/core/nat/stun.ts'

const NOW_SECONDS = 1_800_000_000
const issuer = pureProvider.importSigning(new Uint8Array(32).fill(7))
const stranger = pureProvider.importSigning(new Uint8Array(32).fill(8))
let tokens = 0

function tokenFor(session: number, grant: Partial<RelayGrant> = {}, key = issuer): Uint8Array {
  const id = new Uint8Array(16)
  new DataView(id.buffer).setUint32(0, ++tokens)
  return issueRelayToken(pureProvider, key, {
    session: new Uint8Array(16).fill(session), id, issuedAt: NOW_SECONDS, expiresAt: NOW_SECONDS + 300,
    audience: 'relay', ...grant,
  })
}

/** A relay and its peers without a network: a datagram is received when it is sent. */
class Stage {
  now: number = 1000
  readonly relay: PacketRelay
  readonly clients: Map<string, RelayClient> = new Map()
  readonly received: { to: string; from: RelayPeer | undefined; bytes: Uint8Array }[] = []
  #out = createTransmit()
  #reply = createTransmit()

  constructor(config: Partial<PacketRelayConfig> = {}) {
    this.relay = new PacketRelay({
      provider: pureProvider, entropy: new Dice(1), issuers: [issuer.publicKey], relayed: '203.0.113.10:7777',
      wallSeconds: () => NOW_SECONDS, ...config,
    })
  }

  join(address: string, token: Uint8Array): RelayClient {
    const entropy = new Dice(this.clients.size + 10)
    const client = new RelayClient({ provider: pureProvider, entropy, relay: 'relay', token })
    this.clients.set(address, client)
    this.settle()
    return client
  }

  addressOf(client: RelayClient): string {
    return [...this.clients].find(([, other]) => other === client)![0]
  }

  settle(): void {
    for (let isBusy = true; isBusy;) {
      isBusy = false
      while (this.relay.pollTransmit(this.now, this.#out)) this.deliver()
      for (const [address, client] of this.clients) {
        while (client.pollTransmit(this.now, this.#out)) {
          isBusy = true
          this.give(address, this.#out.bytes.slice(0, this.#out.length))
        }
      }
    }
  }

  /** Lets time pass in steps of 250 ms. */
  pass(ms: number): void {
    for (const end = this.now + ms; this.now < end;) {
      this.now += 250
      this.settle()
    }
  }

  /** Gives the relay a datagram. Returns its answer, which is delivered too. */
  give(from: string, bytes: Uint8Array): { to: string; bytes: Uint8Array } | undefined {
    if (!this.relay.handleDatagram(this.now, from, bytes, bytes.length, this.#reply)) return undefined
    const answer = { to: this.#reply.to, bytes: this.#reply.bytes.slice(0, this.#reply.length) }
    this.#out.to = answer.to
    this.#out.length = answer.bytes.length
    this.#out.bytes.set(answer.bytes)
    this.deliver()
    return answer
  }

  deliver(): void {
    const { to, bytes, length } = this.#out
    const client = this.clients.get(to)
    if (client?.handleDatagram(this.now, bytes, length) === true) {
      const from = client.peerOf(channelOf(bytes))
      this.received.push({ to, from, bytes: bytes.slice(CHANNEL_HEAD_BYTES, length) })
    }
  }

  send(client: RelayClient, peer: RelayPeer, bytes: Uint8Array): { to: string; bytes: Uint8Array } | undefined {
    const out = new Uint8Array(1500)
    return this.give(this.addressOf(client), out.slice(0, client.wrap(peer, bytes, bytes.length, out)))
  }
}

function packet(type: number, id: number, ...body: number[]): Uint8Array {
  const bytes = new Uint8Array(64)
  const at = writeHeader(Object.assign(new PacketHeader(), { type, idLo: id, idHi: id === 0 ? 0 : 9 }), bytes)
  return Uint8Array.of(...bytes.slice(0, at), ...body)
}

const [A, B, C] = ['198.51.100.1:4000', '198.51.100.2:4000', '198.51.100.3:4000'] as const

/** Two peers of one session that have bound each other. */
function pair(config: Partial<PacketRelayConfig> = {}, grant: Partial<RelayGrant> = {}) {
  const stage = new Stage(config)
  const [a, b] = [stage.join(A, tokenFor(1, grant)), stage.join(B, tokenFor(1, grant))]
  const [toB, toA] = [a.bind(b.allocation), b.bind(a.allocation)]
  stage.settle()
  return { stage, a, b, toA, toB }
}

describe('allocations', () => {
  test('[NAT3] a peer with a token gets an allocation, and its address as the relay sees it', () => {
    const stage = new Stage()
    const a = stage.join(A, tokenFor(1))
    expect(a).toMatchObject({ state: 'ready', seen: A })
    expect(a.allocation).toMatch(/^[0-9a-f]{16}$/)
    expect(stage.relay.allocations).toBe(1)
    expect(stage.relay.counts).toMatchObject({ cookies: 1, allocated: 1 })
  })

  test('[NAT3] no token of another issuer, audience, time, or kind, and no changed one, gets an allocation', () => {
    const changed = tokenFor(1)
    changed[60]! ^= 1
    const connect = issueToken(pureProvider, issuer, {
      server: new Uint8Array(32), id: new Uint8Array(16), issuedAt: NOW_SECONDS, expiresAt: NOW_SECONDS + 60,
      audience: 'relay', user: new Uint8Array(0),
    })
    const refused = [
      tokenFor(1, {}, stranger), tokenFor(1, { audience: 'other' }), changed, connect,
      tokenFor(1, { issuedAt: NOW_SECONDS - 600, expiresAt: NOW_SECONDS }),
      tokenFor(1, { issuedAt: NOW_SECONDS + 60, expiresAt: NOW_SECONDS + 600 }),
    ]
    const stage = new Stage()
    refused.forEach((token, index) => {
      const client = stage.join(`198.51.100.${index + 1}:4000`, token)
      expect(client).toMatchObject({ state: 'refused', refusal: 'token', allocation: '' })
    })
    expect(stage.relay.allocations).toBe(0)
  })

  test('[NAT3] one token has one allocation: shown again from another address it is refused', () => {
    const stage = new Stage()
    const token = tokenFor(1)
    const a = stage.join(A, token)
    expect(stage.join(B, token)).toMatchObject({ state: 'refused', refusal: 'quota' })
    expect(stage.join(A, token)).toMatchObject({ state: 'ready', allocation: a.allocation })
  })

  test('[NAT21] the token is on the wire only with a cookie, and a copy of that datagram spends nothing', () => {
    const stage = new Stage()
    const token = tokenFor(1)
    const owner = new RelayClient({ provider: pureProvider, entropy: new Dice(5), relay: 'relay', token })
    const sent: Uint8Array[] = []
    const out = createTransmit()
    for (stage.clients.set(A, owner); owner.pollTransmit(stage.now, out);) {
      const bytes = out.bytes.slice(0, out.length)
      if (!isStun(bytes, bytes.length)) sent.push(bytes)
      stage.give(A, bytes)
    }
    expect(sent.map((bytes) => Buffer.from(bytes).includes(Buffer.from(token)))).toEqual([false, true])
    expect(sent[0]!.length).toBe(sent[1]!.length)
    expect(owner.state).toBe('ready')
    // The observer has its own cookie ready, and sends the token as soon as it saw it.
    expect(stage.join(B, token)).toMatchObject({ state: 'refused', refusal: 'quota' })
    expect(stage.relay.allocations).toBe(1)
  })

  test('[NAT21] a token without a valid cookie is not read: it spends nothing', () => {
    const stage = new Stage()
    const token = tokenFor(1)
    const message = Object.assign(new RelayMessage(), { kind: RELAY_KIND.allocate, transaction: 1, token })
    const out = new Uint8Array(400)
    for (const cookie of [new Uint8Array(16), new Uint8Array(16).fill(1)]) {
      message.cookie = cookie
      const answer = stage.give(B, out.slice(0, sealRelay(pureProvider, cookie, message, out)))
      expect(answer?.bytes[13]).toBe(RELAY_KIND.cookie)
    }
    expect(stage.join(A, token).state).toBe('ready')
  })

  test('[NAT3] an origin has 8 allocations, a relay as many as it allows', () => {
    const stage = new Stage({ allocationsMax: 10 })
    const joinAt = (port: number): RelayClient => stage.join(`198.51.100.1:${port}`, tokenFor(1))
    const states = Array.from({ length: 9 }, (_, index) => joinAt(index + 1).refusal)
    expect(states).toEqual([...Array<undefined>(8).fill(undefined), 'quota'])
    for (let index = 2; index < 4; index++) stage.join(`198.51.100.${index}:1`, tokenFor(1))
    expect(stage.join('198.51.100.9:1', tokenFor(1)).refusal).toBe('full')
  })

  test('[NAT4] an allocation without Refresh is gone after 30 s, and stays while it is refreshed', () => {
    const { stage } = pair()
    stage.pass(60_000)
    expect(stage.relay.allocations).toBe(2)
    stage.clients.delete(A)
    stage.pass(29_000)
    const before = stage.relay.allocations
    stage.pass(12_000)
    expect([before, stage.relay.allocations, stage.relay.counts.expired]).toEqual([2, 1, 1])
  })

  test('[NAT4] a relay that restarted is asked again', () => {
    const { stage, a } = pair()
    const first = a.allocation
    const restarted = new Stage({ entropy: new Dice(2) })
    restarted.now = stage.now
    restarted.clients.set(A, a)
    restarted.pass(12_000)
    expect(a.state).toBe('ready')
    expect(a.allocation).not.toBe(first)
  })

  test('[NAT5] a peer that changes its address keeps its allocation, after it proved the new address', () => {
    const { stage, a, b, toA, toB } = pair()
    stage.clients.delete(A)
    stage.clients.set(C, a)
    a.handleNetworkChange(stage.now)
    stage.settle()
    expect(stage.relay.counts).toMatchObject({ moved: 1, cookies: 3 })
    stage.send(b, toA, packet(0, 0, 1))
    stage.send(a, toB, packet(0, 0, 1))
    expect(stage.received.map(({ to }) => to)).toEqual([C, B])
  })

  test('[NAT6] a drain refuses new allocations and asks peers to move', () => {
    const { stage, a, b } = pair()
    stage.relay.drain(stage.now, 10_000)
    stage.settle()
    expect([a.state, b.state]).toEqual(['moving', 'moving'])
    expect(stage.join(C, tokenFor(1))).toMatchObject({ state: 'refused', refusal: 'draining' })
  })
})

describe('forwarding', () => {
  test('[NAT7] what goes in comes out unchanged, between two allocations that bound each other', () => {
    const { stage, a, b, toA, toB } = pair()
    const sent = packet(0, 0, 1, 2, 3)
    expect(stage.send(a, toB, sent)?.to).toBe(B)
    expect(stage.received[0]).toEqual({ to: B, from: toA, bytes: sent })
    stage.send(b, toA, sent)
    expect(stage.received[1]).toEqual({ to: A, from: toB, bytes: sent })
    expect(toA.originTag).not.toBe(toB.originTag)
  })

  test('[NAT7] nothing passes when only one side has bound the other', () => {
    const stage = new Stage()
    const [a, b] = [stage.join(A, tokenFor(1)), stage.join(B, tokenFor(1))]
    const toB = a.bind(b.allocation)
    stage.settle()
    expect(toB.channel).toBeGreaterThan(0)
    expect(stage.send(a, toB, packet(0, 0, 1))).toBeUndefined()
    expect(stage.relay.counts.unbound).toBe(1)
  })

  test('[NAT7] allocations of two sessions cannot be bound', () => {
    const stage = new Stage()
    const [a, b] = [stage.join(A, tokenFor(1)), stage.join(B, tokenFor(2))]
    const [toB, toA] = [a.bind(b.allocation), b.bind(a.allocation)]
    stage.pass(1000)
    expect([toB.channel, toA.channel]).toEqual([0, 0])
  })

  test('[NAT8] packets of a connection pass after its Accepted, or after a Bind that names it', () => {
    const { stage, a, b, toA, toB } = pair()
    expect(stage.send(a, toB, packet(1, 42, 5))).toBeUndefined()
    expect(stage.send(b, toA, packet(0, 42, 3))).toBeDefined()
    expect(stage.send(a, toB, packet(1, 42, 5))).toBeDefined()
    expect(stage.send(b, toA, packet(1, 42, 5))).toBeDefined()
    expect(stage.send(a, toB, packet(1, 43, 5))).toBeUndefined()
    a.bind(b.allocation, 43, 9)
    stage.settle()
    expect(stage.send(a, toB, packet(1, 43, 5))).toBeDefined()
    expect(stage.relay.counts.foreign).toBe(2)
  })

  test('[NAT8] relay control, foreign bytes and payloads without a connection do not pass', () => {
    const { stage, a, toB } = pair()
    const foreign = [packet(5, 0, 1), packet(1, 0, 1), packet(2, 0, 1), new Uint8Array(40), packet(0, 0).slice(0, 10)]
    for (const bytes of foreign) expect(stage.send(a, toB, bytes)).toBeUndefined()
    expect(stage.relay.counts.foreign).toBe(foreign.length)
  })

  test('[NAT9] data over the quota is dropped and counted, and the rate recovers', () => {
    const { stage, a, toB } = pair({}, { kbitsPerSecond: 8 })
    const bytes = packet(0, 0, ...Array<number>(85).fill(1))
    const sent = (): number =>
      Array.from({ length: 50 }, () => stage.send(a, toB, bytes)).filter((answer) => answer !== undefined).length
    expect(sent()).toBeLessThanOrEqual(10)
    expect(stage.relay.counts.overQuota).toBeGreaterThanOrEqual(40)
    stage.pass(1000)
    expect(sent()).toBeGreaterThan(5)
  })

  test('[NAT9] the volume of a token ends its allocation\'s data', () => {
    const { stage, a, toB } = pair({ quota: { kbitsPerSecond: 1e6, packetsPerSecond: 1e6 } }, { mebibytes: 1 })
    const big = packet(0, 0, ...Array<number>(1100).fill(1))
    let count = 0
    while (stage.send(a, toB, big) !== undefined) count++
    expect(count).toBe(Math.floor(2 ** 20 / (big.length + 4)))
  })
})

describe('strangers', () => {
  test('[NAT10] forged Bind and Refresh move nothing and get no answer, from any address', () => {
    const { stage, a, b, toB } = pair()
    const dice = new Dice(99)
    const forged = new RelayMessage()
    const out = new Uint8Array(200)
    const before = { ...stage.relay.counts }
    for (let index = 0; index < form(2000, 1_000_000); index++) {
      const key = new Uint8Array(16)
      dice.fill(key)
      forged.kind = index % 2 === 0 ? RELAY_KIND.bind : RELAY_KIND.refresh
      forged.idLo = Number.parseInt(a.allocation.slice(8), 16)
      forged.idHi = Number.parseInt(a.allocation.slice(0, 8), 16)
      forged.transaction = 2 ** 52 + index
      forged.cookie = key
      const length = sealRelay(pureProvider, key, forged, out)
      expect(stage.give(index % 3 === 0 ? A : C, out.slice(0, length))).toBeUndefined()
    }
    expect(stage.relay.counts).toMatchObject({ moved: before.moved, cookies: before.cookies })
    expect(stage.send(a, toB, packet(0, 0, 1))?.to).toBe(B)
    expect(b.state).toBe('ready')
  })

  test('[NAT10] a replayed Refresh from another address moves nothing', () => {
    const { stage, a } = pair()
    const out = createTransmit()
    a.handleNetworkChange(stage.now)
    a.pollTransmit(stage.now, out)
    const refresh = out.bytes.slice(0, out.length)
    // The thief is faster: it gets a cookie for its own address, which the stolen message does not contain.
    const answer = stage.give(C, refresh)
    expect(answer?.bytes[13]).toBe(RELAY_KIND.cookie)
    stage.give(A, refresh)
    expect(stage.give(C, refresh)).toBeUndefined()
    expect(stage.relay.counts.moved).toBe(0)
  })

  test('[NAT11] no answer is longer than its question', () => {
    const seen: string[] = []
    class Measured extends Stage {
      override give(from: string, bytes: Uint8Array): { to: string; bytes: Uint8Array } | undefined {
        const answer = super.give(from, bytes)
        // STUN has its own rule (NAT12).
        const isOwn = answer !== undefined && answer.to === from && !isStun(bytes, bytes.length)
        if (isOwn && answer.bytes.length > bytes.length)
          seen.push(`kind ${bytes[13]}: ${bytes.length} to ${answer.bytes.length}`)
        return answer
      }
    }
    const stage = new Measured({ relayed: '[2001:db8::1]:7777' })
    const [a, b] = [stage.join('[2001:db8::a]:1', tokenFor(1)), stage.join('[2001:db8:1::b]:2', tokenFor(1))]
    a.bind(b.allocation)
    b.bind('00000000000000ff')
    a.isWatched = true
    stage.pass(30_000)
    expect(seen).toEqual([])
    expect(a.rttMs).toBeLessThan(Infinity)
  })

  test('[NAT11] one origin gets 40 answers a second, all strangers together 10,000', () => {
    const stage = new Stage()
    const ping = new RelayMessage()
    ping.kind = RELAY_KIND.ping
    ping.nonce = new Uint8Array(8)
    const bytes = new Uint8Array(100)
    const length = sealRelay(pureProvider, new Uint8Array(16), ping, bytes)
    const answers = (address: (index: number) => string): number =>
      Array.from({ length: 20_000 }, (_, index) => stage.give(address(index), bytes.slice(0, length)))
        .filter((answer) => answer !== undefined).length
    expect(answers((index) => `198.51.100.1:${1 + index}`)).toBe(40)
    stage.now += 1000
    expect(answers((index) => `${1 + (index >> 8)}.51.${index & 255}.1:5`)).toBeLessThanOrEqual(10_000)
  })
})
