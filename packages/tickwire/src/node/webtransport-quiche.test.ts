import { createSocket, type Socket } from 'node:dgram'
import { randomBytes } from 'node:crypto'
import { createRequire } from 'node:module'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
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

describe.skipIf(provider === undefined)('WebTransport by quiche: strangers', () => {
  async function listen(): Promise<WebTransportListener> {
    const listener = await provider!.listen({
      port: 0, address: '127.0.0.1', certificate: makeCertificate(Date.now()), path: '/tickwire', maxSessions: 16,
      isAllowedOrigin: () => true, onSession: () => {},
    })
    open.push(() => listener.close())
    return listener
  }

  test('[WT4] when 32 handshakes are under way, the next stranger must first show that he is where he says', async () => {
    const { port } = await listen()
    const crowd = await Stranger.open(port)
    for (let count = 0; count < 32; count++) crowd.knock()
    await until(() => crowd.heard.length >= 32)
    expect(crowd.types()).not.toContain(RETRY)

    const next = await Stranger.open(port)
    next.knock()
    await until(() => next.heard.length > 0)
    expect(next.types()).toEqual([RETRY])

    // He comes back with the token, and is let in.
    next.connection.recv(next.heard.splice(0)[0]!, next.path)
    next.flush()
    await until(() => next.heard.length > 0)
    expect(next.types()[0]).not.toBe(RETRY)
  })

  test('[WT4] who shakes hands and opens no session is sent away', async () => {
    const { port } = await listen()
    const stranger = await Stranger.open(port)
    stranger.knock()
    const pump = setInterval(() => stranger.converse(), 5)
    open.push(() => clearInterval(pump))
    await until(() => stranger.connection.isEstablished())
    await until(() => stranger.connection.isDraining() || stranger.connection.isClosed(), 8000)
    expect(stranger.connection.isDraining() || stranger.connection.isClosed()).toBe(true)
  })

  test('[WT4] garbage, short first packets and unknown versions keep nothing and are counted', async () => {
    const listener = await listen()
    const stranger = await Stranger.open(listener.port)
    const initial = stranger.firstPacket()
    const other = Buffer.from(initial)
    other.writeUInt32BE(0x1a2a_3a4a, 1)
    const stray = Buffer.alloc(1200, 0x45)
    const negotiation = Buffer.from(initial)
    negotiation.writeUInt32BE(0, 1)
    for (const bytes of [Buffer.alloc(0), Buffer.alloc(40, 7), initial.subarray(0, 400), stray, negotiation, other]) stranger.send(bytes)
    await until(() => listener.refused >= 6 && stranger.heard.length >= 1)
    // Only the unknown version is answered: with the ones that are known, and in fewer bytes.
    expect(stranger.heard).toHaveLength(1)
    expect(stranger.heard[0]!.length).toBeLessThan(other.length)
  })

  test('[SERVE6] a port that is taken is told by its name', async () => {
    const { port } = await listen()
    await expect(provider!.listen({
      port, address: '127.0.0.1', certificate: makeCertificate(Date.now()), path: '/', maxSessions: 1, isAllowedOrigin: () => true, onSession: () => {},
    })).rejects.toThrow('webtransport.port')
  })
})

test('[WT4] a token is good from one address, for one id, and unchanged', () => {
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
  for (let length = 0; length < token.length; length++) expect(tokens.recognise(token.subarray(0, length), '1.2.3.4 5', name)).toBeUndefined()
})

/** Somebody on a socket of his own, who begins QUIC handshakes. */
class Stranger {
  readonly heard: Buffer[] = []
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
    socket.on('message', (bytes) => this.heard.push(bytes))
  }

  static async open(port: number): Promise<Stranger> {
    const quiche: Quiche = createRequire(import.meta.url)(`@matrixai/quic-${process.platform}-${process.arch}`)
    const socket = createSocket('udp4')
    await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
    open.push(() => void socket.close())
    return new Stranger(quiche, socket, port)
  }

  types(): number[] {
    return this.heard.map((bytes) => this.#quiche.Header.fromSlice(bytes, 16).ty)
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
    for (let sent = this.connection.send(out); sent !== null; sent = this.connection.send(out)) this.send(Buffer.from(out.subarray(0, sent[0])))
  }

  /** Takes what was heard, and says what follows. */
  converse(): void {
    for (const bytes of this.heard.splice(0)) this.connection.recv(bytes, this.path)
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
