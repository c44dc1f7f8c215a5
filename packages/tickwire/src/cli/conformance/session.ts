/**
 * A client's connection as the standard describes it: numbered, sealed packets with acks, without a game.
 *
 * It sends keepalives and acknowledges what it receives. Violations of the standard by the server are added to
 * `faults`.
 */

import { randomBytes } from 'node:crypto'
import { agree, createEphemeral, extract, seal, unseal, type Ephemeral, type PacketKey } from './keys.ts'
import { until, type Line } from './line.ts'
import { CONTROL, readBody, readHead, REASONS, TYPE, writeBody, writeHead, type Acks, type Frame } from './packets.ts'
import { clientKeyOf, serverKeyOf, type Verdict } from './visit.ts'

export type Accepted = Extract<Verdict, { is: 'accepted' }>

/** A packet from the server that opened. */
export interface Received {
  readonly sequence: number
  readonly epoch: number
  readonly at: number
  readonly datagram: Buffer
  readonly acks: Acks | undefined
  readonly frames: readonly Frame[]
  /** Whether all its frames could be used: only then it is acknowledged. */
  readonly isUsed: boolean
  /** The reason, if it is a disconnect. */
  readonly reason: number | undefined
}

/** Parts of a packet that a check may set to wrong values. */
export interface SendOptions {
  readonly sequence?: number
  readonly epoch?: number
  /** Bits to append after the frames. */
  readonly bits?: string
  /** Modifies the sealed bytes. */
  readonly damage?: (datagram: Buffer) => Buffer
  readonly line?: Line
  readonly type?: number
}

const HEARTBEAT_MS = 100

export class Session {
  readonly accepted: Accepted
  readonly received: Received[] = []
  /** Violations by the server. */
  readonly faults: string[] = []
  /** The last sequence number that was used. */
  sequence = 0
  epoch = 0
  line: Line
  /** The frames that a heartbeat has. Without any it is a keepalive. */
  onBeat: () => readonly Frame[] = () => []
  /** Takes the frames of a packet. False: they cannot be used yet, and the packet is not acknowledged. */
  onFrames: (frames: readonly Frame[]) => boolean = () => true
  readonly #keys: { secret: Buffer; client: PacketKey; server: PacketKey }[] = []
  readonly #beat: NodeJS.Timeout
  #isQuiet = false

  constructor(line: Line, accepted: Accepted) {
    this.line = line
    this.accepted = accepted
    this.#addKeys(accepted.secret)
    this.listen(line)
    this.#beat = setInterval(() => {
      if (!this.#isQuiet) this.send(this.onBeat())
    }, HEARTBEAT_MS)
    this.send([])
  }

  /** Receives from another line, too. */
  listen(line: Line): void {
    line.onDatagram = (bytes) => this.#handle(bytes)
  }

  /** From now on, only explicit sends are sent. */
  fallSilent(): void {
    this.#isQuiet = true
  }

  /** Sends a payload, or a keepalive if there are no frames. Returns its sequence number. */
  send(frames: readonly Frame[], options: SendOptions = {}): number {
    const {
      sequence = ++this.sequence,
      epoch = this.epoch,
      bits = '',
      damage = (bytes) => bytes,
      line = this.line,
    } = options
    const type = options.type ?? (frames.length === 0 ? TYPE.keepalive : TYPE.payload)
    const head = writeHead(type, { connection: this.accepted.connection, epoch, sequence })
    const key = this.#keys[epoch]?.client
    if (key === undefined) throw new Error(`no keys of epoch ${epoch}`)
    line.send(damage(seal(key, epoch, sequence, head, writeBody(this.#acks(), frames, bits))))
    return sequence
  }

  /** Whether the server acknowledged a packet; undefined when no ack covers it yet. */
  hasArrived(sequence: number): boolean | undefined {
    let verdict: boolean | undefined
    for (const { acks } of this.received) {
      if (acks === undefined) continue
      const behind = (acks.latest - sequence) & 0xffff
      if (behind > 64) continue
      if (!acks.missing.includes(behind)) return true
      verdict = false
    }
    return verdict
  }

  /** Whether the connection works: a path check is answered. */
  async isAlive(): Promise<boolean> {
    const nonce = randomBytes(8)
    for (let times = 0; times < 3; times++) {
      this.send([{ kind: CONTROL.kind, body: Buffer.concat([Buffer.of(CONTROL.pathCheck), nonce]) }])
      if (await until(() => this.repliesTo(nonce) > 0, this.line.target.answerMs)) return true
    }
    return false
  }

  /** How many replies to a path check with this nonce have arrived. */
  repliesTo(nonce: Uint8Array): number {
    const reply = Buffer.concat([Buffer.of(CONTROL.pathReply), nonce])
    return this.received.flatMap(({ frames }) => frames)
      .filter(({ kind, body }) => kind === CONTROL.kind && body.equals(reply)).length
  }

  /** Sends one packet as given and then valid ones, until an ack covers it. Returns whether the server accepted it. */
  async takes(frames: readonly Frame[], options: SendOptions = {}): Promise<boolean> {
    const sequence = this.send(frames, options)
    await this.isAlive()
    await until(() => this.hasArrived(sequence) !== undefined, this.line.target.answerMs)
    return this.hasArrived(sequence) === true
  }

  /** Offers a new key, and switches to it once it is answered. Returns whether it was. */
  async rekey(): Promise<boolean> {
    const own = createEphemeral()
    const epoch = this.epoch + 1
    const offer = Buffer.concat([Buffer.of(CONTROL.rekey, this.epoch % 256, 1, epoch % 256), own.publicKey])
    const from = this.received.length
    for (let times = 0; times < 3; times++) {
      this.send([{ kind: CONTROL.kind, body: offer }])
      await until(() => this.#answerOf(own, epoch, from), this.line.target.answerMs)
      if (this.epoch === epoch) return true
    }
    return false
  }

  /** Disconnects and waits for the answer: the server's reason, or undefined when it did not answer. */
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

  /** Stops sending. */
  end(): void {
    clearInterval(this.#beat)
  }

  /** Why the server disconnected, if it did. */
  get goodbye(): string | undefined {
    const reason = this.received.find((packet) => packet.reason !== undefined)?.reason
    return reason === undefined ? undefined : REASONS[reason] ?? `${reason}`
  }

  #answerOf(own: Ephemeral, epoch: number, from: number): boolean {
    for (const { frames } of this.received.slice(from)) {
      const answer = frames.find(
        ({ kind, body }) =>
          kind === CONTROL.kind && body[0] === CONTROL.rekey && body[2] === 2 && body[3] === epoch % 256,
      )
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
    this.#keys.push({
      secret,
      client: clientKeyOf(secret, suite, epoch, transcript),
      server: serverKeyOf(secret, suite, epoch, transcript),
    })
  }

  #handle(bytes: Buffer): void {
    const head = readHead(bytes)
    if (head === undefined) return void this.faults.push('a datagram without a header')
    if (head.type === TYPE.handshake || head.type === TYPE.response) return
    if (!head.connection.equals(this.accepted.connection))
      return void this.faults.push('a packet of another connection')
    const key = this.#keys[head.epoch]?.server
    const plain = key === undefined ? undefined : unseal(key, head.epoch, head.sequence, bytes, head.end)
    if (plain === undefined)
      return void this.faults.push(`packet ${head.sequence} of epoch ${head.epoch} does not open`)
    if (head.sequence < 1) this.faults.push('a sealed packet numbered 0')
    const twin = this.received.find(({ sequence }) => sequence === head.sequence)
    if (twin !== undefined) {
      // Equal bytes are a duplicate by the network; other bytes under one number would break the cipher.
      if (!twin.datagram.equals(bytes)) this.faults.push(`number ${head.sequence} used twice`)
      return
    }
    const packet = { sequence: head.sequence, epoch: head.epoch, at: performance.now(), datagram: bytes }
    if (head.type === TYPE.disconnect) {
      if (plain.length !== 1) this.faults.push('a goodbye that is not one byte')
      this.received.push({ ...packet, acks: undefined, frames: [], isUsed: true, reason: plain[0] ?? 0 })
      return
    }
    const body = readBody(plain)
    if (typeof body === 'string') return void this.faults.push(`packet ${head.sequence}: ${body}`)
    if ((head.type === TYPE.payload) !== body.frames.length > 0)
      this.faults.push('a payload without frames, or a keepalive with some')
    this.received.push({ ...packet, ...body, isUsed: this.onFrames(body.frames), reason: undefined })
  }

  /** Acks for everything that arrived, that is, that could be opened and used. */
  #acks(): Acks {
    const numbers = new Map(
      this.received
        .filter(({ acks, isUsed }) => acks !== undefined && isUsed)
        .map(({ sequence, at }) => [sequence, at]),
    )
    const latest = Math.max(0, ...numbers.keys())
    const missing = Array.from({ length: 64 }, (_, index) => index + 1).filter(
      (behind) => latest - behind >= 1 && !numbers.has(latest - behind),
    )
    return { latest: latest & 0xffff, delayMs: performance.now() - (numbers.get(latest) ?? performance.now()), missing }
  }
}
