/**
 * The numbers that the overlay shows, read from the match's own counters, so that they describe the match and not the
 * overlay.
 */

import type { Millis, PeerId, Tick } from '../core/base/time.ts'
import type { Connection } from '../core/connection/connection.ts'
import type { ClientHost } from '../core/game/client-host.ts'
import type { EntityBits } from '../core/bandwidth/bit-account.ts'
import type { Shape } from '../core/schema/field.ts'
import type { Mistake } from '../core/game/mistake-text.ts'
import { TRAFFIC_PLACES, trafficName, type NetMeter } from './net-meter.ts'
import type { FieldShare, ReceivedBits } from './received-bits.ts'

/** Bytes of a kind of traffic since the overlay was opened, and its recent rate per second. */
export interface TrafficReading {
  /** The name of the traffic. */
  readonly name: string
  /** Bytes received. */
  readonly bytesIn: number
  /** Bytes sent. */
  readonly bytesOut: number
  /** Bytes received per second, recently. */
  readonly bytesInPerSecond: number
  /** Bytes sent per second, recently. */
  readonly bytesOutPerSecond: number
}

/** The numbers that the overlay shows. */
export interface Readings {
  /** The id of this client. */
  readonly peer: PeerId
  /** The transport, and why it is used; '' if there is no room. */
  readonly transport: string
  /** Why better transports are not used; '' if there is no room. */
  readonly transportReason: string
  /** The smoothed round trip, in ms. */
  readonly rttMs: Millis
  /** How much round trips vary, in ms. */
  readonly jitterMs: Millis
  /** Counters of the connection, over its whole life. */
  readonly packetsSent: number
  /** Packets received, over the whole connection. */
  readonly packetsReceived: number
  /** Bytes sent, over the whole connection. */
  readonly bytesSent: number
  /** Bytes received, over the whole connection. */
  readonly bytesReceived: number
  /** The server's packets since the overlay was opened, by fate. */
  readonly received: number
  /** Packets of the server that arrived after a later one. */
  readonly late: number
  /** Packets of the server that did not arrive. */
  readonly lost: number
  /** The share of the server's packets that were lost, 0 to 1. */
  readonly lossShare: number
  /** Our packets that never reached the server, over the whole connection. */
  readonly lostOut: number
  /** Draws since the overlay was opened, and those in which remote objects were extrapolated. */
  readonly draws: number
  /** Draws in which remote objects were extrapolated. */
  readonly extrapolatedDraws: number
  /** The newest tick received from the server. */
  readonly serverTick: Tick
  /** The tick of this client, with its fraction. It is ahead of the server. */
  readonly clientTick: number
  /** How far behind the server remote objects are drawn, now and as the target. */
  readonly interpolationMs: Millis
  /** How far behind the server remote objects should be drawn, in ms. */
  readonly interpolationTargetMs: Millis
  /** The server's tick clock minus ours. */
  readonly clockOffsetMs: Millis
  /** How much measurements of the server's clock vary, in ms. */
  readonly clockJitterMs: Millis
  /** How early our inputs arrived, in ticks: the minimum in the last report. */
  readonly marginTicks: number
  /** How far this client is ahead of the server, in ms. */
  readonly leadMs: Millis
  /** Inputs that arrived too late, as the server counts them. */
  readonly lateInputs: number
  /** Mean and longest time of a tick here, and the budget of a tick. */
  readonly tickMs: Millis
  /** The longest time of a tick here, in ms. */
  readonly tickMsMax: Millis
  /** The time between two ticks, in ms. */
  readonly tickBudgetMs: Millis
  /** How often a prediction was wrong and ticks were stepped again. */
  readonly rollbacks: number
  /** How many ticks were stepped again. */
  readonly resteppedTicks: number
  /** The latest mispredictions. */
  readonly mistakes: readonly Mistake[]
  /** Kinds of traffic, the busiest first. */
  readonly traffic: readonly TrafficReading[]
  /** Bits of received snapshots, since the overlay was opened. */
  readonly entities: readonly EntityBits[]
  /** Bits of entries in received snapshots. */
  readonly entryBits: number
  /** Bits of snapshots that belong to no entry. */
  readonly headBits: number
  /** The share of each field in the received bits. */
  readonly fields: readonly FieldShare[]
  /** Mean and longest time of the overlay itself per draw. */
  readonly overlayMs: Millis
  /** The longest time of the overlay per draw, in ms. */
  readonly overlayMsMax: Millis
}

/** The sources of the readings. */
export interface Sources {
  readonly host: ClientHost<Shape>
  readonly connection: Connection | undefined
  readonly meter: NetMeter
  readonly bits: ReceivedBits
  readonly ratesIn: Float64Array
  readonly ratesOut: Float64Array
}

/** The part that comes from the match itself. */
export type MatchReadings = Pick<
  Readings,
  | 'peer'
  | 'rttMs'
  | 'jitterMs'
  | 'packetsSent'
  | 'packetsReceived'
  | 'bytesSent'
  | 'bytesReceived'
  | 'lostOut'
  | 'serverTick'
  | 'clientTick'
  | 'interpolationMs'
  | 'interpolationTargetMs'
  | 'clockOffsetMs'
  | 'clockJitterMs'
  | 'marginTicks'
  | 'leadMs'
  | 'lateInputs'
  | 'tickBudgetMs'
  | 'rollbacks'
  | 'resteppedTicks'
>

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

/** Kinds of traffic, the busiest first. */
export function readTraffic(
  { host, meter, ratesIn, ratesOut }: Omit<Sources, 'connection' | 'bits'>,
): TrafficReading[] {
  const { channels } = host.insides
  const traffic: TrafficReading[] = []
  for (let place = 0; place < TRAFFIC_PLACES; place++) {
    const bytesIn = meter.bytesIn[place]
    const bytesOut = meter.bytesOut[place]
    if (bytesIn + bytesOut === 0) continue
    traffic.push({
      name: trafficName(place, channels),
      bytesIn,
      bytesOut,
      bytesInPerSecond: ratesIn[place],
      bytesOutPerSecond: ratesOut[place],
    })
  }
  return traffic.sort((a, b) => b.bytesIn + b.bytesOut - a.bytesIn - a.bytesOut)
}
