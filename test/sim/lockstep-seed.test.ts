import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { LocalFeed, LockstepRunner, playedMatch, RANKED_ROOM, ReplayFeed, seedSharesOf } from 'tickwire/lockstep'
import { Dice } from 'tickwire/testing'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { RelayFeed } from '../../packages/tickwire/src/core/lockstep/relay-feed.ts'
import { OrderCursor, OrdersHead } from '../../packages/tickwire/src/core/order/orders-frame.ts'
import {
  makeSeedShare, putSeedEvent, seedOf, type SeedShare,
} from '../../packages/tickwire/src/core/order/seed-share.ts'
import { TickBodyWriter } from '../../packages/tickwire/src/core/order/tick-body.ts'
import { OrderRelay } from '../../packages/tickwire/src/core/order-relay/order-relay.ts'
import { readTicks } from '../reference/lockstep-checker.ts'
import { game, makeLockstepGame } from './lockstep-game.ts'
import { LockstepParty } from './lockstep-party.ts'
import './unplanned-heals.ts'

const COMMIT = 0xc9
const REVEAL = 0xca

const sha256 = (bytes: Uint8Array): Uint8Array => new Uint8Array(createHash('sha256').update(bytes).digest())
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

function shareOf(seed: number): SeedShare {
  const dice = new Dice(seed)
  return makeSeedShare((bytes) => { dice.fill(bytes) }, sha256)
}

/** A relay with players 1 to `players`, whose requests are written by hand. */
class SeedBench {
  readonly relay = new OrderRelay({
    tickRate: 30, players: 4, secret: 9, seed: { share: shareOf(99), sha256 },
  })
  readonly #next: number[] = []

  constructor(players: number) {
    for (let player = 1; player <= players; player++) this.relay.join(0, player)
    this.relay.start(0)
  }

  send(now: number, player: number, type: number, bytes: Uint8Array): void {
    const slot = this.relay.slotOf(player)
    const [head, cursor, out] = [new OrdersHead(), new OrderCursor(), new BitWriter(new Uint8Array(400))]
    head.count = 1
    head.first = this.#next[player] ?? 1
    this.#next[player] = head.first + 1
    head.write(out)
    cursor.begin()
    cursor.write(out, 0, type, bytes, 0, bytes.length)
    expect(this.relay.handleOrders(now, slot, new BitReader(out.bytes.slice(0, out.finish())))).toBe('ok')
    this.relay.tick(now)
  }

  kinds(): string[][] {
    return readTicks(this.relay.log.bytes.slice(0, this.relay.log.length))
      .map((orders) => orders.map(({ type }) => type.toString(16)))
  }

  gone(): number[] {
    return this.relay.notices().filter(({ kind }) => kind === 'no-share').map(({ peer }) => peer)
  }
}

test('[LOCK40] four clients agree on a seed that no side knew before, at loss and jitter', () => {
  const weather = () => ({ latencyMs: 40, jitterMs: 30, loss: 0.1, duplication: 0.05 })
  const party = new LockstepParty({
    game: makeLockstepGame() as never, seed: 5, clients: 4, isAgreed: true, weather,
  })
  party.run(4000)
  const seeds = party.clients.map(({ client }) => client.runner!.world.seed)
  expect(new Set(seeds).size).toBe(1)
  expect(seeds[0]).toBeGreaterThan(0)
  const [commits, reveals] = readTicks(party.match.relay.log.bytes.slice(0, party.match.relay.log.length))
  expect(commits!.map(({ type }) => type)).toContain(COMMIT)
  expect(commits!.every(({ type }) => type === COMMIT)).toBe(true)
  const shares = reveals!.filter(({ type }) => type === REVEAL).map(({ data }) => Buffer.from(data.slice(2), 'hex'))
  expect(seedOf(shares)).toBe(seeds[0])
  const shown = seedSharesOf(party.clients[0]!.client.feed.log)
  expect([shown.length, shown[0]!.player]).toEqual([shares.length, 0])
  expect(seedOf(shown.map(({ reveal }) => reveal))).toBe(seeds[0])
  expect(shown.every(({ commit, reveal }) => commit.length === 32 && reveal.length === 48)).toBe(true)
  for (const { client: { runner }, hashes } of party.clients) {
    expect(runner!.tick).toBeGreaterThan(60)
    expect(hashes[60]).toBe(party.clients[0]!.hashes[60])
  }
  // A replay finds the seed in its ticks.
  const { log } = party.match.relay
  const feed = new ReplayFeed(playedMatch(log, 30, party.clients[0]!.client.feed.seed))
  feed.speed = Infinity
  const hashes: string[] = []
  const replay = new LockstepRunner(makeLockstepGame(), feed, {
    ticksPerUpdate: 60, onTick: (_tick, low, high) => { hashes.push(`${high.toString(16)}.${low.toString(16)}`) },
  })
  replay.update(0)
  expect(replay.world.seed).toBe(seeds[0])
  expect(hashes[59]).toBe(party.clients[0]!.hashes[60])
  // Other shares give another seed.
  const other = new LockstepParty({ game: makeLockstepGame() as never, seed: 6, clients: 4, isAgreed: true, weather })
  other.run(4000)
  expect(other.clients[0]!.client.runner!.world.seed).not.toBe(seeds[0])
})

test('[LOCK40] the seed is the XOR of all shares, eight bytes, least first, of which 53 bits are used', () => {
  const bytes = (first: number[]): Uint8Array => Uint8Array.from({ length: 48 }, (_, at) => first[at] ?? 0)
  expect(seedOf([bytes([1, 2, 3, 4, 5, 6, 7, 8])])).toBe(0x04030201 + 0x070605 * 2 ** 32)
  expect(seedOf([bytes([1, 2]), bytes([3, 2, 1])])).toBe(0x010002)
  expect(seedOf([bytes([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])])).toBe(Number.MAX_SAFE_INTEGER)
  expect(hex(shareOf(1).commit)).toBe(hex(sha256(shareOf(1).reveal)))
})

test('[LOCK41] no reveal before all commits: tick 1 has the commits, tick 2 the reveals and the joins', () => {
  const bench = new SeedBench(2)
  const [a, b] = [shareOf(1), shareOf(2)]
  bench.send(10, 1, COMMIT, a.commit)
  bench.relay.tick(200)
  expect(bench.kinds()).toEqual([])
  bench.send(300, 2, COMMIT, b.commit)
  expect(bench.kinds()).toEqual([['c9', 'c9', 'c9']])
  // A player that joins now has no share, and its join is in a later tick.
  bench.relay.join(310, 3)
  bench.send(350, 1, REVEAL, a.reveal)
  expect(bench.kinds()).toHaveLength(1)
  bench.send(400, 2, REVEAL, b.reveal)
  expect(bench.kinds()).toEqual([['c9', 'c9', 'c9'], ['ca', 'ca', 'ca', 'c0', 'c0']])
  bench.relay.tick(400 + bench.relay.deadline.ms)
  expect(bench.kinds()[2]).toEqual(['c0'])
  expect(bench.gone()).toEqual([])
})

test('[LOCK41] a player that reveals early, reveals something else, copies a commit or is silent is left out', () => {
  const early = new SeedBench(2)
  early.send(10, 1, COMMIT, shareOf(1).commit)
  early.send(20, 1, REVEAL, shareOf(1).reveal)
  expect(early.gone()).toEqual([1])

  const other = new SeedBench(2)
  other.send(10, 1, COMMIT, shareOf(1).commit)
  other.send(20, 2, COMMIT, shareOf(2).commit)
  other.send(30, 1, REVEAL, shareOf(3).reveal)
  expect(other.gone()).toEqual([1])
  other.send(40, 2, REVEAL, shareOf(2).reveal)
  expect(other.kinds()[1]).toEqual(['ca', 'ca', 'c0'])

  const copy = new SeedBench(2)
  copy.send(10, 1, COMMIT, shareOf(1).commit)
  copy.send(20, 2, COMMIT, shareOf(1).commit)
  expect(copy.gone()).toEqual([2])

  const silent = new SeedBench(3)
  silent.send(10, 1, COMMIT, shareOf(1).commit)
  silent.send(20, 2, COMMIT, shareOf(2).commit)
  silent.relay.tick(4999)
  expect(silent.kinds()).toEqual([])
  expect(silent.relay.nextAt()).toBe(5000)
  silent.relay.tick(5000)
  expect(silent.gone()).toEqual([3])
  silent.send(5100, 1, REVEAL, shareOf(1).reveal)
  silent.relay.tick(10_000)
  expect(silent.gone()).toEqual([2])
  expect(silent.kinds().slice(0, 2)).toEqual([['c9', 'c9', 'c9'], ['ca', 'ca', 'c0']])
})

test('[LOCK41] four clients of which one never reveals: three play, and the fourth is kicked', () => {
  const party = new LockstepParty({ game: game as never, seed: 8, clients: 4, isAgreed: true })
  const mute = party.clients[3]!.client
  party.runUntil(() => mute.runner !== undefined, 1000)
  const { submit } = mute.feed
  mute.feed.submit = (now, type, data) => type === REVEAL ? 'sent' : submit.call(mute.feed, now, type, data)
  party.run(4000)
  expect(party.match.relay.log.newest).toBe(1)
  party.run(4000)
  expect(party.notices.map(({ kind, peer }) => [kind, peer])).toEqual([['no-share', mute.player]])
  expect(party.clients[3]!.isClosed).toBe(true)
  const [a, b, c] = party.clients.map(({ client }) => client.runner!)
  expect(a!.tick).toBeGreaterThan(30)
  expect([b!.world.seed, c!.world.seed]).toEqual([a!.world.seed, a!.world.seed])
  expect(a!.roster.players).toEqual([1, 2, 3])
})

test('[LOCK42] a client refuses a relay that changes a share after its commit, or leaves out its share', () => {
  /** Receives two ticks. `reveals`: player and bytes; player 0 is the relay. */
  const receive = (commits: [number, Uint8Array][], reveals: [number, Uint8Array][]): RelayFeed => {
    const feed = new RelayFeed({ tickRate: 30, player: 1 })
    feed.agree(0, sha256, shareOf(1))
    const values = new Uint8Array(60)
    const tick = (type: number, list: [number, Uint8Array][], joins: number[]): void => {
      const body = new TickBodyWriter()
      body.begin()
      for (const [player, bytes] of list) body.add(0, 0, type, values, 0, putSeedEvent(values, 0, player, bytes))
      for (const player of joins) body.add(0, 0, 0xc0, Uint8Array.of(player), 0, 1)
      body.end()
      const out = new BitWriter(new Uint8Array(400))
      out.writeBits(0, 8)
      out.writeBits(0, 32)
      out.writeBits(feed.log.newest + 1, 8)
      const at = feed.log.length
      if (at >= 128) out.writeBits((at & 127) | 128, 8)
      out.writeBits(at >= 128 ? at >> 7 : at, 8)
      out.copyBits(body.bytes, 0, body.length * 8)
      feed.ticks.accept(10, 1, new BitReader(out.bytes.slice(0, out.finish())))
    }
    tick(COMMIT, commits, [])
    tick(REVEAL, reveals, [1])
    return feed
  }
  const [relay, own, other] = [shareOf(99), shareOf(1), shareOf(2)]
  const commits: [number, Uint8Array][] = [[0, relay.commit], [1, own.commit], [2, other.commit]]
  const reveals: [number, Uint8Array][] = [[0, relay.reveal], [1, own.reveal], [2, other.reveal]]
  const honest = receive(commits, reveals)
  expect([honest.poll(1000), honest.ticks.corrupted]).toEqual([1, 0])
  const cheats = [
    receive(commits, [[0, shareOf(98).reveal], [1, own.reveal], [2, other.reveal]]),
    receive(commits, [[0, relay.reveal], [2, other.reveal]]),
    receive([[0, relay.commit], [2, other.commit]], [[0, relay.reveal], [2, other.reveal]]),
    receive([...commits, [3, other.commit]], reveals),
    receive(
      [[0, relay.commit], [1, shareOf(7).commit], [2, other.commit]],
      [[0, relay.reveal], [1, shareOf(7).reveal], [2, other.reveal]],
    ),
    receive(commits, [...reveals, [2, other.reveal]]),
  ]
  for (const feed of cheats) {
    expect(feed.status()).toBe('ended')
    expect(feed.poll(1000)).toBe(0)
  }
})

test('[LOCK42] ranked rooms agree on the seed', () => {
  expect(RANKED_ROOM.seed).toBe('agreed')
})

test('[LOCK42] a match in this process has a seed of its own, and 0 is not one', () => {
  expect(() => new LocalFeed({ tickRate: 30, seed: 0 })).toThrow('seed: invalid seed')
  expect(new LockstepRunner(game, new LocalFeed({ tickRate: 30, seed: 7 })).hasBegun).toBe(true)
})
