/** A sealed connection over restarts of its server, and over the replacement of its keys. */

import { describe, expect, test } from 'vitest'
import { ReliableOrderedChannel } from '../../packages/tickwire/src/core/channel/reliable-ordered.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { nextOf } from './connection-sealed-packets.ts'

describe('restarts', () => {
  const identity = new Uint8Array(32).fill(3)
  const resetSecret = new Uint8Array(32).fill(4)

  test('[SEC7] a server that restarted resets its clients at once', () => {
    const crypto = new StubCrypto()
    const pair = new Pair({ crypto, server: { security: { identity, resetSecret } } })
    const connection = pair.connect()
    pair.drive(500)
    const reborn = createEndpoint({
      fingerprint: new Uint8Array(8), entropy: new Dice(99), maxConnections: 4,
      security: { provider: crypto, identity, resetSecret }, assemble() {},
    })
    const packet = nextOf(pair)
    const out = createTransmit()
    reborn.handleDatagram(0, 'client', packet.slice(), packet.length)
    expect(reborn.pollTransmit(0, out)).toBe(true)
    expect(out.length).toBeLessThan(packet.length)
    pair.client.endpoint.handleDatagram(pair.now, 'server', out.bytes, out.length)
    expect(connection.closeReason).toEqual({ by: 'network', code: 'reset' })
    pair.flush()
    expect(pair.client.events.filter(({ type }) => type === 'closed').length).toBe(1)
  })

  test.each([undefined, new Uint8Array(32).fill(5)])(
    '[SEC7] S10: a process with the same identity and another reset secret ends no connection',
    (otherSecret) => {
      const crypto = new StubCrypto()
      const pair = new Pair({ crypto, server: { security: { identity, ...(otherSecret && { resetSecret }) } } })
      const connection = pair.connect()
      pair.drive(500)
      const sibling = createEndpoint({
        fingerprint: new Uint8Array(8),
        entropy: new Dice(99),
        maxConnections: 4,
        security: { provider: crypto, identity, ...(otherSecret && { resetSecret: otherSecret }) },
        assemble() {},
      })
      // An attacker that has seen the id of the connection asks the sibling process for a reset, and sends it to the
      // client with the address of its server.
      const packet = nextOf(pair)
      const out = createTransmit()
      sibling.handleDatagram(0, 'attacker', packet.slice(), packet.length)
      expect(sibling.pollTransmit(0, out)).toBe(true)
      pair.client.endpoint.handleDatagram(pair.now, 'server', out.bytes, out.length)
      expect(connection.isOpen).toBe(true)
      expect(connection.stats.drops.reset).toBe(1)
    },
  )

  test('[SEC7] S10: a reset is shorter than any packet that it answers: 32 bytes, at most 0.97 of it', () => {
    const server = createEndpoint({
      fingerprint: new Uint8Array(8),
      entropy: new Dice(99),
      maxConnections: 4,
      security: { provider: new StubCrypto() },
      assemble() {},
    })
    const packet = nextOf((() => { const pair = new Pair(); pair.connect(); return pair })())
    const out = createTransmit()
    let worst = 0
    for (let length = 15; length <= 1500; length++) {
      const stray = new Uint8Array(length)
      stray.set(packet.subarray(0, length))
      server.handleDatagram(100 * length, 'stranger', stray, length)
      const isAnswered = server.pollTransmit(100 * length, out)
      expect(isAnswered, `${length} bytes`).toBe(length > 32)
      if (isAnswered) worst = Math.max(worst, out.length / length)
    }
    expect(worst).toBe(32 / 33)
  })

  test('[SEC7] resets of another process are ignored; short packets get no reset, floods at most 100 a second', () => {
    const crypto = new StubCrypto()
    const pair = new Pair({ crypto, server: { security: { identity } } })
    const connection = pair.connect()
    const packet = nextOf(pair)
    const out = createTransmit()
    const foreign = createEndpoint({
      fingerprint: new Uint8Array(8),
      entropy: new Dice(99),
      maxConnections: 4,
      security: { provider: crypto },
      assemble() {},
    })
    foreign.handleDatagram(0, 'client', packet.slice(), packet.length)
    expect(foreign.pollTransmit(0, out)).toBe(true)
    pair.client.endpoint.handleDatagram(pair.now, 'server', out.bytes, out.length)
    expect(connection.isOpen).toBe(true)
    expect(connection.stats.drops.reset).toBe(1)
    foreign.handleDatagram(0, 'client', packet.slice(), 32)
    expect(foreign.pollTransmit(0, out), 'not longer than a reset').toBe(false)
    let answered = 0
    for (let round = 0; round < 5000; round++) {
      foreign.handleDatagram(round / 10, 'client', packet.slice(), packet.length)
      while (foreign.pollTransmit(round / 10, out)) answered++
    }
    expect(answered, 'half a second at 100 a second, and the saved allowance').toBeLessThan(160)
  })

  test('[SEC7] an endpoint that only connects answers no stray packets', () => {
    const client = createEndpoint({ fingerprint: new Uint8Array(8), entropy: new Dice(99), assemble() {} })
    const packet = nextOf((() => { const pair = new Pair(); pair.connect(); return pair })())
    client.handleDatagram(0, 'x', packet, packet.length)
    expect(client.pollTransmit(0, createTransmit())).toBe(false)
  })
})

describe('keys', () => {
  test.each([0, 0.1, 0.3])(
    '[SEC10, SEC11] keys are replaced every 10 KB at loss %f, nothing is lost, and no nonce is used twice',
    (loss) => {
      const crypto = new StubCrypto()
      const channels: ReliableOrderedChannel[] = []
      const assemble = (connection: Connection): void => {
        const channel = new ReliableOrderedChannel()
        connection.addSource(3, channel)
        connection.addSink(3, channel)
        channels.push(channel)
      }
      const security = { rekey: { afterBytes: 10_000 } }
      const pair = new Pair({
        seed: 11,
        crypto,
        weather: { latencyMs: 20, jitterMs: 10, loss, duplication: 0.1, reordering: 0.1 },
        server: { assemble, security },
        client: { assemble, security },
      })
      const connection = pair.connect()
      const [sender, receiver] = channels as [ReliableOrderedChannel, ReliableOrderedChannel]
      const message = new Uint8Array(400)
      const out = new Uint8Array(1024)
      const keysAtFirst = crypto.keyCount
      let sent = 0
      let received = 0
      for (let round = 0; round < 6000; round++) {
        message[0] = sent
        if (sent < 500 && round % 12 === 0 && sender.send(message) === 'queued') sent++
        pair.drive(10)
        while (receiver.receive(out) >= 0) expect(out[0]).toBe(received++ & 0xff)
      }
      expect(received).toBe(500)
      expect(connection.isOpen && pair.accepted.isOpen).toBe(true)
      // Each exchange makes two keys; old ones overlap for 5 s, and a minute has twelve times that.
      expect((crypto.keyCount - keysAtFirst) / 2).toBeGreaterThanOrEqual(7)
      expect(connection.stats.drops.epoch + pair.accepted.stats.drops.epoch, 'no packet met a missing key').toBe(
        0,
      )
      expect(crypto.packetsRefused).toBe(0)
    },
  )

  test('[SEC10] keys are replaced by time and by either side, and sequences count on', () => {
    const crypto = new StubCrypto()
    const pair = new Pair({ crypto, weather: { latencyMs: 20 }, client: { security: { rekey: { afterMs: 20_000 } } } })
    const connection = pair.connect()
    const keys = crypto.keyCount
    const epochs = new Set<number>()
    let last = 0
    const seen = pair.server.endpoint.handleDatagram.bind(pair.server.endpoint)
    pair.server.endpoint.handleDatagram = (now, from, bytes, length): void => {
      if (bytes[4] === 1 || bytes[4] === 2) {
        epochs.add(bytes[13]!)
        const sequence = bytes[14]! & 0x80 ? (bytes[14]! & 0x7f) + bytes[15]! * 128 : bytes[14]!
        expect(sequence).toBeGreaterThan(last)
        last = sequence
      }
      seen(now, from, bytes, length)
    }
    pair.drive(70_000)
    expect([...epochs]).toEqual([0, 1, 2, 3])
    expect(crypto.keyCount - keys).toBe(6)
    expect(connection.isOpen).toBe(true)
  })

  test('[SEC11] a long run of sessions, restarts and reconnections uses no nonce twice', () => {
    const crypto = new StubCrypto()
    for (let evening = 0; evening < 20; evening++) {
      const pair = new Pair({
        seed: 40 + evening, crypto, weather: { latencyMs: 30, loss: 0.3, duplication: 0.2 },
        server: { security: { rekey: { afterPackets: 40 } } },
      })
      for (let visit = 0; visit < 3; visit++) {
        const connection = pair.connect()
        pair.drive(8000)
        connection.close(pair.now)
        pair.drive(1000)
      }
    }
    expect(crypto.packetsSealed).toBeGreaterThan(500)
    expect(crypto.keyCount).toBeGreaterThan(100)
  })
})
