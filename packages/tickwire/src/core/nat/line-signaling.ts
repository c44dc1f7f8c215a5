/**
 * Signalling by Tickwire connections: to a known address (direct), or through a packet relay to a known allocation.
 *
 * One connection for each peer, sealed like every other, with one ordered channel on which a message is one JSON text.
 * The member that connects sends its name in the user bytes of the handshake. A name that is in use is refused, so that
 * no member can pretend to be another.
 *
 * It has no socket and no clock: `handleDatagram` and `drain` are called as for an endpoint, and `onDue` asks for a
 * `drain` soon.
 */

import { ConfigError } from '../base/assert.ts'
import type { Entropy } from '../base/entropy.ts'
import { SIGNAL_CHARS_MAX, SIGNAL_NAME_BYTES_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { BitWriter } from '../bits/bit-writer.ts'
import { readUtf8, utf8Size, writeUtf8 } from '../bits/utf8.ts'
import { ChannelSet } from '../channel/channel-set.ts'
import { SEND_QUEUES } from '../channel/send-queue.ts'
import type { Connection } from '../connection/connection.ts'
import type { CryptoProvider } from '../crypto/provider.ts'
import { FragmentPool, FragmentQuota } from '../delivery/fragment-pool.ts'
import type { DatagramPort } from '../endpoint/datagram-port.ts'
import { drain } from '../endpoint/drain.ts'
import { type Endpoint, createEndpoint } from '../endpoint/endpoint.ts'
import { type Signal, SignalBox, type Signaling, encodeSignal } from './signaling.ts'

const KIND = 0
const CHANNEL = 0
const SPECS = [{ promise: 'ordered', queue: SEND_QUEUES.control, isLarge: true }] as const
/** "signal" and two zeros, in the place of the fingerprint of a game. */
const FINGERPRINT = Uint8Array.of(0x73, 0x69, 0x67, 0x6e, 0x61, 0x6c, 0, 0)
/** A character of JSON takes at most three bytes. */
const TEXT_BYTES_MAX = 3 * SIGNAL_CHARS_MAX
/** Messages of every first byte may be this long. */
const LIMITS = new Uint32Array(256).fill(TEXT_BYTES_MAX)
const NAME = /^[\w.-]{1,64}$/
const NO_BYTES = new Uint8Array(0)

/** How a member signals. */
export interface LineSignalingConfig {
  /** The crypto library. */
  readonly provider: CryptoProvider
  /** The source of random bytes for keys and ids. */
  readonly entropy: Entropy
  /** The name of this member: letters, digits, `_`, `.` and `-`. */
  readonly name: string
  /** How many members may connect to this one. Default 0: this one connects to others. */
  readonly guestsMax?: number
  /** 32 secret bytes: the seed of this member's identity key. Default: random. */
  readonly identity?: Uint8Array
  /** Whether candidates on this machine are kept: for tests. Default false. */
  readonly isLoopbackAllowed?: boolean
}

interface Line {
  readonly connection: Connection
  readonly channels: ChannelSet
}

/** Signalling over connections of its own. */
export class LineSignaling implements Signaling {
  onArrival: () => void = () => {}
  /** Called when `drain` has something to do before the time that it returned. */
  onDue: () => void = () => {}
  readonly #config: LineSignalingConfig
  readonly #endpoint: Endpoint
  readonly #lines: Map<string, Line> = new Map()
  readonly #box: SignalBox = new SignalBox()
  readonly #pool: FragmentPool = new FragmentPool()
  readonly #incoming: Uint8Array = new Uint8Array(TEXT_BYTES_MAX)
  /** The name of the peer that is being connected to. */
  #asked: string = ''
  #isClosed: boolean = false

  constructor(config: LineSignalingConfig) {
    checkName('name', config.name)
    this.#config = config
    this.#endpoint = createEndpoint({
      fingerprint: FINGERPRINT, entropy: config.entropy, maxConnections: config.guestsMax ?? 0,
      security: { provider: config.provider, ...(config.identity !== undefined && { identity: config.identity }) },
      admit: ({ user }) => {
        const name = textOf(user, user.length)
        return NAME.test(name) && !this.#lines.has(name) ? NO_BYTES : 'refused'
      },
      assemble: (connection) => this.#add(connection),
    })
  }

  /** The names of the members that it has a connection to, opened or not. */
  get peers(): string[] {
    return [...this.#lines.keys()]
  }

  /** Connects to the member `peer` at an address. `server`: the public identity key that it must have. Default: any. */
  connect(now: Millis, peer: string, address: string, server?: Uint8Array): void {
    checkName('peer', peer)
    if (this.#isClosed || this.#lines.has(peer)) return
    this.#asked = peer
    this.#endpoint.connect(now, address, bytesOf(this.#config.name), server === undefined ? {} : { server })
    this.onDue()
  }

  send(peer: string, signal: Signal): void {
    const line = this.#lines.get(peer)
    if (this.#isClosed || line === undefined) return
    line.channels.send(CHANNEL, bytesOf(encodeSignal(signal)))
    this.onDue()
  }

  poll(): readonly [string, Signal] | undefined {
    return this.#box.poll()
  }

  /** A datagram arrived. Call `drain` after it. */
  handleDatagram(now: Millis, from: string, bytes: Uint8Array, length: number): void {
    this.#endpoint.handleDatagram(now, from, bytes, length)
  }

  /** Sends what is due, and takes what has arrived. Returns the time of the next call at the latest. */
  drain(now: Millis, port: Pick<DatagramPort, 'send'>): Millis {
    const next = drain(this.#endpoint, now, port, (event) => {
      if (event.type === 'closed') this.#forget(event.connection)
    })
    for (const [peer, { channels }] of this.#lines) if (channels.hasArrivals) this.#receive(peer, channels)
    return next
  }

  /** Disconnects from every peer. `drain` sends the disconnects. */
  close(now: Millis = 0): void {
    this.#isClosed = true
    this.#box.clear()
    this.#endpoint.close(now)
    this.onDue()
  }

  #add(connection: Connection): void {
    const peer = connection.isInitiator ? this.#asked : textOf(connection.user, connection.user.length)
    const channels = new ChannelSet(SPECS, new FragmentQuota(this.#pool), LIMITS)
    for (const source of channels.sources) connection.addSource(KIND, source)
    connection.addSink(KIND, channels)
    // Two members may have been admitted under one name before either of them opened. The first one has it.
    if (this.#lines.has(peer)) connection.close(0, 'left')
    else this.#lines.set(peer, { connection, channels })
  }

  #forget(connection: Connection): void {
    for (const [peer, line] of this.#lines) if (line.connection === connection) this.#lines.delete(peer)
  }

  #receive(peer: string, channels: ChannelSet): void {
    for (;;) {
      const length = channels.receive(CHANNEL, this.#incoming)
      if (length < 0) break
      const text = textOf(this.#incoming, length)
      const isTaken = !this.#isClosed && this.#box.put(peer, text, this.#config.isLoopbackAllowed)
      if (isTaken) this.onArrival()
    }
    channels.settle()
  }
}

function checkName(path: string, name: string): void {
  if (NAME.test(name) && name.length <= SIGNAL_NAME_BYTES_MAX) return
  const problem = `not a name (expected 1 to ${SIGNAL_NAME_BYTES_MAX} letters, digits, _, . and -, got "${name}")`
  throw new ConfigError(`signaling.${path}`, problem, 'give another name.')
}

function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(utf8Size(text))
  const writer = new BitWriter(bytes)
  writeUtf8(writer, text)
  writer.finish()
  return bytes
}

/** The text in the first `length` bytes; '' when they are not UTF-8. */
function textOf(bytes: Uint8Array, length: number): string {
  const reader = new BitReader(bytes.subarray(0, length))
  const text = readUtf8(reader, length)
  return reader.failed ? '' : text
}
