/**
 * Observes a match while the overlay is open: attaches meters, samples them once a draw, and detaches all of them.
 *
 * Invariant: after `stop`, the match is unchanged and none of this code runs.
 */

import type { Millis } from '../core/base/time.ts'
import type { Connection } from '../core/connection/connection.ts'
import type { ClientHost } from '../core/game/client-host.ts'
import type { Shape } from '../core/schema/field.ts'
import { Mistakes } from './mistakes.ts'
import { TRAFFIC_PLACES, NetMeter } from './net-meter.ts'
import { readTraffic, readMatch, type Readings } from './readings.ts'
import { ReceivedBits } from './received-bits.ts'
import { Series } from './series.ts'

/** Samples of a graph, one per draw or per tick. */
const GRAPHED = 240
/** Rates are averaged over this many spans of this length. */
const RATE_SPANS = 8
const RATE_SPAN_MS = 250

/** The part of a room that the watcher reads. */
export interface Carried {
  readonly transport: string
  readonly transportReason: string
}

export class Watcher {
  readonly meter: NetMeter = new NetMeter()
  readonly bits: ReceivedBits
  readonly mistakes: Mistakes
  /** Once per draw: the round trip; 1 if remote objects were extrapolated, else 0; the time of the overlay. */
  readonly rtts: Series = new Series(GRAPHED)
  readonly guesses: Series = new Series(GRAPHED)
  readonly costs: Series = new Series(GRAPHED)
  /** Once per tick, or per report of the server: the time of ticks, and how early inputs arrived. */
  readonly tickTimes: Series = new Series(GRAPHED)
  readonly margins: Series = new Series(GRAPHED)
  readonly ratesIn: Float64Array = new Float64Array(TRAFFIC_PLACES)
  readonly ratesOut: Float64Array = new Float64Array(TRAFFIC_PLACES)
  draws = 0
  guessedDraws = 0
  readonly #host: ClientHost<Shape>
  readonly #connection: Connection | undefined
  readonly #carried: Carried | undefined
  readonly #spans: { at: Millis; bytesIn: Float64Array; bytesOut: Float64Array }[] = []
  #timingTick = -1
  #stops: readonly (() => void)[] = []

  constructor(host: ClientHost<Shape>, carried: Carried | undefined) {
    this.#host = host
    this.#carried = carried
    this.#connection = [...host.endpoint.connections][0]
    this.bits = new ReceivedBits(host.insides.world, host.game.coders)
    this.mistakes = new Mistakes(host)
  }

  get host(): ClientHost<Shape> {
    return this.#host
  }

  start(): void {
    this.#host.insides.snapshots.probe = this.bits
    const { meter, mistakes } = this
    this.#stops = [this.#host.look(meter), this.#host.look(mistakes)]
  }

  stop(): void {
    this.#host.insides.snapshots.probe = undefined
    for (const stop of this.#stops) stop()
    this.#stops = []
  }

  handleTicked(ticks: number, tookMs: Millis): void {
    this.tickTimes.push(tookMs / ticks)
  }

  /** Takes the samples of a draw. */
  sample(now: Millis): void {
    const { renderClock, timing } = this.#host.insides
    const isGuessed = renderClock.renderTick > renderClock.newest
    this.draws++
    if (isGuessed) this.guessedDraws++
    this.guesses.push(isGuessed ? 1 : 0)
    this.rtts.push(this.#connection?.rtt.latestMs ?? 0)
    if (timing.tick !== this.#timingTick && timing.hasMargins) {
      this.#timingTick = timing.tick
      this.margins.push(timing.marginTicksMin)
    }
    this.#sampleRates(now)
  }

  /** All readings. Allocates. */
  read(): Readings {
    const { fates } = this.meter
    const sources = {
      host: this.#host,
      connection: this.#connection,
      meter: this.meter,
      bits: this.bits,
      ratesIn: this.ratesIn,
      ratesOut: this.ratesOut,
    }
    return {
      ...readMatch(sources),
      transport: this.#carried?.transport ?? '',
      transportReason: this.#carried?.transportReason ?? '',
      received: fates.received,
      late: fates.late,
      lost: fates.lost,
      lossShare: fates.lossShare,
      draws: this.draws,
      extrapolatedDraws: this.guessedDraws,
      tickMs: this.tickTimes.mean,
      tickMsMax: this.tickTimes.max,
      mistakes: this.mistakes.recent,
      traffic: readTraffic(sources),
      entities: this.bits.account.report().entities,
      entryBits: this.bits.entryBits,
      headBits: this.bits.headBits,
      fields: this.bits.fields(),
      overlayMs: this.costs.mean,
      overlayMsMax: this.costs.max,
    }
  }

  #sampleRates(now: Millis): void {
    const spans = this.#spans
    const last = spans.at(-1)
    if (last !== undefined && now - last.at < RATE_SPAN_MS) return
    const span = spans.length > RATE_SPANS ? spans.shift() : undefined
    const counters = (): Float64Array => new Float64Array(TRAFFIC_PLACES)
    const next = span ?? { at: now, bytesIn: counters(), bytesOut: counters() }
    next.at = now
    next.bytesIn.set(this.meter.bytesIn)
    next.bytesOut.set(this.meter.bytesOut)
    spans.push(next)
    const [first] = spans
    const seconds = Math.max((now - first.at) / 1000, RATE_SPAN_MS / 1000)
    for (let place = 0; place < TRAFFIC_PLACES; place++) {
      this.ratesIn[place] = (next.bytesIn[place] - first.bytesIn[place]) / seconds
      this.ratesOut[place] = (next.bytesOut[place] - first.bytesOut[place]) / seconds
    }
  }
}
