/** The settings of an order relay, with their defaults, and those of ranked matches. */

import { ConfigError } from '../base/assert.ts'
import {
  LOCKSTEP_PLAYERS_MAX, ORDER_BUDGET_BURST, ORDER_BUDGET_PER_TICK, ORDER_BYTES_BURST, ORDER_BYTES_PER_TICK,
  ORDERS_PER_TICK_MAX, TICK_RATE_MAX,
} from '../base/limits.ts'
import type { DesyncRules } from './desync-judge.ts'
import type { RelayFilter } from './relay-filter.ts'
import type { RelaySeedOptions } from './relay-seed.ts'

/** The settings of an order relay. */
export interface RelayOptions {
  /** Ticks per second. */
  readonly tickRate: number
  /** The most players. */
  readonly players: number
  /** A secret number below 2^53: liveness tokens are made from it. */
  readonly secret: number
  /** A late order goes into the next open tick, or is dropped. Default: 'slip'. */
  readonly late?: 'slip' | 'drop'
  /** Whether the deadline waits for players far above the median, too. Default: 'near': it does not. */
  readonly cover?: 'near' | 'all'
  /** The deadline in the first tick, in ms. Default: 120. */
  readonly deadlineMs?: number
  /** The shortest deadline, in ms. Default: a tick and 12 ms. */
  readonly deadlineMsMin?: number
  /** The longest deadline, in ms. A player that needs more slips alone. Default: 250, or the shortest one. */
  readonly deadlineMsMax?: number
  /** How far before the sending of its packet an order may claim to be, in ms. Default: 8. */
  readonly claimMs?: number
  /** Orders per tick. Default: 16. */
  readonly ordersPerTick?: number
  /** Orders at once, after a silence. Default: 128. */
  readonly ordersBurst?: number
  /** Bytes of orders per tick. Default: 256. */
  readonly bytesPerTick?: number
  /** Bytes of orders at once, after a silence. Default: 8192. */
  readonly bytesBurst?: number
  /** Orders of one player in one tick, whatever its budget. Default: 256. */
  readonly ordersPerTickMax?: number
  /** Strikes at which a player counts as lagging. Default: 20. */
  readonly strikesMax?: number
  /** A player without an executed tick for this long is away, in ms. Default: 5000. */
  readonly stallMs?: number
  /** Pauses of one player. Default: Infinity. */
  readonly pausesMax?: number
  /** The longest pause, in ms. Default: Infinity. */
  readonly pauseMsMax?: number
  /** From a resume to the next tick, in ms. Default: 3000. */
  readonly countdownMs?: number
  /** Filters of orders and ticks, in order, after the firewall and before the stamp. Default: the three budgets. */
  readonly filters?: readonly RelayFilter[]
  /** The relay's share of the seed: it and the players agree on the seed. Default: the seed is known. */
  readonly seed?: RelaySeedOptions
  /** How desyncs are decided. Default: diverged players are repaired. */
  readonly desync?: DesyncRules
}

/** The settings with all defaults filled in. */
export type CompleteRelayOptions = Required<Omit<RelayOptions, 'filters' | 'seed' | 'desync'>>

/** Settings of ranked matches: late orders are dropped, all have the same delay, and two that differ end the match. */
export const RANKED_RELAY: Pick<
  RelayOptions, 'late' | 'cover' | 'deadlineMsMin' | 'pausesMax' | 'pauseMsMax' | 'desync'
> = {
  late: 'drop',
  cover: 'all',
  deadlineMsMin: 80,
  pausesMax: 3,
  pauseMsMax: 60_000,
  desync: { tie: 'void' },
}

const MARGIN_MS = 12
const DEADLINE_MS_MAX = 250

/** Fills in the defaults. Throws a ConfigError on invalid values. */
export function completeRelayOptions(
  { filters: _, seed: _seed, desync: _desync, ...options }: RelayOptions,
): CompleteRelayOptions {
  const { tickRate, players } = options
  if (!(Number.isInteger(players) && players >= 1 && players <= LOCKSTEP_PLAYERS_MAX)) {
    throw new ConfigError(
      'relay.players',
      `invalid number (expected an integer from 1 to ${LOCKSTEP_PLAYERS_MAX}, got ${players})`,
      'give the most players of a match.',
    )
  }
  if (!(tickRate >= 1 && tickRate <= TICK_RATE_MAX)) {
    throw new ConfigError(
      'relay.tickRate', `invalid rate (expected 1 to ${TICK_RATE_MAX}, got ${tickRate})`, 'give ticks a second.',
    )
  }
  const leastMs = 1000 / tickRate + MARGIN_MS
  const complete = {
    late: 'slip', cover: 'near', deadlineMs: 120, deadlineMsMin: leastMs,
    deadlineMsMax: Math.max(DEADLINE_MS_MAX, leastMs),
    claimMs: 8, ordersPerTick: ORDER_BUDGET_PER_TICK, ordersBurst: ORDER_BUDGET_BURST,
    bytesPerTick: ORDER_BYTES_PER_TICK, bytesBurst: ORDER_BYTES_BURST, ordersPerTickMax: ORDERS_PER_TICK_MAX,
    strikesMax: 20, stallMs: 5000, pausesMax: Infinity, pauseMsMax: Infinity, countdownMs: 3000, ...options,
  } as const
  if (!(complete.deadlineMsMin <= complete.deadlineMsMax)) {
    throw new ConfigError(
      'relay.deadlineMsMin',
      `above deadlineMsMax (got ${complete.deadlineMsMin} and ${complete.deadlineMsMax})`,
      'make the shortest deadline the smaller one.',
    )
  }
  return complete
}
