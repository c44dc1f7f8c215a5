/**
 * A peer at a packet relay, as docs/wire/RELAY.md describes it: it allocates, binds others, and sends data to them.
 */

import { until, type Line } from './line.ts'
import { HANDSHAKE, NO_CONNECTION, TYPE, writeHead } from './packets.ts'
import {
  allocateBody, CHANNEL_HEAD_BYTES, COOKIE_BYTES, isChannel, isMacOf, readRelay, RELAY, RELAY_REASON, type RelayMessage,
  writeChannel, writeRelay, writeToken,
} from './relay-wire.ts'

const ASK_TIMES = 3
/** Data is sent again after this share of the time for an answer. */
const AGAIN_SHARE = 1 / 3
const KEY_BYTES = 16
const KEYS_LIFE_BYTES = 8
const PING_ZEROS = 24

/** The body of a Ping. */
export const pingBody = (nonce: Uint8Array): Buffer => Buffer.concat([nonce, Buffer.alloc(PING_ZEROS)])

/** The name of a reason of Error. */
export function reasonOf({ body }: RelayMessage): string {
  return Object.entries(RELAY_REASON).find(([, value]) => value === body[0])?.[0] ?? `${body[0]}`
}

/** A handshake packet without a connection id, which a relay forwards. `mark` distinguishes it. */
export function handshakeOf(mark: number): Buffer {
  return Buffer.concat([writeHead(TYPE.handshake), Buffer.of(HANDSHAKE.request, mark), Buffer.alloc(30, mark)])
}

/** Sends a question until its answer arrives. `write` gets a new transaction each time. */
export async function askRelay(
  line: Line, write: (transaction: number) => Buffer, transaction: number,
): Promise<RelayMessage | undefined> {
  for (let times = 0; times < ASK_TIMES; times++) {
    const from = line.received.length
    const find = (): RelayMessage | undefined =>
      line.received.slice(from).map(readRelay).find((message) => message?.transaction === transaction + times)
    line.send(write(transaction + times))
    if (await until(() => find() !== undefined, line.target.answerMs)) return find()
  }
  return undefined
}

/** The cookie of an address. Undefined when the relay gives none. */
export async function cookieFor(line: Line, token: Uint8Array): Promise<Buffer | undefined> {
  const answer = await askRelay(
    line, (transaction) => writeRelay(RELAY.allocate, NO_CONNECTION, transaction, allocateBody(undefined, token)), 1,
  )
  return answer?.kind === RELAY.cookie && answer.body.length === COOKIE_BYTES ? answer.body : undefined
}

export class RelayPeer {
  line: Line
  readonly token: Buffer
  readonly cookie: Buffer
  /** The body of the AllocateOk. */
  readonly granted: Buffer
  readonly allocation: Buffer
  readonly key: Buffer
  #transaction = 100

  private constructor(line: Line, token: Buffer, cookie: Buffer, answer: RelayMessage) {
    this.line = line
    this.token = token
    this.cookie = cookie
    this.granted = answer.body
    this.allocation = answer.allocation
    this.key = answer.body.subarray(0, KEY_BYTES)
  }

  /** Allocates. Returns why not, if the relay gives no allocation. */
  static async open(line: Line, session?: Uint8Array): Promise<RelayPeer | string> {
    const { relay } = line.target
    if (relay === undefined) return 'no issuer is given'
    const token = writeToken(relay, { session })
    const cookie = await cookieFor(line, token)
    if (cookie === undefined) return 'no cookie'
    const answer = await askRelay(line, (transaction) => RelayPeer.allocation(cookie, token, transaction), 10)
    if (answer?.kind === RELAY.error) return reasonOf(answer)
    return answer?.kind === RELAY.allocateOk && answer.body.length > KEY_BYTES + KEYS_LIFE_BYTES
      ? new RelayPeer(line, token, cookie, answer) : 'no AllocateOk'
  }

  /** An Allocate with a cookie. */
  static allocation(cookie: Uint8Array, token: Uint8Array, transaction: number): Buffer {
    return writeRelay(RELAY.allocate, NO_CONNECTION, transaction, allocateBody(cookie, token))
  }

  /** A message of this peer, with its mac if the kind has one. */
  write(kind: number, body: Uint8Array, transaction: number = ++this.#transaction): Buffer {
    return writeRelay(kind, this.allocation, transaction, body, kind === RELAY.ping ? undefined : this.key)
  }

  /** Asks until there is an answer. An answer whose mac does not fit counts as none. */
  async ask(kind: number, body: Uint8Array, line: Line = this.line): Promise<RelayMessage | undefined> {
    const first = this.#transaction + 1
    this.#transaction += ASK_TIMES
    const answer = await askRelay(line, (transaction) => this.write(kind, body, transaction), first)
    return answer?.mac === undefined || isMacOf(answer, this.key) ? answer : undefined
  }

  /** Binds another peer, and names a connection if there is one. Returns the channel, or what was answered instead. */
  async bind(peer: RelayPeer, connection: Uint8Array = NO_CONNECTION): Promise<number | string> {
    const answer = await this.ask(RELAY.bind, Buffer.concat([peer.allocation, connection]))
    if (answer?.kind !== RELAY.bindOk) return answer === undefined ? 'no answer' : reasonOf(answer)
    return answer.body.readUInt16LE(0)
  }

  /** Asks for more time. `seconds` 0 frees the allocation. */
  async refresh(seconds: number, cookie?: Uint8Array, line?: Line): Promise<RelayMessage | undefined> {
    const life = Buffer.alloc(2)
    life.writeUInt16LE(seconds)
    return await this.ask(RELAY.refresh, Buffer.concat([cookie ?? Buffer.alloc(COOKIE_BYTES), life]), line)
  }

  /** Sends a datagram on a channel until `peer` receives something, `ms` at most. Returns that channel data. */
  async reach(channel: number, datagram: Buffer, peer: RelayPeer, ms: number): Promise<Buffer | undefined> {
    const from = peer.line.received.length
    const find = (): Buffer | undefined => peer.line.received.slice(from).find(isChannel)
    for (const end = performance.now() + ms; performance.now() < end;) {
      this.line.send(writeChannel(channel, datagram))
      if (await until(() => find() !== undefined, this.line.target.answerMs * AGAIN_SHARE)) break
    }
    return find()
  }

  /** Frees the allocation, and does not wait for the answer. */
  free(): void {
    this.line.send(this.write(RELAY.refresh, Buffer.alloc(COOKIE_BYTES + 2)))
  }
}

/** The datagram of channel data. */
export const datagramOf = (data: Buffer): Buffer => data.subarray(CHANNEL_HEAD_BYTES)
