/**
 * WebTransport as a datagram port in a browser: HTTP/3 datagrams. Its only path is the URL.
 *
 * There is no head-of-line blocking, and the browser drops datagrams that it could not send within a quarter second.
 */

import type { DatagramPort } from '../core/endpoint/datagram-port.ts'
import type { PathPort, PortMaker } from './path-port.ts'

/** The browser drops datagrams that it could not send by then. With less, a busy machine drops too much. */
const MAX_AGE_MS = 250
/** Datagrams that may be queued in the browser: a burst, which the maximum age bounds as well. */
const QUEUE_DATAGRAMS = 64

/** Newer browsers create the writable on request; the types have only the older way. */
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
 * certificates to accept in place of ones signed by an authority.
 */
export async function openWebTransport(
  { makePort, mayCarryPackets }: PortMaker,
  url: string,
  hashes: readonly BufferSource[],
  signal?: AbortSignal,
): Promise<DatagramPort> {
  const transport = new WebTransport(url, {
    requireUnreliable: true,
    congestionControl: 'low-latency',
    ...(hashes.length > 0 && { serverCertificateHashes: hashes.map((value) => ({ algorithm: 'sha-256', value })) }),
  })
  // `ready` and `closed` both reject on failure; here only `ready` is awaited.
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
  const port: PathPort = makePort(url, {
    send(bytes) {
      // A datagram without room would wait for the network, and arrive late.
      if ((writer.desiredSize ?? 0) <= 0) return 'congested'
      writer.write(bytes).catch(() => port.stats.errors++)
      return 'sent'
    },
    // The end of a session overtakes datagrams that the browser has not sent yet, such as a Disconnect.
    close: () => void setTimeout(() => transport.close(), MAX_AGE_MS),
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
    // The session has ended, and `closed` reports it too.
  }
}
