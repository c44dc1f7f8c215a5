import { expect, test } from 'vitest'
import {
  BridgeFeed, LocalFeed, LockstepRunner, nativeCodec, type BridgeAbilities, type ProtocolBridge, type TickFeed,
  type TimedOrder,
} from 'tickwire/lockstep'
import { Account, Add, sums } from './sums-game.ts'

/** A stub of another engine: it returns every order in the next tick, and reports a different hash for tick 3. */
class StubBridge implements ProtocolBridge {
  readonly name = 'stub'
  readonly seed = 3
  readonly player = 1
  readonly abilities: BridgeAbilities
  readonly sent: Uint8Array[] = []
  hashes: string[] = []
  #waiting: TimedOrder[] = []
  #tick = 0

  constructor(abilities: Partial<BridgeAbilities> = {}) {
    this.abilities = { orders: ['same'], timing: 'ticks', hashes: 'own', trust: 'peers', ...abilities }
  }

  submit(_now: number, order: TimedOrder): 'sent' {
    this.sent.push(nativeCodec.encode(order))
    this.#waiting.push(order)
    return 'sent'
  }

  poll(): readonly TimedOrder[] | undefined {
    if (this.#tick++ % 2 === 1) return undefined
    const orders = this.#waiting
    this.#waiting = []
    const join = { player: 0, timeUs: 0, type: 0xc0, data: Uint8Array.of(1) }
    return this.#tick === 1 ? [join, ...orders] : orders
  }

  report(tick: number, low: number, high: number): boolean {
    this.hashes.push(`${high}.${low}`)
    return tick !== 3
  }

  status(): 'ready' {
    return 'ready'
  }
}

interface Played {
  readonly hashes: string[]
  readonly results: string[]
  readonly runner: LockstepRunner
}

function play(feed: TickFeed, ticks: number): Played {
  const hashes: string[] = []
  const runner = new LockstepRunner(sums, feed, { onTick: (_tick, low, high) => hashes.push(`${high}.${low}`) })
  const results: string[] = []
  for (let now = 0; runner.tick < ticks; now += 10) {
    const before = runner.tick
    runner.update(now)
    if (runner.tick > before) results.push(runner.order(now, Add, { amount: runner.tick }))
  }
  return { hashes, results, runner: runner as unknown as LockstepRunner }
}

test('[LOCK63] a runner plays through a bridge as through every other feed', () => {
  const bridge = new StubBridge()
  const feed = new BridgeFeed(bridge)
  const { hashes, results, runner } = play(feed, 6)
  expect(results).toEqual(new Array(6).fill('sent'))
  expect(bridge.hashes).toEqual(hashes)
  expect([...runner.world.seen(Account)].map(({ sum }) => sum)).toEqual([1 + 2 + 3 + 4 + 5])
  expect(hashes).toEqual(play(new LocalFeed({ tickRate: 60, seed: 3 }), 6).hashes)
  // The stub reports a different hash for tick 3.
  expect(feed.diagnostics()).toMatchObject({ dropped: 0, mapped: 0, differing: 1, newest: 6 })
})

test('[LOCK63] orders without a meaning on the other side are dropped and counted; a bridge is never ranked', () => {
  const none = new BridgeFeed(new StubBridge({ orders: ['none'], hashes: 'none' }))
  expect(play(none, 3).results).toEqual(['closed', 'closed', 'closed'])
  expect(none.diagnostics().dropped).toBe(3)
  expect(none.diagnostics().warnings.join()).toMatch(/not ranked.*not compared.*trusted.*mean something else/)
  expect(none.isRanked).toBe(false)
  const mapped = new BridgeFeed(new StubBridge({ orders: ['mapped'] }))
  expect(play(mapped, 3).results).toEqual(['sent', 'sent', 'sent'])
  expect(mapped.diagnostics().mapped).toBe(3)
  const watched = new StubBridge({ trust: 'observer' })
  expect(play(new BridgeFeed(watched), 3).results).toEqual(['closed', 'closed', 'closed'])
  expect([new BridgeFeed(watched).player, watched.sent.length]).toEqual([0, 0])
})
