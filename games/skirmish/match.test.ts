import { expect, test } from 'vitest'
import { encodeWorld, flatHash, restoreWorld } from 'tickwire/engine'
import { World } from 'tickwire'
import { playedMatch, LockstepRunner, ReplayFeed } from 'tickwire/lockstep'
import { form } from '../../test/form.ts'
import { Crystal, Unit } from './definitions.ts'
import { CELLS } from './map.ts'
import type { Command } from './orders.ts'
import { BARRACKS, STORM_AT, TICK_RATE, UNITS_PER_SEAT } from './rules.ts'
import { idsOf, Table } from './table.ts'

const MINUTE = 60 * TICK_RATE
const LONGEST = 13 * MINUTE

/** A sequence of whole numbers, the same in every run. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 4_294_967_296) * below)
  }
}

/** An order of any kind, for the first player. Some are refused. */
function draw(table: Table, below: (most: number) => number): Command {
  const own = idsOf(table.units(0).filter(() => below(2) === 0))
  const [units, to, isQueued] = [own, below(CELLS), below(3) === 0]
  const buildings = idsOf(table.buildings(0))
  const building = buildings[below(buildings.length)] ?? 0
  const deposits = [...table.runner.world.each(Crystal)]
  switch (below(11)) {
    case 0: return { name: 'Move', values: { units, to, isQueued } }
    case 1: return { name: 'Advance', values: { units, to, isQueued } }
    case 2: return { name: 'Attack', values: { units, target: table.units(1 + below(7))[0]?.id ?? 0 } }
    case 3: return { name: 'Stop', values: { units } }
    case 4: return { name: 'Hold', values: { units } }
    case 5: return { name: 'Build', values: { unit: own[0] ?? 0, kind: BARRACKS, at: buildings.length * 5 + 2620 } }
    case 6: return { name: 'Train', values: { building, kind: 0 } }
    case 7: return { name: 'Cancel', values: { building } }
    case 8: return { name: 'Rally', values: { buildings, to } }
    case 9: return { name: 'Group', values: { units, group: below(10) } }
    default: return { name: 'Gather', values: { units, at: deposits[below(deposits.length)]?.at ?? 0, isQueued } }
  }
}

function play(ticks: number, options: ConstructorParameters<typeof Table>[0] = {}): Table {
  const table = new Table({ players: 1, seed: 11, ...options })
  const below = numbers(table.feed.seed)
  for (let tick = 0; tick < ticks; tick++) {
    table.run(1)
    if (below(4) === 0) table.order(draw(table, below))
  }
  return table
}

test('[LOCK1] [SKIRM8] skirmish with seven bots and a player continues from an image in every tick', () => {
  expect(play(300, { heavy: true }).runner.tick).toBe(300)
})

test('[SKIRM8] a battle in the fifth minute continues from an image in every tick', () => {
  const table = new Table({ levels: [3, 3, 3, 3, 3, 3, 3, 3], seed: 4 })
  table.run(4.3 * MINUTE)
  const { world } = table.runner
  expect(world.count(Unit)).toBeGreaterThan(300)
  const orders = Object.assign([] as never[], { tick: 0, players: [], isAway: () => false })
  const [expected, found] = [new Uint32Array(2), new Uint32Array(2)]
  for (let tick = 0; tick < form(60, 300); tick++) {
    const copy = new World(table.game.entities, { seed: world.seed })
    expect(restoreWorld(copy, encodeWorld(world)!)).toBe('restored')
    table.run(1)
    copy.beginTick()
    table.game.step(copy, orders)
    copy.endTick()
    flatHash(world, expected)
    flatHash(copy, found)
    expect(found).toEqual(expected)
  }
})

test('[SKIRM9] the same seed and orders give the same hash after every tick, and so does the replay', () => {
  const ticks = form(900, 5400)
  const [first, second, other] = [play(ticks), play(ticks), play(ticks, { seed: 12 })]
  expect(second.hashes).toEqual(first.hashes)
  expect(other.hashes.at(-1)).not.toBe(first.hashes.at(-1))
  const hashes: string[] = []
  const played = playedMatch(first.feed.log, TICK_RATE, first.feed.seed)
  const replay = new LockstepRunner(first.game, new ReplayFeed(played), {
    onTick: (_tick, low, high) => { hashes.push(`${high}.${low}`) },
  })
  for (let now = 0; hashes.length < ticks && now < ticks * 40; now += 1000 / TICK_RATE) replay.update(now)
  expect(hashes).toEqual(first.hashes)
})

test('[SKIRM10] eight bots play to a winner, and the median match lasts 8 to 12 minutes', () => {
  const count = form(5, 41)
  const minutes = Array.from({ length: count }, (_, seed) => {
    const table = new Table({ seed: seed + 1, levels: [1, 2, 3, 2, 1, 2, 3, 2] })
    const winner = table.runToEnd(LONGEST)
    expect(winner).toBeGreaterThanOrEqual(0)
    for (let seat = 0; seat < 8; seat++) expect(table.units(seat).length).toBeLessThanOrEqual(UNITS_PER_SEAT)
    const after = table.hashes.length
    table.run(2)
    expect(table.hashes.length).toBe(after + 2)
    expect(table.match.winner - 1).toBe(winner)
    return table.match.endedAt / MINUTE
  }).sort((a, b) => a - b)
  const median = minutes[count >> 1]!
  expect(median).toBeGreaterThanOrEqual(8)
  expect(median).toBeLessThanOrEqual(12)
})

test('[SKIRM10] without a fight the storm ends the match twelve minutes after its start', () => {
  const table = new Table({ levels: [0, 0, 0, 0, 0, 0, 0, 0], seats: [1, 6] })
  expect(table.runToEnd(LONGEST)).toBeGreaterThanOrEqual(0)
  expect(table.match.endedAt).toBeGreaterThan(STORM_AT)
  expect(table.match.endedAt).toBeLessThanOrEqual(12 * MINUTE)
})

test.each([[1, 2], [2, 3]] as const)('[SKIRM11] level %i loses to level %i in 80 of 100 matches', (low, high) => {
  const count = form(6, 100)
  let won = 0
  for (let seed = 1; seed <= count; seed++) {
    const [weak, strong] = seed % 2 === 0 ? [0, 4] : [4, 0]
    const levels = [0, 0, 0, 0, 0, 0, 0, 0]
    levels[weak] = low
    levels[strong] = high
    if (new Table({ seed, levels, seats: [0, 4] }).runToEnd(LONGEST) === strong) won++
  }
  expect(won).toBeGreaterThanOrEqual(Math.ceil(count * 0.8))
})

test('[SKIRM12] a player takes a seat of a bot, and a bot takes the seat of a player that left', () => {
  const table = new Table({ players: 2 })
  table.run(1)
  expect([0, 1, 2].map((seat) => table.seat(seat).player)).toEqual([1, 2, 0])
  table.run(15 * TICK_RATE)
  expect(table.units(0)).toHaveLength(5)
  expect(table.units(2).length).toBeGreaterThan(5)
  table.game.onLeave?.(table.runner.world, 1, 'left')
  table.run(15 * TICK_RATE)
  expect(table.units(0).length).toBeGreaterThan(5)
})
