/**
 * One planted bug for every default, and one for every place where a setting is passed on: the default is changed, or
 * the place uses a number of its own. The settings test finds all of them (`npm run prove -- settings-mutants`).
 */

import type { SourcePatch } from '../../tools/sim-bundle.ts'

export type SettingMutant = SourcePatch & { readonly name: string }

const mutants = (file: string, changes: readonly (readonly [find: string, replace: string])[]): SettingMutant[] =>
  changes.map(([find, replace]) => ({ name: `${file}: ${find} -> ${replace}`, file, find, replace }))

/** Defaults of settings: where the number stands. */
const DEFAULTS: readonly SettingMutant[] = [
  ...mutants('core/game/settings.ts', [
    ['predictionMs: 1000,', 'predictionMs: 1100,'],
    ['replayTicksMax: 128,', 'replayTicksMax: 127,'],
    ['snapshotRate: 30,', 'snapshotRate: 31,'],
    ['interpolationMs: 100,', 'interpolationMs: 90,'],
    ['interpolationMsMin: 0,', 'interpolationMsMin: 1,'],
    ['interpolationMsMax: 250,', 'interpolationMsMax: 240,'],
    ['teleport: 0,', 'teleport: 100,'],
    ['leadTicks: LEAD_TICKS', 'leadTicks: 1'],
    ['nudge: NUDGE_MAX', 'nudge: 0.01'],
    ['resyncMs: RESYNC_MS', 'resyncMs: 240'],
    ['inputRedundancy: INPUT_REDUNDANCY', 'inputRedundancy: 2'],
    ['extrapolationMs: EXTRAPOLATION_MS', 'extrapolationMs: 240'],
    ['smoothingMs: SMOOTHING_HALF_LIFE_MS', 'smoothingMs: 70'],
    ['rewindMs: REWIND_MS', 'rewindMs: 240'],
    ['rewindsPerTick: REWINDS_PER_TICK', 'rewindsPerTick: 15'],
    ['historyMs: TIMELINE_WINDOW_MS', 'historyMs: 990'],
    ['heartbeatMs: CONNECTION_TIMERS.keepaliveMs', 'heartbeatMs: 900'],
    ['timeoutMs: CONNECTION_TIMERS.timeoutMs', 'timeoutMs: 9000'],
    ['connectRetryMs: CONNECTION_TIMERS.retryMsMax', 'connectRetryMs: 240'],
    ['connectMs: CONNECTION_TIMERS.connectMs', 'connectMs: 9000'],
    ['goodbyeMs: CONNECTION_TIMERS.graceMs', 'goodbyeMs: 190'],
    ['rtoMsMin: CONNECTION_TIMERS.rtoMsMin', 'rtoMsMin: 40'],
    ['rtoMsMax: CONNECTION_TIMERS.rtoMsMax', 'rtoMsMax: 900'],
    ['datagramBytesMax: DATAGRAM_BYTES_SAFE', 'datagramBytesMax: 1300'],
    ['RETRY_SHARE_MIN = 0.8', 'RETRY_SHARE_MIN = 0.9'],
  ]),
  ...mutants('core/time/input-lead.ts', [['LEAD_TICKS = 2', 'LEAD_TICKS = 3']]),
  ...mutants('core/time/tick-clock.ts', [['NUDGE_MAX = 0.02', 'NUDGE_MAX = 0.05']]),
  ...mutants('core/time/input-source.ts', [['INPUT_REDUNDANCY = 3', 'INPUT_REDUNDANCY = 2']]),
  ...mutants('core/delivery/rtt.ts', [['rtoMsMin: 50,', 'rtoMsMin: 60,'], ['rtoMsMax: 1000 }', 'rtoMsMax: 2000 }']]),
  ...mutants('core/connection/timers.ts', [
    ['retryMsMin: 200', 'retryMsMin: 100'],
    ['retryMsMax: 250', 'retryMsMax: 500'],
    ['connectMs: 10_000', 'connectMs: 20_000'],
    ['keepaliveMs: 1000', 'keepaliveMs: 500'],
    ['timeoutMs: 10_000', 'timeoutMs: 5000'],
    ['graceMs: 200', 'graceMs: 100'],
  ]),
]

/** Numbers that are not settings. */
const FIXED: readonly SettingMutant[] = [
  ...mutants('core/base/limits.ts', [
    ['DATAGRAM_BYTES_SAFE = 1200', 'DATAGRAM_BYTES_SAFE = 1201'],
    ['DATAGRAM_BYTES_MAX = 1500', 'DATAGRAM_BYTES_MAX = 1501'],
    ['REPLAY_WINDOW_PACKETS = 1024', 'REPLAY_WINDOW_PACKETS = 512'],
    ['SENT_PACKETS_MAX = 256', 'SENT_PACKETS_MAX = 128'],
    ['RELIABLE_WINDOW_MESSAGES = 256', 'RELIABLE_WINDOW_MESSAGES = 128'],
    ['MESSAGE_BYTES_MAX = 1024', 'MESSAGE_BYTES_MAX = 1000'],
    ['FRAGMENTS_PER_MESSAGE_MAX = 256', 'FRAGMENTS_PER_MESSAGE_MAX = 255'],
    ['CONNECTIONS_MAX = 4096', 'CONNECTIONS_MAX = 2048'],
    ['INPUT_WINDOW = 256', 'INPUT_WINDOW = 512'],
    ['INPUT_AHEAD_MAX = 128', 'INPUT_AHEAD_MAX = 127'],
    ['INPUTS_PER_FRAME_MAX = 32', 'INPUTS_PER_FRAME_MAX = 31'],
    ['ROOMS_DEFAULT = 256', 'ROOMS_DEFAULT = 255'],
    ['RPC_TIMEOUT_MS = 5000', 'RPC_TIMEOUT_MS = 4000'],
    ['PLAYERS_DEFAULT = 32', 'PLAYERS_DEFAULT = 33'],
    ['SPECTATORS_DEFAULT = 8', 'SPECTATORS_DEFAULT = 9'], ['SEAT_HOLD_MS = 5000', 'SEAT_HOLD_MS = 4000'],
    ['ROOM_EMPTY_MS = 10_000', 'ROOM_EMPTY_MS = 9000'], ['CATCH_UP_TICKS_MAX = 8', 'CATCH_UP_TICKS_MAX = 9'],
    ['CONNECTIONS_PER_ORIGIN = 5', 'CONNECTIONS_PER_ORIGIN = 6'],
    ['HANDSHAKES_PER_ORIGIN_PER_SECOND = 10', 'HANDSHAKES_PER_ORIGIN_PER_SECOND = 11'],
    ['CHALLENGES_PER_ORIGIN_PER_SECOND = 50', 'CHALLENGES_PER_ORIGIN_PER_SECOND = 51'],
    ['PEER_PACKETS_PER_SECOND = 1000', 'PEER_PACKETS_PER_SECOND = 999'],
  ]),
  ...mutants('core/base/limits-crypto.ts', [
    ['REKEY_MS: number = 15 * 60_000', 'REKEY_MS: number = 16 * 60_000'],
    ['REKEY_BYTES: number = 2 ** 30', 'REKEY_BYTES: number = 2 ** 31'],
    ['KEY_OVERLAP_MS = 5000', 'KEY_OVERLAP_MS = 4000'],
  ]),
  ...mutants('core/base/limits-state.ts', [
    ['ARRIVALS_REMEMBERED = 128', 'ARRIVALS_REMEMBERED = 64'], ['EXTRAPOLATION_MS = 250', 'EXTRAPOLATION_MS = 240'],
    ['SMOOTHING_HALF_LIFE_MS = 80', 'SMOOTHING_HALF_LIFE_MS = 70'], ['REWIND_MS = 250', 'REWIND_MS = 240'],
    ['REWINDS_PER_TICK = 16', 'REWINDS_PER_TICK = 15'], ['TIMELINE_WINDOW_MS = 1000', 'TIMELINE_WINDOW_MS = 990'],
  ]),
  ...mutants('core/time/clock-sync.ts', [
    ['const SAMPLES = 16', 'const SAMPLES = 15'],
    ['const AVERAGED = 8', 'const AVERAGED = 7'],
    ['CONVERGED_SAMPLES = 4', 'CONVERGED_SAMPLES = 5'],
    ['OUTLIER_RTT = 2', 'OUTLIER_RTT = 3'],
    ['JUMP_SAMPLES = 3', 'JUMP_SAMPLES = 2'],
    ['RESYNC_MS = 250', 'RESYNC_MS = 500'],
  ]),
  ...mutants('core/time/timing-frame.ts', [
    ['EAGER_MS = 2000', 'EAGER_MS = 1900'],
    ['RIDE_MS = 45', 'RIDE_MS = 50'],
    ['OWN_PACKET_MS = 250', 'OWN_PACKET_MS = 260'],
  ]),
  ...mutants('core/connection/farewell.ts', [
    ['COPIES_MIN = 3', 'COPIES_MIN = 2'],
    ['COPY_MS = 100', 'COPY_MS = 200'],
  ]),
  ...mutants('core/packet/ack-block.ts', [['16 + 16 + 4 + 64', '16 + 16 + 4 + 32']]),
  ...mutants('core/channel/send-queue.ts', [
    [
      "name: 'control', priority: 0, weight: 1, bufferBytes: 65_536",
      "name: 'control', priority: 0, weight: 1, bufferBytes: 65_535",
    ],
    ["name: 'state', priority: 1, weight: 6", "name: 'state', priority: 1, weight: 5"],
  ]),
]

/** Profiles. */
const PROFILES: readonly SettingMutant[] = mutants('core/game/profiles.ts', [
  ["tickRate: 60, predict: 'owned', net: NET_SETTINGS }", "tickRate: 61, predict: 'owned', net: NET_SETTINGS }"],
  [
    "tickRate: 60,\n  predict: 'owned',\n  net: { ...NET_SETTINGS, snapshotRate: 20",
    "tickRate: 61,\n  predict: 'owned',\n  net: { ...NET_SETTINGS, snapshotRate: 20",
  ],
  ['tickRate: 128,', 'tickRate: 127,'],
  ['tickRate: 30,', 'tickRate: 31,'],
  ['snapshotRate: 128,', 'snapshotRate: 64,'],
  ['interpolationMs: 20,', 'interpolationMs: 25,'],
  ['interpolationMsMin: 1000 / 128', 'interpolationMsMin: 7'],
  ['interpolationMsMax: 100,', 'interpolationMsMax: 110,'],
  ['timeoutMs: 30_000', 'timeoutMs: 20_000'],
  ['connectRetryMs: 500', 'connectRetryMs: 400'],
  ['connectMs: 10_000', 'connectMs: 11_000'],
  ['goodbyeMs: 1000', 'goodbyeMs: 900'],
  ['inputRedundancy: 3', 'inputRedundancy: 4'],
  ['players: [1, 8]', 'players: [1, 9]'],
  ['snapshotRate: 20,', 'snapshotRate: 10,'],
  ['interpolationMs: 120,', 'interpolationMs: 110,'],
  ['rewindMs: 0 }', 'rewindMs: 50 }'],
])

/** Places where a setting is passed on. */
const HAND_OVERS: readonly SettingMutant[] = [
  ...mutants('core/game/client-play.ts', [
    ['new ClockSync(tickRate, net.resyncMs)', 'new ClockSync(tickRate)'],
    ['new TickClock(this.clock, net.nudge, net.resyncMs)', 'new TickClock(this.clock, 0.02, net.resyncMs)'],
    ['new TickClock(this.clock, net.nudge, net.resyncMs)', 'new TickClock(this.clock, net.nudge, 250)'],
    ['new InputLead(this.clock, net.leadTicks, net.nudge)', 'new InputLead(this.clock, 2, net.nudge)'],
    ['new InputLead(this.clock, net.leadTicks, net.nudge)', 'new InputLead(this.clock, net.leadTicks)'],
    ['game.inputSchema, net.inputRedundancy,', 'game.inputSchema, 3,'],
    ['predictionTicks(tickRate, net.predictionMs)', 'predictionTicks(tickRate, 1000)'],
    ['advance(target, this.#game.net.replayTicksMax)', 'advance(target, 128)'],
  ]),
  ...mutants('core/game/client-host.ts', [
    ['timers: connectionTimers([game.net]),', ''], ['maxDatagramBytes: game.net.datagramBytesMax,', ''],
  ]),
  ...mutants('core/game/match-host.ts', [
    ['maxSpectators = SPECTATORS_DEFAULT', 'maxSpectators = 7'],
    ['timers: connectionTimers(games.map(({ net }) => net)),', 'timers: connectionTimers([games[0].net]),'],
    [
      'maxDatagramBytes: Math.max(...games.map(({ net }) => net.datagramBytesMax)),',
      'maxDatagramBytes: games[0].net.datagramBytesMax,',
    ],
  ]),
  ...mutants('core/rooms/room-rules.ts', [
    ['capacity: PLAYERS_DEFAULT', 'capacity: 31'],
    ['emptyMs: ROOM_EMPTY_MS', 'emptyMs: 9000'],
    ['resumeMs: SEAT_HOLD_MS', 'resumeMs: 4000'],
  ]),
  ...mutants('core/game/settings.ts', [
    ["keepaliveMs: least('heartbeatMs')", 'keepaliveMs: 1000'],
    ["timeoutMs: most('timeoutMs')", 'timeoutMs: 10_000'],
    ["graceMs: most('goodbyeMs')", 'graceMs: 200'],
    ["retryMsMin: most('connectRetryMs') * RETRY_SHARE_MIN", 'retryMsMin: 200'],
    ["retryMsMax: most('connectRetryMs'),", 'retryMsMax: 500,'],
    ["connectMs: most('connectMs')", 'connectMs: 10_000'],
    ["rtoMsMin: least('rtoMsMin')", 'rtoMsMin: 50'],
    ["rtoMsMax: most('rtoMsMax')", 'rtoMsMax: 1000'],
    ['return { tickRate, extrapolationMs, ...', 'return { tickRate, ...'],
    ['...(teleport > 0 && { teleport }) }', '}'],
  ]),
  ...mutants('core/game/client-view.ts', [
    [
      'delayMs: net.interpolationMs,',
      'delayMs: Math.max(net.interpolationMsMin, Math.min(100, net.interpolationMsMax)),',
    ],
    ['delayMsMin: net.interpolationMsMin,', 'delayMsMin: 0,'],
    ['delayMsMax: net.interpolationMsMax,', 'delayMsMax: 250,'],
    ['...poseOptions(tickRate, net), halfLifeMs', 'tickRate, halfLifeMs'],
    ['halfLifeMs: net.smoothingMs,', ''],
    ['strideTicks: game.snapshotTicks', 'strideTicks: 1'],
    ['poseOptions(this.#game.tickRate, this.#game.net)', '{ tickRate: this.#game.tickRate }'],
  ]),
  ...mutants('core/game/local-view.ts', [['poseOptions(tickRate, net)', '{ tickRate }']]),
  ...mutants('core/game/rewinding.ts', [
    ['...poseOptions(tickRate, net), hitboxes', 'tickRate, hitboxes'],
    ['maxMs: net.rewindMs', 'maxMs: Math.min(250, net.historyMs)'],
    ['perTick: net.rewindsPerTick', 'perTick: 16'],
  ]),
  ...mutants('core/game/authority.ts', [['windowTicks(tickRate, net.historyMs)', 'windowTicks(tickRate)']]),
  ...mutants('core/game/match.ts', [
    ['strideTicks: game.snapshotTicks', 'strideTicks: 1'],
  ]),
  ...mutants('core/game/match-lines.ts', [
    ['new PacedSource(snapshots, snapshotTicks,', 'new PacedSource(snapshots, 1,'],
  ]),
  ...mutants('core/game/define-game.ts', [
    ['snapshotPeriod(tickRate, net.snapshotRate)', 'snapshotPeriod(tickRate, 30)'],
    ['completeSettings(tickRate, definition.net ?? {})', 'completeSettings(tickRate, {})'],
  ]),
  ...mutants('core/interpolate/interpolator.ts', [
    ['new Poser(timeline, options)', 'new Poser(timeline, { tickRate: options.tickRate })'],
    ['new ErrorSmoother(view, options)', 'new ErrorSmoother(view)'],
  ]),
  ...mutants('core/rewind/rewinder.ts', [['new Poser(timeline, options)', 'new Poser(timeline, { tickRate })']]),
  ...mutants('core/connection/connection.ts', [
    ['new RttEstimator(context.timers)', 'new RttEstimator()'],
    ['new Heartbeat(now, context.timers,', 'new Heartbeat(now, { ...context.timers, keepaliveMs: 1000 },'],
    ['new Heartbeat(now, context.timers,', 'new Heartbeat(now, { ...context.timers, timeoutMs: 10_000 },'],
    ["=== 'closed-by-peer', this.#context.timers.graceMs", "=== 'closed-by-peer', 200"],
    ['Math.min(this.#context.packetBytesMax, this.#peerBytesMax)', 'Math.min(1200, this.#peerBytesMax)'],
  ]),
  ...mutants('core/connection/opening.ts', [
    ['this.#endsAt = now + context.timers.connectMs', 'this.#endsAt = now + 10_000'],
    [
      'drawRetryMs(this.#context.timers,',
      'drawRetryMs({ ...this.#context.timers, retryMsMin: 200, retryMsMax: 250 },',
    ],
  ]),
  ...mutants('core/endpoint/endpoint.ts', [['packetBytesMax: config.maxDatagramBytes', 'packetBytesMax: 1200']]),
  ...mutants('core/endpoint/admission.ts', [
    ['datagramBytesMax: this.#config.maxDatagramBytes', 'datagramBytesMax: 1200'],
  ]),
  ...mutants('core/endpoint/endpoint-config.ts', [
    ['timers: completeTimers(config.timers ?? {})', 'timers: completeTimers({})'],
  ]),
]

export const SETTING_MUTANTS: readonly SettingMutant[] = [...DEFAULTS, ...FIXED, ...PROFILES, ...HAND_OVERS]
