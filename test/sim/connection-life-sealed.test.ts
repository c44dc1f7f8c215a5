/**
 * A connection under attack and on the move: every bit sealed, keys replaced, addresses changed, servers restarted.
 */

import { describe, expect, test } from 'vitest'
import { ReliableOrderedChannel } from '../../packages/tickwire/src/core/channel/reliable-ordered.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { PACKET_TYPE } from '../../packages/tickwire/src/core/packet/header.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'

/** What the client says next, kept back from the wire. */
function nextOf(pair: Pair, later = 1500): Uint8Array {
  const out = createTransmit()
  expect(pair.client.endpoint.pollTransmit(pair.now + later, out)).toBe(true)
  return out.bytes.slice(0, out.length)
}

function hand(pair: Pair, from: string, bytes: Uint8Array): void {
  pair.server.endpoint.handleDatagram(pair.now, from, bytes.slice(), bytes.length)
}

/** Everything about a connection that a forged packet could change. */
function stateOf(connection: Connection): unknown {
  const { drops, ...counts } = connection.stats
  connection.updateTimeout(0)
  return [connection.state, connection.address, { ...counts }, { ...connection.rtt }, connection.timeout[0], drops.malformed, drops.unknownFrame]
}

describe('sealed', () => {
  test.each([['pure', pureProvider], ['stub', new StubCrypto()]])('[SEC1] a packet with any one bit changed is dropped, counted and changes nothing (%s)', (_name, crypto) => {
    const pair = new Pair({ crypto })
    pair.connect()
    pair.drive(100)
    const { accepted } = pair
    const genuine = nextOf(pair)
    const before = stateOf(accepted)
    const counted = (): number => {
      const { header, version, type, handshake, unknownConnection, guest } = pair.server.endpoint.drops
      const { forged, epoch, duplicate, old, state } = accepted.stats.drops
      return header + version + type + handshake + unknownConnection + guest + forged + epoch + duplicate + old + state
        + pair.server.endpoint.admissionDrops.cookie
    }
    for (let bit = 0; bit < genuine.length * 8; bit++) {
      const flipped = genuine.slice()
      flipped[bit >>> 3]! ^= 1 << (bit & 7)
      const count = counted()
      hand(pair, 'client', flipped)
      expect(counted(), `bit ${bit}`).toBe(count + 1)
    }
    for (let length = 0; length < genuine.length; length++) hand(pair, 'client', genuine.slice(0, length))
    for (let more = 1; more <= 64; more++) hand(pair, 'client', Uint8Array.of(...genuine, ...new Uint8Array(more)))
    expect(stateOf(accepted)).toEqual(before)
    const received = accepted.stats.packetsReceived
    hand(pair, 'client', genuine)
    expect(accepted.stats.packetsReceived, 'and the genuine one is none the worse').toBe(received + 1)
  })

  test('[SEC2] a packet takes effect once, and a repeated one is not even opened', () => {
    const crypto = new StubCrypto()
    const pair = new Pair({ crypto })
    pair.connect()
    const genuine = nextOf(pair)
    hand(pair, 'client', genuine)
    const { packetsReceived } = pair.accepted.stats
    const opened = crypto.packetsOpened + crypto.packetsRefused
    for (let copy = 0; copy < 100; copy++) hand(pair, 'client', genuine)
    expect(pair.accepted.stats.packetsReceived).toBe(packetsReceived)
    expect(pair.accepted.stats.drops.duplicate).toBe(100)
    expect(crypto.packetsOpened + crypto.packetsRefused).toBe(opened)
  })

  test('[SEC3] goodbyes and resets that are not sealed, or not ours, end nothing', () => {
    const pair = new Pair({ weather: { latencyMs: 5 } })
    const connection = pair.connect()
    const dice = new Dice(5)
    for (let round = 0; round < 20_000; round++) {
      const goodbye = new Uint8Array(round % 2 === 0 ? 16 : 32)
      dice.fill(goodbye)
      const view = new DataView(goodbye.buffer)
      goodbye.set([0x54, 0x4b, 0x57, 2, PACKET_TYPE.disconnect])
      view.setUint32(5, connection.idLo, true)
      view.setUint32(9, connection.idHi, true)
      goodbye[13] = 0
      goodbye[14] = 1 + (round % 100)
      hand(pair, 'client', goodbye)
      pair.client.endpoint.handleDatagram(pair.now, 'server', goodbye.slice(), goodbye.length)
      // The same as a reset, with a guessed token.
      goodbye.set([0], 4)
      goodbye.set([0, 6], 14)
      pair.client.endpoint.handleDatagram(pair.now, 'server', goodbye, goodbye.length)
    }
    pair.drive(3000)
    expect(connection.isOpen && pair.accepted.isOpen).toBe(true)
    expect(connection.stats.drops.reset).toBe(10_000)
  })

  test('[SEC3] the goodbye of one connection is of no use to another', () => {
    const pair = new Pair()
    const first = pair.connect()
    const second = pair.client.endpoint.connect(pair.now, 'server')
    pair.drive(1000)
    expect(pair.server.endpoint.connections.length).toBe(2)
    first.close(pair.now)
    const out = createTransmit()
    expect(pair.client.endpoint.pollTransmit(pair.now, out)).toBe(true)
    expect(out.bytes[4]).toBe(PACKET_TYPE.disconnect)
    const view = new DataView(out.bytes.buffer)
    view.setUint32(5, second.idLo, true)
    view.setUint32(9, second.idHi, true)
    hand(pair, 'client', out.bytes.slice(0, out.length))
    expect(pair.server.endpoint.connections.every(({ isOpen }) => isOpen)).toBe(true)
  })
})

describe('moving', () => {
  test('[SEC8] a client whose router gives it another port is followed within a round trip of traffic', () => {
    const pair = new Pair({ weather: { latencyMs: 30 } })
    const connection = pair.connect()
    pair.drive(2000)
    const { accepted } = pair
    pair.server.farAddress = 'elsewhere'
    const at = pair.now
    pair.clock.driveUntil(() => accepted.address === 'elsewhere', 5000)
    expect(accepted.address).toBe('elsewhere')
    expect(pair.now - at, 'two keepalives and a round trip').toBeLessThan(2200)
    expect(accepted.stats.pathMoves).toBe(1)
    expect(accepted.rtt.samples).toBe(0)
    pair.drive(20_000)
    expect(connection.isOpen && accepted.isOpen).toBe(true)
    expect(accepted.rtt.samples).toBeGreaterThan(0)
    expect(accepted.stats.pathMoves).toBe(1)
  })

  test('[SEC8] with traffic it takes a round trip and a few ticks, and no message is lost on the way', () => {
    const channels: ReliableOrderedChannel[] = []
    const assemble = (connection: Connection): void => {
      channels.push(new ReliableOrderedChannel())
      connection.addSource(3, channels.at(-1)!)
      connection.addSink(3, channels.at(-1)!)
    }
    const pair = new Pair({ weather: { latencyMs: 30 }, server: { assemble }, client: { assemble } })
    pair.connect()
    const [sender, receiver] = channels as [ReliableOrderedChannel, ReliableOrderedChannel]
    const { accepted } = pair
    const out = new Uint8Array(1024)
    let received = 0
    let movedAfter = 0
    for (let tick = 0; tick < 300; tick++) {
      expect(sender.send(Uint8Array.of(tick))).toBe('queued')
      if (tick === 100) pair.server.farAddress = 'elsewhere'
      pair.drive(16)
      if (movedAfter === 0 && accepted.address === 'elsewhere') movedAfter = (tick - 100) * 16
      while (receiver.receive(out) >= 0) received++
    }
    pair.drive(1000)
    while (receiver.receive(out) >= 0) received++
    expect(received).toBe(300)
    expect(movedAfter).toBeGreaterThan(0)
    expect(movedAfter).toBeLessThan(60 + 200)
  })

  test('[SEC8] packets carried to another address move nothing, and get no more bytes there than they brought', () => {
    const pair = new Pair({ weather: { latencyMs: 5 } })
    pair.connect()
    pair.drive(500)
    const { accepted } = pair
    const home = accepted.address
    const out = createTransmit()
    let broughtBytes = 0
    let gotBytes = 0
    for (let round = 0; round < 8; round++) {
      const carried = nextOf(pair, 1100 * (round + 1))
      hand(pair, 'thief', carried)
      for (let copy = 0; copy < 3; copy++) hand(pair, 'thief', carried)
      broughtBytes += carried.length
      while (pair.server.endpoint.pollTransmit(pair.now + round * 300, out)) if (out.to === 'thief') gotBytes += out.length
    }
    expect(gotBytes, 'it was checked').toBeGreaterThan(0)
    expect(gotBytes).toBeLessThanOrEqual(broughtBytes)
    expect(accepted.address).toBe(home)
    expect(accepted.stats.pathMoves).toBe(0)
  })

  test('[SEC8] an answer that comes from where the peer always was does not prove the other place', () => {
    const pair = new Pair({ weather: { latencyMs: 1 } })
    pair.connect()
    pair.drive(500)
    const { accepted } = pair
    const out = createTransmit()
    let later = 0
    const carry = (): void => hand(pair, 'thief', nextOf(pair, later += 1100))
    carry()
    carry()
    let checks = 0
    while (pair.server.endpoint.pollTransmit(pair.now, out)) {
      if (out.to !== 'thief') continue
      checks++
      // The thief hands the check on to the client, which answers from home.
      pair.client.endpoint.handleDatagram(pair.now + later, 'server', out.bytes, out.length)
    }
    expect(checks).toBe(1)
    hand(pair, 'client', nextOf(pair, later))
    carry()
    carry()
    expect(accepted.address).toBe('client')
  })
})

describe('restarts', () => {
  const identity = new Uint8Array(32).fill(3)

  test('[SEC7] a server that has started anew tells its clients at once', () => {
    const crypto = new StubCrypto()
    const pair = new Pair({ crypto, server: { security: { identity } } })
    const connection = pair.connect()
    pair.drive(500)
    const reborn = createEndpoint({
      fingerprint: new Uint8Array(8), entropy: new Dice(99), maxConnections: 4, security: { provider: crypto, identity }, assemble() {},
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

  test('[SEC7] another server\'s reset, or that of another connection, is none; short packets get none; floods get few', () => {
    const crypto = new StubCrypto()
    const pair = new Pair({ crypto, server: { security: { identity } } })
    const connection = pair.connect()
    const packet = nextOf(pair)
    const out = createTransmit()
    const foreign = createEndpoint({
      fingerprint: new Uint8Array(8), entropy: new Dice(99), maxConnections: 4, security: { provider: crypto }, assemble() {},
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
    expect(answered, 'half a second of 100 a second, and what was saved up').toBeLessThan(160)
  })

  test('[SEC7] who only connects answers no strays', () => {
    const client = createEndpoint({ fingerprint: new Uint8Array(8), entropy: new Dice(99), assemble() {} })
    const packet = nextOf((() => { const pair = new Pair(); pair.connect(); return pair })())
    client.handleDatagram(0, 'x', packet, packet.length)
    expect(client.pollTransmit(0, createTransmit())).toBe(false)
  })
})

describe('keys', () => {
  test.each([0, 0.1, 0.3])('[SEC10, SEC11] keys are replaced every 10 KB at loss %f, nothing is lost, and no nonce is used twice', (loss) => {
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
      seed: 11, crypto, weather: { latencyMs: 20, jitterMs: 10, loss, duplication: 0.1, reordering: 0.1 },
      server: { assemble, security }, client: { assemble, security },
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
    expect(connection.stats.drops.epoch + pair.accepted.stats.drops.epoch, 'no packet met a key that was gone').toBe(0)
    expect(crypto.packetsRefused).toBe(0)
  })

  test('[SEC10] keys are replaced by time, with sequences counting on, and by either side', () => {
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

  test('[SEC11] a whole evening of sessions, restarts and reconnections uses no nonce twice', () => {
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
