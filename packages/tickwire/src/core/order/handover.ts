/**
 * Papers with which a match goes on at another relay: the certificate of a seat, and checkpoints of the ticks. The
 * relay signs both. A relay that follows trusts them if it knows the key.
 *
 * ```
 * certificate  match 128 │ player 32 │ flags 8 │ seed 32 │ fingerprint 64 │ client key 256 │ relay key 256
 *              │ signature 512
 *              flags     bit 0: a spectator. Bit 1: the match may go on; otherwise it is void. The others are 0
 *              signed    "tickwire seat 1" 00 │ everything before the signature
 * claim        certificate │ signature 512 of the client key
 *              signed    "tickwire claim 1" 00 │ key of the relay that is asked, 256 │ certificate
 * checkpoint   tick 48 │ offset 32 │ chain 256 │ count 8 │ players that are connected, 32 each, ascending
 *              │ signature 512
 *              signed    "tickwire ticks 1" 00 │ match 128 │ everything before the signature
 * chain        SHA-256( "tickwire ticks 1" 00 │ match 128 ), then for every 32 ticks
 *              SHA-256( chain │ bytes of the 32 ticks ); in between, SHA-256( chain │ bytes of the ticks since )
 * ```
 *
 * Numbers are whole bytes, lowest first. The offset is where the tick ends in the log.
 */

import { HANDOVER_TICKS, LOCKSTEP_PLAYERS_MAX } from '../base/limits.ts'
import type { PeerId, Tick } from '../base/time.ts'
import { HASH_BYTES, Numbers, putNumber } from './seal.ts'
import { isSameBytes, type Sha256 } from './seed-share.ts'
import type { TickLog } from './tick-log.ts'

/** Bytes of the id of a match. */
export const MATCH_BYTES = 16
const KEY_BYTES = 32
const FINGERPRINT_BYTES = 8
const SIGNATURE_BYTES = 64
const CERTIFICATE_BODY_BYTES = MATCH_BYTES + 4 + 1 + 4 + FINGERPRINT_BYTES + 2 * KEY_BYTES
/** Bytes of a certificate with its signature. */
export const CERTIFICATE_BYTES: number = CERTIFICATE_BODY_BYTES + SIGNATURE_BYTES
/** Bytes of a claim: a certificate and the signature of its client. */
export const CLAIM_BYTES: number = CERTIFICATE_BYTES + SIGNATURE_BYTES
const CHECKPOINT_HEAD_BYTES = 6 + 4 + HASH_BYTES + 1

const SEAT_LABEL = label('tickwire seat 1')
const CLAIM_LABEL = label('tickwire claim 1')
const TICKS_LABEL = label('tickwire ticks 1')

/** Verifies an Ed25519 signature. Never throws. */
export type VerifyKey = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => boolean

/** Which client has a seat of which match. */
export interface SeatCertificate {
  /** The id of the match, 16 bytes. */
  readonly match: Uint8Array
  readonly peer: PeerId
  readonly isSpectator: boolean
  /** Whether the match may go on at another relay. False: it is void without its relay. */
  readonly mayContinue: boolean
  /** The seed of the match. 0: the players agreed on it in the first ticks. */
  readonly seed: number
  /** The fingerprint of the game, eight bytes. */
  readonly fingerprint: Uint8Array
  /** The key of the client. */
  readonly clientKey: Uint8Array
  /** The key of the relay that signs. */
  readonly relayKey: Uint8Array
}

/** A tick of a match, and all ticks before it, as a relay signs them. */
export interface Checkpoint {
  readonly tick: Tick
  /** Where the tick ends in the log. */
  readonly offset: number
  /** The running hash of the log. */
  readonly chain: Uint8Array
  /** The players that are connected. */
  readonly present: readonly PeerId[]
}

/** The certificate without its signature. */
export function encodeCertificate(certificate: SeatCertificate): Uint8Array {
  const { match, peer, isSpectator, mayContinue, seed, fingerprint, clientKey, relayKey } = certificate
  const bytes = new Uint8Array(CERTIFICATE_BODY_BYTES)
  bytes.set(match)
  let at = putNumber(bytes, MATCH_BYTES, peer, 4)
  at = putNumber(bytes, at, (isSpectator ? 1 : 0) | (mayContinue ? 2 : 0), 1)
  at = putNumber(bytes, at, seed, 4)
  for (const part of [fingerprint, clientKey, relayKey]) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Undefined when the bytes are not a certificate with its signature, which is not verified. It never throws. */
export function decodeCertificate(bytes: Uint8Array): SeatCertificate | undefined {
  if (bytes.length !== CERTIFICATE_BYTES) return undefined
  const from = new Numbers(bytes)
  const match = from.bytes(MATCH_BYTES)
  const [peer, flags, seed] = [from.number(4), from.number(1), from.number(4)]
  const fingerprint = from.bytes(FINGERPRINT_BYTES)
  const [clientKey, relayKey] = [from.bytes(KEY_BYTES), from.bytes(KEY_BYTES)]
  if (peer === 0 || flags > 3) return undefined
  const [isSpectator, mayContinue] = [(flags & 1) !== 0, (flags & 2) !== 0]
  return { match, peer, isSpectator, mayContinue, seed, fingerprint, clientKey, relayKey }
}

/** What the relay signs for a seat. */
export function certificateMessage(body: Uint8Array): Uint8Array {
  return joined(SEAT_LABEL, body)
}

/** Whether the relay that a certificate names has signed it. */
export function isCertificateSigned(bytes: Uint8Array, { relayKey }: SeatCertificate, verify: VerifyKey): boolean {
  const [body, signature] = [bytes.subarray(0, CERTIFICATE_BODY_BYTES), bytes.subarray(CERTIFICATE_BODY_BYTES)]
  return verify(relayKey, certificateMessage(body), signature)
}

/** What a client signs to claim its seat at the relay with this key. */
export function claimMessage(relayKey: Uint8Array, certificate: Uint8Array): Uint8Array {
  return joined(CLAIM_LABEL, relayKey, certificate)
}

/** The certificate of a claim at the relay with this key. Undefined: the claim is invalid, or the issuer is unknown. */
export function readClaim(
  bytes: Uint8Array, relayKey: Uint8Array, isKnown: (relayKey: Uint8Array) => boolean, verify: VerifyKey,
): SeatCertificate | undefined {
  if (bytes.length !== CLAIM_BYTES) return undefined
  const signed = bytes.subarray(0, CERTIFICATE_BYTES)
  const certificate = decodeCertificate(signed)
  if (certificate === undefined || !isKnown(certificate.relayKey)) return undefined
  if (!isCertificateSigned(signed, certificate, verify)) return undefined
  const signature = bytes.subarray(CERTIFICATE_BYTES)
  return verify(certificate.clientKey, claimMessage(relayKey, signed), signature) ? certificate : undefined
}

/** The checkpoint without its signature. */
export function encodeCheckpoint({ tick, offset, chain, present }: Checkpoint): Uint8Array {
  const bytes = new Uint8Array(CHECKPOINT_HEAD_BYTES + 4 * present.length)
  let at = putNumber(bytes, 0, tick, 6)
  at = putNumber(bytes, at, offset, 4)
  bytes.set(chain, at)
  at = putNumber(bytes, at + HASH_BYTES, present.length, 1)
  for (const peer of present) at = putNumber(bytes, at, peer, 4)
  return bytes
}

/** Undefined when the bytes are not a checkpoint with its signature, which is not verified. It never throws. */
export function decodeCheckpoint(bytes: Uint8Array): Checkpoint | undefined {
  const from = new Numbers(bytes)
  const [tick, offset] = [from.number(6), from.number(4)]
  const chain = from.bytes(HASH_BYTES)
  const count = from.number(1)
  if (count > LOCKSTEP_PLAYERS_MAX || from.left !== 4 * count + SIGNATURE_BYTES) return undefined
  const present = Array.from({ length: count }, () => from.number(4))
  const isAscending = present.every((peer, at) => peer > (present[at - 1] ?? 0))
  // A tick has at least one byte.
  return isAscending && offset >= tick ? { tick, offset, chain, present } : undefined
}

/** What the relay signs for a checkpoint. */
export function checkpointMessage(match: Uint8Array, body: Uint8Array): Uint8Array {
  return joined(TICKS_LABEL, match, body)
}

/** Whether the relay with this key has signed the checkpoint for this match. */
export function isCheckpointSigned(
  bytes: Uint8Array, match: Uint8Array, relayKey: Uint8Array, verify: VerifyKey,
): boolean {
  const end = bytes.length - SIGNATURE_BYTES
  return end > 0 && verify(relayKey, checkpointMessage(match, bytes.subarray(0, end)), bytes.subarray(end))
}

/** The running hash of the ticks of one match. */
export class TickChain {
  readonly #sha256: Sha256
  #hash: Uint8Array
  /** Ticks up to here are in the hash: a multiple of 32. */
  #tick: Tick = 0

  constructor(match: Uint8Array, sha256: Sha256) {
    this.#sha256 = sha256
    this.#hash = sha256(joined(TICKS_LABEL, match))
  }

  /** The hash of all ticks of the log up to one. Ticks of later calls are the same or later ones. */
  at(log: TickLog, tick: Tick): Uint8Array {
    for (; this.#tick + HANDOVER_TICKS <= tick; this.#tick += HANDOVER_TICKS)
      this.#hash = this.#over(log, this.#tick + HANDOVER_TICKS)
    return this.#tick === tick ? this.#hash : this.#over(log, tick)
  }

  #over(log: TickLog, last: Tick): Uint8Array {
    return this.#sha256(joined(this.#hash, log.bytes.subarray(log.endOf(this.#tick), log.endOf(last))))
  }
}

/** Whether a log has the ticks that a checkpoint names. */
export function isAtCheckpoint(log: TickLog, { tick, offset, chain }: Checkpoint, own: TickChain): boolean {
  return log.newest >= tick && log.endOf(tick) === offset && isSameBytes(own.at(log, tick), chain)
}

/** Byte strings one after the other. */
export function joined(...parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** The bytes of a text, and a zero byte. */
export function label(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length + 1 }, (_, at) => text.charCodeAt(at) || 0)
}
