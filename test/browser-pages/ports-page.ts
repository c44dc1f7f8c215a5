/**
 * The datagram ports of a browser, driven from outside by `test/contract/transport-browser.test.ts`.
 */

import { openWebRtc, openWebSocket, openWebTransport } from 'tickwire/browser'
import type { DatagramPort } from 'tickwire/engine'

/** A function of the test, which the page calls for every event. */
declare const tellTest: (
  port: number,
  event: 'datagram' | 'closed',
  address: string,
  bytes: number[],
  stats: object,
) => void

const ports: DatagramPort[] = []

/** Opens a port; returns its number. */
export async function open(
  kind: 'websocket' | 'webtransport' | 'webrtc',
  url: string,
  hashes: number[][],
): Promise<number> {
  const port =
    kind === 'websocket'
      ? await openWebSocket(url)
      : kind === 'webrtc'
        ? await openWebRtc(url)
        : await openWebTransport(
            url,
            hashes.map((hash) => Uint8Array.from(hash)),
          )
  const number = ports.push(port) - 1
  port.onDatagram = (from, bytes, length) =>
    tellTest(number, 'datagram', from, [...bytes.subarray(0, length)], port.stats)
  port.onPathClosed = (address) => tellTest(number, 'closed', address, [], port.stats)
  return number
}

/** Sends `length` of `bytes`, and overwrites them at once: a port has copied them on return. Returns the counters. */
export function send(number: number, to: string, bytes: number[], length: number): object {
  const buffer = Uint8Array.from(bytes)
  ports[number]!.send(to, buffer, length)
  buffer.fill(0xee)
  return ports[number]!.stats
}

export function close(number: number): void {
  ports[number]!.close()
}

export function maxDatagramBytes(number: number): number {
  return ports[number]!.maxDatagramBytes
}

/** Sends until something is dropped as congested, or `count` datagrams of 1200 bytes are sent. Returns the counters. */
export async function flood(number: number, to: string, count: number): Promise<object> {
  const port = ports[number]!
  const bytes = new Uint8Array(1200)
  for (let sent = 0; sent < count && port.stats.congested === 0; sent++) {
    port.send(to, bytes, bytes.length)
    if (sent % 8 === 7) await new Promise((resolve) => setTimeout(resolve))
  }
  return port.stats
}
