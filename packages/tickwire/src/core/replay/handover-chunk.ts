/**
 * The handover of a recorded match: the relay that records has taken it over from another one. The chunk has the last
 * signature of that relay, so a reader can check its ticks against both relays.
 *
 * ```
 * handover   match 128 │ key of the relay before 256 │ last tick 48 │ holders 8 │ checkpoint, or nothing
 *            │ signature 512
 *            signed    "tickwire handover 1" 00 │ fingerprint 64 │ seed 64 │ everything before the signature
 * ```
 *
 * Numbers are whole bytes, lowest first. The relay that records signs. The checkpoint is that of `order/handover.ts`.
 */

import type { Tick } from '../base/time.ts'
import {
  decodeCheckpoint, isAtCheckpoint, isCheckpointSigned, joined, label, MATCH_BYTES, TickChain, type VerifyKey,
} from '../order/handover.ts'
import { HASH_BYTES, Numbers, putNumber, SIGNATURE_BYTES, type SealedMatch } from '../order/seal.ts'
import type { Sha256 } from '../order/seed-share.ts'
import { eventsOf } from '../order/tick-event.ts'
import type { SealSigner } from '../order/tick-sealer.ts'
import type { MatchFile } from './match-file.ts'

/** From which relay a match was taken over. */
export interface RecordedHandover {
  /** The id of the match, 16 bytes. */
  readonly match: Uint8Array
  /** The key of the relay before. */
  readonly relayKey: Uint8Array
  /** The last tick that was taken over. */
  readonly tick: Tick
  /** How many players held it. */
  readonly holders: number
  /** The newest checkpoint of the relay before, with its signature. Undefined: it signed none. */
  readonly checkpoint: Uint8Array | undefined
}

/** A handover in a file, with its bytes. */
export interface StoredHandover extends RecordedHandover {
  readonly encoded: Uint8Array
  readonly signature: Uint8Array
}

/** A handover that was verified. */
export interface VerifiedHandover {
  /** The key of the relay before. */
  readonly relayKey: Uint8Array
  /** The last tick that the relay before signed, and the last one that was taken over. */
  readonly signedTick: Tick
  readonly tick: Tick
  /** How many players held the last one. */
  readonly holders: number
}

const LABEL = label('tickwire handover 1')
const HEAD_BYTES = MATCH_BYTES + HASH_BYTES + 6 + 1

/** The body of the chunk. */
export function encodeHandover(handover: RecordedHandover, match: SealedMatch, signer: SealSigner): Uint8Array {
  const head = new Uint8Array(HEAD_BYTES)
  head.set(handover.match)
  head.set(handover.relayKey, MATCH_BYTES)
  putNumber(head, putNumber(head, MATCH_BYTES + HASH_BYTES, handover.tick, 6), handover.holders, 1)
  const encoded = joined(head, handover.checkpoint ?? new Uint8Array(0))
  return joined(encoded, signer.sign(messageOf(match, encoded)))
}

/** Undefined when the bytes are no handover. Signatures are not verified. It never throws. */
export function decodeHandover(body: Uint8Array): StoredHandover | undefined {
  if (body.length < HEAD_BYTES + SIGNATURE_BYTES) return undefined
  const encoded = body.slice(0, body.length - SIGNATURE_BYTES)
  const from = new Numbers(encoded)
  const [match, relayKey] = [from.bytes(MATCH_BYTES), from.bytes(HASH_BYTES)]
  const [tick, holders] = [from.number(6), from.number(1)]
  const checkpoint = from.left === 0 ? undefined : encoded.slice(HEAD_BYTES)
  return { match, relayKey, tick, holders, checkpoint, encoded, signature: body.slice(encoded.length) }
}

/** What a handover is verified with. */
export interface HandoverCheck {
  readonly match: SealedMatch
  readonly sha256: Sha256
  readonly verify: VerifyKey
  /** The key of the seals. Undefined: the file has no seals, and its handover no proof. */
  readonly publicKey: Uint8Array | undefined
}

/** Verifies the handover of a file. Problems are added to `problems`. Undefined: there is none. */
export function verifyHandover(
  file: MatchFile, check: HandoverCheck, problems: string[],
): VerifiedHandover | undefined {
  const { handover } = file
  const eventTick = lastEventTick(file)
  if (handover === undefined) {
    if (eventTick > 0 && file.seals.length > 0) problems.push(`tick ${eventTick}: the chunk of the handover is missing`)
    return undefined
  }
  const { match, relayKey, tick, holders, checkpoint: bytes, encoded, signature } = handover
  const { publicKey, verify, sha256 } = check
  if (publicKey !== undefined && !verify(publicKey, messageOf(check.match, encoded), signature))
    problems.push(`tick ${tick + 1}: the signature of the handover is wrong`)
  // The event is in the tick after the last one that was taken over, unless the file ends before it or lost it.
  if (eventTick !== tick + 1 && file.tickBytes(tick + 1) !== undefined)
    problems.push(`tick ${tick + 1}: the handover is not in the ticks`)
  const checkpoint = bytes && decodeCheckpoint(bytes)
  const [stretch] = file.stretches
  let signedTick = 0
  if (bytes !== undefined) {
    if (checkpoint === undefined || checkpoint.tick > tick || !isCheckpointSigned(bytes, match, relayKey, verify))
      problems.push(`tick ${tick}: the signature of the relay before is wrong`)
    // Behind a gap the ticks cannot be compared with the signature.
    else if (stretch?.first === 1 && stretch.log.newest >= checkpoint.tick) {
      if (isAtCheckpoint(stretch.log, checkpoint, new TickChain(match, sha256))) signedTick = checkpoint.tick
      else problems.push(`ticks 1 to ${checkpoint.tick}: the relay before signed others`)
    }
  }
  return { relayKey, signedTick, tick, holders }
}

/** The last tick with the event `handover`. 0: none has it. */
function lastEventTick({ stretches }: MatchFile): Tick {
  for (const { first, log } of stretches.toReversed())
    for (let at = log.newest; at > 0; at--)
      if (eventsOf(log, at).some(({ name }) => name === 'handover')) return first + at - 1
  return 0
}

function messageOf({ fingerprint, seed }: SealedMatch, encoded: Uint8Array): Uint8Array {
  const head = new Uint8Array(16)
  head.set(fingerprint)
  putNumber(head, 8, seed, 8)
  return joined(LABEL, head, encoded)
}
