/**
 * WebTransport by quiche, through the binding that @matrixai/quic brings: QUIC is the library's, HTTP/3 is ours.
 *
 * The binding is without sockets and clocks, as our own core is: datagrams of node:dgram go in, datagrams come out, and it
 * says when it wants to be woken. Strangers are shown a Retry (RFC 9000, 8.1.2), which costs one MAC and keeps nothing,
 * as soon as 32 handshakes are under way, or 4 of one address; connections are bounded.
 *
 * It embeds quiche 0.18.0, against which there are advisories (docs/adr/0014-transport-providers.md): for development.
 */

import { type RemoteInfo, type Socket, createSocket } from 'node:dgram'
import { createRequire } from 'node:module'
import { randomBytes } from 'node:crypto'
import { ConfigError } from '../core/base/assert.ts'
import { originKey } from '../core/endpoint/origin-key.ts'
import type { Certificate } from './certificate.ts'
import type { WebTransportListenOptions, WebTransportListener, WebTransportProvider } from './providers.ts'
import { QuicheConnection } from './webtransport-quiche-connection.ts'
import { CID_BYTES, type Quiche, type QuicheConfig, type QuicheHeader } from './webtransport-quiche-binding.ts'
import { RetryTokens } from './webtransport-retry.ts'

/** Handshakes under way before strangers must first prove where they are: of all, and of one address. */
const HALF_OPEN_FREE = 32
const HALF_OPEN_FREE_HERE = 4
/** And before they are not heard at all. */
const HALF_OPEN_MAX = 512
const HALF_OPEN_MAX_HERE = 16
const IDLE_MS = 15_000
/** 1200 bytes of ours, and all that QUIC puts around them; fits an Ethernet frame with room for a tunnel. */
const UDP_BYTES_MAX = 1280
/** Datagrams that may wait for the congestion window. What waits longer is late. */
const QUEUE_DATAGRAMS = 16
const BUFFER_BYTES = 4 * 1024 * 1024
/**
 * Paths of one connection that quiche remembers: as many as the names that a peer may have given us. Of its default of two the second is taken by the first
 * other port, and packets from a third are dropped. It forgets none of a peer whose names are empty, as Chromium's are.
 */
const PATHS_MAX = 64

/** The provider; undefined where the binding is not installed, or not for this machine. */
export function loadQuicheProvider(): WebTransportProvider | undefined {
  for (const load of loaders()) {
    for (const name of [`@matrixai/quic-${process.platform}-${process.arch}`, `@matrixai/quic-${process.platform}-universal`]) {
      try {
        const quiche: Quiche = load(name)
        const { version }: { version: string } = load(`${name}/package.json`)
        return { name: `quiche by @matrixai/quic ${version}`, isForProduction: false, listen: (options) => listen(quiche, options) }
      } catch {
        // Not there, or not for this machine: the next one.
      }
    }
  }
  return undefined
}

/** Package managers put a dependency's dependencies beside it or beneath it. */
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
      // A machine without IPv6 says so in one of these two ways.
      if (error.code === 'EAFNOSUPPORT' || error.code === 'EADDRNOTAVAIL') return bind(port, '0.0.0.0')
      throw error
    })
    : bind(port, address)).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE'
      ? new ConfigError('webtransport.port', `${port} (UDP) is in use by another program`, 'Stop that one, or give another port; 0 takes any that is free.')
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
  readonly #out: Buffer = Buffer.alloc(1500)
  #config: QuicheConfig

  constructor(quiche: Quiche, socket: Socket, options: WebTransportListenOptions) {
    this.#quiche = quiche
    this.#socket = socket
    this.#options = options
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

  /** Somebody new, if he may be; who must prove where he is is told so. */
  #admit(header: QuicheHeader, source: RemoteInfo, length: number): QuicheConnection | undefined {
    const quiche = this.#quiche
    // A first packet is padded (RFC 9000, 14.1): an answer to a short one would amplify.
    if (length < quiche.MIN_CLIENT_INITIAL_LEN || this.#all.size >= this.#options.maxSessions + HALF_OPEN_MAX) return this.#refuse()
    // Whose connection is over, or an answer to nothing: neither asks for a version.
    if (header.ty === quiche.Type.Short || header.ty === quiche.Type.VersionNegotiation) return this.#refuse()
    if (!quiche.versionIsSupported(header.version)) {
      this.#say(source, () => quiche.negotiateVersion(header.scid, header.dcid, this.#out))
      return this.#refuse()
    }
    if (header.ty !== quiche.Type.Initial) return this.#refuse()
    const { all, here } = this.#countHalfOpen(source.address)
    if (all >= HALF_OPEN_MAX) return this.#refuse()
    const token = header.token ?? new Uint8Array(0)
    const from = `${source.address} ${source.port}`
    if (token.length === 0 && all < HALF_OPEN_FREE && here < HALF_OPEN_FREE_HERE) {
      return this.#accept(randomBytes(CID_BYTES), undefined, header, source)
    }
    const original = token.length === 0 ? undefined : this.#retries.recognise(token, from, header.dcid)
    // Only who has shown that he is there counts as a crowd: else anybody could lock another out.
    if (original !== undefined && here >= HALF_OPEN_MAX_HERE) return this.#refuse()
    if (original !== undefined) return this.#accept(Buffer.from(header.dcid), original, header, source)
    const name = randomBytes(CID_BYTES)
    this.#say(source, () => quiche.retry(
      header.scid, header.dcid, name, this.#retries.make(from, name, header.dcid), header.version, this.#out,
    ))
    return this.#refuse()
  }

  /** Connections without a session: of all, and of this address unless it is of the own network. */
  #countHalfOpen(ip: string): { readonly all: number; readonly here: number } {
    let [all, here] = [0, 0]
    for (const { hasSession, originIp } of this.#all) {
      if (hasSession) continue
      all++
      if (originIp === ip) here++
    }
    return { all, here: originKey(ip)?.isLocal === true ? 0 : here }
  }

  #accept(name: Buffer, original: Uint8Array | undefined, header: QuicheHeader, source: RemoteInfo): QuicheConnection {
    const keys = [keyOf(name), keyOf(header.dcid)]
    const local = { host: source.family === 'IPv4' ? '127.0.0.1' : '::1', port: this.port }
    const peer = { host: source.address, port: source.port }
    const quic = this.#quiche.Connection.accept(name, original ?? null, local, peer, this.#config)
    const connection = new QuicheConnection(quic, local, source.address, this.#options, {
      send: (bytes, length, to) => this.#socket.send(bytes.subarray(0, length), to.port, to.host),
      onGone: () => {
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
      this.#socket.send(Buffer.from(this.#out.subarray(0, length)), source.port, source.address)
    } catch {
      // What cannot be answered is not.
    }
  }

  #refuse(): undefined {
    this.refused++
    return undefined
  }
}

function configure(quiche: Quiche, { cert, key }: Certificate): QuicheConfig {
  const config = quiche.Config.withBoringSslCtx(false, false, null, [Buffer.from(key)], [Buffer.from(cert)], null)
  config.setApplicationProtos(['h3'])
  config.setMaxIdleTimeout(IDLE_MS)
  config.setMaxRecvUdpPayloadSize(1500)
  config.setMaxSendUdpPayloadSize(UDP_BYTES_MAX)
  config.setInitialMaxData(65_536)
  config.setInitialMaxStreamDataBidiLocal(16_384)
  config.setInitialMaxStreamDataBidiRemote(16_384)
  config.setInitialMaxStreamDataUni(16_384)
  config.setInitialMaxStreamsBidi(4)
  config.setInitialMaxStreamsUni(8)
  config.enableDgram(true, 1024, QUEUE_DATAGRAMS)
  config.setDisableActiveMigration(false)
  config.setActiveConnectionIdLimit(PATHS_MAX)
  config.grease(false)
  return config
}

function bind(port: number, address: string): Promise<Socket> {
  const socket = createSocket({
    type: address.includes(':') ? 'udp6' : 'udp4',
    recvBufferSize: BUFFER_BYTES,
    sendBufferSize: BUFFER_BYTES,
    // Addresses are numeric: nothing is looked up, least of all for every datagram.
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
