/**
 * What pages send each other beside the match, five times a second: the round trip, and the hash of a tick. The relay
 * judges desyncs without it; this is for the eyes.
 *
 *   version 8 | round trip in ms 16 | late orders 16 | tick 32 | hash 32 + 32
 */

import type { PeerId, Tick } from 'tickwire'
import type { LockstepRoom } from 'tickwire/lockstep'
import type { ORDERS } from '../orders.ts'

const VERSION = 1
const BYTES = 17
const EVERY_TICKS = 6
/** Reports of a player that are kept, for its graph. */
const KEPT = 60
/** Ticks before the newest one whose hash is reported: the others have it too. */
const BACK_TICKS = 3
const SILENT_MS = 3000

/** What is known of a player. */
export interface PeerReport {
  /** Round trips in ms, the newest last. */
  readonly rtts: number[]
  lateCount: number
  /** Whether its hash was the local one, at `tick`. */
  isEqual: boolean
  tick: Tick
  receivedAt: number
}

/** Reports of the local player and of the others. */
export class PeerReports {
  /** By player. */
  readonly players: Map<PeerId, PeerReport> = new Map()
  readonly #room: LockstepRoom<typeof ORDERS>
  readonly #hashAt: (tick: Tick) => readonly number[] | undefined
  readonly #bytes = new DataView(new ArrayBuffer(BYTES))
  readonly #forget: () => void
  #lateCount = 0
  #timing: unknown

  /** `hashAt`: the local hash after a tick; undefined: not known. */
  constructor(room: LockstepRoom<typeof ORDERS>, hashAt: (tick: Tick) => readonly number[] | undefined) {
    this.#room = room
    this.#hashAt = hashAt
    this.#forget = room.onMessage('control', (from, bytes) => this.#receive(from, bytes))
  }

  stop(): void {
    this.#forget()
  }

  /** Orders of the local player that came late, so far. */
  get lateCount(): number {
    return this.#lateCount
  }

  /** Call it after every tick. */
  noteTick(tick: Tick): void {
    const { rttMs, timing } = this.#room.diagnostics()
    if (timing !== undefined && timing !== this.#timing) this.#lateCount += timing.lateCount
    this.#timing = timing
    const { player } = this.#room
    if (tick % EVERY_TICKS !== 0 || player === 0 || this.#room.transport === 'none') return
    const hash = this.#hashAt(tick - BACK_TICKS)
    if (hash === undefined) return
    const [low = 0, high = 0] = hash
    const view = this.#bytes
    view.setUint8(0, VERSION)
    view.setUint16(1, Math.min(65_535, Math.round(rttMs)))
    view.setUint16(3, Math.min(65_535, this.#lateCount))
    view.setUint32(5, tick - BACK_TICKS)
    view.setUint32(9, low >>> 0)
    view.setUint32(13, high >>> 0)
    this.#room.send('control', new Uint8Array(view.buffer.slice(0)))
    this.#note(player, Math.round(rttMs), this.#lateCount, true, tick)
  }

  /** Whether nothing was received of a player for long. */
  isSilent(player: PeerId, now: number): boolean {
    const known = this.players.get(player)
    return known === undefined || now - known.receivedAt > SILENT_MS
  }

  #receive(from: PeerId, bytes: Uint8Array): void {
    if (bytes.length !== BYTES || bytes[0] !== VERSION) return
    const view = new DataView(bytes.buffer, bytes.byteOffset, BYTES)
    const tick = view.getUint32(5)
    const own = this.#hashAt(tick)
    const isEqual = own === undefined
      || ((own[0] ?? 0) >>> 0 === view.getUint32(9) && (own[1] ?? 0) >>> 0 === view.getUint32(13))
    this.#note(from, view.getUint16(1), view.getUint16(3), isEqual, tick)
  }

  #note(player: PeerId, rttMs: number, lateCount: number, isEqual: boolean, tick: Tick): void {
    const known: PeerReport = this.players.get(player)
      ?? { rtts: [], lateCount: 0, isEqual: true, tick: 0, receivedAt: 0 }
    this.players.set(player, known)
    known.rtts.push(rttMs)
    if (known.rtts.length > KEPT) known.rtts.shift()
    Object.assign(known, { lateCount, isEqual, tick, receivedAt: performance.now() })
  }
}
