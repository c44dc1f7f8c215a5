/**
 * Every setting of `NetSettings`: its default, another value, and where the value must arrive on a server and on a
 * client.
 *
 * The values are read from the real components of the real hosts (`simulate`); nothing is replaced.
 * `settings-checks.ts` uses this table.
 */

import type { Match, NetSettings } from 'tickwire'
import type { ClientHost, Connection } from 'tickwire/engine'
import type { AuthorityRewinding } from '../../packages/tickwire/src/core/game/rewinding.ts'

/** One setting. `as`: the value in the unit of the component. */
export interface SettingRow {
  readonly standard: number
  readonly other: number
  readonly as?: (value: number, tickRate: number) => number
  /** The components on each side that use it, by name, and what they hold. */
  readonly server?: Readonly<Record<string, (host: Match<never>) => number>>
  readonly client?: Readonly<Record<string, (host: ClientHost<never>) => number>>
  /** The game predicts nothing: then there is no predictor to ask. */
  readonly needsPrediction?: true
}

const ticks = (ms: number, tickRate: number): number => ms * tickRate / 1000
const wholeTicks = (ms: number, tickRate: number): number => Math.ceil(ms * tickRate / 1000)

const connectionOf = ({
  endpoint,
}: {
  readonly endpoint: { readonly connections: readonly Connection[] }
}): Connection => endpoint.connections[0]!
const rewinderOf = ({ world }: Match<never>): AuthorityRewinding['rewinder'] =>
  (world.rewinding as AuthorityRewinding).rewinder

/** A timer of the connection, on both sides. */
function timer(standard: number, other: number, name: keyof Connection['timers']): SettingRow {
  const read = (host: Parameters<typeof connectionOf>[0]): number => connectionOf(host).timers[name]
  return { standard, other, server: { [name]: read }, client: { [name]: read } }
}

/** A bound of the retransmission timeout: also in the estimator that applies it. */
function rto(standard: number, other: number, name: 'rtoMsMin' | 'rtoMsMax'): SettingRow {
  const read = (host: Parameters<typeof connectionOf>[0]): number => connectionOf(host).rtt[name]
  return { standard, other, server: { [name]: read }, client: { [name]: read } }
}

const datagramBytes = (host: Parameters<typeof connectionOf>[0]): number => connectionOf(host).gate.mtu.limitBytes

export const SETTINGS: { readonly [name in keyof NetSettings]: SettingRow } = {
  predictionMs: {
    standard: 1000, other: 700, as: wholeTicks, needsPrediction: true,
    client: { 'the window of the predictor': ({ predictor }) => predictor!.windowTicks },
  },
  // Passed with each call: `settings-checks.ts` counts the steps of one.
  replayTicksMax: { standard: 128, other: 5 },
  leadTicks: { standard: 2, other: 4, client: { 'the lead of inputs': ({ clock }) => clock.lead.leadTicks } },
  nudge: {
    standard: 0.02,
    other: 0.03,
    client: {
      'the clock of ticks': ({ clock }) => clock.ticks.nudgeMax,
      'the lead of inputs': ({ clock }) => clock.lead.nudge,
    },
  },
  resyncMs: {
    standard: 250,
    other: 333,
    client: {
      'the clock of ticks': ({ clock }) => clock.ticks.resyncMs,
      'the estimate of time': ({ clock }) => clock.clock.jumpMs,
    },
  },
  inputRedundancy: {
    standard: 3,
    other: 7,
    client: { 'the source of inputs': ({ clock }) => clock.inputs.redundancy },
  },
  // A rate is observed over a second: `settings-checks.ts`.
  snapshotRate: {
    standard: 30, other: 15, as: (rate, tickRate) => Math.round(tickRate / rate),
    server: { 'the stride of the replicator': ({ replicator }) => replicator.strideTicks },
    client: { 'the stride of the receiver': ({ insides }) => insides.snapshots.strideTicks },
  },
  // It changes with the first arrivals: `settings-checks.ts` asks a client that is not connected.
  interpolationMs: { standard: 100, other: 150 },
  interpolationMsMin: {
    standard: 0,
    other: 40,
    client: { 'the render clock': ({ insides }) => insides.renderClock.delayMsMin },
  },
  interpolationMsMax: {
    standard: 250,
    other: 210,
    client: { 'the render clock': ({ insides }) => insides.renderClock.delayMsMax },
  },
  extrapolationMs: {
    standard: 250, other: 180, as: ticks,
    server: { 'the poses of the past': (host) => rewinderOf(host).poser.capTicks },
    client: { 'the poses of others': ({ insides }) => insides.interpolator.poser.capTicks },
  },
  // A half-life is observed by drawing: `settings-checks.ts`.
  smoothingMs: { standard: 80, other: 120 },
  // 0 means: by the bounds of velocities. `settings-checks.ts` shows it by drawing.
  teleport: { standard: 0, other: 60 },
  rewindMs: { standard: 250, other: 130, as: ticks, server: { 'the rewinder': (host) => rewinderOf(host).maxTicks } },
  rewindsPerTick: { standard: 16, other: 3, server: { 'the rewinder': (host) => rewinderOf(host).perTick } },
  historyMs: {
    standard: 1000,
    other: 900,
    as: wholeTicks,
    server: { 'the timeline': ({ timeline }) => timeline.windowTicks },
  },
  heartbeatMs: timer(1000, 800, 'keepaliveMs'),
  timeoutMs: timer(10_000, 7000, 'timeoutMs'),
  connectRetryMs: timer(250, 300, 'retryMsMax'),
  connectMs: timer(10_000, 6000, 'connectMs'),
  goodbyeMs: timer(200, 500, 'graceMs'),
  rtoMsMin: rto(50, 70, 'rtoMsMin'),
  rtoMsMax: rto(1000, 1700, 'rtoMsMax'),
  datagramBytesMax: {
    standard: 1200,
    other: 1333,
    server: { 'the size of packets': datagramBytes },
    client: { 'the size of packets': datagramBytes },
  },
}

/** The settings of each profile that are not the defaults. */
export const PROFILES: Readonly<
  Record<
    'fusion' | 'arena' | 'shmup',
    { readonly tickRate: number; readonly predict: string; readonly net: Partial<NetSettings> }
  >
> = {
  fusion: { tickRate: 60, predict: 'owned', net: {} },
  arena: {
    tickRate: 128, predict: 'owned',
    net: {
      snapshotRate: 128, interpolationMs: 20, interpolationMsMin: 7.8125, interpolationMsMax: 100, timeoutMs: 30_000,
      connectRetryMs: 500, goodbyeMs: 1000,
    },
  },
  shmup: { tickRate: 60, predict: 'owned', net: { snapshotRate: 20, interpolationMs: 120, rewindMs: 0 } },
}

export const SETTING_NAMES = Object.keys(SETTINGS) as readonly (keyof NetSettings)[]

/** All settings with one of the two values of the table. */
export function settingsOf(which: 'standard' | 'other'): NetSettings {
  return Object.fromEntries(SETTING_NAMES.map((name) => [name, SETTINGS[name][which]])) as unknown as NetSettings
}
