/**
 * A quiche QUIC connection with an HTTP/3 session on it, as a datagram session.
 *
 * Every operation on the connection is followed by `#pump`, which reads streams and datagrams, sends what is due and
 * sets the timer. quiche may refuse anything at any time by throwing. An exception ends nothing by itself; the
 * connection's own state does.
 */

import { QUIC_SESSION_MS } from '../core/base/limits.ts'
import type { DatagramSession, WebTransportListenOptions } from './providers.ts'
import { H3, Http3Session, varint, varintAt } from './webtransport-http3.ts'
import type { HostPort, QuicheQuic } from './webtransport-quiche-binding.ts'

/** Callbacks of a connection to its listener. */
export interface QuicheRoom {
  /** The callee may keep `bytes`. */
  send(bytes: Buffer, length: number, to: HostPort): void
  /** The session has opened. */
  onOpened(): void
  /** The connection is closed and must be removed. */
  onGone(): void
}

// Not Buffers: their `slice` does not copy, and the receiver of a datagram may keep a slice of it.
const STREAM_CHUNK = new Uint8Array(16_384)
const DATAGRAM_IN = new Uint8Array(1600)
/** Most packets and datagrams processed at once, so that a peer cannot block the event loop. */
const BURST_MAX = 1024

export class QuicheConnection implements DatagramSession {
  readonly originIp: string
  onDatagram: (bytes: Uint8Array) => void = () => {}
  onClosed: () => void = () => {}
  readonly #quic: QuicheQuic
  readonly #local: HostPort
  readonly #options: WebTransportListenOptions
  readonly #room: QuicheRoom
  readonly #http: Http3Session
  #isStarted = false
  #isOver = false
  #timer: NodeJS.Timeout | undefined
  readonly #deadline: NodeJS.Timeout
  /** Begins every datagram of the session. */
  #prefix: Uint8Array = new Uint8Array(0)
  #outgoing: Buffer = Buffer.alloc(1600)

  constructor(
    quic: QuicheQuic,
    local: HostPort,
    originIp: string,
    options: WebTransportListenOptions,
    room: QuicheRoom,
  ) {
    this.originIp = originIp
    this.#quic = quic
    this.#local = local
    this.#options = options
    this.#room = room
    this.#http = new Http3Session({
      sendStream: (id, bytes, isLast) => this.#try(() => quic.streamSend(id, bytes, isLast)),
      abort: (code) => this.#end(code),
    }, options, () => this.#open(), () => this.#end(H3.noError))
    this.#deadline = setTimeout(() => this.close(), QUIC_SESSION_MS)
    this.#deadline.unref()
  }

  get hasSession(): boolean {
    return this.#http.streamId >= 0
  }

  get maxDatagramBytes(): number {
    return (this.#quic.dgramMaxWritableLen() ?? 0) - this.#prefix.length
  }

  /** Handles a UDP datagram for this connection. It is decrypted in place. */
  receive(bytes: Buffer, host: string, port: number): void {
    // quiche refuses undecryptable and malformed packets, and closes the connection by itself if required.
    this.#try(() => this.#quic.recv(bytes, { from: { host, port }, to: this.#local }))
    this.#pump()
  }

  send(bytes: Uint8Array, length: number): 'sent' | 'congested' | 'closed' {
    if (this.#isOver || !this.hasSession) return 'closed'
    if (this.#quic.isDgramSendQueueFull()) return 'congested'
    const size = this.#prefix.length + length
    this.#outgoing.set(this.#prefix)
    this.#outgoing.set(bytes.length === length ? bytes : bytes.subarray(0, length), this.#prefix.length)
    const isTaken = this.#try(() => this.#quic.dgramSend(this.#outgoing.subarray(0, size)))
    this.#flush()
    return isTaken ? 'sent' : 'congested'
  }

  close(): void {
    this.#end(H3.noError)
    this.#pump()
  }

  /** The socket is closed: releases this connection. */
  forget(): void {
    clearTimeout(this.#timer)
    this.#finish()
    this.#room.onGone()
  }

  #pump(): void {
    if (!this.#isStarted && this.#quic.isEstablished()) {
      this.#isStarted = true
      this.#http.start()
    }
    if (this.#isStarted && !this.#isOver) {
      // A page that leaves may send its Disconnect and the end of the session in one packet.
      if (this.hasSession) this.#readDatagrams()
      this.#readStreams()
      this.#readDatagrams()
    }
    this.#flush()
    if (this.#quic.isClosed()) this.forget()
    else if (this.#quic.isDraining()) this.#finish()
  }

  #readStreams(): void {
    for (const id of this.#quic.readable()) {
      for (let round = 0; round < BURST_MAX; round++) {
        let read: [number, boolean] | null = null
        const isAlive = this.#try(() => { read = this.#quic.streamRecv(id, STREAM_CHUNK) })
        // A reset stream throws when it is read.
        if (!isAlive) this.#http.handleEnd(id)
        if (read === null) break
        const [length, isLast]: [number, boolean] = read
        this.#http.handleStream(id, STREAM_CHUNK.subarray(0, length), isLast)
        if (isLast) break
      }
    }
  }

  #readDatagrams(): void {
    for (let round = 0; round < BURST_MAX; round++) {
      let length = -1
      this.#try(() => { length = this.#quic.dgramRecv(DATAGRAM_IN) ?? -1 })
      if (length < 0) return
      const session = varintAt(DATAGRAM_IN.subarray(0, length), 0)
      if (session !== undefined && session.value * 4 === this.#http.streamId)
        this.onDatagram(DATAGRAM_IN.subarray(session.end, length))
    }
  }

  #flush(): void {
    for (let round = 0; round < BURST_MAX; round++) {
      // The socket may keep a packet until the kernel takes it, so each packet has its own buffer.
      const out = Buffer.allocUnsafe(1500)
      let sent: [number, { readonly to: HostPort }] | null = null
      this.#try(() => { sent = this.#quic.send(out) })
      if (sent === null) break
      const [length, { to }]: [number, { readonly to: HostPort }] = sent
      this.#room.send(out, length, to)
    }
    clearTimeout(this.#timer)
    const inMs = this.#quic.timeout()
    if (inMs === null) return
    this.#timer = setTimeout(() => {
      this.#quic.onTimeout()
      this.#pump()
    }, inMs)
    // A transport's timer must not keep the process alive.
    this.#timer.unref()
  }

  #open(): void {
    clearTimeout(this.#deadline)
    this.#prefix = varint(this.#http.streamId / 4)
    this.#room.onOpened()
    this.#options.onSession(this)
  }

  #end(code: number): void {
    if (this.#isOver) return
    this.#try(() => this.#quic.close(true, code, Buffer.alloc(0)))
    this.#finish()
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#deadline)
    this.onClosed()
  }

  #try(action: () => unknown): boolean {
    try {
      action()
      return true
    } catch {
      return false
    }
  }
}
