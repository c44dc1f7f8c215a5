/**
 * What the overlay shows, as numbers: read from the match's own counters, so that it is true of the match and not of the overlay.
 */

import type { Millis, PeerId, Tick } from '../core/base/time.ts'
import type { Connection } from '../core/connection/connection.ts'
import type { ClientHost } from '../core/game/client-host.ts'
import type { EntityBits } from '../core/replication/bit-account.ts'
import type { Shape } from '../core/schema/field.ts'
import type { Mistake } from '../core/game/mistake-text.ts'
import { LANE_PLACES, laneName, type NetMeter } from './net-meter.ts'
import type { FieldShare, ReceivedBits } from './received-bits.ts'

/** Bytes of a lane since the overlay was opened, and a second, lately. */
export interface LaneReading {
  readonly name: string
  readonly bytesIn: number
  readonly bytesOut: number
  readonly bytesInPerSecond: number
  readonly bytesOutPerSecond: number
}

export interface Readings {
  readonly peer: PeerId
  /** What carries the match and why; '' where there is no room. */
  readonly transport: string
  readonly transportReason: string
  readonly rttMs: Millis
  readonly jitterMs: Millis
  /** What the connection counts, ever. */
  readonly packetsSent: number
  readonly packetsReceived: number
  readonly bytesSent: number
  readonly bytesReceived: number
  /** Since the overlay was opened: the server's packets by what became of them. */
  readonly received: number
  readonly late: number
  readonly lost: number
  readonly lossShare: number
  /** Ours that the server never had, ever. */
  readonly lostOut: number
  /** Draws since the overlay was opened, and those in which others were guessed ahead of what was known. */
  readonly draws: number
  readonly extrapolatedDraws: number
  readonly serverTick: Tick
  readonly clientTick: number
  /** How far behind the server others are drawn, now and where it is going. */
  readonly interpolationMs: Millis
  readonly interpolationTargetMs: Millis
  /** The server's tick clock less ours. */
  readonly clockOffsetMs: Millis
  readonly clockJitterMs: Millis
  /** How early our inputs came, in ticks: the tightest of the last report. */
  readonly marginTicks: number
  readonly leadMs: Millis
  readonly lateInputs: number
  /** What a tick takes here, and may take. */
  readonly tickMs: Millis
  readonly tickMsMax: Millis
  readonly tickBudgetMs: Millis
  readonly rollbacks: number
  readonly resteppedTicks: number
  readonly mistakes: readonly Mistake[]
  readonly lanes: readonly LaneReading[]
  /** Bits of snapshots that came, since the overlay was opened. */
  readonly entities: readonly EntityBits[]
  readonly entryBits: number
  readonly headBits: number
  readonly fields: readonly FieldShare[]
  /** What the overlay itself costs a draw. */
  readonly overlayMs: Millis
  readonly overlayMsMax: Millis
}

/** What the readings are taken from. */
export interface Sources {
  readonly host: ClientHost<Shape>
  readonly connection: Connection | undefined
  readonly meter: NetMeter
  readonly bits: ReceivedBits
  readonly ratesIn: Float64Array
  readonly ratesOut: Float64Array
}

/** The part that the match itself knows. */
export type MatchReadings = Pick<Readings,
  'peer' | 'rttMs' | 'jitterMs' | 'packetsSent' | 'packetsReceived' | 'bytesSent' | 'bytesReceived' | 'lostOut' | 'serverTick' | 'clientTick' |
  'interpolationMs' | 'interpolationTargetMs' | 'clockOffsetMs' | 'clockJitterMs' | 'marginTicks' | 'leadMs' | 'lateInputs' | 'tickBudgetMs' |
  'rollbacks' | 'resteppedTicks'>

export function readMatch({ host, connection }: Pick<Sources, 'host' | 'connection'>): MatchReadings {
  const { renderClock, timing, play } = host.insides
  const { clock, ticks, lead, lateInputs } = play
  return {
    peer: host.peer,
    rttMs: connection?.rtt.smoothedMs ?? 0, jitterMs: connection?.rtt.spreadMs ?? 0,
    packetsSent: connection?.stats.packetsSent ?? 0, packetsReceived: connection?.stats.packetsReceived ?? 0,
    bytesSent: connection?.stats.bytesSent ?? 0, bytesReceived: connection?.stats.bytesReceived ?? 0,
    lostOut: connection?.stats.packetsLost ?? 0,
    serverTick: host.serverTick, clientTick: ticks.ticks,
    interpolationMs: renderClock.delayMs, interpolationTargetMs: renderClock.targetDelayMs,
    clockOffsetMs: clock.serverTicksAt(0) * clock.tickMs, clockJitterMs: clock.jitterMs,
    marginTicks: timing.marginTicksMin, leadMs: lead.ms, lateInputs,
    tickBudgetMs: clock.tickMs,
    rollbacks: host.predictor?.rollbacks ?? 0, resteppedTicks: host.predictor?.resteppedTicks ?? 0,
  }
}

/** Lanes that anything went through, the busiest first. */
export function readLanes({ host, meter, ratesIn, ratesOut }: Omit<Sources, 'connection' | 'bits'>): LaneReading[] {
  const { channels } = host.insides
  const lanes: LaneReading[] = []
  for (let place = 0; place < LANE_PLACES; place++) {
    const bytesIn = meter.bytesIn[place]
    const bytesOut = meter.bytesOut[place]
    if (bytesIn + bytesOut === 0) continue
    lanes.push({ name: laneName(place, channels), bytesIn, bytesOut, bytesInPerSecond: ratesIn[place], bytesOutPerSecond: ratesOut[place] })
  }
  return lanes.sort((a, b) => b.bytesIn + b.bytesOut - a.bytesIn - a.bytesOut)
}
