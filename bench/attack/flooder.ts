/**
 * A flood over real sockets, in a separate process: `flooder.ts requests|spoofed|member PORT SECONDS PER_SECOND`. It
 * sends only to 127.0.0.1, for a few seconds, and then ends.
 *
 * `requests` come from 64 addresses of 127/8, all of which Linux allows a process to bind. `spoofed` sends three kinds
 * in turn: requests, packets of connections that do not exist, and random bytes. `member` is accepted first, and then
 * sends without the limits of an honest endpoint: its clock runs as fast as it wants to send.
 */

import { type Socket, createSocket } from 'node:dgram'
import { UnreliableChannel } from '../../packages/tickwire/src/core/channel/unreliable.ts'
import { writeRequest } from '../../packages/tickwire/src/core/connection/handshake.ts'
import { FixedController } from '../../packages/tickwire/src/core/delivery/congestion/fixed.ts'
import { drain } from '../../packages/tickwire/src/core/endpoint/drain.ts'
import { createEndpoint } from '../../packages/tickwire/src/core/endpoint/endpoint.ts'
import { PACKET_TYPE, PacketHeader, writeHeader } from '../../packages/tickwire/src/core/packet/header.ts'
import { monotonicNow } from '../../packages/tickwire/src/node/clock.ts'
import { bestProvider } from '../../packages/tickwire/src/node/crypto.ts'
import { systemEntropy } from '../../packages/tickwire/src/node/entropy.ts'
import { openUdp } from '../../packages/tickwire/src/node/udp.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'

const [kind, portText, secondsText, perSecondText] = process.argv.slice(2)
const port = Number(portText)
const seconds = Math.min(60, Number(secondsText))
const perSecond = Math.min(100_000, Number(perSecondText))

/** What the flooder did. */
export interface FloodDone {
  readonly sent: number
  readonly sentBytes: number
  readonly gotBytes: number
}

const done = { sent: 0, sentBytes: 0, gotBytes: 0 }

async function bindAt(address: string): Promise<Socket> {
  const socket = createSocket({ type: 'udp4', lookup: (host, _options, callback) => callback(null, host, 4) })
  await new Promise<void>((resolve) => socket.bind(0, address, resolve))
  socket.on('message', (bytes) => {
    done.gotBytes += bytes.length
  })
  return socket
}

async function requests(): Promise<(index: number) => void> {
  const dice = new Dice(3)
  const sockets = await Promise.all(
    Array.from({ length: 64 }, (_, index) => bindAt(`127.${66 + (index & 7)}.${index}.7`)),
  )
  const packets = Array.from({ length: 256 }, () => {
    const [bytes, key] = [new Uint8Array(1200), new Uint8Array(32)]
    dice.fill(key)
    writeRequest(bytes, dice.word(), dice.word(), key, [1, 2])
    return bytes
  })
  return (index) => {
    sockets[index % 64]!.send(packets[index % 256]!, port, '127.0.0.1')
    done.sentBytes += 1200
  }
}

async function spoofed(): Promise<(index: number) => void> {
  const dice = new Dice(4)
  const sockets = await Promise.all(
    Array.from({ length: 256 }, (_, index) => bindAt(`127.${80 + (index & 7)}.${index}.7`)),
  )
  const packets = Array.from({ length: 768 }, (_, index) => {
    const bytes = new Uint8Array(index % 3 === 0 ? 1200 : 40 + (dice.word() % 400))
    dice.fill(bytes)
    if (index % 3 === 0) writeRequest(bytes, dice.word(), dice.word(), bytes.slice(0, 32), [1, 2])
    else if (index % 3 === 1) {
      const header = new PacketHeader()
      Object.assign(header, {
        type: PACKET_TYPE.payload,
        idLo: dice.word(),
        idHi: dice.word(),
        sequence: 1 + (dice.word() % 1000),
      })
      writeHeader(header, bytes)
    }
    return bytes
  })
  return (index) => {
    const bytes = packets[index % 768]!
    sockets[(index * 7) % 256]!.send(bytes, port, '127.0.0.1')
    done.sentBytes += bytes.length
  }
}

async function member(): Promise<(index: number) => void> {
  const udp = await openUdp({ address: '127.65.0.1' })
  const channel = new UnreliableChannel('unreliable')
  const endpoint = createEndpoint({
    fingerprint: new Uint8Array(8).fill(0x61), entropy: systemEntropy, security: { provider: bestProvider() },
    congestion: () => new FixedController(Infinity),
    assemble: (connection) => {
      connection.addSource(1, channel)
      connection.addSink(1, channel)
    },
  })
  let now = monotonicNow()
  const to = `127.0.0.1:${port}`
  const connection = endpoint.connect(now, to)
  const flush = (): void => {
    drain(endpoint, now, udp, () => {})
  }
  udp.onDatagram = (from, bytes, length) => {
    done.gotBytes += length
    endpoint.handleDatagram(now, from, bytes, length)
    if (!connection.isOpen) flush()
  }
  while (!connection.isOpen) {
    now += 50
    flush()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return () => {
    now += 2
    channel.send(new Uint8Array(32))
    flush()
    done.sentBytes = connection.stats.bytesSent
  }
}

const fire = await (kind === 'requests' ? requests() : kind === 'spoofed' ? spoofed() : member())
process.on('disconnect', () => process.exit())
process.send?.('ready')
process.once('message', () => {
  const startedAt = monotonicNow()
  const volley = (): void => {
    const elapsed = monotonicNow() - startedAt
    if (elapsed >= seconds * 1000) {
      process.send?.(done satisfies FloodDone, () => process.exit())
      return
    }
    for (let left = 200; left > 0 && done.sent < (elapsed / 1000) * perSecond; left--) fire(done.sent++)
    setImmediate(volley)
  }
  volley()
})
