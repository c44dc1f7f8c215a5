/**
 * The random parameters of a world of endpoints, drawn before it runs. The order of the draws is part of every seed.
 */

import type { ChannelSpec } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import { SEND_QUEUES } from '../../packages/tickwire/src/core/channel/send-queue.ts'
import type { ConnectionTimers } from '../../packages/tickwire/src/core/connection/timers.ts'
import type { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'

/** Probabilities per tick. */
export interface Tempo {
  readonly say: number
  readonly leave: number
  readonly kick: number
  readonly move: number
  readonly restart: number
  readonly cut: number
}

const CHANNELS: readonly ChannelSpec[] = [
  { promise: 'ordered', queue: SEND_QUEUES.control },
  { promise: 'unordered', queue: SEND_QUEUES.chat },
  { promise: 'unreliable', queue: SEND_QUEUES.voice },
  { promise: 'sequenced', queue: SEND_QUEUES.state },
  { promise: 'ordered', queue: SEND_QUEUES.bulk, isLarge: true },
  { promise: 'unreliable', queue: SEND_QUEUES.bulk, isLarge: true },
]

/** How often things happen in a world. */
export function drawTempo(dice: Dice): Tempo {
  const maybe = (part: number, most: number): number => (dice.chance(part) ? dice.fraction() * most : 0)
  return {
    say: 0.03 + 0.77 * dice.fraction() ** 3, leave: maybe(0.5, 0.004), kick: maybe(0.4, 0.004),
    move: maybe(0.3, 0.004), restart: maybe(0.3, 0.006), cut: maybe(0.2, 0.008),
  }
}

/** Timers that are shorter than those of games. */
export function drawTimers(dice: Dice): Partial<ConnectionTimers> {
  return {
    keepaliveMs: 250 + 750 * dice.fraction(),
    timeoutMs: 2200 + 800 * dice.fraction(),
    connectMs: 3000 + 3000 * dice.fraction(),
  }
}

/** Some of all kinds of channels, or all of them. */
export function drawChannels(dice: Dice): readonly ChannelSpec[] {
  const drawn = CHANNELS.filter(() => dice.chance(0.6))
  return drawn.length === 0 ? CHANNELS : drawn
}
