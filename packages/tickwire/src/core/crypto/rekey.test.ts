import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { KEY_OVERLAP_MS, REKEY_GAP_MS } from '../base/limits.ts'
import { Prng } from '../base/prng.ts'
import { PacketHeader, readHeader, writeHeader } from '../packet/header.ts'
import { KeyRing, type RekeyPolicy } from './key-ring.ts'
import { pureProvider } from './pure-provider.ts'
import { Rekey, REKEY_MESSAGE_BYTES } from './rekey.ts'
import { createSuite } from './suite.ts'

interface End {
  readonly ring: KeyRing
  readonly rekey: Rekey
  sequence: number
}

function makeEnd(role: 'client' | 'server', policy: Partial<RekeyPolicy>): End {
  const ring = new KeyRing(0, {
    provider: pureProvider, suite: createSuite(1, pureProvider), role, rekey: policy,
    secret: new Uint8Array(32).fill(1), transcript: new Uint8Array(32).fill(2),
  })
  const dice = new Prng(role === 'client' ? 1 : 2)
  const entropy = {
    fill: (bytes: Uint8Array) => {
      for (let at = 0; at < bytes.length; at++) bytes[at] = dice.nextU32()
    },
  }
  return { ring, rekey: new Rekey(ring, pureProvider, entropy), sequence: 0 }
}

function ends(policy: Partial<RekeyPolicy> = {}): { client: End; server: End } {
  return { client: makeEnd('client', policy), server: makeEnd('server', policy) }
}

function seal(end: End): Uint8Array {
  const header = new PacketHeader()
  Object.assign(header, { type: 1, epoch: end.ring.sealingEpoch, sequence: ++end.sequence })
  const bytes = new Uint8Array(64)
  const at = writeHeader(header, bytes)
  return bytes.slice(0, end.ring.seal(end.sequence, bytes, at, 4))
}

function open(end: End, now: number, packet: Uint8Array): string {
  const header = new PacketHeader()
  readHeader(packet, packet.length, header)
  return end.ring.open(now, header.epoch, header.sequence, packet.slice(), header.byteLength, packet.length)
}

/** Passes one message from one end to the other, if there is one. */
function deliver(from: End, to: End, now: number): string {
  const message = from.rekey.takeMessage()
  return message === undefined ? 'nothing' : to.rekey.handleMessage(now, message)
}

describe('rekeying', () => {
  test.each(['client', 'server'] as const)(
    '[CRYPTO15] the %s offers, the other side answers, and both continue in the next epoch',
    (who) => {
      const { client, server } = ends({ afterMs: 100 })
      const [asks, answers] = who === 'client' ? [client, server] : [server, client]
      asks.rekey.poll(99)
      expect(asks.rekey.isOffering).toBe(false)
      asks.rekey.poll(100)
      expect(asks.rekey.isOffering).toBe(true)
      expect(deliver(asks, answers, 110)).toBe('ok')
      expect(deliver(answers, asks, 120)).toBe('ok')
      expect(open(answers, 130, seal(asks))).toBe('ok')
      expect(open(asks, 140, seal(answers))).toBe('ok')
      for (const { ring, rekey } of [client, server]) {
        expect([ring.newestEpoch, ring.sealingEpoch, rekey.completed, rekey.isOffering]).toEqual([1, 1, 1, false])
      }
    },
  )

  test('[CRYPTO15] the messages: kind, epoch, key', () => {
    const { client, server } = ends({ afterMs: 0 })
    client.rekey.poll(0)
    const offer = client.rekey.takeMessage()!
    expect([offer.length, offer[0], offer[1]]).toEqual([REKEY_MESSAGE_BYTES, 1, 1])
    server.rekey.handleMessage(0, offer)
    const answer = server.rekey.takeMessage()!
    expect([answer.length, answer[0], answer[1]]).toEqual([34, 2, 1])
    expect(answer.slice(2)).not.toEqual(offer.slice(2))
    expect(server.rekey.takeMessage()).toBeUndefined()
  })

  test("[CRYPTO15] when both offer at once, the server's offer counts", () => {
    const { client, server } = ends({ afterMs: 0 })
    client.rekey.poll(0)
    server.rekey.poll(0)
    const [fromClient, fromServer] = [client.rekey.takeMessage()!, server.rekey.takeMessage()!]
    expect(server.rekey.handleMessage(10, fromClient)).toBe('ok')
    expect(server.rekey.takeMessage()).toBeUndefined()
    expect(client.rekey.handleMessage(10, fromServer)).toBe('ok')
    expect(client.rekey.isOffering).toBe(false)
    expect(deliver(client, server, 20)).toBe('ok')
    expect(open(client, 30, seal(server))).toBe('ok')
    expect(open(server, 30, seal(client))).toBe('ok')
    expect([client.rekey.completed, server.rekey.completed]).toEqual([1, 1])
  })

  test.each([
    ['empty', () => new Uint8Array(0)],
    ['short', (offer: Uint8Array) => offer.slice(0, 33)],
    ['long', (offer: Uint8Array) => Uint8Array.of(...offer, 0)],
    ['of another kind', (offer: Uint8Array) => Uint8Array.of(3, ...offer.slice(1))],
    ['an answer to nothing', (offer: Uint8Array) => Uint8Array.of(2, ...offer.slice(1))],
    ['for this epoch', (offer: Uint8Array) => Uint8Array.of(1, 0, ...offer.slice(2))],
    ['for the epoch after the next', (offer: Uint8Array) => Uint8Array.of(1, 2, ...offer.slice(2))],
    ['with a key of small order', (offer: Uint8Array) => Uint8Array.of(...offer.slice(0, 2), ...new Uint8Array(32))],
  ])('[CRYPTO15] a message that is %s ends the connection and changes no key', (_, change) => {
    const { client, server } = ends({ afterMs: 0 })
    client.rekey.poll(0)
    expect(server.rekey.handleMessage(0, change(client.rekey.takeMessage()!))).toBe('broken')
    expect([server.ring.newestEpoch, server.rekey.completed]).toEqual([0, 0])
  })

  test('[CRYPTO15] a second offer before the first is confirmed breaks the connection', () => {
    const { client, server } = ends({ afterMs: 0 })
    client.rekey.poll(0)
    const offer = client.rekey.takeMessage()!
    expect(server.rekey.handleMessage(0, offer)).toBe('ok')
    expect(server.rekey.handleMessage(0, Uint8Array.of(1, 2, ...offer.slice(2)))).toBe('broken')
  })

  test('[CRYPTO15] a peer that offers too often waits for its answer, because keys cost time', () => {
    const { client, server } = ends({ afterMs: 0 })
    client.rekey.poll(0)
    deliver(client, server, 0)
    deliver(server, client, 0)
    expect(open(server, 0, seal(client))).toBe('ok')
    expect(open(client, 0, seal(server))).toBe('ok')
    // The client's clock leaps.
    client.rekey.poll(KEY_OVERLAP_MS)
    expect(deliver(client, server, 10)).toBe('ok')
    expect(deliver(server, client, 10)).toBe('nothing')
    const deadline = Float64Array.of(Infinity)
    server.rekey.lower(deadline)
    expect(deadline[0]).toBe(REKEY_GAP_MS)
    expect(server.rekey.poll(REKEY_GAP_MS)).toBe('ok')
    expect(deliver(server, client, REKEY_GAP_MS)).toBe('ok')
    expect([client.ring.newestEpoch, server.ring.newestEpoch]).toEqual([2, 2])
  })

  test(
    '[CRYPTO15] with loss, delay and reordering, no packet that arrives in time is lost to a rekey',
    { timeout: 60_000 },
    () => {
      fc.assert(
        fc.property(fc.nat(0xffff), (seed) => {
          const report = converse(seed)
          expect(report.refused).toEqual([])
          expect(report.epochs[0]).toBe(report.epochs[1])
          expect(report.epochs[0]).toBeGreaterThan(1)
        }),
        { seed: 7, numRuns: 12 },
      )
    },
  )
})

interface Flight {
  readonly at: number
  readonly to: 0 | 1
  readonly packet: Uint8Array
  /** A message that this packet carries, and its number on the reliable channel. */
  readonly message: Uint8Array | undefined
}

/**
 * Two ends exchange packets for a minute of simulated time. Packets are lost and late; messages are repeated until they
 * arrive.
 */
function converse(seed: number): { refused: string[]; epochs: number[] } {
  const dice = new Prng(seed)
  const { client, server } = ends({ afterBytes: 400 })
  const both = [client, server] as const
  const flights: Flight[] = []
  /** Per end: the message that is not acknowledged yet. */
  const waiting: (Uint8Array | undefined)[] = [undefined, undefined]
  const refused: string[] = []
  for (let now = 0; now < 60_000; now += 50) {
    for (const from of [0, 1] as const) {
      both[from].rekey.poll(now)
      waiting[from] ??= both[from].rekey.takeMessage()
      const packet = seal(both[from])
      if (dice.nextFloat() < 0.4) continue
      const to = from === 0 ? 1 : 0
      flights.push({ at: now + dice.nextInt(5, 400), to, packet, message: waiting[from] })
    }
    for (const flight of flights.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at)) {
      flights.splice(flights.indexOf(flight), 1)
      const verdict = open(both[flight.to], now, flight.packet)
      if (verdict !== 'ok') refused.push(`${now}: ${verdict}`)
      const from = flight.to === 0 ? 1 : 0
      // Exactly once and in order, as on a reliable channel; here the acknowledgement is immediate.
      if (flight.message === undefined || flight.message !== waiting[from] || verdict !== 'ok') continue
      waiting[from] = undefined
      if (both[flight.to].rekey.handleMessage(now, flight.message) !== 'ok') refused.push(`${now}: broken`)
    }
  }
  return { refused, epochs: [client.ring.newestEpoch, server.ring.newestEpoch] }
}
