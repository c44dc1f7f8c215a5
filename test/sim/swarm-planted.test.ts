/**
 * Bugs planted in the engine on purpose: a swarm that does not find them proves nothing.
 */

import { afterEach, describe, expect, test, vi } from 'vitest'
import { ChannelSet } from '../../packages/tickwire/src/core/channel/channel-set.ts'
import { ReliableSender } from '../../packages/tickwire/src/core/channel/reliable-sender.ts'
import { Connection } from '../../packages/tickwire/src/core/connection/connection.ts'
import { PathCheck } from '../../packages/tickwire/src/core/connection/path-check.ts'
import { SealingKey } from '../../packages/tickwire/src/core/crypto/packet-key.ts'
import type { AeadKey } from '../../packages/tickwire/src/core/crypto/provider.ts'
import { ReplayWindow } from '../../packages/tickwire/src/core/crypto/replay-window.ts'
import { AckWindow } from '../../packages/tickwire/src/core/delivery/ack-window.ts'
import { FragmentQuota } from '../../packages/tickwire/src/core/delivery/fragment-pool.ts'
import { SentPackets } from '../../packages/tickwire/src/core/delivery/sent-packets.ts'
import { Routes } from '../../packages/tickwire/src/core/endpoint/routes.ts'
import { StubCrypto } from '../../packages/tickwire/src/testing/stub-suite.ts'
import type { InvariantId } from './invariants.ts'
import { runSwarm } from './swarm.ts'
import { playWorld } from './transport-swarm.ts'

// It takes seconds on an idle machine, and longer on a busy one.
vi.setConfig({ testTimeout: 120_000 })

let restore: (() => void)[] = []

afterEach(() => {
  for (const undo of restore) undo()
  restore = []
})

/** Replaces a method until the test is over. */
function plant<T extends object, K extends keyof T>(prototype: T, name: K, make: (before: T[K]) => T[K]): void {
  const before = prototype[name]
  prototype[name] = make(before)
  restore.push(() => void (prototype[name] = before))
}

const SEEDS_MAX = 40

/** The invariant that the first seed violates. */
function violated(): string | undefined {
  for (let seed = 1; seed <= SEEDS_MAX; seed++) {
    const { violation } = playWorld(seed)
    if (violation !== undefined) return violation.invariant
  }
  return undefined
}

/** The report of the first seed that violates an invariant, with the least weather in which it still does. */
async function found(): Promise<
  | { readonly invariant: string; readonly shrunk: string; readonly weather: string; readonly problem: string }
  | undefined
> {
  let isFound = false
  const report = await runSwarm({
    start: 1,
    seeds: SEEDS_MAX,
    only: 'transport',
    isOver: () => isFound,
    onSeed: (_seed, failures) => {
      isFound ||= failures.length > 0
    },
  })
  return report.failures[0]
}

const BUGS: readonly (readonly [string, readonly InvariantId[], () => void])[] = [
  ['repeated packets are accepted', ['I7'], () => plant(ReplayWindow.prototype, 'peek', () => () => 'new')],
  [
    'anything opens',
    ['I6', 'I7', 'I16', 'crash'],
    () =>
      plant(
        StubCrypto.prototype,
        'importAead',
        (before) =>
          function careless(this: StubCrypto, suite, key): AeadKey {
            const made = before.call(this, suite, key)
            return {
              seal: (...args) => made.seal(...args),
              wipe: () => made.wipe(),
              open: (...args) => {
                made.open(...args)
                return true
              },
            }
          },
      ),
  ],
  [
    'a packet is sealed twice',
    ['I5'],
    () =>
      plant(
        SealingKey.prototype,
        'seal',
        (before) =>
          function twice(this: SealingKey, ...args) {
            before.apply(this, args)
            return before.apply(this, args)
          },
      ),
  ],
  ['memory of fragments is not freed', ['I13'], () => plant(FragmentQuota.prototype, 'release', () => () => {})],
  [
    'a new path is checked without credit',
    ['I14'],
    () =>
      plant(
        PathCheck.prototype,
        'isDue',
        () =>
          function eager(this: PathCheck) {
            return this.address !== ''
          },
      ),
  ],
  [
    'loss is never detected',
    ['I17', 'I18', 'crash'],
    () => plant(SentPackets.prototype, 'detectLoss', () => () => {}),
  ],
  ['lost messages are not sent again', ['I18'], () => plant(ReliableSender.prototype, 'onLost', () => () => {})],
  ['nothing is acknowledged', ['I18', 'I17'], () => plant(AckWindow.prototype, 'mark', () => () => {})],
  [
    'goodbyes are ignored',
    ['I16', 'I17'],
    () =>
      plant(
        Connection.prototype,
        'handleOpened',
        (before) =>
          function deaf(this: Connection, now, from, header, bytes, length) {
            if (header.type !== 3) before.call(this, now, from, header, bytes, length)
          },
      ),
  ],
  [
    'a message is changed on the way up',
    ['I1', 'I2', 'I3', 'I4'],
    () =>
      plant(
        ChannelSet.prototype,
        'receive',
        (before) =>
          function sloppy(this: ChannelSet, number, out) {
            const length = before.call(this, number, out)
            if (length > 40) out[length - 1]! ^= 1
            return length
          },
      ),
  ],
  [
    'every message is delivered twice',
    ['I1', 'I2', 'I3', 'I4'],
    () =>
      plant(ChannelSet.prototype, 'receive', (before) => {
        const kept = new WeakMap<ChannelSet, { readonly number: number; readonly bytes: Uint8Array }>()
        return function stutter(this: ChannelSet, number, out) {
          const again = kept.get(this)
          kept.delete(this)
          if (again?.number === number) {
            out.set(again.bytes)
            return again.bytes.length
          }
          const length = before.call(this, number, out)
          if (length >= 0) kept.set(this, { number, bytes: out.slice(0, length) })
          return length
        }
      }),
  ],
  ['one seat too many is given', ['I15', 'I16', 'crash'], () => plant(Routes.prototype, 'hasSeat', () => () => true)],
]

describe('planted bugs', () => {
  test.each(BUGS)('[SIM8] %s', (_name, expected, sow) => {
    sow()
    expect(expected as readonly (string | undefined)[]).toContain(violated())
  })

  test('[SIM8] a violation says what, when and where, and the least weather in which it still happens', async () => {
    plant(ReplayWindow.prototype, 'peek', () => () => 'new')
    const failure = (await found())!
    expect(failure.problem).toMatch(/^I7 \(.*\): at [\d.]+ ms, (server|client \d): packet \d+ took effect twice$/)
    expect(failure.shrunk).toMatch(/^(duplication|corruption) [^,]*$/)
    expect(failure.weather.length).toBeGreaterThanOrEqual(failure.shrunk.length)
  })
})
