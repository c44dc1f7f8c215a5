/**
 * Looks on at a match while the overlay is open: ties meters to it, samples them once a draw, and lets go of all of it.
 *
 * Invariant: after `stop` the match is as if nobody had ever looked; nothing of this runs then.
 */

import type { Millis } from '../core/base/time.ts'
import type { Connection } from '../core/connection/connection.ts'
import type { ClientHost } from '../core/game/client-host.ts'
import type { Shape } from '../core/schema/field.ts'
import { Mistakes } from './mistakes.ts'
import { LANE_PLACES, NetMeter } from './net-meter.ts'
import { readLanes, readMatch, type Readings } from './readings.ts'
import { ReceivedBits } from './received-bits.ts'
import { Series } from './series.ts'

/** Samples of graphs, one a draw or one a tick. */
const GRAPHED = 240
/** Rates are over so many spans of so long. */
const RATE_SPANS = 8
const RATE_SPAN_MS = 250

/** What of a room the watcher asks. */
export interface Carried {
  readonly transport: string
  readonly transportReason: string
}

export class Watcher {
  readonly meter: NetMeter = new NetMeter()
  readonly bits: ReceivedBits
  readonly mistakes: Mistakes
  /** Once a draw: the round trip; 1 when others were guessed ahead, 0 when they were known; what the overlay cost. */
  readonly rtts: Series = new Series(GRAPHED)
  readonly guesses: Series = new Series(GRAPHED)
  readonly costs: Series = new Series(GRAPHED)
  /** Once a tick, or a report of the server: what ticks took, and how early inputs came. */
  readonly tickTimes: Series = new Series(GRAPHED)
  readonly margins: Series = new Series(GRAPHED)
  readonly ratesIn: Float64Array = new Float64Array(LANE_PLACES)
  readonly ratesOut: Float64Array = new Float64Array(LANE_PLACES)
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

  /** Once a draw. */
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

  /** Everything, as numbers. Allocates. */
  read(): Readings {
    const { fates } = this.meter
    const sources = { host: this.#host, connection: this.#connection, meter: this.meter, bits: this.bits, ratesIn: this.ratesIn, ratesOut: this.ratesOut }
    return {
      ...readMatch(sources),
      transport: this.#carried?.transport ?? '', transportReason: this.#carried?.transportReason ?? '',
      received: fates.received, late: fates.late, lost: fates.lost, lossShare: fates.lossShare,
      draws: this.draws, extrapolatedDraws: this.guessedDraws,
      tickMs: this.tickTimes.mean, tickMsMax: this.tickTimes.max,
      mistakes: this.mistakes.recent, lanes: readLanes(sources),
      entities: this.bits.account.report().entities, entryBits: this.bits.entryBits, headBits: this.bits.headBits, fields: this.bits.fields(),
      overlayMs: this.costs.mean, overlayMsMax: this.costs.max,
    }
  }

  #sampleRates(now: Millis): void {
    const spans = this.#spans
    const last = spans.at(-1)
    if (last !== undefined && now - last.at < RATE_SPAN_MS) return
    const span = spans.length > RATE_SPANS ? spans.shift() : undefined
    const next = span ?? { at: now, bytesIn: new Float64Array(LANE_PLACES), bytesOut: new Float64Array(LANE_PLACES) }
    next.at = now
    next.bytesIn.set(this.meter.bytesIn)
    next.bytesOut.set(this.meter.bytesOut)
    spans.push(next)
    const [first] = spans
    const seconds = Math.max((now - first.at) / 1000, RATE_SPAN_MS / 1000)
    for (let place = 0; place < LANE_PLACES; place++) {
      this.ratesIn[place] = (next.bytesIn[place] - first.bytesIn[place]) / seconds
      this.ratesOut[place] = (next.bytesOut[place] - first.bytesOut[place]) / seconds
    }
  }
}
