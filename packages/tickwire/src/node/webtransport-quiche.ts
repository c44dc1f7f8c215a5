/**
 * WebTransport by quiche, through the binding in @matrixai/quic: the library does QUIC, and this package does HTTP/3.
 *
 * The binding has no sockets and no clocks, like Tickwire's core: datagrams of node:dgram go in, datagrams come out,
 * and it says when its timer is due. As soon as 32 handshakes are under way, or 4 of one origin, new clients are sent a
 * Retry (RFC 9000, 8.1.2), which costs one MAC and no state. Connections are bounded.
 *
 * It embeds quiche 0.18.0, against which there are advisories (docs/adr/0014-transport-providers.md): for development.
 */

import { type RemoteInfo, type Socket, createSocket } from 'node:dgram'
import { createRequire } from 'node:module'
import { randomBytes } from 'node:crypto'
import { ConfigError } from '../core/base/assert.ts'
import {
  PATH_IDLE_MS, QUIC_CONNECTION_BYTES, QUIC_DATAGRAMS_IN, QUIC_DATAGRAMS_OUT, QUIC_HANDSHAKES_FREE,
  QUIC_HANDSHAKES_FREE_PER_ORIGIN, QUIC_HANDSHAKES_MAX, QUIC_HANDSHAKES_PER_ORIGIN, QUIC_PATHS_MAX, QUIC_STREAM_BYTES,
  QUIC_STREAMS_BOTH_WAYS, QUIC_STREAMS_ONE_WAY, QUIC_UNSENT_MAX,
} from '../core/base/limits.ts'
import { originKey } from '../core/endpoint/origin-key.ts'
import type { Certificate } from './certificate.ts'
import { OriginTally } from './origin-tally.ts'
import type { WebTransportListenOptions, WebTransportListener, WebTransportProvider } from './providers.ts'
import { QuicheConnection } from './webtransport-quiche-connection.ts'
import { CID_BYTES, type Quiche, type QuicheConfig, type QuicheHeader } from './webtransport-quiche-binding.ts'
import { RetryTokens } from './webtransport-retry.ts'

/** 1200 bytes of payload plus the overhead of QUIC; fits an Ethernet frame with room for a tunnel. */
const UDP_BYTES_MAX = 1280
const BUFFER_BYTES = 4 * 1024 * 1024

/** The provider; undefined if the binding is not installed, or not built for this machine. */
export function loadQuicheProvider(): WebTransportProvider | undefined {
  for (const load of loaders()) {
    for (const name of [
      `@matrixai/quic-${process.platform}-${process.arch}`,
      `@matrixai/quic-${process.platform}-universal`,
    ]) {
      try {
        const quiche: Quiche = load(name)
        const { version }: { version: string } = load(`${name}/package.json`)
        return {
          name: `quiche by @matrixai/quic ${version}`,
          isForProduction: false,
          listen: (options) => listen(quiche, options),
        }
      } catch {
        // Not installed, or not built for this machine: try the next one.
      }
    }
  }
  return undefined
}

/** Package managers install a dependency's dependencies beside it or beneath it. */
function loaders(): readonly NodeJS.Require[] {
  const load = createRequire(import.meta.url)
  try {
    return [load, createRequire(load.resolve('@matrixai/quic/package.json'))]
  } catch {
    return [load]
  }
}

async function listen(quiche: Quiche, options: WebTransportListenOptions): Promise<WebTransportListener> {
  const { port, address } = options
  const socket = await (address === undefined
    ? bind(port, '::').catch((error: NodeJS.ErrnoException) => {
      // These are the two errors of a machine without IPv6.
      if (error.code === 'EAFNOSUPPORT' || error.code === 'EADDRNOTAVAIL') return bind(port, '0.0.0.0')
      throw error
    })
    : bind(port, address)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE'
      ? new ConfigError(
        'webtransport.port',
        `${port} (UDP) is in use by another program`,
        'stop that program, or give another port; 0 takes any free port.',
      )
      : error
  })
  return new QuicheListener(quiche, socket, options)
}

class QuicheListener implements WebTransportListener {
  readonly port: number
  refused = 0
  readonly #quiche: Quiche
  readonly #socket: Socket
  readonly #options: WebTransportListenOptions
  readonly #retries: RetryTokens = new RetryTokens()
  readonly #connections: Map<string, QuicheConnection> = new Map()
  readonly #all: Set<QuicheConnection> = new Set()
  /** Connections without a session, by origin. */
  readonly #halfOpen: OriginTally
  readonly #out: Buffer = Buffer.alloc(1500)
  #config: QuicheConfig

  constructor(quiche: Quiche, socket: Socket, options: WebTransportListenOptions) {
    this.#quiche = quiche
    this.#socket = socket
    this.#options = options
    this.#halfOpen = new OriginTally(Infinity, false)
    this.#config = configure(quiche, options.certificate)
    this.port = socket.address().port
    socket.on('message', (bytes, source) => this.#receive(bytes, source))
    socket.on('error', () => this.refused++)
  }

  replaceCertificate(certificate: Certificate): void {
    this.#config = configure(this.#quiche, certificate)
  }

  async close(): Promise<void> {
    for (const connection of [...this.#all]) connection.close()
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()))
    for (const connection of [...this.#all]) connection.forget()
  }

  #receive(bytes: Buffer, source: RemoteInfo): void {
    let header: QuicheHeader
    try {
      header = this.#quiche.Header.fromSlice(bytes, CID_BYTES)
    } catch {
      this.refused++
      return
    }
    const known = this.#connections.get(keyOf(header.dcid))
    const connection = known ?? this.#admit(header, source, bytes.length)
    if (connection === undefined) return
    connection.receive(bytes, source.address, source.port)
  }

  /** Accepts a new client within the limits, or sends a Retry when the client must prove its address. */
  #admit(header: QuicheHeader, source: RemoteInfo, length: number): QuicheConnection | undefined {
    const quiche = this.#quiche
    // A client's first packet is padded (RFC 9000, 14.1): answering a short one would allow amplification.
    if (length < quiche.MIN_CLIENT_INITIAL_LEN || this.#all.size >= this.#options.maxSessions + QUIC_HANDSHAKES_MAX)
      return this.#refuse()
    // A packet of a closed connection, or an unexpected answer: neither is sent a version negotiation.
    if (header.ty === quiche.Type.Short || header.ty === quiche.Type.VersionNegotiation) return this.#refuse()
    if (!quiche.versionIsSupported(header.version)) {
      this.#say(source, () => quiche.negotiateVersion(header.scid, header.dcid, this.#out))
      return this.#refuse()
    }
    if (header.ty !== quiche.Type.Initial) return this.#refuse()
    const { all, here } = this.#countHalfOpen(source.address)
    if (all >= QUIC_HANDSHAKES_MAX) return this.#refuse()
    const token = header.token ?? new Uint8Array(0)
    const from = `${source.address} ${source.port}`
    if (token.length === 0 && all < QUIC_HANDSHAKES_FREE && here < QUIC_HANDSHAKES_FREE_PER_ORIGIN) {
      return this.#accept(randomBytes(CID_BYTES), undefined, header, source)
    }
    const original = token.length === 0 ? undefined : this.#retries.recognise(token, from, header.dcid)
    // This limit applies only after a Retry: otherwise forged packets could lock out an origin.
    if (original !== undefined && here >= QUIC_HANDSHAKES_PER_ORIGIN) return this.#refuse()
    if (original !== undefined) return this.#accept(Buffer.from(header.dcid), original, header, source)
    const name = randomBytes(CID_BYTES)
    this.#say(source, () => quiche.retry(
      header.scid, header.dcid, name, this.#retries.make(from, name, header.dcid), header.version, this.#out,
    ))
    return this.#refuse()
  }

  /** Connections without a session: in total, and of this origin unless it is exempt. */
  #countHalfOpen(ip: string): { readonly all: number; readonly here: number } {
    const isExempt = this.#options.areLocalExempt !== false && originKey(ip)?.isLocal === true
    return { all: this.#halfOpen.total, here: isExempt ? 0 : this.#halfOpen.countOf(ip) }
  }

  #accept(name: Buffer, original: Uint8Array | undefined, header: QuicheHeader, source: RemoteInfo): QuicheConnection {
    const keys = [keyOf(name), keyOf(header.dcid)]
    const local = { host: source.family === 'IPv4' ? '127.0.0.1' : '::1', port: this.port }
    const peer = { host: source.address, port: source.port }
    const quic = this.#quiche.Connection.accept(name, original ?? null, local, peer, this.#config)
    let isHalfOpen = true
    const settle = (): void => {
      if (isHalfOpen) this.#halfOpen.release(source.address)
      isHalfOpen = false
    }
    this.#halfOpen.take(source.address)
    const connection = new QuicheConnection(quic, local, source.address, this.#options, {
      send: (bytes, length, to) => this.#send(bytes.subarray(0, length), to.port, to.host),
      onOpened: settle,
      onGone: () => {
        settle()
        for (const key of keys) this.#connections.delete(key)
        this.#all.delete(connection)
      },
    })
    for (const key of keys) this.#connections.set(key, connection)
    this.#all.add(connection)
    return connection
  }

  #say(source: RemoteInfo, write: () => number): void {
    try {
      const length = write()
      this.#send(Buffer.from(this.#out.subarray(0, length)), source.port, source.address)
    } catch {
      // Clients that cannot be answered are ignored.
    }
  }

  /** Node queues without bound what the kernel does not take, so packets are dropped. QUIC retransmits what matters. */
  #send(bytes: Buffer, port: number, host: string): void {
    if (this.#socket.getSendQueueCount() < QUIC_UNSENT_MAX) this.#socket.send(bytes, port, host)
  }

  #refuse(): undefined {
    this.refused++
    return undefined
  }
}

function configure(quiche: Quiche, { cert, key }: Certificate): QuicheConfig {
  const config = quiche.Config.withBoringSslCtx(false, false, null, [Buffer.from(key)], [Buffer.from(cert)], null)
  config.setApplicationProtos(['h3'])
  config.setMaxIdleTimeout(PATH_IDLE_MS)
  config.setMaxRecvUdpPayloadSize(1500)
  config.setMaxSendUdpPayloadSize(UDP_BYTES_MAX)
  config.setInitialMaxData(QUIC_CONNECTION_BYTES)
  config.setInitialMaxStreamDataBidiLocal(QUIC_STREAM_BYTES)
  config.setInitialMaxStreamDataBidiRemote(QUIC_STREAM_BYTES)
  config.setInitialMaxStreamDataUni(QUIC_STREAM_BYTES)
  // By default quiche doubles windows that are used up, to 24 MiB per connection and 16 MiB per stream.
  config.setMaxConnectionWindow(QUIC_CONNECTION_BYTES)
  config.setMaxStreamWindow(QUIC_STREAM_BYTES)
  config.setInitialMaxStreamsBidi(QUIC_STREAMS_BOTH_WAYS)
  config.setInitialMaxStreamsUni(QUIC_STREAMS_ONE_WAY)
  config.enableDgram(true, QUIC_DATAGRAMS_IN, QUIC_DATAGRAMS_OUT)
  config.setDisableActiveMigration(false)
  config.setActiveConnectionIdLimit(QUIC_PATHS_MAX)
  config.grease(false)
  return config
}

function bind(port: number, address: string): Promise<Socket> {
  const socket = createSocket({
    type: address.includes(':') ? 'udp6' : 'udp4',
    recvBufferSize: BUFFER_BYTES,
    sendBufferSize: BUFFER_BYTES,
    // Addresses are numeric, so no lookup is needed for a datagram.
    lookup: (host, _options, callback) => callback(null, host, 0),
  })
  return new Promise((resolve, reject) => {
    socket.once('error', (error) => {
      socket.close()
      reject(error)
    })
    socket.bind({ port, address, exclusive: true }, () => {
      socket.removeAllListeners('error')
      resolve(socket)
    })
  })
}

function keyOf(name: Uint8Array): string {
  return Buffer.from(name.buffer, name.byteOffset, name.length).toString('latin1')
}
