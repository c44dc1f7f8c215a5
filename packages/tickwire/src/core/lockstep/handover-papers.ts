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
/** Connections of which a client keeps the papers. */
const PAPERS_MAX = 4
/** With less than this waiting, the next piece is sent. */
const WAITING_BYTES = 2 * HANDOVER_PIECE_BYTES
const NO_BYTES = new Uint8Array(0)

/** What a client got on one connection to a relay. */
interface Papers {
  readonly relays: readonly NextRelay[]
  readonly certificate: Uint8Array
  readonly checkpoints: SignedCheckpoint[]
}

interface SignedCheckpoint {
  readonly checkpoint: Checkpoint
  readonly bytes: Uint8Array
}

/** The papers of one seat. */
export class HandoverPapers {
  readonly #signer: SealSigner
  #offered: Extract<HandoverMessage, { kind: 'relays' }> | undefined
  /** Newest first. A relay that has just begun may be lost before the client has the ticks of its first checkpoint. */
  #papers: Papers[] = []
  #fetches: { at: number; readonly to: number }[] = []

  constructor(signer: SealSigner) {
    this.#signer = signer
  }

  /** The relays at which the match may go on, in order. Empty: it ends with its relay. */
  get relays(): readonly NextRelay[] {
    return this.#papers[0]?.relays ?? []
  }

  /** There is a new seat. */
  clear(): void {
    this.#papers = []
    this.moveOn()
  }

  /** The match goes on at another relay: requests of the relay before are void. */
  moveOn(): void {
    this.#offered = undefined
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
        this.#papers.unshift({ relays: this.#offered.relays, certificate: message.bytes, checkpoints: [] })
        if (this.#papers.length > PAPERS_MAX) this.#papers.pop()
        break
      case 'checkpoint': {
        const checkpoint = decodeCheckpoint(message.bytes)
        const [papers] = this.#papers
        if (checkpoint === undefined || papers === undefined) break
        papers.checkpoints.push({ checkpoint, bytes: message.bytes })
        if (papers.checkpoints.length > CHECKPOINTS_MAX) papers.checkpoints.shift()
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
  claimData(relayKey: Uint8Array, log: TickLog): Uint8Array {
    const { certificate = NO_BYTES } = this.#best(log) ?? {}
    return joined(certificate, this.#signer.sign(claimMessage(relayKey, certificate)))
  }

  /** What this client holds. */
  claim(log: TickLog): SyncMessage {
    const found = fitting(this.#best(log), log)
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

  /** The newest papers with a checkpoint of ticks that the client has; otherwise the newest. */
  #best(log: TickLog): Papers | undefined {
    return this.#papers.find((papers) => fitting(papers, log) !== undefined) ?? this.#papers[0]
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

/**
 * The newest checkpoint of ticks that the client has. After it no tick is missing: the tail would be invalid, and the
 * claim would be refused.
 */
function fitting(papers: Papers | undefined, log: TickLog): SignedCheckpoint | undefined {
  return papers?.checkpoints.findLast(({ checkpoint: { tick, offset } }) =>
    tick >= log.lastMissing && tick <= log.newest && log.endOf(tick) === offset)
}
