/** Hash modes, debug levels, and the two commands that read their files. */

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { entity, u16, World } from 'tickwire'
import { encodeWorld } from 'tickwire/engine'
import {
  DebugLog, defineLockstep, LocalFeed, LockstepRunner, playedMatch, ReplayFeed, type LockstepGame,
} from 'tickwire/lockstep'
import { startTickwire } from '../../packages/tickwire/src/cli/run.ts'
import { checkInterval, isCheckTick } from '../../packages/tickwire/src/core/lockstep/check-schedule.ts'
import { Roster } from '../../packages/tickwire/src/core/lockstep/roster.ts'
import { DualTest } from '../../packages/tickwire/src/core/lockstep/desync/dual-test.ts'
import { sourceOf } from '../../packages/tickwire/src/core/replay/byte-source.ts'
import { CHUNK } from '../../packages/tickwire/src/core/replay/chunk.ts'
import { decodeHashes } from '../../packages/tickwire/src/core/replay/hash-chunk.ts'
import { MatchFile } from '../../packages/tickwire/src/core/replay/match-file.ts'
import { openRecording } from '../../packages/tickwire/src/core/replay/recording.ts'
import { MemorySink } from '../../packages/tickwire/src/core/replay/recording-memory.ts'
import { game, Unit } from './lockstep-game.ts'
import { LockstepParty } from './lockstep-party.ts'
import { giveOrders } from './replay-party.ts'

test('[DESYNC9] whole hashes come every 30, 120 and 300 ticks, and often again after a join or return', () => {
  const Rock = entity({ size: u16 }, { name: 'Rock' })
  const world = new World([Rock])
  const roster = new Roster()
  expect([10, 1800, 1801, 30_000].map((tick) => checkInterval(tick, world, roster))).toEqual([30, 30, 120, 120])
  for (let count = 0; count < 1001; count++) world.spawn(Rock, {})
  expect(checkInterval(30_000, world, roster)).toBe(300)
  roster.apply({ name: 'back', player: 2, value: 0 }, 30_000)
  expect([30_200, 30_301].map((tick) => checkInterval(tick, world, roster))).toEqual([30, 300])
  roster.apply({ name: 'hash', player: 0, value: 2 }, 30_407)
  expect([30_406, 30_407, 30_408].map((tick) => isCheckTick(tick, world, roster))).toEqual([false, true, false])
  expect(roster.isHashFull).toBe(true)
})

test('[DESYNC9] slow machines switch all players to cheap pulses in one tick, and desyncs are still healed', () => {
  const party = new LockstepParty({ game: game as never, seed: 3, clients: 3, weather: () => ({ latencyMs: 20 }) })
  party.run(2000)
  party.clients[1]!.client.feed.stepUs = 20_000
  party.run(3000)
  const events = party.clients.map(({ events: list }) => list.filter(([name]) => name === 'hash'))
  expect(events[0]).toHaveLength(1)
  expect(events[1]).toEqual(events[0])
  expect(party.clients[0]!.client.runner!.roster.isHashFull).toBe(false)
  expect(party.reports).toHaveLength(0)
  // The relay requests one whole hash, in the same tick of all clients.
  party.match.relay.events.add('hash', 0, 2)
  party.run(300)
  const [first, ...others] = party.clients.map(({ client }) => client.runner!.roster.checkTick)
  expect(first).toBeGreaterThan(100)
  expect(others).toEqual([first, first])
  expect(party.reports).toHaveLength(0)
  // The generator is in the pulse; a field is found with the next whole hash.
  party.clients[2]!.client.runner!.world.prng.nextU32()
  party.run(2000)
  expect(party.reports).toMatchObject([{ diverged: [{ outcome: 'healed' }] }])
  const [unit] = [...party.clients[0]!.client.runner!.world.each(Unit)]
  unit!.hp = unit!.hp === 40 ? 41 : 40
  party.run(3000)
  expect(party.reports).toMatchObject([{}, { diverged: [{ outcome: 'healed' }] }])
  for (const { client } of party.clients) client.feed.stepUs = 1000
  party.run(3000)
  expect(party.clients[0]!.client.runner!.roster.isHashFull).toBe(true)
})

/** A match of Node, and its log. */
function playMatch(): ReturnType<typeof playedMatch> {
  const party = new LockstepParty({ game: game as never, seed: 3, clients: 2, weather: () => ({ latencyMs: 20 }) })
  giveOrders(party, 25)
  return playedMatch(party.match.relay.log, 30, party.match.seed)
}

test('[DESYNC10] the commands name the first different tick, and the first difference of images', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tickwire-nets-'))
  const match = playMatch()
  const play = (name: string, badTick: number): string => {
    const feed = new ReplayFeed(match)
    feed.speed = Infinity
    const runner = new LockstepRunner(game, feed)
    const sink = new MemorySink()
    mkdirSync(join(folder, name))
    const debug = new DebugLog(runner as never, {
      level: 3, sink, imageTicks: 100, onImage: (file, image) => { writeFileSync(join(folder, name, file), image) },
    })
    while (runner.update(0) > 0) {
      if (runner.tick < badTick || badTick === 0) continue
      badTick = 0
      const [unit] = [...runner.world.each(Unit)]
      unit!.hp = unit!.hp === 30 ? 31 : 30
    }
    debug.close()
    const path = join(folder, name, 'order-log.bin')
    writeFileSync(path, sink.bytes())
    return path
  }
  const [good, bad] = [play('good', 0), play('bad', 330)]
  const lines: string[] = []
  const print = (line: string): void => { lines.push(line) }
  const run = async (...args: string[]): Promise<number> => {
    lines.length = 0
    return await startTickwire(args, { print, complain: print, nowSeconds: () => 0, entropy: { fill: () => {} } })
  }
  const module = fileURLToPath(new URL('./lockstep-game.ts', import.meta.url))
  try {
    expect(await run('replay-log', good, '--step', module)).toBe(0)
    expect(await run('replay-log', good, bad)).toBe(1)
    const [, tick] = /first different tick: (\d+)/.exec(lines.join('\n'))!
    expect(Number(tick)).toBeGreaterThan(329)
    expect(await run('replay-log', bad, '--step', module)).toBe(1)
    expect(lines.at(-1)).toBe(`first different tick: ${tick}`)
    expect(await run('bisect', join(folder, 'good'), join(folder, 'bad'), '--step', module, '--log', good)).toBe(1)
    expect(lines).toContainEqual(expect.stringMatching(/tick 400 differs/))
    expect(lines).toContainEqual(expect.stringMatching(/^Unit \d+, field hp, \d+ against 30$/))
    expect(lines.at(-1)).toMatch(/the first folder is right, the second is wrong/)
    expect(await run('bisect', join(folder, 'good'), join(folder, 'good'), '--step', module)).toBe(0)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('[DESYNC10] a desync writes the order log up to its tick, and an image if the relay asks for it', () => {
  const party = new LockstepParty({
    game: game as never, seed: 3, clients: 3, relay: { desync: { debugLevel: 3 } }, weather: () => ({ latencyMs: 20 }),
  })
  party.run(1000)
  const logs = party.clients.map(({ client }) => {
    const [sink, images] = [new MemorySink(), [] as string[]]
    new DebugLog(client.runner as never, { level: 1, sink, onImage: (name) => { images.push(name) } })
    return { sink, images }
  })
  giveOrders(party, 5)
  const [unit] = [...party.clients[1]!.client.runner!.world.each(Unit)]
  unit!.hp = unit!.hp === 30 ? 31 : 30
  party.run(1000)
  const { tick, seed } = party.reports[0]!
  const roots = logs.map(({ sink, images }) => {
    expect(images).toHaveLength(1)
    expect(images[0]).toMatch(new RegExp(`^desync_${seed}_\\d+\\.snap$`))
    const hashes = hashesOf(sink.bytes())
    expect(Math.max(...hashes.keys())).toBeGreaterThanOrEqual(tick)
    return hashes
  })
  const first = [...roots[0]!.keys()].find((each) => roots[0]!.get(each) !== roots[1]!.get(each))
  expect(first).toBe(tick)
  expect([...roots[0]!].every(([each, root]) => roots[2]!.get(each) === root)).toBe(true)
})

test('[DESYNC10] the order log of a client that goes on from an image has all hashes of its ticks', () => {
  const party = new LockstepParty({
    game: game as never, seed: 3, clients: 3, weather: () => ({ latencyMs: 20 }), resumeMs: 60_000,
  })
  party.run(1000)
  const [sink, late] = [new MemorySink(), party.clients[2]!]
  const { runner } = late.client
  const debug = new DebugLog(runner as never, { level: 1, sink })
  new DualTest(runner as never)
  party.run(3000)
  const before = runner!.tick
  late.link.weather = { loss: 1 }
  party.run(15_000)
  late.link.weather = { latencyMs: 20 }
  if (late.isClosed) late.connect(party.clock.now, { resume: late.client.seat!.ticket })
  party.run(4000)
  expect(runner!.tick).toBeGreaterThan(before + 400)
  debug.close()
  const hashes = hashesOf(sink.bytes())
  const missing = [...Array(runner!.tick + 1).keys()].filter((tick) => tick > before && !hashes.has(tick))
  // The ticks before the image were not stepped.
  expect(missing.length).toBeGreaterThan(100)
  expect(hashes.size).toBeGreaterThan(100)
  const right = party.clients[0]!.hashes
  for (const [tick, root] of hashes) expect(root, `tick ${tick}`).toBe(right[tick])
})

/** The hashes of an order log, by tick. */
function hashesOf(bytes: Uint8Array): Map<number, string> {
  const recording = openRecording(sourceOf(bytes))
  if (typeof recording === 'string') throw new Error(recording)
  expect(new MatchFile(recording).problems).toEqual([])
  const hashes = new Map<number, string>()
  for (const chunk of recording.chunks) {
    const body = chunk.type === CHUNK.hashes ? recording.load(chunk) : undefined
    for (const [tick, { low, high }] of (body && decodeHashes(body, chunk.tick)) ?? [])
      hashes.set(tick, `${high.toString(16)}.${low.toString(16)}`)
  }
  return hashes
}

const Cell = entity({ value: u16 }, { name: 'Cell' })

function cachedGame(isStale: boolean, chance: () => number = () => 0): LockstepGame {
  let sum = 0
  return defineLockstep({
    orders: [], entities: [Cell],
    derived: [{
      name: 'sum', hash: () => sum,
      rebuild(world) {
        sum = 0
        for (const cell of world.each(Cell)) sum += cell.value
      },
    }],
    onStart: (world) => { for (let at = 0; at < 5; at++) world.spawn(Cell, {}) },
    step(world) {
      for (const cell of world.each(Cell)) cell.value = (cell.value + 1 + chance()) % 1000
      if (!isStale || world.tick < 20) this.derived?.[0]!.rebuild(world)
    },
  }) as LockstepGame
}

test('[DESYNC10] a runner that goes on from an image makes its caches again', () => {
  const feed = new LocalFeed({ tickRate: 30 })
  const played = new LockstepRunner(cachedGame(false), feed)
  for (let now = 0; now < 2000; now += 40) played.update(now)
  const game = cachedGame(true)
  const runner = new LockstepRunner(game, new ReplayFeed(playedMatch(feed.log, 30, feed.seed)))
  expect(runner.jump(played.tick, encodeWorld(played.world)!)).toBe(true)
  expect(game.derived![0]!.hash(runner.world)).toBe(5 * played.tick)
})

test.each([
  { level: 0, finds: false, name: 'nothing' }, { level: 1, finds: false, name: 'the order log' },
  { level: 2, finds: true, name: 'checks of caches' }, { level: 3, finds: true, name: 'images too' },
] as const)('[DESYNC10] level $level finds a cache that is stale in its tick, and has $name: $finds', (given) => {
  const play = (isStale: boolean): { images: string[]; bytes: number } => {
    const runner = new LockstepRunner(cachedGame(isStale), new LocalFeed({ tickRate: 30, seed: 7 }))
    const [sink, images]: [MemorySink, string[]] = [new MemorySink(), []]
    const debug = new DebugLog(runner, { level: given.level, sink, onImage: (name) => { images.push(name) } })
    for (let now = 0; runner.tick < 610; now += 40) runner.update(now)
    debug.close()
    return { images, bytes: sink.bytes().length }
  }
  const { images, bytes } = play(false)
  expect(bytes > 0).toBe(given.level >= 1)
  // Without a setting an image every 300 ticks.
  expect(images).toEqual(given.level >= 3 ? ['desync_7_300.snap', 'desync_7_600.snap'] : [])
  if (given.finds) expect(() => play(true)).toThrow(/derived.sum: stale in tick 20/)
  else expect(() => play(true)).not.toThrow()
})

test('[DESYNC10] dual finds a step that depends on chance, in its tick', () => {
  let count = 0
  const bad = cachedGame(false, () => ++count > 100 && count % 7 === 0 ? 1 : 0)
  const runner = new LockstepRunner(bad, new LocalFeed({ tickRate: 30 }), { dual: true })
  expect(() => { for (let now = 0; now < 2000; now += 40) runner.update(now) })
    .toThrow(/two worlds with the same ticks differ \(tick \d+, Cell \d+, field value/)
})
