/**
 * What every transport must do, whatever it is made of. One suite, run against each.
 *
 * A transport brings a `TransportLab`: how to make a server port and client ports that reach it, and how to wait. The
 * suite assumes no order and no arrival of any single datagram; only that most arrive on a path without weather.
 */

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DatagramPort } from '../../packages/tickwire/src/core/endpoint/datagram-port.ts'

/** A client port, and the address under which it reaches the server. */
export interface ContractClient {
  readonly port: DatagramPort
  readonly serverAddress: string
}

/** A transport, ready to be tried. */
export interface TransportLab {
  readonly server: DatagramPort
  openClient(): Promise<ContractClient>
  /** Lets things happen until `isDone`, at most for a few seconds. */
  until(isDone: () => boolean): Promise<void>
  close(): Promise<void>
}

/** Clients that send one datagram and close. A port that loses one of five fails three times in four. */
const LAST_WORDS = 12

interface Datagram {
  readonly from: string
  readonly bytes: Uint8Array
}

function record(port: DatagramPort): { datagrams: Datagram[]; closed: string[] } {
  const datagrams: Datagram[] = []
  const closed: string[] = []
  port.onDatagram = (from, bytes, length) => datagrams.push({ from, bytes: bytes.slice(0, length) })
  port.onPathClosed = (address) => closed.push(address)
  return { datagrams, closed }
}

const pattern = (size: number, seed: number): Uint8Array =>
  Uint8Array.from({ length: size }, (_, index) => index * 7 + seed)

const sorted = (datagrams: readonly Uint8Array[]): string[] => datagrams.map((bytes) => bytes.join()).toSorted()

/**
 * Declares the suite for one transport. `tellsClose` is false for transports that cannot detect that a peer is gone.
 */
export function describeTransport(name: string, openLab: () => Promise<TransportLab>, tellsClose: boolean): void {
  describe(name, () => {
    let lab: TransportLab
    beforeEach(async () => {
      lab = await openLab()
    })
    afterEach(async () => {
      await lab.close()
    })

    test('[PORT1] datagrams from 1 byte to the longest arrive whole, and answers come back', async () => {
      const server = record(lab.server)
      const { port, serverAddress } = await lab.openClient()
      const client = record(port)
      const sizes = [1, 2, 15, 125, 126, 127, 500, 1199, port.maxDatagramBytes]
      const sent = sizes.map((size) => pattern(size, size))
      for (const bytes of sent) port.send(serverAddress, bytes, bytes.length)
      await lab.until(() => server.datagrams.length === sizes.length)
      expect(sorted(server.datagrams.map(({ bytes }) => bytes))).toEqual(sorted(sent))
      for (const { from, bytes } of server.datagrams) lab.server.send(from, bytes, bytes.length)
      await lab.until(() => client.datagrams.length === sizes.length)
      expect(sorted(client.datagrams.map(({ bytes }) => bytes))).toEqual(sorted(sent))
      expect(client.datagrams.every(({ from }) => from === serverAddress)).toBe(true)
      expect([port.stats.sent, port.stats.received]).toEqual([sizes.length, sizes.length])
    })

    test('[PORT1] a port has copied its bytes when send returns, and sends only the given length', async () => {
      const server = record(lab.server)
      const { port, serverAddress } = await lab.openClient()
      const bytes = new Uint8Array(1500)
      for (let number = 1; number <= 20; number++) {
        bytes.fill(number)
        port.send(serverAddress, bytes, 30)
      }
      bytes.fill(0xff)
      await lab.until(() => server.datagrams.length === 20)
      expect(sorted(server.datagrams.map((datagram) => datagram.bytes)))
        .toEqual(sorted(Array.from({ length: 20 }, (_, index) => new Uint8Array(30).fill(index + 1))))
    })

    test('[PORT2] a datagram longer than the longest is refused and counted, not cut', async () => {
      const server = record(lab.server)
      const { port, serverAddress } = await lab.openClient()
      expect(port.maxDatagramBytes).toBeGreaterThanOrEqual(1200)
      port.send(serverAddress, new Uint8Array(port.maxDatagramBytes + 1), port.maxDatagramBytes + 1)
      port.send(serverAddress, new Uint8Array(5), 5)
      await lab.until(() => server.datagrams.length > 0 && port.stats.oversized === 1)
      expect(port.stats.oversized).toBe(1)
      expect(server.datagrams.map(({ bytes }) => bytes.length)).toEqual([5])
    })

    test('[PORT3] clients are distinguished by address, and each gets its own answers', async () => {
      const server = record(lab.server)
      const clients = await Promise.all([lab.openClient(), lab.openClient()])
      const records = clients.map(({ port }) => record(port))
      clients.forEach(({ port, serverAddress }, index) => port.send(serverAddress, Uint8Array.of(index), 1))
      await lab.until(() => server.datagrams.length === 2)
      expect(new Set(server.datagrams.map(({ from }) => from)).size).toBe(2)
      for (const { from, bytes } of server.datagrams) lab.server.send(from, bytes, 1)
      await lab.until(() => records.every(({ datagrams }) => datagrams.length === 1))
      records.forEach(({ datagrams }, index) => expect([...datagrams[0]!.bytes]).toEqual([index]))
    })

    test('[PORT4] sending to an unknown address, or after closing, is counted and does not throw', async () => {
      const { port, serverAddress } = await lab.openClient()
      record(port)
      lab.server.send('no-peer', new Uint8Array(3), 3)
      expect(lab.server.stats.unreachable).toBe(1)
      port.close()
      port.close()
      port.send(serverAddress, new Uint8Array(3), 3)
      await lab.until(() => port.stats.unreachable === 1)
      expect(port.stats.unreachable).toBe(1)
    })

    test.runIf(tellsClose)('[PORT5] a close is reported on both sides, once', async () => {
      const server = record(lab.server)
      const { port, serverAddress } = await lab.openClient()
      const client = record(port)
      port.send(serverAddress, Uint8Array.of(1), 1)
      await lab.until(() => server.datagrams.length === 1)
      const [{ from }] = server.datagrams as [Datagram]
      port.close()
      await lab.until(() => server.closed.length === 1 && client.closed.length === 1)
      expect(server.closed).toEqual([from])
      expect(client.closed).toEqual([serverAddress])
      lab.server.send(from, Uint8Array.of(1), 1)
      expect(lab.server.stats.unreachable).toBe(1)
    })

    test('[PORT9] what is sent right before the close arrives, such as a Disconnect', async () => {
      const server = record(lab.server)
      for (let number = 0; number < LAST_WORDS; number++) {
        const { port, serverAddress } = await lab.openClient()
        record(port)
        port.send(serverAddress, Uint8Array.of(number), 1)
        port.close()
      }
      await lab.until(() => server.datagrams.length === LAST_WORDS)
      expect(server.datagrams.length).toBeGreaterThanOrEqual(LAST_WORDS - 1)
    })

    test.runIf(tellsClose)('[PORT5] a server that closes notifies every client', async () => {
      const clients = await Promise.all([lab.openClient(), lab.openClient()])
      const records = clients.map(({ port }) => record(port))
      record(lab.server)
      lab.server.close()
      await lab.until(() => records.every(({ closed }) => closed.length === 1))
      expect(records.map(({ closed }) => closed.length)).toEqual([1, 1])
    })
  })
}
