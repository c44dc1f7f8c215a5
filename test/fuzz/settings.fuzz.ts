/**
 * Hostile configuration: for anything that a developer passes, the result is the requested configuration, or a
 * `ConfigError` that names the path, the problem and a fix. No other error may be thrown, and every accepted
 * configuration must be usable.
 */

import { ConfigError } from '../../packages/tickwire/src/core/base/assert.ts'
import { completeConfig, type EndpointConfig } from '../../packages/tickwire/src/core/endpoint/endpoint-config.ts'
import { defineGame } from '../../packages/tickwire/src/core/game/define-game.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { bool, fixed, int, text, vec2 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { Dice } from '../../packages/tickwire/src/testing/sim-entropy.ts'
import type { FuzzTarget } from './target.ts'

/** Values in the place of a number. */
const VALUES: readonly unknown[] = [
  0,
  1,
  -1,
  60,
  128,
  0.5,
  1e-9,
  1e9,
  2 ** 53,
  -(2 ** 31),
  Infinity,
  -Infinity,
  Number.NaN,
  undefined,
  null,
  '',
  '60',
  true,
  {},
  [],
]
const entropy = new Dice(1)
const valueOf = (byte: number | undefined): unknown => VALUES[(byte ?? 0) % VALUES.length]

/** Runs a maker; only a `ConfigError` with all three parts may come out. */
function attempt(make: () => unknown): void {
  try {
    make()
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    if (!/\S/.test(error.message)) throw new Error('an error without a problem or a fix')
  }
}

const endpoint: FuzzTarget = {
  name: 'settings-endpoint',
  seeds: () => [Uint8Array.of(3, 4, 5, 3, 1, 1), Uint8Array.of(13, 13, 13, 13, 13, 13)],
  run(bytes) {
    const names = ['maxConnections', 'maxDatagramBytes', 'tickRate', 'peerPacketsPerSecond'] as const
    const wild = Object.fromEntries(names.map((name, at) => [name, valueOf(bytes[at])]))
    const timers = Object.fromEntries(
      ['keepaliveMs', 'timeoutMs', 'retryMs'].map((name, at) => [name, valueOf(bytes[at + 4])]),
    )
    attempt(() =>
      completeConfig({
        fingerprint: new Uint8Array(bytes.length % 12),
        entropy,
        assemble: () => {},
        ...wild,
        timers,
      } as unknown as EndpointConfig),
    )
  },
}

const game: FuzzTarget = {
  name: 'settings-game',
  seeds: () => [Uint8Array.of(3, 4, 5, 3, 1, 1, 0, 0), Uint8Array.of(13, 13, 13, 13, 13, 13, 1, 1)],
  run(bytes) {
    const [tickRate, predict, least, most, quantum, size, bits] = [...bytes.subarray(0, 7)].map(valueOf)
    attempt(() => {
      const Thing = entity(
        {
          at: vec2(least as number, most as number, quantum as number),
          health: int(least as number, most as number),
          heat: fixed(least as number, most as number, quantum as number),
          name: text(size as number),
          isUp: bool,
        },
        { priority: bits as number },
      )
      const made = defineGame({
        tickRate: tickRate as number,
        predict: predict as 'owned',
        entities: [Thing],
        input: { fire: bool },
        step() {},
      })
      if (!(made.tickRate > 0 && Number.isFinite(made.tickRate)))
        throw new Error(`a game of ${made.tickRate} ticks a second`)
      for (const bound of [least, most, quantum, size])
        if (typeof bound !== 'number') throw new Error(`${typeof bound} was accepted as a number`)
    })
  },
}

export const targets: readonly FuzzTarget[] = [endpoint, game]
