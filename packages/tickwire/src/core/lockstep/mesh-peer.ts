/** The state that a peer of a mesh has of another one: its batches, when its frames arrived, and its reports. */

import { MESH_PLAYERS_MAX } from '../base/limits.ts'
import type { Millis, PeerId, Tick } from '../base/time.ts'
import type { MeshHead } from '../order/mesh-frame.ts'
import { TickBodyReader } from '../order/tick-body.ts'
import { TickLog } from '../order/tick-log.ts'

/** A player is considered removed: why, and which of its batches is the newest that the judge has. */
export interface MeshVerdict {
  readonly reason: number
  readonly newest: Tick
}

/** Pulses that are kept for the comparison. */
const PULSES = 64

const reader = new TickBodyReader()

export class MeshPeer {
  readonly player: PeerId
  /** The batches of this player. */
  readonly log: TickLog = new TickLog()
  /** When its last frame arrived, on any connection. */
  frameAt: Millis = -Infinity
  /** Since when the next tick waits for a batch of this player. Infinity: it does not. */
  blockedAt: Millis = Infinity
  /** When a frame to another peer last reported that nothing arrives from this player. */
  deniedAt: Millis = -Infinity
  /** The local verdict about this player. */
  verdict: MeshVerdict | undefined = undefined
  /** From this tick on it is not in the match. */
  goneFrom: Tick = Infinity
  /** Why the others removed it; -1: they did not. */
  goneReason = -1
  /**
   * How many bytes of each log it has, whether it receives frames of each player, and its verdicts. Indexed by player.
   */
  readonly held: Float64Array = new Float64Array(MESH_PLAYERS_MAX + 1)
  readonly receives: Uint8Array = new Uint8Array(MESH_PLAYERS_MAX + 1)
  readonly verdicts: (MeshVerdict | undefined)[] = []
  needUs = 0
  position = 0
  executed: Tick = 0
  readonly #pulses = new Uint16Array(PULSES)
  readonly #pulseTicks = new Float64Array(PULSES)

  constructor(player: PeerId) {
    this.player = player
  }

  /** Its newest frame. */
  note(now: Millis, head: MeshHead): void {
    this.frameAt = now
    this.needUs = head.needUs
    this.position = head.position
    this.executed = head.executed
    for (let each = 0; each < head.peerCount; each++) {
      const { player, held, isReceived, isRemoved, reason, newest } = head.peers[each]
      this.held[player] = held
      this.receives[player] = isReceived ? 1 : 0
      // A verdict is final.
      if (isRemoved) this.verdicts[player] ??= { reason, newest }
    }
  }

  /** A pulse of this player. */
  notePulse(tick: Tick, pulse: number): void {
    this.#pulses[tick % PULSES] = pulse
    this.#pulseTicks[tick % PULSES] = tick
  }

  /** Whether one of its batches from `tick` on has an event of a type. */
  hasEvent(tick: Tick, type: number): boolean {
    const { log } = this
    for (let each = tick; each <= log.newest; each++) {
      reader.open(log.bytes, log.startOf(each), log.endOf(each))
      while (reader.next()) if (reader.type === type) return true
    }
    return false
  }

  /** Whether its pulse of a tick is known and different. */
  differs(tick: Tick, pulse: number): boolean {
    return this.#pulseTicks[tick % PULSES] === tick && this.#pulses[tick % PULSES] !== pulse
  }
}
