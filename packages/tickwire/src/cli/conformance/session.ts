/**
 * A connection as the standard describes one from the client's side: numbered, sealed packets with acks, and nothing of a game.
 *
 * It keeps itself alive and acknowledges what it hears. Whatever a packet of the server does that the standard does not
 * allow is noted under `faults`.
 */

import { randomBytes } from 'node:crypto'
import { agree, createEphemeral, extract, seal, unseal, type Ephemeral, type PacketKey } from './keys.ts'
import { until, type Line } from './line.ts'
import { CONTROL, readBody, readHead, REASONS, TYPE, writeBody, writeHead, type Acks, type Frame } from './packets.ts'
import { clientKeyOf, serverKeyOf, type Verdict } from './visit.ts'

export type Accepted = Extract<Verdict, { is: 'accepted' }>

/** A packet of the server's that opened. */
export interface Heard {
  readonly sequence: number
  readonly epoch: number
  readonly at: number
  readonly datagram: Buffer
  readonly acks: Acks | undefined
  readonly frames: readonly Frame[]
  /** Why it says goodbye, if it does. */
  readonly reason: number | undefined
}

/** What of a packet may be wrong on purpose. */
export interface SendOptions {
  readonly sequence?: number
  readonly epoch?: number
  /** Bits behind the frames. */
  readonly bits?: string
  /** What becomes of the sealed bytes. */
  readonly damage?: (datagram: Buffer) => Buffer
  readonly line?: Line
  readonly type?: number
}

const HEARTBEAT_MS = 100

export class Session {
  readonly accepted: Accepted
  readonly heard: Heard[] = []
  /** What the server did that it may not. */
  readonly faults: string[] = []
  /** The last number that was used. */
  sequence = 0
  epoch = 0
  line: Line
  readonly #keys: { secret: Buffer; client: PacketKey; server: PacketKey }[] = []
  readonly #beat: NodeJS.Timeout
  #isQuiet = false

  constructor(line: Line, accepted: Accepted) {
    this.line = line
    this.accepted = accepted
    this.#addKeys(accepted.secret)
    this.listen(line)
    this.#beat = setInterval(() => {
      if (!this.#isQuiet) this.send([])
    }, HEARTBEAT_MS)
    this.send([])
  }

  /** Hears what comes over a line, too. */
  listen(line: Line): void {
    line.onDatagram = (bytes) => this.#hear(bytes)
  }

  /** From now on only what is sent by hand is sent. */
  fallSilent(): void {
    this.#isQuiet = true
  }

  /** Sends a payload, or a keepalive without frames; gives its number. */
  send(frames: readonly Frame[], options: SendOptions = {}): number {
    const { sequence = ++this.sequence, epoch = this.epoch, bits = '', damage = (bytes) => bytes, line = this.line } = options
    const type = options.type ?? (frames.length === 0 ? TYPE.keepalive : TYPE.payload)
    const head = writeHead(type, { connection: this.accepted.connection, epoch, sequence })
    const key = this.#keys[epoch]?.client
    if (key === undefined) throw new Error(`no keys of epoch ${epoch}`)
    line.send(damage(seal(key, epoch, sequence, head, writeBody(this.#acks(), frames, bits))))
    return sequence
  }

  /** Whether the server said that a packet arrived; undefined when it has not come to it yet. */
  hasArrived(sequence: number): boolean | undefined {
    let verdict: boolean | undefined
    for (const { acks } of this.heard) {
      if (acks === undefined) continue
      const behind = (acks.latest - sequence) & 0xffff
      if (behind > 64) continue
      if (!acks.missing.includes(behind)) return true
      verdict = false
    }
    return verdict
  }

  /** Whether the connection lives: a path check is answered. */
  async isAlive(): Promise<boolean> {
    const nonce = randomBytes(8)
    const reply = Buffer.concat([Buffer.of(CONTROL.pathReply), nonce])
    const hasReply = (): boolean => this.heard.some(({ frames }) => frames.some(({ kind, body }) => kind === CONTROL.kind && body.equals(reply)))
    for (let times = 0; times < 3; times++) {
      this.send([{ kind: CONTROL.kind, body: Buffer.concat([Buffer.of(CONTROL.pathCheck), nonce]) }])
      if (await until(hasReply, this.line.target.answerMs)) return true
    }
    return false
  }

  /** Sends one packet as told and then honest ones, until the server has come past it: whether it took it. */
  async takes(frames: readonly Frame[], options: SendOptions = {}): Promise<boolean> {
    const sequence = this.send(frames, options)
    await this.isAlive()
    await until(() => this.hasArrived(sequence) !== undefined, this.line.target.answerMs)
    return this.hasArrived(sequence) === true
  }

  /** Offers a new key, and goes over to it once it is answered; whether it was. */
  async rekey(): Promise<boolean> {
    const own = createEphemeral()
    const epoch = this.epoch + 1
    const offer = Buffer.concat([Buffer.of(CONTROL.rekey, this.epoch % 256, 1, epoch % 256), own.publicKey])
    const from = this.heard.length
    for (let times = 0; times < 3; times++) {
      this.send([{ kind: CONTROL.kind, body: offer }])
      await until(() => this.#answerOf(own, epoch, from), this.line.target.answerMs)
      if (this.epoch === epoch) return true
    }
    return false
  }

  /** Says goodbye and waits for the answer to it: the reason the server gave, or undefined when it said nothing. */
  async leave(): Promise<string | undefined> {
    this.#isQuiet = true
    for (let times = 0; times < 3 && this.goodbye === undefined; times++) {
      const sequence = ++this.sequence
      const head = writeHead(TYPE.disconnect, { connection: this.accepted.connection, epoch: this.epoch, sequence })
      const key = this.#keys[this.epoch]?.client
      if (key === undefined) break
      this.line.send(seal(key, this.epoch, sequence, head, Buffer.of(1)))
      await until(() => this.goodbye !== undefined, this.line.target.answerMs)
    }
    return this.goodbye
  }

  /** Nothing more is sent. */
  end(): void {
    clearInterval(this.#beat)
  }

  /** Why the server ended it, if it did. */
  get goodbye(): string | undefined {
    const reason = this.heard.find((packet) => packet.reason !== undefined)?.reason
    return reason === undefined ? undefined : REASONS[reason] ?? `${reason}`
  }

  #answerOf(own: Ephemeral, epoch: number, from: number): boolean {
    for (const { frames } of this.heard.slice(from)) {
      const answer = frames.find(({ kind, body }) => kind === CONTROL.kind && body[0] === CONTROL.rekey && body[2] === 2 && body[3] === epoch % 256)
      if (answer === undefined || this.epoch === epoch) continue
      this.#addKeys(extract(this.#keys[epoch - 1]?.secret ?? Buffer.alloc(0), agree(own, answer.body.subarray(4, 36))))
      this.epoch = epoch
      return true
    }
    return false
  }

  #addKeys(secret: Buffer): void {
    const { suite, transcript } = this.accepted
    const epoch = this.#keys.length
    this.#keys.push({ secret, client: clientKeyOf(secret, suite, epoch, transcript), server: serverKeyOf(secret, suite, epoch, transcript) })
  }

  #hear(bytes: Buffer): void {
    const head = readHead(bytes)
    if (head === undefined) return void this.faults.push('a datagram without a header')
    if (head.type === TYPE.handshake || head.type === TYPE.response) return
    if (!head.connection.equals(this.accepted.connection)) return void this.faults.push('a packet of another connection')
    const key = this.#keys[head.epoch]?.server
    const plain = key === undefined ? undefined : unseal(key, head.epoch, head.sequence, bytes, head.end)
    if (plain === undefined) return void this.faults.push(`packet ${head.sequence} of epoch ${head.epoch} does not open`)
    if (head.sequence < 1) this.faults.push('a sealed packet numbered 0')
    const twin = this.heard.find(({ sequence }) => sequence === head.sequence)
    if (twin !== undefined) {
      // The same bytes again are the network's doing; other bytes under one number would be the end of the cipher.
      if (!twin.datagram.equals(bytes)) this.faults.push(`number ${head.sequence} used twice`)
      return
    }
    const packet = { sequence: head.sequence, epoch: head.epoch, at: performance.now(), datagram: bytes }
    if (head.type === TYPE.disconnect) {
      if (plain.length !== 1) this.faults.push('a goodbye that is not one byte')
      this.heard.push({ ...packet, acks: undefined, frames: [], reason: plain[0] ?? 0 })
      return
    }
    const body = readBody(plain)
    if (typeof body === 'string') return void this.faults.push(`packet ${head.sequence}: ${body}`)
    if ((head.type === TYPE.payload) !== (body.frames.length > 0)) this.faults.push('a payload without frames, or a keepalive with some')
    this.heard.push({ ...packet, ...body, reason: undefined })
  }

  /** What has arrived here. Everything did that could be read. */
  #acks(): Acks {
    const numbers = new Map(this.heard.filter(({ acks }) => acks !== undefined).map(({ sequence, at }) => [sequence, at]))
    const latest = Math.max(0, ...numbers.keys())
    const missing = Array.from({ length: 64 }, (_, index) => index + 1).filter((behind) => latest - behind >= 1 && !numbers.has(latest - behind))
    return { latest: latest & 0xffff, delayMs: performance.now() - (numbers.get(latest) ?? performance.now()), missing }
  }
}
