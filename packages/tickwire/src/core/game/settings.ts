/**
 * Every number of a game's netcode that its developer may want to turn, with the defaults, and what contradicts what.
 *
 * Both sides run the same game and so the same settings; those that only one side uses may differ.
 */

import { ConfigError } from '../base/assert.ts'
import {
  EXTRAPOLATION_MS, INPUT_AHEAD_MAX, INPUTS_PER_FRAME_MAX, REWIND_MS, REWINDS_PER_TICK, SMOOTHING_HALF_LIFE_MS, TIMELINE_WINDOW_MS,
} from '../base/limits.ts'
import type { PoseOptions } from '../interpolate/pose.ts'

/** Whose objects a client simulates ahead: his own, everybody's, nobody's. */
export type Predict = 'owned' | 'all' | 'none'

export interface NetSettings {
  /** How far ahead of what was heard a client predicts; then its player stands still until more is heard. */
  readonly predictionMs: number
  /** Ticks that one call may step again after a misprediction; the rest comes in the next. */
  readonly replayTicksMax: number
  /** Ticks that inputs come early, beside jitter: so many packets in a row may be lost. */
  readonly leadTicks: number
  /** How much faster or slower than real time a client's clock may run to get to where it should be. */
  readonly nudge: number
  /** A client's clock that is further off is set. */
  readonly resyncMs: number
  /** An input rides at least so often. */
  readonly inputRedundancy: number
  /** Snapshots a second, at most the tick rate. */
  readonly snapshotRate: number
  /** How far behind the newest snapshot others are drawn, and the bounds within which that follows jitter. */
  readonly interpolationMs: number
  readonly interpolationMsMin: number
  readonly interpolationMsMax: number
  /** How long others are drawn on without news. */
  readonly extrapolationMs: number
  /** Until half of a correction is out of the picture. */
  readonly smoothingMs: number
  /** A step of a position longer than this is drawn at once. 0: what the bounds of its velocity do not explain. */
  readonly teleport: number
  /** How far back the authority looks for what a shooter saw. */
  readonly rewindMs: number
  /** Rewinds of one tick, all players together; who comes later sees the newest tick. */
  readonly rewindsPerTick: number
  /** What the authority remembers. */
  readonly historyMs: number
  /** Something is sent at least this often; who says nothing for the other is gone. */
  readonly heartbeatMs: number
  readonly timeoutMs: number
}

/** The defaults: those of `profiles.fusion`, at any tick rate. */
export const NET_SETTINGS: NetSettings = {
  predictionMs: 1000, replayTicksMax: 128, leadTicks: 2, nudge: 0.02, resyncMs: 250, inputRedundancy: 3, snapshotRate: 30,
  interpolationMs: 100, interpolationMsMin: 0, interpolationMsMax: 250, extrapolationMs: EXTRAPOLATION_MS,
  smoothingMs: SMOOTHING_HALF_LIFE_MS, teleport: 0, rewindMs: REWIND_MS, rewindsPerTick: REWINDS_PER_TICK, historyMs: TIMELINE_WINDOW_MS,
  heartbeatMs: 1000, timeoutMs: 10_000,
}

/** How many ticks a client may be ahead of what it heard. */
export function predictionTicks(tickRate: number, predictionMs: number): number {
  return Math.min(Math.max(Math.ceil(predictionMs * tickRate / 1000), 2), INPUT_AHEAD_MAX)
}

/** Completes what the developer said; throws ConfigError on what cannot work. */
export function completeSettings(tickRate: number, said: Partial<NetSettings>): NetSettings {
  const net = { ...NET_SETTINGS, snapshotRate: Math.min(NET_SETTINGS.snapshotRate, tickRate), ...said }
  for (const [name, value] of Object.entries(net)) {
    if (!(name in NET_SETTINGS)) throw new ConfigError(`net.${name}`, 'no number of the netcode', `There are ${Object.keys(NET_SETTINGS).join(', ')}.`)
    if (!(Number.isFinite(value) && value >= 0)) throw new ConfigError(`net.${name}`, `${value}`, 'Give a number from 0 on.')
  }
  const refuse = (name: keyof NetSettings, problem: string, fix: string): never => {
    throw new ConfigError(`net.${name}`, `${net[name]}${problem}`, fix)
  }
  const ticksMs = (ticks: number): number => Math.ceil(ticks * 1000 / tickRate)
  if (net.snapshotRate < 1 || net.snapshotRate > tickRate) refuse('snapshotRate', ` a second at ${tickRate} ticks`, `Give 1 to ${tickRate}.`)
  if (net.nudge > 0.1) refuse('nudge', ' of real time', 'Give at most 0.1: more is seen and heard.')
  if (!isWhole(net.inputRedundancy, 1, INPUTS_PER_FRAME_MAX)) refuse('inputRedundancy', '', `Give 1 to ${INPUTS_PER_FRAME_MAX}.`)
  if (!isWhole(net.rewindsPerTick, 0, Infinity)) refuse('rewindsPerTick', '', 'Give a whole number from 0 on.')
  if (!isWhole(net.replayTicksMax, 1, Infinity)) refuse('replayTicksMax', '', 'Give a whole number from 1 on.')
  if (Math.ceil(net.predictionMs * tickRate / 1000) > INPUT_AHEAD_MAX) {
    refuse('predictionMs', ` ms are more than ${INPUT_AHEAD_MAX} ticks`, `Give at most ${Math.floor(INPUT_AHEAD_MAX * 1000 / tickRate)} at this tick rate.`)
  }
  if (net.predictionMs < ticksMs(net.leadTicks + 2)) refuse('predictionMs', ` ms are less than the lead`, `Give at least ${ticksMs(net.leadTicks + 2)}.`)
  if (net.interpolationMs < net.interpolationMsMin || net.interpolationMs > net.interpolationMsMax) {
    refuse('interpolationMs', ` ms lie outside ${net.interpolationMsMin} to ${net.interpolationMsMax}`, 'Change the bounds, or keep to them.')
  }
  if (net.rewindMs > net.historyMs) refuse('rewindMs', ` ms are longer than the history of ${net.historyMs}`, 'Remember longer, or look back less.')
  if (net.heartbeatMs * 2 > net.timeoutMs) refuse('heartbeatMs', ` ms, and silence of ${net.timeoutMs} ends it`, 'Give at most half of timeoutMs.')
  return net
}

function isWhole(value: number, min: number, max: number): boolean {
  return Number.isInteger(value) && value >= min && value <= max
}

/** A rate that snapshots can be held to. */
export function checkRate(bytesPerSecond: number): number {
  if (!(bytesPerSecond > 0)) throw new ConfigError('bytesPerSecond', `${bytesPerSecond}`, 'Give a rate above 0, or none: then only the line decides.')
  return bytesPerSecond
}

/** What drawing and rewinding must agree on. */
export function poseOptions(tickRate: number, { extrapolationMs, teleport }: NetSettings): PoseOptions {
  return { tickRate, extrapolationMs, ...(teleport > 0 && { teleport }) }
}
