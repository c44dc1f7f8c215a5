import { describe, expect, test } from 'vitest'
import { InvariantError } from '../base/assert.ts'
import { KEY_OVERLAP_MS, REKEY_BYTES, REKEY_FORGERIES, REKEY_MS } from '../base/limits.ts'
import { PacketHeader, readHeader, writeHeader } from '../packet/header.ts'
import { KeyRing, type OpenVerdict, type RekeyPolicy } from './key-ring.ts'
import type { AeadKey, CryptoProvider } from './provider.ts'
import { SUITE, type SuiteId } from './provider.ts'
import { pureProvider } from './pure-provider.ts'
import { createSuite } from './suite.ts'

/** Counts the calls of the cipher and the wiped keys. */
function counting(): { provider: CryptoProvider; seals: number; opens: number; imported: number; wiped: number } {
  const counts = { provider: pureProvider, seals: 0, opens: 0, imported: 0, wiped: 0 }
  counts.provider = {
    ...pureProvider,
    importAead(suite, key): AeadKey {
      const real = pureProvider.importAead(suite, key)
      counts.imported++
      return {
        seal: (...args) => { counts.seals++; real.seal(...args) },
        open: (...args) => { counts.opens++; return real.open(...args) },
        wipe: () => { counts.wiped++; real.wipe() },
      }
    },
  }
  return counts
}

function rings(
  provider: CryptoProvider = pureProvider,
  rekey: Partial<RekeyPolicy> = {},
  id: SuiteId = SUITE.chacha20Poly1305,
): { client: KeyRing; server: KeyRing } {
  const make = (role: 'client' | 'server'): KeyRing =>
    new KeyRing(0, {
      provider,
      suite: createSuite(id, provider),
      role,
      rekey,
      secret: new Uint8Array(32).fill(1),
      transcript: new Uint8Array(32).fill(2),
    })
  return { client: make('client'), server: make('server') }
}

function seal(ring: KeyRing, sequence: number, body: number[] = [7]): Uint8Array {
  const header = new PacketHeader()
  Object.assign(header, { type: 1, epoch: ring.sealingEpoch, sequence })
  const bytes = new Uint8Array(100)
  const at = writeHeader(header, bytes)
  bytes.set(body, at)
  return bytes.slice(0, ring.seal(sequence, bytes, at, body.length))
}

function open(ring: KeyRing, now: number, packet: Uint8Array): OpenVerdict {
  const header = new PacketHeader()
  expect(readHeader(packet, packet.length, header)).toBe('ok')
  return ring.open(now, header.epoch, header.sequence, packet.slice(), header.byteLength, packet.length)
}

/** The server answers an offer: it has the keys first, then the client receives the answer. */
function exchange(client: KeyRing, server: KeyRing, now: number, fill: number = 3): void {
  server.install(now, new Uint8Array(32).fill(fill), false)
  client.install(now, new Uint8Array(32).fill(fill), true)
}

/** The next deadline of a ring without an exchange in progress. */
function deadlineOf(ring: KeyRing): number {
  const deadline = Float64Array.of(Infinity)
  ring.lower(deadline, true)
  return deadline[0]!
}

describe('packets', () => {
  test('[CRYPTO13] a packet that one side seals is opened by the other side, and not by its sender', () => {
    const { client, server } = rings()
    expect(open(server, 0, seal(client, 1))).toBe('ok')
    expect(open(client, 0, seal(server, 1))).toBe('ok')
    expect(open(client, 0, seal(client, 2))).toBe('forged')
  })

  test('[CRYPTO13] a replayed packet and one that is too old cost no cipher call, and have different verdicts', () => {
    const counts = counting()
    const { client, server } = rings(counts.provider)
    const packets = [1, 2, 1030].map((sequence) => seal(client, sequence))
    expect(open(server, 0, packets[1]!)).toBe('ok')
    expect(open(server, 0, packets[2]!)).toBe('ok')
    const opens = counts.opens
    expect(open(server, 0, packets[1]!)).toBe('old')
    expect(open(server, 0, packets[2]!)).toBe('duplicate')
    expect(open(server, 0, packets[0]!)).toBe('old')
    expect(counts.opens).toBe(opens)
  })

  test('[CRYPTO13] a forged packet marks nothing: the real one still opens, and so do those far behind it', () => {
    const { client, server } = rings()
    const packet = seal(client, 1)
    const forged = packet.slice()
    forged[forged.length - 1]! ^= 1
    expect(open(server, 0, forged)).toBe('forged')
    const header = new PacketHeader()
    Object.assign(header, { type: 1, epoch: 0, sequence: 2 ** 50 })
    const far = new Uint8Array(60)
    writeHeader(header, far)
    expect(open(server, 0, far)).toBe('forged')
    expect(open(server, 0, packet)).toBe('ok')
    expect(server.forgeries).toBe(2)
  })

  test('[CRYPTO13] a thousand packets in any order within the window are each accepted once', () => {
    const { client, server } = rings()
    const packets = Array.from({ length: 1000 }, (_, index) => seal(client, index + 1))
    const shuffled = packets
      .map((packet, index) => ({ packet, key: (index * 617) % 1000 }))
      .sort((a, b) => a.key - b.key)
    for (const { packet } of shuffled) expect(open(server, 0, packet)).toBe('ok')
    for (const { packet } of shuffled) expect(open(server, 0, packet)).toBe('duplicate')
  })

  test('[CRYPTO13] the acceptance has sequence 0 and is outside the window', () => {
    const { client, server } = rings()
    const bytes = new Uint8Array(60)
    const length = server.seal(0, bytes, 20, 10)
    expect(client.openAcceptance(bytes.slice(), 20, length)).toBe(true)
    expect(client.openAcceptance(bytes.slice(), 19, length)).toBe(false)
    expect(client.open(0, 0, 0, bytes, 20, length)).toBe('old')
    expect(open(client, 0, seal(server, 1))).toBe('ok')
  })
})

describe('epochs', () => {
  test('[CRYPTO12] the side that gets the answer uses new keys at once, the other after a packet under them', () => {
    const { client, server } = rings()
    exchange(client, server, 1000)
    expect([client.sealingEpoch, server.sealingEpoch]).toEqual([1, 0])
    expect(open(client, 1010, seal(server, 1))).toBe('ok')
    expect(open(server, 1020, seal(client, 1))).toBe('ok')
    expect(server.sealingEpoch).toBe(1)
    expect(open(client, 1030, seal(server, 2))).toBe('ok')
  })

  test('[CRYPTO12] both epochs open during the overlap; afterwards the old one does not, and it is wiped', () => {
    const counts = counting()
    const { client, server } = rings(counts.provider)
    const late = [1, 2, 3].map((sequence) => seal(client, sequence))
    exchange(client, server, 1000)
    expect(open(server, 90_000, late[0]!)).toBe('ok')
    // The first packet under the new keys starts the clock.
    expect(open(server, 100_000, seal(client, 4))).toBe('ok')
    expect(server.retireAt).toBe(100_000 + KEY_OVERLAP_MS)
    expect(open(server, 100_000 + KEY_OVERLAP_MS - 1, late[1]!)).toBe('ok')
    const { wiped } = counts
    expect(open(server, 100_000 + KEY_OVERLAP_MS, late[2]!)).toBe('epoch')
    expect(counts.wiped).toBe(wiped + 1)
    expect(server).toMatchObject({ openEpochs: 1, retireAt: Infinity })
  })

  test('[CRYPTO12] there are never more than two epochs, and all keys are wiped at the end', () => {
    const counts = counting()
    const { client, server } = rings(counts.provider)
    for (let round = 0; round < 300; round++) {
      const now = round * 10_000
      exchange(client, server, now, round & 0xff)
      expect(open(server, now + 1, seal(client, round + 1))).toBe('ok')
      expect(open(client, now + 2, seal(server, round + 1))).toBe('ok')
      expect(client.openEpochs).toBe(2)
      expect(server.openEpochs).toBe(2)
    }
    expect(client.newestEpoch).toBe(300)
    expect(client.sealingEpoch).toBe(300 & 0xff)
    expect(() => client.install(0, new Uint8Array(32), true)).not.toThrow()
    // No packet arrived under the new keys yet: no further rekey.
    expect(client.canInstall).toBe(false)
    expect(() => client.install(0, new Uint8Array(32), true)).toThrow(InvariantError)
    client.wipe()
    server.wipe()
    expect(counts.wiped).toBe(counts.imported)
  })

  test('[CRYPTO13] each epoch has a window of its own: sequences may restart, and still count once', () => {
    const { client, server } = rings()
    const old = seal(client, 1)
    expect(open(server, 0, old)).toBe('ok')
    exchange(client, server, 10)
    const again = seal(client, 1)
    expect(open(server, 20, again)).toBe('ok')
    expect(open(server, 20, again)).toBe('duplicate')
    expect(open(server, 20, old)).toBe('duplicate')
  })

  test('[CRYPTO12] an epoch that was never agreed on has no key, and costs no cipher call', () => {
    const counts = counting()
    const { client, server } = rings(counts.provider)
    for (const epoch of [1, 2, 254, 255]) {
      const packet = seal(client, epoch + 1)
      packet[13] = epoch
      expect(open(server, 0, packet)).toBe('epoch')
    }
    expect(counts.opens).toBe(0)
  })

  test('[CRYPTO12] secrets and agreements are wiped after use', () => {
    const secret = new Uint8Array(32).fill(1)
    const shared = new Uint8Array(32).fill(3)
    const ring = new KeyRing(0, {
      provider: pureProvider,
      suite: createSuite(1, pureProvider),
      role: 'client',
      secret,
      transcript: new Uint8Array(32),
    })
    ring.install(0, shared, true)
    expect([...secret, ...shared].every((byte) => byte === 0)).toBe(true)
  })
})

describe('when a rekey is due', () => {
  test('[CRYPTO14] after 15 minutes, by default', () => {
    const { client } = rings()
    expect(client.rekeyReason(REKEY_MS - 1)).toBeUndefined()
    expect(deadlineOf(client)).toBe(REKEY_MS)
    expect(client.rekeyReason(REKEY_MS)).toBe('time')
    expect([REKEY_MS, REKEY_BYTES]).toEqual([900_000, 2 ** 30])
  })

  test('[CRYPTO14] after a number of bytes or packets, in either direction', () => {
    const { client, server } = rings(pureProvider, { afterBytes: 20 })
    for (const sequence of [1, 2]) open(server, 0, seal(client, sequence, [1, 2, 3, 4, 5, 6, 7, 8, 9]))
    expect(client.rekeyReason(0)).toBeUndefined()
    open(server, 0, seal(client, 3, [1, 2]))
    expect([client.rekeyReason(0), server.rekeyReason(0)]).toEqual(['bytes', 'bytes'])
    const few = rings(pureProvider, { afterPackets: 2 })
    open(few.server, 0, seal(few.client, 1))
    expect([few.client.rekeyReason(0), few.server.rekeyReason(0)]).toEqual([undefined, undefined])
    open(few.server, 0, seal(few.client, 2))
    expect([few.client.rekeyReason(0), few.server.rekeyReason(0)]).toEqual(['packets', 'packets'])
  })

  test('[CRYPTO14] after many forgeries, once', () => {
    const { client, server } = rings()
    server.forgeries = REKEY_FORGERIES
    expect(server.rekeyReason(0)).toBe('forgeries')
    exchange(client, server, 0)
    open(server, 1, seal(client, 1))
    expect(server.rekeyReason(KEY_OVERLAP_MS + 1)).toBeUndefined()
    expect(server.isWornOut).toBe(false)
    server.forgeries = 2 ** 36
    expect(server.isWornOut).toBe(true)
  })

  test('[CRYPTO14] not while the last exchange is unfinished', () => {
    const { client, server } = rings(pureProvider, { afterMs: 100 })
    exchange(client, server, 1000)
    expect([client.rekeyReason(5000), deadlineOf(client)]).toEqual([undefined, Infinity])
    open(server, 5000, seal(client, 1))
    open(client, 5000, seal(server, 1))
    expect(client.rekeyReason(5000 + KEY_OVERLAP_MS - 1)).toBeUndefined()
    expect(client.rekeyReason(5000 + KEY_OVERLAP_MS)).toBe('time')
  })

  test('[CRYPTO14] suite 2 asks for a rekey long before its counter ends; at the end its key is used up', () => {
    const { client } = rings(pureProvider, { afterPackets: Infinity }, SUITE.aes256Gcm)
    expect(createSuite(SUITE.aes256Gcm, pureProvider).rekeyPackets).toBe(2 ** 22)
    seal(client, 1)
    expect(client.isWornOut).toBe(false)
    const bytes = new Uint8Array(64)
    client.seal(2 ** 32, bytes, 20, 1)
    expect(client.isWornOut).toBe(true)
    expect(client.seal(2 ** 32 + 1, bytes, 20, 1), 'nothing is sealed').toBe(0)
  })
})
