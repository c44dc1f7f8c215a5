/**
 * WebTransport as a datagram port in a browser: datagrams of HTTP/3, the one path is the URL.
 *
 * Nothing waits behind what was lost, and the browser drops what it could not send within a quarter second.
 */

import { DATAGRAM_BYTES_SAFE } from '../core/base/limits.ts'
import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import { PathPort } from './path-port.ts'

/** What a browser could not send by then is dropped. Less, and a busy machine loses what the network would have carried. */
const MAX_AGE_MS = 250
/** Datagrams that may wait in the browser: a burst, which age bounds as well. */
const QUEUE_DATAGRAMS = 64
/** What Chromium says until it knows the path; version 150 goes on saying so. */
const UNMEASURED_BYTES = 1024

/** Newer browsers make the writable on request; the types know only the older way. */
interface Datagrams {
  readonly writable?: WritableStream<Uint8Array>
  createWritable?(): WritableStream<Uint8Array>
  readonly readable: ReadableStream<Uint8Array>
  readonly maxDatagramSize: number
  outgoingMaxAge: number | null
  outgoingHighWaterMark: number
}

/**
 * Opens a session at `url` (https://) and resolves once datagrams can be sent to that address. `hashes`: SHA-256 of
 * certificates that are as good as an authority's.
 */
export async function openWebTransport(url: string, hashes: readonly BufferSource[], signal?: AbortSignal): Promise<DatagramPort> {
  const transport = new WebTransport(url, {
    requireUnreliable: true,
    congestionControl: 'low-latency',
    ...(hashes.length > 0 && { serverCertificateHashes: hashes.map((value) => ({ algorithm: 'sha-256', value })) }),
  })
  // Both are told; one of them is listened to.
  transport.closed.catch(() => {})
  const abort = (): void => transport.close()
  signal?.addEventListener('abort', abort, { once: true })
  await transport.ready
  signal?.removeEventListener('abort', abort)
  const datagrams: Datagrams = transport.datagrams
  if (!mayCarryPackets(datagrams.maxDatagramSize)) {
    transport.close()
    throw new Error(`the path takes datagrams of ${datagrams.maxDatagramSize} bytes only`)
  }
  datagrams.outgoingMaxAge = MAX_AGE_MS
  datagrams.outgoingHighWaterMark = QUEUE_DATAGRAMS
  const writer = (datagrams.writable ?? datagrams.createWritable?.())?.getWriter()
  if (writer === undefined) throw new Error('this browser has WebTransport without datagrams')
  const port: PathPort = new PathPort(url, {
    send(bytes) {
      // What has no room waits for the network, and would arrive late.
      if ((writer.desiredSize ?? 0) <= 0) return 'congested'
      writer.write(bytes).catch(() => port.stats.errors++)
      return 'sent'
    },
    close: () => transport.close(),
  })
  void receive(datagrams.readable, port)
  const end = (): void => port.end()
  transport.closed.then(end, end)
  return port
}

async function receive(readable: ReadableStream<Uint8Array>, port: PathPort): Promise<void> {
  const reader = readable.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) port.receive(next.value)
  } catch {
    // The session is over, and `closed` says so too.
  }
}

/** Whether datagrams that a browser says are so large at most may carry our packets. Who does not know yet is tried: a handshake is as long as a packet, and is not answered where that is too long. */
export function mayCarryPackets(maxDatagramSize: number): boolean {
  return maxDatagramSize >= DATAGRAM_BYTES_SAFE || maxDatagramSize === UNMEASURED_BYTES
}
