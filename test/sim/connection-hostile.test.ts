/**
 * How a connection treats bytes that are not from its peer.
 */

import { describe, expect, test } from 'vitest'
import { createTransmit } from '../../packages/tickwire/src/core/connection/transmit.ts'
import { Pair } from '../../packages/tickwire/src/testing/pair.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'

describe('hostile bytes', () => {
  test('[CONN9] noise, cut and mutated packets are counted and have no other effect', () => {
    const pair = new Pair()
    const connection = pair.connect()
    const dice = new Dice(3)
    const out = createTransmit()
    const server = pair.server.endpoint
    for (let round = 0; round < 5000; round++) {
      const noise = new Uint8Array(dice.word() % 64)
      dice.fill(noise)
      noise.set(Uint8Array.of(0x54, 0x4b, 0x57, 3).subarray(0, noise.length))
      if (round % 2 === 0 && noise.length > 20) {
        new DataView(noise.buffer).setUint32(5, connection.idLo, true)
        new DataView(noise.buffer).setUint32(9, connection.idHi, true)
        noise[4] = dice.word() % 3
        noise[13] = 0
      }
      server.handleDatagram(pair.now, 'client', noise, noise.length)
      server.handleDatagram(pair.now, 'stranger', noise, noise.length)
      // An unknown sender is answered with a reset that is shorter than its packet, or not at all.
      while (server.pollTransmit(pair.now, out)) if (out.to !== 'client') expect(out.length).toBeLessThan(noise.length)
    }
    expect(server.drops.header).toBeGreaterThan(1000)
    expect(pair.accepted.stats.drops.forged).toBeGreaterThan(1000)
    expect(pair.accepted.isOpen).toBe(true)
  })

  test('[PKT3] a packet of a key epoch that does not exist is refused', () => {
    const pair = new Pair()
    pair.connect()
    const out = createTransmit()
    while (!pair.client.endpoint.pollTransmit(pair.now + 1500, out));
    out.bytes[13] = 1
    pair.server.endpoint.handleDatagram(pair.now, 'client', out.bytes, out.length)
    expect(pair.accepted.stats.drops.epoch).toBe(1)
  })
})
