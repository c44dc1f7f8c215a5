import { createSocket, type Socket } from 'node:dgram'
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { QUIC_CONNECTION_BYTES, QUIC_STREAM_BYTES } from '../core/base/limits.ts'
import { makeCertificate } from './certificate.ts'
import type { WebTransportListener } from './providers.ts'
import type { Quiche, QuicheConfig, QuicheQuic } from './webtransport-quiche-binding.ts'
import { loadQuicheProvider } from './webtransport-quiche.ts'
import { RetryTokens } from './webtransport-retry.ts'

const provider = loadQuicheProvider()
const RETRY = 1

const open: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function listen(): Promise<WebTransportListener> {
  const listener = await provider!.listen({
    port: 0, address: '127.0.0.1', certificate: makeCertificate(Date.now()), path: '/tickwire', maxSessions: 16,
    isAllowedOrigin: () => true, onSession: () => {},
  })
  open.push(() => listener.close())
  return listener
}

describe.skipIf(provider === undefined)('WebTransport by quiche: unknown senders', () => {
  test('[WT4] during 32 handshakes, the next client must first prove its address', async () => {
    const { port } = await listen()
    const crowd = await Stranger.open(port)
    for (let count = 0; count < 32; count++) crowd.knock()
    await until(() => crowd.received.length >= 32)
    expect(crowd.types()).not.toContain(RETRY)

    const next = await Stranger.open(port)
    next.knock()
    await until(() => next.received.length > 0)
    expect(next.types()).toEqual([RETRY])

    // The client returns with the token, and is accepted.
    next.connection.recv(next.received.splice(0)[0]!, next.path)
    next.flush()
    await until(() => next.received.length > 0)
    expect(next.types()[0]).not.toBe(RETRY)
  })

  test('[WT4] a client that completes a handshake and opens no session is closed', async () => {
    const { port } = await listen()
    const stranger = await Stranger.open(port)
    stranger.knock()
    const pump = setInterval(() => stranger.converse(), 5)
    open.push(() => clearInterval(pump))
    await until(() => stranger.connection.isEstablished())
    await until(() => stranger.connection.isDraining() || stranger.connection.isClosed(), 8000)
    expect(stranger.connection.isDraining() || stranger.connection.isClosed()).toBe(true)
  })

  test('[WT4] garbage, short first packets and unknown versions store nothing and are counted', async () => {
    const listener = await listen()
    const stranger = await Stranger.open(listener.port)
    const initial = stranger.firstPacket()
    const other = Buffer.from(initial)
    other.writeUInt32BE(0x1a2a_3a4a, 1)
    const stray = Buffer.alloc(1200, 0x45)
    const negotiation = Buffer.from(initial)
    negotiation.writeUInt32BE(0, 1)
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(40, 7), initial.subarray(0, 400), stray, negotiation, other])
      stranger.send(bytes)
    await until(() => listener.refused >= 6 && stranger.received.length >= 1)
    // Only the unknown version is answered: with the supported versions, and in fewer bytes.
    expect(stranger.received).toHaveLength(1)
    expect(stranger.received[0]!.length).toBeLessThan(other.length)
  })
})

describe.skipIf(provider === undefined)('WebTransport by quiche: a listener', () => {
  test('[DOOR10] the flow control windows of QUIC do not grow, whatever a peer has sent before', async () => {
    const { port } = await listen()
    const stranger = await Stranger.open(port)
    stranger.knock()
    const pump = setInterval(() => stranger.converse(), 2)
    open.push(() => clearInterval(pump))
    await until(() => stranger.connection.isEstablished())
    // A unidirectional stream of an unknown type: the server skips it, and so gives credit for more.
    const [stream, chunk] = [2, Buffer.alloc(65_536, 0x21)]
    let [total, largest] = [0, 0]
    const endsAt = Date.now() + 3000
    while (Date.now() < endsAt && !stranger.connection.isClosed()) {
      const sent = stranger.write(stream, chunk)
      total += sent
      largest = Math.max(largest, sent)
      await sleep(2)
    }
    expect(total).toBeGreaterThan(4 * QUIC_CONNECTION_BYTES)
    expect(largest).toBeLessThanOrEqual(QUIC_STREAM_BYTES)
  })

  test('[SERVE6] a port that is taken is named in the error', async () => {
    const { port } = await listen()
    await expect(
      provider!.listen({
        port,
        address: '127.0.0.1',
        certificate: makeCertificate(Date.now()),
        path: '/',
        maxSessions: 1,
        isAllowedOrigin: () => true,
        onSession: () => {},
      }),
    ).rejects.toThrow('webtransport.port')
  })
})

test('[WT4] a token is valid from one address, for one id, and unchanged', () => {
  const tokens = new RetryTokens()
  const [name, original] = [randomBytes(8), randomBytes(11)]
  const token = tokens.make('1.2.3.4 5', name, original)
  expect(tokens.recognise(token, '1.2.3.4 5', name)).toEqual(original)
  expect(tokens.recognise(token, '1.2.3.4 6', name)).toBeUndefined()
  expect(tokens.recognise(token, '1.2.3.4 5', randomBytes(8))).toBeUndefined()
  expect(new RetryTokens().recognise(token, '1.2.3.4 5', name)).toBeUndefined()
  for (let at = 0; at < token.length; at++) {
    const touched = Buffer.from(token)
    touched[at]! ^= 1
    expect(tokens.recognise(touched, '1.2.3.4 5', name)).toBeUndefined()
  }
  for (let length = 0; length < token.length; length++)
    expect(tokens.recognise(token.subarray(0, length), '1.2.3.4 5', name)).toBeUndefined()
})

/** A client with its own socket, which begins QUIC handshakes. */
class Stranger {
  readonly received: Buffer[] = []
  connection: QuicheQuic
  readonly path: { readonly from: { host: string; port: number }; readonly to: { host: string; port: number } }
  readonly #quiche: Quiche
  readonly #config: QuicheConfig
  readonly #socket: Socket
  readonly #port: number

  private constructor(quiche: Quiche, socket: Socket, port: number) {
    this.#quiche = quiche
    this.#socket = socket
    this.#port = port
    this.#config = quiche.Config.withBoringSslCtx(false, false, null, null, null, null)
    this.#config.setApplicationProtos(['h3'])
    this.path = { from: { host: '127.0.0.1', port }, to: { host: '127.0.0.1', port: socket.address().port } }
    this.connection = this.#connect()
    socket.on('message', (bytes) => this.received.push(bytes))
  }

  static async open(port: number): Promise<Stranger> {
    const quiche: Quiche = createRequire(import.meta.url)(`@matrixai/quic-${process.platform}-${process.arch}`)
    const socket = createSocket('udp4')
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    open.push(() => void socket.close())
    return new Stranger(quiche, socket, port)
  }

  types(): number[] {
    return this.received.map((bytes) => this.#quiche.Header.fromSlice(bytes, 16).ty)
  }

  /** Begins a handshake. */
  knock(): void {
    this.connection = this.#connect()
    this.flush()
  }

  firstPacket(): Buffer {
    const out = Buffer.alloc(1500)
    const [length] = this.#connect().send(out)!
    return out.subarray(0, length)
  }

  flush(): void {
    const out = Buffer.alloc(1500)
    for (let sent = this.connection.send(out); sent !== null; sent = this.connection.send(out))
      this.send(Buffer.from(out.subarray(0, sent[0])))
  }

  /** Sends as many bytes of a stream as the windows allow now, before anything more is received. */
  write(stream: number, bytes: Buffer): number {
    let sent = 0
    for (let round = 0; round < 64; round++) {
      const taken = this.connection.streamSend(stream, bytes, false) ?? 0
      sent += taken
      this.flush()
      if (taken <= 0) break
    }
    return sent
  }

  /** Handles what was received, and sends what follows. */
  converse(): void {
    for (const bytes of this.received.splice(0)) this.connection.recv(bytes, this.path)
    this.flush()
  }

  send(bytes: Buffer): void {
    this.#socket.send(bytes, this.#port, '127.0.0.1')
  }

  #connect(): QuicheQuic {
    return this.#quiche.Connection.connect(null, randomBytes(16), this.path.to, this.path.from, this.#config)
  }
}

async function until(isDone: () => boolean, msMax = 5000): Promise<void> {
  for (let waited = 0; !isDone() && waited < msMax; waited += 5) await sleep(5)
}
