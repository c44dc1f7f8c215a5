/**
 * The messages of one connection, both ways, as sent and as received: I1 to I4.
 *
 * A message is a function of its session, direction, channel and number, including its length, so that a receiver can
 * check whether a message is the one that was sent, without a copy of it.
 */

import type { ChannelSpec } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import { type InvariantId, ViolationError } from './invariants.ts'

const NUMBER_BYTES = 4
/** The longest message that a session sends. */
export const SAID_BYTES_MAX = 40_000

/** By number of the side. */
const SIDES = ['client', 'server'] as const

/** One channel in one direction. */
export class Stream {
  readonly isReliable: boolean
  sent = 0
  received = 0
  readonly #spec: ChannelSpec
  readonly #key: number
  #newest = 0
  readonly #seen = new Set<number>()

  constructor(spec: ChannelSpec, key: number) {
    this.#spec = spec
    this.#key = key
    this.isReliable = spec.promise === 'ordered' || spec.promise === 'unordered'
  }

  get isLarge(): boolean {
    return this.#spec.isLarge === true
  }

  /** Writes message `number` into `out`; returns its length. */
  compose(number: number, out: Uint8Array): number {
    const mix = mixOf(this.#key, number)
    const length = lengthOf(mix, this.isLarge)
    out[0] = number
    out[1] = number >>> 8
    out[2] = number >>> 16
    out[3] = number >>> 24
    for (let at = NUMBER_BYTES; at < length; at++) out[at] = mix + at * 13 + (at >>> 8)
    return length
  }

  /** A message has arrived: it must be one that was sent, and arrive as its channel promised. */
  hear(bytes: Uint8Array, length: number): number {
    const number = (bytes[0]! | (bytes[1]! << 8) | (bytes[2]! << 16) | (bytes[3]! << 24)) >>> 0
    const { promise } = this.#spec
    const about: InvariantId = this.isLarge
      ? 'I4'
      : promise === 'ordered'
        ? 'I1'
        : promise === 'sequenced'
          ? 'I2'
          : 'I3'
    if (length < NUMBER_BYTES || number < 1 || number > this.sent)
      throw new ViolationError(about, `${promise} message ${number} of ${this.sent} was never sent`)
    this.#checkContent(number, bytes, length, about)
    const isInPlace =
      promise === 'ordered'
        ? number === this.#newest + 1
        : promise === 'sequenced'
          ? number > this.#newest
          : !this.#seen.has(number)
    if (!isInPlace)
      throw new ViolationError(
        promise === 'ordered' ? 'I1' : promise === 'sequenced' ? 'I2' : 'I3',
        `${promise} message ${number} came after ${this.#newest}`,
      )
    if (promise === 'unordered' || promise === 'unreliable') this.#seen.add(number)
    this.#newest = number
    this.received++
    return number
  }

  #checkContent(number: number, bytes: Uint8Array, length: number, about: InvariantId): void {
    const mix = mixOf(this.#key, number)
    let isRight = length === lengthOf(mix, this.isLarge)
    for (let at = NUMBER_BYTES; at < length; at++)
      if (bytes[at] !== ((mix + at * 13 + (at >>> 8)) & 0xff)) isRight = false
    if (!isRight)
      throw new ViolationError(about, `${this.#spec.promise} message ${number} of ${length} bytes is not what was sent`)
  }
}

/** Both directions of one connection; side 0 is the client, side 1 the server. */
export class Session {
  readonly number: number
  /** By sending side, then by channel. */
  readonly streams: readonly [readonly Stream[], readonly Stream[]]

  constructor(number: number, specs: readonly ChannelSpec[]) {
    this.number = number
    const side = (from: number): Stream[] =>
      specs.map((spec, channel) => new Stream(spec, number * 64 + from * 32 + channel))
    this.streams = [side(0), side(1)]
  }

  /** Every reliable message that was sent has been received. */
  get isDrained(): boolean {
    for (const side of this.streams)
      for (const stream of side) if (stream.isReliable && stream.received !== stream.sent) return false
    return true
  }

  /** The messages that are missing, for the report. */
  get missing(): string {
    return this.streams
      .flatMap((side, from) =>
        side.flatMap((stream, channel) =>
          stream.isReliable && stream.received !== stream.sent
            ? [`${stream.received} of ${stream.sent} from the ${SIDES[from]} on channel ${channel}`]
            : [],
        ),
      )
      .join(', ')
  }
}

function mixOf(key: number, number: number): number {
  let word = Math.imul(key ^ 0x9e37_79b9, 0x85eb_ca6b) ^ Math.imul(number, 0xc2b2_ae35)
  word = Math.imul(word ^ (word >>> 15), 0x2c1b_3c6d)
  return (word ^ (word >>> 13)) >>> 0
}

/** Mostly short, sometimes as long as a packet; large ones of a packet to forty. */
function lengthOf(mix: number, isLarge: boolean): number {
  const kind = mix & 0xff
  const luck = (mix >>> 8) / 0x100_0000
  if (isLarge) return NUMBER_BYTES + Math.floor(luck * (kind < 200 ? 3000 : kind < 250 ? 12_000 : SAID_BYTES_MAX - 8))
  return NUMBER_BYTES + Math.floor(luck * (kind < 220 ? 60 : kind < 250 ? 300 : 1020))
}
