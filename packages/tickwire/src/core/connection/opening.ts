/**
 * The beginning of a connection: repeats the request, then the response, then the first packet, until the peer answers.
 *
 * Every repetition is due at a random time of 200 to 250 ms after the last one (`timers.ts`). The client gives up when
 * `connectMs` have passed without an Accepted. The accepting side has no handshake here: its admission has done it
 * (`endpoint/admission.ts`), so its opening never has anything to send.
 *
 * Invariant: `nextAt` is exactly the time that `isOver` and `poll` compare with. Otherwise a timer would spin.
 * This class does not know the state of the connection. It does not close it either: `connection.ts` asks and decides.
 */

import type { Millis } from '../base/time.ts'
import { isEqualConstantTime } from '../crypto/constant-time.ts'
import type { PacketHeader } from '../packet/header.ts'
import type { ClientHandshake, ClientSession } from './client-handshake.ts'
import type { CloseReason } from './close-reason.ts'
import type { ConnectionContext } from './connection-peer.ts'
import type { HandshakeMessage } from './handshake.ts'
import { drawRetryMs } from './timers.ts'
import type { Transmit } from './transmit.ts'

/** Opens one connection. */
export class Opening {
  /** When to repeat a packet that has no answer yet. Infinity: there is none. */
  retryAt: Millis
  #context: ConnectionContext
  #endsAt: Millis
  /** Undefined on the accepting side, and once the client is accepted. */
  #handshake: ClientHandshake | undefined
  /** The reset token from the server. Undefined until the client is accepted. */
  #resetToken: Uint8Array | undefined = undefined

  constructor(now: Millis, handshake: ClientHandshake | undefined, context: ConnectionContext) {
    this.#context = context
    this.#handshake = handshake
    this.#endsAt = now + context.timers.connectMs
    this.retryAt = handshake === undefined ? Infinity : now
  }

  /** When `isOver` becomes true or a request is due, while the client is not accepted. */
  get nextAt(): Millis { return Math.min(this.retryAt, this.#endsAt) }

  /** An answer arrived that the expected server has not signed. */
  get hasMetImpostor(): boolean { return this.#handshake?.hasMetImpostor === true }

  /** Whether a request with this salt was sent. */
  hasAsked(saltLo: number, saltHi: number): boolean {
    return this.#handshake?.saltLo === saltLo && this.#handshake.saltHi === saltHi
  }

  /** Whether the server has given this reset token. */
  isResetToken(token: Uint8Array): boolean {
    return this.#resetToken !== undefined && isEqualConstantTime(this.#resetToken, token)
  }

  /** Whether the time for the handshake is over. */
  isOver(now: Millis): boolean { return now >= this.#endsAt }

  /** False: the challenge is not valid. Otherwise the response is due at once. */
  handleChallenge(now: Millis, message: HandshakeMessage): boolean {
    if (this.#handshake?.handleChallenge(now, message) !== true) return false
    this.retryAt = now
    return true
  }

  /** Undefined: the Accepted is not valid. Otherwise the first packet, which proves the keys, is due. */
  handleAccepted(
    now: Millis, header: PacketHeader, message: HandshakeMessage, bytes: Uint8Array, length: number,
  ): ClientSession | undefined {
    const session = this.#handshake?.handleAccepted(now, header, message, bytes, length)
    if (session === undefined) return undefined
    this.#handshake = undefined
    this.#resetToken = session.resetToken
    this.retryAt = now
    return session
  }

  /** Undefined: the Refused is not valid. */
  handleRefused(
    now: Millis, header: PacketHeader, message: HandshakeMessage, bytes: Uint8Array, length: number,
  ): CloseReason | undefined {
    return this.#handshake?.handleRefused(now, header, message, bytes, length)
  }

  /** Writes the next packet of the handshake, if one is due. */
  poll(now: Millis, out: Transmit): boolean {
    if (this.#handshake === undefined) return false
    if (now >= this.retryAt) this.onRepeated(now)
    else if (!this.#handshake.isRequestDue) return false
    out.length = this.#handshake.write(now, out.bytes)
    return true
  }

  /** A packet was sent that is repeated until the peer answers. */
  onRepeated(now: Millis): void {
    this.retryAt = now + drawRetryMs(this.#context.timers, this.#context.entropy)
  }

  /** Wipes the keys of a handshake that did not succeed. */
  wipe(): void { this.#handshake?.wipe() }
}
