/**
 * S10, the handshake: resets of another process, lists of cipher suites that an attacker shortened, keys of small
 * order.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { PACKET_TYPE } from '../../../packages/tickwire/src/core/packet/header.ts'
import { installedProviders } from '../../../packages/tickwire/src/node/crypto.ts'
import type { AttackReport } from '../stage.ts'
import { answersTo, HeldRelay, isRequest, optionsFor, passOf, UdpClient } from './on-path.ts'
import { withVictim } from './victim.ts'

const IN_MS = 5000
const CUT_MS = 3000
const COUNT_AT = 15 + 41

export async function handshakeLeftovers(): Promise<AttackReport[]> {
  return [...await siblingResets(), ...await cutSuites(), weakKeys()]
}

/**
 * Two processes share an identity. Packets of a client of one process are sent to the other process, and its answers
 * are sent to the client.
 */
async function siblingResets(): Promise<AttackReport[]> {
  return await withVictim(
    optionsFor('ticket'),
    async (victim) =>
      await withVictim(optionsFor('ticket'), async (sibling) => {
        const relay = await HeldRelay.open(victim.udpPort)
        const client = await UdpClient.start(relay.port, {}, passOf(victim))
        const isIn = await client.isIn(IN_MS)
        await sleep(300)
        const packets = relay.said
          .filter((bytes) => bytes[4] === PACKET_TYPE.payload || bytes[4] === PACKET_TYPE.keepalive)
          .slice(0, 5)
        const resets = await answersTo(sibling.udpPort, packets, 300)
        for (const reset of resets) relay.toClient(reset)
        await sleep(300)
        const ended = isIn && resets.length > 0 ? Number(!client.connection.isOpen) : NaN
        const shortest = Math.min(...packets.map(({ length }) => length))
        const longest = Math.max(...resets.map(({ length }) => length))
        client.stop()
        relay.close()
        return [
          {
            threat: 'S10',
            what: 'resets by a process that shares the identity: connections ended',
            count: resets.length,
            value: ended,
            unit: '',
            atMost: 0,
          },
          {
            threat: 'S10',
            what: 'a reset: bytes out for bytes in',
            count: resets.length,
            value: longest / shortest,
            unit: 'ratio',
            atMost: 0.97,
          },
        ]
      }),
  )
}

/** An attacker shortens the list in a Request to its last suite. */
async function cutSuites(): Promise<AttackReport[]> {
  return await withVictim(optionsFor('ticket'), async (victim) => {
    const relay = await HeldRelay.open(victim.udpPort)
    let cut = 0
    relay.tamper = (bytes, isToServer) => {
      if (!isToServer || !isRequest(bytes) || bytes[COUNT_AT] !== 2) return [bytes]
      cut++
      const short = Buffer.from(bytes)
      short.set([1, bytes[COUNT_AT + 2] ?? 0, 0], COUNT_AT)
      return [short]
    }
    const client = await UdpClient.start(relay.port, {}, passOf(victim))
    const isDown = await client.isIn(CUT_MS)
    client.stop()
    relay.close()
    return [
      {
        threat: 'S10',
        what: 'lists of suites cut on the path: connections',
        count: cut,
        value: cut === 0 ? NaN : Number(isDown),
        unit: '',
        atMost: 0,
      },
    ]
  })
}

/**
 * Public keys that are points of small order: with s = 0 the equation of the signature holds for one message in eight.
 */
function weakKeys(): AttackReport {
  const heights = [
    '00'.repeat(32),
    `01${'00'.repeat(31)}`,
    `ec${'ff'.repeat(30)}7f`,
    `ed${'ff'.repeat(30)}7f`,
    `ee${'ff'.repeat(30)}7f`,
    '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
    'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  ]
  const points = heights.flatMap((height) => {
    const point = Uint8Array.from(Buffer.from(height, 'hex'))
    const other = point.slice()
    other[31] = (other[31] ?? 0) ^ 0x80
    return [point, other]
  })
  let [tried, taken] = [0, 0]
  for (const provider of installedProviders()) {
    for (const key of points) {
      for (const nonce of points) {
        const signature = Uint8Array.of(...nonce, ...new Uint8Array(32))
        for (let message = 0; message < 10; message++, tried++)
          if (provider.importVerifying(key).verify(Uint8Array.of(message), signature)) taken++
      }
    }
  }
  return {
    threat: 'S10',
    what: 'signatures by Ed25519 keys of small order: taken',
    count: tried,
    value: taken,
    unit: '',
    atMost: 0,
  }
}
