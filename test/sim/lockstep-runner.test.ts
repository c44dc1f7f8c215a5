import { expect, test } from 'vitest'
import { entity, int, ref, u8 } from 'tickwire'
import {
  defineLockstep, ids, LocalFeed, LockstepRunner, order, playedMatch, ReplayFeed, type RunnerOptions, type TickEvent,
} from 'tickwire/lockstep'
import { Dice } from 'tickwire/testing'
import { readTicks } from '../reference/lockstep-checker.ts'
import { Crate, game, makeLockstepGame, Move, Spawn, Take, Unit } from './lockstep-game.ts'

const TICK_MS = 1000 / 30

interface Started {
  readonly feed: LocalFeed
  readonly runner: LockstepRunner<typeof game.orders>
}

function start(options: RunnerOptions = {}, players = 1): Started {
  const feed = new LocalFeed({ tickRate: game.tickRate, seed: 7, players })
  return { feed, runner: new LockstepRunner(game, feed, options) }
}

/** Plays some ticks with random orders of one player, and returns the hash after every tick. */
function play(ticks: number, options: RunnerOptions = {}): { feed: LocalFeed; hashes: string[] } {
  const hashes: string[] = []
  const { feed, runner } = start({ ...options, onTick: (_tick, low, high) => { hashes.push(`${high}.${low}`) } })
  const dice = new Dice(3)
  for (let now = 0; hashes.length < ticks; now += TICK_MS / 2) {
    runner.update(now)
    const units = [...runner.world.each(Unit)].map(({ id }) => id).filter(() => dice.chance(0.5))
    if (dice.chance(0.3)) runner.order(now, Move, { units, to: { x: dice.fraction() * 256, y: dice.fraction() * 256 } })
    if (dice.chance(0.05)) runner.order(now, Spawn, { count: 2 })
  }
  return { feed, hashes }
}

test('[LOCK2] an order of a local match is in the very next tick, with its values quantised', () => {
  const { runner } = start()
  runner.update(0)
  expect(runner.tick).toBe(1)
  const [first] = runner.world.each(Unit)
  expect(runner.order(10, Move, { units: [first!.id], to: { x: 10.03, y: 20 } })).toBe('sent')
  expect(runner.update(20)).toBe(0)
  runner.update(TICK_MS)
  expect(runner.tick).toBe(2)
  expect(first!.to).toMatchObject({ x: 10, y: 20 })
})

test('[LOCK2] the tick does not advance while the feed has none', () => {
  const { runner } = start()
  runner.update(0)
  for (let call = 0; call < 5; call++) expect(runner.update(1)).toBe(0)
  expect(runner.tick).toBe(1)
})

test('[LOCK3] orders come by time, then player, then number, whatever the order of submission', () => {
  const { feed, runner } = start({}, 3)
  runner.update(0)
  const data = new Uint8Array([0, 0])
  feed.submit(20, 1, data, 3)
  feed.submit(5, 1, data, 2)
  feed.submit(5, 1, data, 1)
  runner.update(TICK_MS)
  const [crate] = runner.world.each(Crate)
  expect(crate!.takenBy).toBe(1)
  expect(crate!.takes).toBe(3)
  // Time, player and crate of each, in the sequence of the tick.
  const orders = [[3, 2, 5], [3, 3, 1], [9, 1, 4], [9, 1, 6], [9, 2, 0]] as const
  for (let seed = 1; seed <= 30; seed++) {
    const shuffled = start({}, 3)
    shuffled.runner.update(0)
    // Orders of one player keep their sequence: those of equal times are submitted in it.
    const left = [...orders]
    for (const dice = new Dice(seed); left.length > 0;) {
      const at = Math.floor(dice.fraction() * left.length)
      const isHeld = left.some(([time, player], other) =>
        other < at && time === left[at]![0] && player === left[at]![1])
      if (isHeld) continue
      const [[time, player, crateId]] = left.splice(at, 1) as [(typeof orders)[number]]
      shuffled.feed.submit(time, 1, Uint8Array.of(crateId, 0), player)
    }
    shuffled.runner.update(TICK_MS)
    const { log } = shuffled.feed
    const [, second] = readTicks(log.bytes.slice(0, log.length))
    const sorted = second!.map(({ time, player, data: bytes }) =>
      [Math.round(time / 1000), player, Number.parseInt(bytes.slice(0, 2), 16)])
    expect(sorted).toEqual(orders)
  }
})

test('[LOCK4] an order that its check refuses is refused at once, and skipped on every peer', () => {
  const { feed, runner } = start({ checkPurity: true }, 2)
  runner.update(0)
  const foreign = [...runner.world.each(Unit)].find(({ owner }) => owner === 2)!
  expect(runner.order(1, Move, { units: [foreign.id], to: { x: 1, y: 1 } })).toBe('refused')
  const own = [...runner.world.each(Unit)].find(({ owner }) => owner === 1)!
  expect(runner.order(1, Move, { units: [own.id], to: { x: 1, y: 1 } })).toBe('sent')
  // The same bytes, from the player that does not own the unit.
  const sent = [...feed.log.bytes]
  expect(sent.length).toBeGreaterThan(0)
  const before = runner.skipped
  feed.submit(1, 0, Uint8Array.of(255, 255, 255), 2)
  runner.update(TICK_MS)
  expect(runner.skipped).toBe(before + 1)
})

test('[LOCK4] a check that writes is found in development', () => {
  const Thing = entity({ count: u8 }, { name: 'Thing' })
  const Poke = order({ thing: ref() }, 'Poke', {
    check: (world, _by, { thing }) => {
      const found = world.get(Thing, thing) as { count: number } | null
      if (found !== null) found.count++
      return true
    },
  })
  const impure = defineLockstep({
    orders: [Poke], entities: [Thing], onStart: (world) => { world.spawn(Thing, {}) }, step: () => {},
  })
  const runner = new LockstepRunner(impure, new LocalFeed({ tickRate: 30 }), { checkPurity: true })
  runner.update(0)
  const [thing] = runner.world.each(Thing)
  expect(() => runner.order(0, Poke, { thing: thing!.id })).toThrow(/^Poke\.check: changed the world .* Fix: /)
  const problems: string[] = []
  const warned = new LockstepRunner(impure, new LocalFeed({ tickRate: 30 }), {
    checkPurity: (problem) => { problems.push(problem) },
  })
  warned.update(0)
  expect(warned.order(0, Poke, { thing: [...warned.world.each(Thing)][0]!.id })).toBe('sent')
  expect(problems).toEqual([expect.stringMatching(/^Poke\.check: changed the world .* Fix: /)])
})

test('[LOCK5] a recorded match has the same hash after every tick, at any speed', () => {
  const { feed, hashes } = play(300)
  const again: string[] = []
  const replay = new ReplayFeed(playedMatch(feed.log, game.tickRate, feed.seed))
  replay.speed = Infinity
  const runner = new LockstepRunner(game, replay, { onTick: (_tick, low, high) => { again.push(`${high}.${low}`) } })
  while (runner.update(0) > 0);
  expect(again).toEqual(hashes)
  expect(replay.submit()).toBe('closed')
  expect(replay.status()).toBe('ended')
})

test('[LOCK1] a lockstep game continues from an image in every tick, joins and orders included', () => {
  expect(play(300, { heavy: true }).hashes).toHaveLength(300)
  let count = 0
  const impure = makeLockstepGame(() => count++ % 3)
  const runner = new LockstepRunner(impure, new LocalFeed({ tickRate: 30 }), { heavy: true })
  expect(() => { for (let tick = 0; tick < 3000; tick++) runner.update(tick * TICK_MS) }).toThrow(/Unit \d+, field hp/)
})

test('[LOCK6] own orders are issued at once, and then executed, refused or lost', () => {
  const { runner } = start()
  const states: string[] = []
  runner.onOrder(Take, (_values, state) => { states.push(state) })
  runner.update(0)
  runner.order(1, Take, { crate: 1 })
  expect(states).toEqual(['issued'])
  runner.update(TICK_MS)
  expect(states).toEqual(['issued', 'executed'])
})

test('[LOCK7] pause, resume and speed are tick events, and stop or change time, not steps', () => {
  const events: [string, number][] = []
  const { runner } = start({ onEvent: ({ name }: TickEvent, tick) => { events.push([name, tick]) } })
  runner.update(0)
  runner.pause(1)
  runner.update(2)
  expect(runner.tick).toBe(2)
  expect(runner.roster.isPaused).toBe(true)
  expect(runner.update(5000)).toBe(0)
  runner.resume(5000)
  runner.update(5000)
  runner.setSpeed(5001, 2)
  runner.update(5000 + TICK_MS)
  runner.update(5000 + 2 * TICK_MS)
  expect(events).toEqual([['join', 1], ['pause', 2], ['resume', 3], ['speed', 4]])
  expect(runner.roster.speedPercent).toBe(200)
})

test('[LOCK8] wrong definitions are refused with path and fix', () => {
  const Thing = entity({ count: u8 }, { name: 'Thing' })
  const step = (): void => {}
  const Go = order({ to: int(0, 9) }, 'Go')
  const Same = order({ at: u8 }, 'Go')
  expect(() => defineLockstep({ orders: [Go, Same], entities: [], step })).toThrow(/two orders named Go/)
  expect(() => defineLockstep({ orders: [Go], entities: [Thing, Thing], step })).toThrow(/the same definition twice/)
  expect(() => defineLockstep({ orders: [Go], entities: [], players: [3, 2], step })).toThrow(/invalid numbers/)
  expect(() => defineLockstep({ orders: [Go], entities: [], players: [1, 17], step })).toThrow(/1 to 16/)
  const Shared = entity({ count: u8 }, { name: 'Shared', authority: 'shared' })
  expect(() => defineLockstep({ orders: [Go], entities: [Shared], step })).toThrow(/Shared\.authority/)
  expect(() => ids(0)).toThrow(/ids: invalid number/)
  expect(() => order({ to: u8 }, '')).toThrow(/no name/)
})
