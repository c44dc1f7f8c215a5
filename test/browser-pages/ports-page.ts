/** The datagram ports of a browser, worked from outside: `test/contract/transport-browser.test.ts` pulls the strings. */

import { openWebRtc, openWebSocket, openWebTransport } from 'tickwire/browser'
import type { DatagramPort } from 'tickwire'

/** What the test listens to. */
declare const tellTest: (port: number, event: 'datagram' | 'closed', address: string, bytes: number[], stats: object) => void

const ports: DatagramPort[] = []

/** Opens a port; returns its number. */
export async function open(kind: 'websocket' | 'webtransport' | 'webrtc', url: string, hashes: number[][]): Promise<number> {
  const port = kind === 'websocket' ? await openWebSocket(url)
    : kind === 'webrtc' ? await openWebRtc(url)
    : await openWebTransport(url, hashes.map((hash) => Uint8Array.from(hash)))
  const number = ports.push(port) - 1
  port.onDatagram = (from, bytes, length) => tellTest(number, 'datagram', from, [...bytes.subarray(0, length)], port.stats)
  port.onPathClosed = (address) => tellTest(number, 'closed', address, [], port.stats)
  return number
}

/** Sends `length` of `bytes`, and overwrites them at once: a port is done with them on return. Returns what was counted. */
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
