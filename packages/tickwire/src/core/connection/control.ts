/**
 * Control frames: messages between the two ends of a connection about the connection itself. Frame kind 15,
 * byte-aligned.
 *
 * ```
 *              0    1
 * Rekey        │ 1  │ number 1 │ offer or answer of `crypto/rekey.ts`, 34 │
 * Path check   │ 2  │ nonce 8 │          answered at once
 * Path reply   │ 3  │ nonce 8 │
 * Padding      │ 4  │ zeros │           `delivery/path-mtu.ts`
 * ```
 *
 * Rekey messages are reliable and in order. One is in flight at a time and is repeated when its packet is lost. A
 * receiver processes the number it expects, ignores earlier numbers, and does not acknowledge a number that arrives too
 * early. Path messages are neither reliable nor ordered: they are about the path they travel on.
 *
 * Invariant: at most three rekey messages and one path reply wait, whatever the peer does: an answer that is not
 * acknowledged yet, an offer that gave way to the peer's offer, and the answer to that offer. A peer that causes more
 * is broken.
 *
 * This file does not decide when new keys are due or whether a path is valid.
 */

import type { Millis } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { REKEY_MESSAGE_BYTES, type Rekey } from '../crypto/rekey.ts'
import { PADDING } from '../delivery/path-mtu.ts'
import type { FrameSink, FrameSource, FrameVerdict } from '../packet/frame-source.ts'

/** The frame kind of control frames. */
export const CONTROL_KIND = 15

/** Bytes of the nonce that the peer echoes to prove that it receives on a path. */
export const PATH_NONCE_BYTES = 8

const REKEY = 1
const PATH_CHECK = 2
const PATH_REPLY = 3
const NONE = 0
/** How many rekey messages may wait. */
const WAITING_MAX = 3

/** The control frames of one connection, both directions. */
export class Control implements FrameSource, FrameSink {
  /** Set once there are keys. */
  rekey: Rekey | undefined = undefined
  #waiting: Uint8Array[] = []
  #sendNumber: number = 0
  #recvNumber: number = 0
  /** The packet that carries the first waiting message; 0 when the message must be sent (again). */
  #ridesIn: number = NONE
  #echo: Uint8Array = new Uint8Array(PATH_NONCE_BYTES)
  #hasEcho: boolean = false
  #reply: Uint8Array = new Uint8Array(PATH_NONCE_BYTES)
  #hasReply: boolean = false
  #scratch: Uint8Array = new Uint8Array(REKEY_MESSAGE_BYTES)

  begin(): void {}

  /** Advances the key exchange. After 'broken' the connection must be closed. @hot */
  poll(now: Millis): 'ok' | 'broken' {
    if (this.rekey === undefined) return 'ok'
    const verdict = this.rekey.poll(now)
    return this.#collect() ? verdict : 'broken'
  }

  wantsAt(now: Millis): Millis {
    return this.#hasEcho || (this.#waiting.length > 0 && this.#ridesIn === NONE) ? now : Infinity
  }

  fill(_now: Millis, sequence: number, out: BitWriter): boolean {
    if (this.#hasEcho && out.bitsLeft >= 8 * (1 + PATH_NONCE_BYTES)) {
      this.#hasEcho = false
      writePath(PATH_REPLY, this.#echo, out)
      return true
    }
    const message = this.#waiting[0]
    if (message === undefined || this.#ridesIn !== NONE || out.bitsLeft < 8 * (2 + REKEY_MESSAGE_BYTES)) return false
    this.#ridesIn = sequence
    out.writeBits(REKEY, 8)
    out.writeBits(this.#sendNumber, 8)
    for (let index = 0; index < message.length; index++) out.writeBits(message[index], 8)
    return true
  }

  onDelivered(_now: Millis, sequence: number): void {
    if (sequence !== this.#ridesIn) return
    this.#ridesIn = NONE
    this.#waiting.shift()
    this.#sendNumber = (this.#sendNumber + 1) & 0xff
  }

  onLost(_now: Millis, sequence: number): void {
    if (sequence === this.#ridesIn) this.#ridesIn = NONE
  }

  accept(now: Millis, _sequence: number, frame: BitReader): FrameVerdict {
    switch (frame.readBits(8)) {
      case REKEY: return this.#acceptRekey(now, frame)
      case PATH_CHECK:
        this.#hasEcho = readPath(frame, this.#echo)
        return this.#hasEcho ? 'ok' : 'broken'
      case PATH_REPLY:
        this.#hasReply = readPath(frame, this.#reply)
        return this.#hasReply ? 'ok' : 'broken'
      case PADDING:
        while (frame.bitsLeft > 0) if (frame.readBits(8) !== 0) return 'broken'
        return 'ok'
      default: return 'broken'
    }
  }

  /** Whether the packet just processed answers a path check with this nonce. Call it once for each packet. */
  takeReply(nonce: Uint8Array): boolean {
    if (!this.#hasReply) return false
    this.#hasReply = false
    return nonce.every((byte, index) => byte === this.#reply[index])
  }

  #acceptRekey(now: Millis, frame: BitReader): FrameVerdict {
    const ahead = (frame.readBits(8) - this.#recvNumber) & 0xff
    const message = this.#scratch
    for (let index = 0; index < message.length; index++) message[index] = frame.readBits(8)
    if (frame.failed || frame.bitsLeft > 0 || this.rekey === undefined) return 'broken'
    // One message is in flight at a time, so any other number is a repetition or arrived too early.
    if (ahead >= 0x80) return 'ok'
    if (ahead > 0) return 'no-ack'
    this.#recvNumber = (this.#recvNumber + 1) & 0xff
    const verdict = this.rekey.handleMessage(now, message)
    return this.#collect() ? verdict : 'broken'
  }

  /** Queues the next rekey message, if any. False when the queue is full. */
  #collect(): boolean {
    const message = this.rekey?.takeMessage()
    if (message === undefined) return true
    return this.#waiting.push(message) <= WAITING_MAX
  }
}

/** Writes a path check as the body of a frame. */
export function writePathCheck(nonce: Uint8Array, out: BitWriter): void {
  writePath(PATH_CHECK, nonce, out)
}

function writePath(kind: number, nonce: Uint8Array, out: BitWriter): void {
  out.writeBits(kind, 8)
  for (let index = 0; index < PATH_NONCE_BYTES; index++) out.writeBits(nonce[index], 8)
}

function readPath(frame: BitReader, out: Uint8Array): boolean {
  for (let index = 0; index < PATH_NONCE_BYTES; index++) out[index] = frame.readBits(8)
  return !frame.failed && frame.bitsLeft === 0
}
