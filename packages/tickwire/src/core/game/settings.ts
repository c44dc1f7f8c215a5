/**
 * All netcode settings of a game, with their defaults and the checks for contradictions.
 *
 * Both sides run the same game and so have the same settings. Settings that only one side uses may differ.
 */

import { ConfigError } from '../base/assert.ts'
import {
  DATAGRAM_BYTES_MAX, DATAGRAM_BYTES_SAFE, EXTRAPOLATION_MS, INPUT_AHEAD_MAX, INPUTS_PER_FRAME_MAX, REWIND_MS,
  REWINDS_PER_TICK, SMOOTHING_HALF_LIFE_MS, TIMELINE_WINDOW_MS,
} from '../base/limits.ts'
import { CONNECTION_TIMERS, type ConnectionTimers } from '../connection/timers.ts'
import type { PoseOptions } from '../interpolate/pose.ts'
import { RESYNC_MS } from '../time/clock-sync.ts'
import { LEAD_TICKS } from '../time/input-lead.ts'
import { INPUT_REDUNDANCY } from '../time/input-source.ts'
import { NUDGE_MAX } from '../time/tick-clock.ts'

/** The objects that a client predicts: its own, all, or none. */
export type Predict = 'owned' | 'all' | 'none'

/** Netcode settings of a game. `profiles` has presets. The defaults are those of `profiles.fusion`. */
export interface NetSettings {
  /**
   * How far a client predicts beyond the newest server tick it has received, in ms. At the limit, prediction stalls.
   * Default: 1000.
   */
  readonly predictionMs: number
  /** Maximum ticks that one call steps again after a misprediction. The rest follows in the next call. Default: 128. */
  readonly replayTicksMax: number
  /** How many ticks early inputs arrive, in addition to jitter. This many packets in a row may be lost. Default: 2. */
  readonly leadTicks: number
  /** The maximum deviation of a client's clock from real time while it adjusts, as a fraction. Default: 0.02. */
  readonly nudge: number
  /** A client's clock with a larger error, in ms, is set at once. Default: 250. */
  readonly resyncMs: number
  /** Each input is sent in at least this many packets. Default: 3. */
  readonly inputRedundancy: number
  /** Snapshots per second, at most the tick rate. Default: 30. */
  readonly snapshotRate: number
  /**
   * How far behind the newest snapshot other objects are drawn at first, in ms. It adapts to jitter, within the two
   * bounds below. Default: 100.
   */
  readonly interpolationMs: number
  /** The shortest interpolation delay, in ms. Default: 0. */
  readonly interpolationMsMin: number
  /** The longest interpolation delay, in ms. Default: 250. */
  readonly interpolationMsMax: number
  /** How long other objects are extrapolated without new data, in ms. Default: 250. */
  readonly extrapolationMs: number
  /** The half-life of a correction's visual offset, in ms. Default: 80. */
  readonly smoothingMs: number
  /**
   * A position change longer than this, in the unit of positions, is drawn as a jump. 0, the default: longer than the
   * bounds of the velocity allow.
   */
  readonly teleport: number
  /** How far back the authority can rewind to what a shooter saw, in ms. 0 turns rewinding off. Default: 250. */
  readonly rewindMs: number
  /** Maximum rewinds per tick, over all players. Any further rewind uses the newest tick. Default: 16. */
  readonly rewindsPerTick: number
  /** How long the authority keeps past ticks, in ms. Default: 1000. */
  readonly historyMs: number
  /** The longest time without sending, in ms. Default: 1000. */
  readonly heartbeatMs: number
  /** Silence after which the peer is considered gone, in ms. Default: 10,000. */
  readonly timeoutMs: number
  /** A connect request is repeated after 80 to 100 % of this time, in ms. Default: 250. */
  readonly connectRetryMs: number
  /** The time limit for connecting, in ms. Default: 10,000. */
  readonly connectMs: number
  /**
   * A closing connection repeats its disconnect packet within this time, in ms: three times, or every 100 ms. Default:
   * 200.
   */
  readonly goodbyeMs: number
  /** The shortest retransmission timeout, in ms. It follows the measured round trip. Default: 50. */
  readonly rtoMsMin: number
  /** The longest retransmission timeout, in ms. Default: 1000. */
  readonly rtoMsMax: number
  /**
   * The largest datagram to probe for, 1200 to 1500 bytes. Every path carries 1200; larger sizes are probed. Default:
   * 1200.
   */
  readonly datagramBytesMax: number
}

/** The defaults: those of `profiles.fusion`, at any tick rate. */
export const NET_SETTINGS: NetSettings = {
  predictionMs: 1000, replayTicksMax: 128, leadTicks: LEAD_TICKS, nudge: NUDGE_MAX, resyncMs: RESYNC_MS,
  inputRedundancy: INPUT_REDUNDANCY, snapshotRate: 30,
  interpolationMs: 100, interpolationMsMin: 0, interpolationMsMax: 250, extrapolationMs: EXTRAPOLATION_MS,
  smoothingMs: SMOOTHING_HALF_LIFE_MS, teleport: 0, rewindMs: REWIND_MS, rewindsPerTick: REWINDS_PER_TICK,
  historyMs: TIMELINE_WINDOW_MS,
  heartbeatMs: CONNECTION_TIMERS.keepaliveMs,
  timeoutMs: CONNECTION_TIMERS.timeoutMs,
  connectRetryMs: CONNECTION_TIMERS.retryMsMax,
  connectMs: CONNECTION_TIMERS.connectMs,
  goodbyeMs: CONNECTION_TIMERS.graceMs,
  rtoMsMin: CONNECTION_TIMERS.rtoMsMin,
  rtoMsMax: CONNECTION_TIMERS.rtoMsMax,
  datagramBytesMax: DATAGRAM_BYTES_SAFE,
}

/** How many ticks a client may predict beyond the newest server tick it has received. */
export function predictionTicks(tickRate: number, predictionMs: number): number {
  return Math.min(Math.max(Math.ceil(predictionMs * tickRate / 1000), 2), INPUT_AHEAD_MAX)
}

/** Fills in the defaults. Throws ConfigError on invalid settings. */
export function completeSettings(tickRate: number, said: Partial<NetSettings>): NetSettings {
  const net = { ...NET_SETTINGS, snapshotRate: Math.min(NET_SETTINGS.snapshotRate, tickRate), ...said }
  for (const [name, value] of Object.entries(net)) {
    if (!(name in NET_SETTINGS))
      throw new ConfigError(`net.${name}`, `unknown setting`, `use one of ${Object.keys(NET_SETTINGS).join(', ')}.`)
    if (!(Number.isFinite(value) && value >= 0))
      throw new ConfigError(`net.${name}`, `invalid number (expected 0 or more, got ${value})`, 'give 0 or more.')
  }
  const refuse = (name: keyof NetSettings, problem: string, fix: string): never => {
    throw new ConfigError(`net.${name}`, `${problem} (got ${net[name]})`, fix)
  }
  const ticksMs = (ticks: number): number => Math.ceil((ticks * 1000) / tickRate)
  if (net.snapshotRate < 1 || net.snapshotRate > tickRate)
    refuse('snapshotRate', 'invalid rate', `give 1 to ${tickRate} a second.`)
  if (net.nudge > 0.1) refuse('nudge', 'too large', 'give at most 0.1: more can be noticed.')
  if (!isWhole(net.inputRedundancy, 1, INPUTS_PER_FRAME_MAX))
    refuse('inputRedundancy', 'invalid number', `give 1 to ${INPUTS_PER_FRAME_MAX}.`)
  if (!isWhole(net.rewindsPerTick, 0, Infinity))
    refuse('rewindsPerTick', 'invalid number', 'give an integer, 0 or more.')
  if (!isWhole(net.replayTicksMax, 1, Infinity))
    refuse('replayTicksMax', 'invalid number', 'give an integer, 1 or more.')
  if (Math.ceil((net.predictionMs * tickRate) / 1000) > INPUT_AHEAD_MAX) {
    refuse(
      'predictionMs',
      `more than ${INPUT_AHEAD_MAX} ticks`,
      `give at most ${Math.floor((INPUT_AHEAD_MAX * 1000) / tickRate)} at this tick rate.`,
    )
  }
  if (net.predictionMs < ticksMs(net.leadTicks + 2))
    refuse('predictionMs', 'shorter than the lead', `give at least ${ticksMs(net.leadTicks + 2)}.`)
  if (net.interpolationMs < net.interpolationMsMin || net.interpolationMs > net.interpolationMsMax) {
    refuse(
      'interpolationMs',
      `outside of ${net.interpolationMsMin} to ${net.interpolationMsMax}`,
      'change the bounds, or keep to them.',
    )
  }
  if (net.rewindMs > net.historyMs)
    refuse('rewindMs', `longer than the history of ${net.historyMs}`, 'make historyMs longer, or rewindMs shorter.')
  if (net.heartbeatMs * 2 > net.timeoutMs)
    refuse('heartbeatMs', `too long for a timeout of ${net.timeoutMs}`, 'give at most half of timeoutMs.')
  for (const name of ['heartbeatMs', 'connectRetryMs', 'connectMs', 'goodbyeMs', 'rtoMsMin'] as const) {
    if (net[name] === 0) refuse(name, 'invalid time', 'give milliseconds above 0.')
  }
  if (net.connectRetryMs > net.connectMs)
    refuse('connectRetryMs', `longer than connectMs, ${net.connectMs}`, 'repeat sooner.')
  if (net.rtoMsMin > net.rtoMsMax) refuse('rtoMsMin', `above rtoMsMax, ${net.rtoMsMax}`, 'swap them.')
  if (!isWhole(net.datagramBytesMax, DATAGRAM_BYTES_SAFE, DATAGRAM_BYTES_MAX)) {
    refuse('datagramBytesMax', 'invalid size', `give ${DATAGRAM_BYTES_SAFE} to ${DATAGRAM_BYTES_MAX}.`)
  }
  return net
}

/** The shortest retry interval, as a share of the longest. The spread keeps many clients from retrying in sync. */
const RETRY_SHARE_MIN = 0.8

/** The timers of an endpoint that serves these games: the shortest heartbeat, and the longest of all other times. */
export function connectionTimers(nets: readonly NetSettings[]): ConnectionTimers {
  const most = (name: keyof NetSettings): number => Math.max(...nets.map((net) => net[name]))
  const least = (name: keyof NetSettings): number => Math.min(...nets.map((net) => net[name]))
  return {
    keepaliveMs: least('heartbeatMs'),
    timeoutMs: most('timeoutMs'),
    graceMs: most('goodbyeMs'),
    retryMsMin: most('connectRetryMs') * RETRY_SHARE_MIN,
    retryMsMax: most('connectRetryMs'),
    connectMs: most('connectMs'),
    rtoMsMin: least('rtoMsMin'),
    rtoMsMax: most('rtoMsMax'),
  }
}

function isWhole(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max
}

/** Checks a snapshot rate limit. */
export function checkRate(bytesPerSecond: number): number {
  if (!(bytesPerSecond > 0))
    throw new ConfigError(
      'bytesPerSecond',
      `invalid rate (expected above 0, got ${bytesPerSecond})`,
      'give a rate above 0, or leave it out for no limit.',
    )
  return bytesPerSecond
}

/** The settings that drawing and rewinding must share. */
export function poseOptions(tickRate: number, { extrapolationMs, teleport }: NetSettings): PoseOptions {
  return { tickRate, extrapolationMs, ...(teleport > 0 && { teleport }) }
}
