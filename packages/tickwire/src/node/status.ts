/**
 * What the operator sees of a server, as plain values: a worker sends its own to the process that answers.
 */

import { DurationHistogram, type HistogramImage } from '../core/rooms/duration-histogram.ts'
import type { Metadata } from '../core/rooms/join-body.ts'
import { collectMetrics, QUANTILES, type Measured, type Metric } from './metrics.ts'

/** A room on the status page. */
export interface StatusRoom {
  /** Undefined for a private room. */
  readonly id: string | undefined
  readonly typeName: string
  readonly players: number
  readonly capacity: number
  readonly spectators: number
  readonly tick: number
  /** Durations of its ticks, in ms. Indexed like `QUANTILES`. */
  readonly tickMs: readonly number[]
  readonly metadata: Metadata
  readonly isLocked: boolean
}

/** A server at one moment. */
export interface Status {
  readonly isDraining: boolean
  readonly players: number
  readonly connections: number
  readonly residentBytes: number
  readonly ticks: HistogramImage
  /** How many rooms there are. The first of them are in `rooms`. */
  readonly roomCount: number
  readonly rooms: readonly StatusRoom[]
  readonly metrics: readonly Metric[]
}

export const ROOMS_SHOWN = 200

/** The current status of one process. */
export function readStatus(measured: Measured): Status {
  const { host } = measured
  return {
    isDraining: host.isDraining,
    players: host.players,
    connections: host.endpoint.connections.length,
    residentBytes: process.memoryUsage.rss(),
    ticks: host.ticks.image(),
    roomCount: host.rooms.length,
    rooms: host.rooms.slice(0, ROOMS_SHOWN).map((room) => ({
      id: room.isPrivate ? undefined : room.id,
      typeName: room.typeName,
      players: room.seats.players,
      capacity: room.seats.capacity,
      spectators: room.seats.spectators,
      tick: room.world.tick,
      tickMs: QUANTILES.map((share) => room.ticks.percentileMs(share)),
      metadata: room.metadata,
      isLocked: room.isLocked,
    })),
    metrics: collectMetrics(measured),
  }
}

/** The durations of ticks. */
export function ticksOf({ ticks }: Pick<Status, 'ticks'>): DurationHistogram {
  const histogram = new DurationHistogram()
  histogram.add(ticks)
  return histogram
}
