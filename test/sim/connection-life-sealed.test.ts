/**
 * A connection under attack and with changing addresses: every bit is sealed, keys are replaced, servers restart.
 */

import { describe, expect, test } from 'vitest'
import { ReliableOrderedChannel } from '../../packages/tickwire/src/core/channel/reliable-ordered.ts'
import type { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { pureProvider } from '../../packages/tickwire/src/core/crypto/pure-provider.ts'
import { unsealedProvider } from '../../packages/tickwire/src/core/crypto/unsealed-provider.ts'
import { PACKET_TYPE } from '../../packages/tickwire/src/core/packet/header.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import { nextOf } from './connection-sealed-packets.ts'

function hand(pair: Pair, from: string, bytes: Uint8Array): void {
  pair.server.endpoint.handleDatagram(pair.now, from, bytes.slice(), bytes.length)
}

/** Everything about a connection that a forged packet could change. */
function stateOf(connection: Connection): unknown {
  const { drops, ...counts } = connection.stats
  connection.updateTimeout(0)
  return [
    connection.state,
    connection.address,
    { ...counts },
    { ...connection.rtt },
    connection.timeout[0],
    drops.malformed,
    drops.unknownFrame,
  ]
}

describe('sealed', () => {
  test.each([
    ['pure', pureProvider],
    ['stub', new StubCrypto()],
  ])('[SEC1] a packet with any one bit changed is dropped, counted and changes nothing (%s)', (_name, crypto) => {
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
    expect(accepted.stats.packetsReceived, 'and the genuine packet still works').toBe(received + 1)
  })

  test.each([
    ['sealed', pureProvider, 0],
    ['not sealed, as a control', unsealedProvider(), 40],
  ])('[SEC1] a capture has no message in clear (%s)', (_name, crypto, inClear) => {
    const text = new TextEncoder().encode('attack the north gate at dawn')
    // Frames are not aligned to bytes: the text may stand at any of eight bits.
    const shifted = Array.from({ length: 8 }, (_none, bits) =>
      Buffer.from(text.subarray(1).map((byte, at) => ((text[at]! << 8 | byte) >> bits) & 0xff)))
    const channel = new ReliableOrderedChannel()
    const pair = new Pair({
      crypto, weather: { latencyMs: 5 },
      client: {
        assemble: (connection) => {
          connection.addSource(2, channel)
          connection.addSink(2, channel)
        },
      },
      server: { assemble: (connection) => connection.addSink(2, new ReliableOrderedChannel()) },
    })
    let found = 0
    pair.link.onFlight = ({ bytes, length }) => {
      const datagram = Buffer.from(bytes.buffer, bytes.byteOffset, length)
      if (shifted.some((each) => datagram.includes(each))) found++
    }
    pair.connect()
    for (let message = 0; message < 40; message++) {
      channel.send(text)
      pair.drive(100)
    }
    expect(found).toBe(inClear)
  })

  test('[SEC2] a packet takes effect once, and a repeated one is dropped before it is opened', () => {
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

  test('[SEC3] goodbyes and resets that are not sealed, or have another token, end nothing', () => {
    const pair = new Pair({ weather: { latencyMs: 5 } })
    const connection = pair.connect()
    const dice = new Dice(5)
    for (let round = 0; round < 20_000; round++) {
      const goodbye = new Uint8Array(round % 2 === 0 ? 16 : 32)
      dice.fill(goodbye)
      const view = new DataView(goodbye.buffer)
      goodbye.set([0x54, 0x4b, 0x57, 3, PACKET_TYPE.disconnect])
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

  test('[SEC3] the goodbye of one connection does not end another', () => {
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

  test('[SEC8] with traffic a change of address takes a round trip and a few ticks, and loses no message', () => {
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

  test('[SEC8] packets replayed from another address move nothing, and draw no more bytes than they had', () => {
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
      while (pair.server.endpoint.pollTransmit(pair.now + round * 300, out))
        if (out.to === 'thief') gotBytes += out.length
    }
    expect(gotBytes, 'the new address was checked').toBeGreaterThan(0)
    expect(gotBytes).toBeLessThanOrEqual(broughtBytes)
    expect(accepted.address).toBe(home)
    expect(accepted.stats.pathMoves).toBe(0)
  })

  test('[SEC8] an answer from the old address does not prove the new one', () => {
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
      // The thief forwards the check to the client, which answers from its own address.
      pair.client.endpoint.handleDatagram(pair.now + later, 'server', out.bytes, out.length)
    }
    expect(checks).toBe(1)
    hand(pair, 'client', nextOf(pair, later))
    carry()
    carry()
    expect(accepted.address).toBe('client')
  })
})
