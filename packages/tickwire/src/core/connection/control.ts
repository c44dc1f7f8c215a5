/**
 * What the two ends of a connection say to each other about the connection itself: frames of kind 15, byte-aligned.
 *
 * ```
 *              0    1
 * Rekey        │ 1  │ number 1 │ offer or answer of `crypto/rekey.ts`, 34 │
 * Path check   │ 2  │ nonce 8 │          answered at once
 * Path reply   │ 3  │ nonce 8 │
 * Padding      │ 4  │ zeros │           `delivery/path-mtu.ts`
 * ```
 *
 * Rekey messages are reliable and in order: one is under way at a time, repeated when its packet is lost; a receiver
 * takes the number it expects, passes over the ones before it, and does not acknowledge one that comes too early. Path
 * messages are neither: they are about the path they travel on.
 *
 * Invariant: at most three rekey messages and one path reply wait, whatever the peer does: an answer that is not acknowledged yet, an offer that
 * gave way to the peer's, and the answer to that. Who makes us say more is broken.
 *
 * It does not decide when keys are due or a path is good.
 */

import type { Millis } from '../base/time.ts'
import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import { REKEY_MESSAGE_BYTES, type Rekey } from '../crypto/rekey.ts'
import { PADDING } from '../delivery/path-mtu.ts'
import type { FrameSink, FrameSource, FrameVerdict } from '../packet/frame-source.ts'

/** The kind of frame that belongs to connections themselves. */
export const CONTROL_KIND = 15

/** Bytes of what is echoed to prove that a path leads to the peer. */
export const PATH_NONCE_BYTES = 8

const REKEY = 1
const PATH_CHECK = 2
const PATH_REPLY = 3
const NONE = 0
/** Rekey messages that wait. */
const WAITING_MAX = 3

/** One connection's own frames, both ways. */
export class Control implements FrameSource, FrameSink {
  /** Set once there are keys. */
  rekey: Rekey | undefined = undefined
  #waiting: Uint8Array[] = []
  #sendNumber: number = 0
  #recvNumber: number = 0
  /** The packet that the first of them rides in; 0 when it must ride again. */
  #ridesIn: number = NONE
  #echo: Uint8Array = new Uint8Array(PATH_NONCE_BYTES)
  #hasEcho: boolean = false
  #reply: Uint8Array = new Uint8Array(PATH_NONCE_BYTES)
  #hasReply: boolean = false
  #scratch: Uint8Array = new Uint8Array(REKEY_MESSAGE_BYTES)

  begin(): void {}

  /** Lets the key exchange go on. 'broken' must end the connection. @hot */
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

  /** Whether the packet just taken in answers a check with this nonce. Asked once for each packet. */
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
    // One is under way at a time, so whatever is not the next is a repetition or comes too early.
    if (ahead >= 0x80) return 'ok'
    if (ahead > 0) return 'no-ack'
    this.#recvNumber = (this.#recvNumber + 1) & 0xff
    const verdict = this.rekey.handleMessage(now, message)
    return this.#collect() ? verdict : 'broken'
  }

  /** Whether what is to be said now has a place. */
  #collect(): boolean {
    const message = this.rekey?.takeMessage()
    if (message === undefined) return true
    return this.#waiting.push(message) <= WAITING_MAX
  }
}

/** Writes a path message as a frame's body. */
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
