/**
 * What a client keeps so that its match can go on at another relay: where to go, the certificate of its seat, and the
 * newest checkpoints of the ticks. It claims the seat with them, and gives the ticks that it holds to the next relay.
 */

import { HANDOVER_PIECE_BYTES, HANDOVER_TAIL_BYTES_MAX, HANDOVER_TAIL_TICKS_MAX } from '../base/limits.ts'
import type { PeerId } from '../base/time.ts'
import { claimMessage, decodeCheckpoint, joined, type Checkpoint } from '../order/handover.ts'
import type { HandoverMessage, NextRelay } from '../order/handover-messages.ts'
import type { SyncMessage } from '../order/sync-messages.ts'
import type { TickLog } from '../order/tick-log.ts'
import type { SealSigner } from '../order/tick-sealer.ts'

/** Checkpoints that are kept: an observer receives them before their ticks. */
const CHECKPOINTS_MAX = 8
/** With less than this waiting, the next piece is sent. */
const WAITING_BYTES = 2 * HANDOVER_PIECE_BYTES
const NO_BYTES = new Uint8Array(0)

/** The papers of one seat. */
export class HandoverPapers {
  readonly #signer: SealSigner
  #offered: Extract<HandoverMessage, { kind: 'relays' }> | undefined
  #relays: readonly NextRelay[] = []
  #certificate: Uint8Array | undefined
  #checkpoints: { readonly checkpoint: Checkpoint; readonly bytes: Uint8Array }[] = []
  #fetches: { at: number; readonly to: number }[] = []

  constructor(signer: SealSigner) {
    this.#signer = signer
  }

  /** The relays at which the match may go on, in order. Empty: it ends with its relay. */
  get relays(): readonly NextRelay[] {
    return this.#certificate === undefined ? [] : this.#relays
  }

  /** The match goes on: the papers of the relay before are used up. */
  clear(): void {
    this.#offered = undefined
    this.#relays = []
    this.#certificate = undefined
    this.#checkpoints = []
    this.#fetches = []
  }

  /** A message of the relay. Returns the answer, if there is one. */
  handleMessage(message: SyncMessage, player: PeerId): SyncMessage | undefined {
    switch (message.kind) {
      case 'relays':
        this.#offered = message
        return { kind: 'bind', player, publicKey: this.#signer.publicKey }
      case 'certificate':
        if (this.#offered === undefined) break
        this.#certificate = message.bytes
        this.#relays = this.#offered.relays
        this.#checkpoints = []
        break
      case 'checkpoint': {
        const checkpoint = decodeCheckpoint(message.bytes)
        if (checkpoint === undefined || this.#certificate === undefined) break
        this.#checkpoints.push({ checkpoint, bytes: message.bytes })
        if (this.#checkpoints.length > CHECKPOINTS_MAX) this.#checkpoints.shift()
        break
      }
      case 'fetch':
        if (this.#fetches.length < CHECKPOINTS_MAX) this.#fetches.push({ at: message.from, to: message.to })
        break
      default:
        break
    }
    return undefined
  }

  /** The join data with which the seat is claimed at a relay. */
  claimData(relayKey: Uint8Array): Uint8Array {
    const certificate = this.#certificate ?? NO_BYTES
    return joined(certificate, this.#signer.sign(claimMessage(relayKey, certificate)))
  }

  /** What this client holds. */
  claim(log: TickLog): SyncMessage {
    // No tick after the checkpoint is missing: the tail would be invalid, and the claim would be refused.
    const found = this.#checkpoints.findLast(({ checkpoint: { tick, offset } }) =>
      tick >= log.lastMissing && tick <= log.newest && log.endOf(tick) === offset)
    const { tick: from, offset } = found?.checkpoint ?? { tick: 0, offset: 0 }
    const { isWhole } = log
    // Without a checkpoint only the beginning of a match can be shown.
    if (found === undefined && !isWhole)
      return { kind: 'claim', tick: log.newest, isWhole, checkpoint: NO_BYTES, tail: NO_BYTES }
    let tick = Math.min(log.newest, from + HANDOVER_TAIL_TICKS_MAX)
    while (tick > from && log.endOf(tick) - offset > HANDOVER_TAIL_BYTES_MAX) tick--
    const checkpoint = found?.bytes ?? NO_BYTES
    return { kind: 'claim', tick, isWhole, checkpoint, tail: log.bytes.slice(offset, log.endOf(tick)) }
  }

  /** Sends old ticks that the relay asked for, as long as little waits. */
  pump(log: TickLog, waitingBytes: () => number, send: (message: SyncMessage) => boolean): void {
    for (let [fetch] = this.#fetches; fetch !== undefined; [fetch] = this.#fetches) {
      const to = Math.min(fetch.to, log.endOf(log.newest))
      if (fetch.at >= to) {
        this.#fetches.shift()
        continue
      }
      if (waitingBytes() > WAITING_BYTES) return
      const end = Math.min(to, fetch.at + HANDOVER_PIECE_BYTES)
      if (!send({ kind: 'ticks', offset: fetch.at, bytes: log.bytes.slice(fetch.at, end) })) return
      fetch.at = end
    }
  }
}
