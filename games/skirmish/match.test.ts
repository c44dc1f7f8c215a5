import { expect, test } from 'vitest'
import { encodeWorld, flatHash, restoreWorld } from 'tickwire/engine'
import { World } from 'tickwire'
import { DebugLog, playedMatch, LockstepRunner, ReplayFeed } from 'tickwire/lockstep'
import { form } from '../../test/form.ts'
import { battlefieldOf, flowFields } from './battlefield.ts'
import { ADVANCING, Crystal, Field, Line, mapKindOf, Unit } from './definitions.ts'
import { LAYOUTS } from './layouts.ts'
import { skirmishGame } from './game.ts'
import { COUNTDOWN, Ready, Vote } from './lobby.ts'
import { makeMap } from './map.ts'
import { CELLS } from './map-cells.ts'
import { ORDERS, type Command } from './orders.ts'
import { BARRACKS, HEADQUARTERS, STORM_AT, TICK_RATE, UNITS_PER_SEAT } from './rules.ts'
import { idsOf, Table } from './table.ts'

const MINUTE = 60 * TICK_RATE
/** Name and number of every kind of map. */
const KINDS = LAYOUTS.map(({ name }, kind) => [name, kind] as const)
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

test('[SKIRM2] [DESYNC10] flow fields are a derived cache: a new one is equal in every tick, also after a jump', () => {
  const table = play(300)
  const { world } = table.runner
  const image = encodeWorld(world)!
  const copy = new World(table.game.entities, { seed: world.seed })
  expect(restoreWorld(copy, image)).toBe('restored')
  expect(world.count(Field)).toBeGreaterThan(3)
  expect(flowFields.hash(copy)).not.toBe(flowFields.hash(world))
  table.run(20)
  const feed = new ReplayFeed(playedMatch(table.feed.log, TICK_RATE, table.feed.seed))
  feed.speed = Infinity
  const again = new LockstepRunner(table.game, feed, { ticksPerUpdate: 1 })
  new DebugLog(again, { level: 2 })
  expect(again.jump(300, image)).toBe(true)
  flowFields.rebuild(copy)
  expect(flowFields.hash(again.world)).toBe(flowFields.hash(copy))
  while (again.update(0) > 0) expect(again.tick).toBeLessThanOrEqual(320)
  expect([again.tick, flowFields.hash(again.world)]).toEqual([320, flowFields.hash(world)])
})

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

test.each(KINDS)('[SKIRM10] on %s eight bots play to a winner; the median match lasts 8 to 12 minutes', (_, map) => {
  const count = form(1, 41)
  const minutes = Array.from({ length: count }, (_, seed) => {
    const table = new Table({ seed: seed + 1, map, levels: [1, 2, 3, 2, 1, 2, 3, 2] })
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

test.each(KINDS.flatMap(([name, map]) => [[name, map, 1, 2], [name, map, 2, 3]] as const))(
  '[SKIRM11] on %s (map %i) level %i loses to level %i in 80 of 100 matches', (_, map, low, high) => {
    const count = form(map === 0 ? 6 : 3, 100)
    let won = 0
    for (let seed = 1; seed <= count; seed++) {
      // All pairs of seats: near and far, and each level on both sides.
      const weak = seed % 8
      const strong = (weak + 1 + (seed >> 3) % 7) % 8
      const levels = [0, 0, 0, 0, 0, 0, 0, 0]
      levels[weak] = low
      levels[strong] = high
      if (new Table({ seed, map, levels, seats: [weak, strong] }).runToEnd(LONGEST) === strong) won++
    }
    expect(won).toBeGreaterThanOrEqual(Math.ceil(count * 0.8))
  })

test('[SKIRM11] easy bots leave a beginner alone for five minutes, normal ones come in waves, hard ones expand', () => {
  const beginner = new Table({ players: 1, levels: [1, 1, 1, 1, 1, 1, 1, 1] })
  beginner.run(5.5 * MINUTE)
  expect(beginner.buildings(0)[0]?.hp).toBe(2400)
  expect(beginner.units(0)).toHaveLength(5)
  const table = new Table({ levels: [2, 0, 0, 0, 3, 0, 0, 0], seats: [0, 4], seed: 3 })
  let [most, homes] = [0, 1]
  for (let second = 0; second < 480 && table.match.winner === 0; second++) {
    table.run(TICK_RATE)
    const advancing = table.units(0).filter(({ mode, y }) => mode === ADVANCING && y > 40).length
    if (second < 240) expect(advancing).toBe(0)
    most = Math.max(most, advancing)
    homes = Math.max(homes, table.buildings(4).filter(({ kind }) => kind === HEADQUARTERS).length)
  }
  expect(most).toBeGreaterThanOrEqual(15)
  const rich = new Table({ levels: [3, 0, 0, 0, 0, 0, 0, 0], seats: [0, 4], seed: 3 })
  for (let second = 0; second < 300 && homes === 1; second++) {
    rich.run(TICK_RATE)
    homes = rich.buildings(0).filter(({ kind }) => kind === HEADQUARTERS).length
  }
  expect(homes).toBe(2)
})

test('[SKIRM9] two runners of one match in one process have the same hashes', () => {
  expect(play(form(300, 1800), { dual: true }).runner.tick).toBe(form(300, 1800))
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

test('[SKIRM13] in the lobby players take seats and set up teams and bots; the match begins when all are ready', () => {
  const table = new Table({ players: 2, hasLobby: true })
  table.run(2)
  const units = table.units(0).map(({ x, y }) => [x, y])
  expect(table.order({ name: 'Introduce', values: { name: 'Ada' } })).toBe('sent')
  expect(table.order({ name: 'Sit', values: { seat: 5 } })).toBe('sent')
  expect(table.order({ name: 'SetUp', values: { seat: 7, team: 2, level: 0 } })).toBe('sent')
  expect(table.order({ name: 'SetUp', values: { seat: 1, team: 3, level: 1 } })).toBe('sent')
  expect(table.order({ name: 'Say', values: { text: 'hello' } })).toBe('sent')
  table.run(5)
  expect([table.seat(5).player, table.seat(5).name, table.seat(0).player]).toEqual([1, 'Ada', 0])
  // The second player's seat keeps its team.
  expect([table.seat(7).level, table.seat(1).team]).toEqual([0, 1])
  expect([...table.runner.world.each(Line)].map(({ seat, text }) => [seat, text])).toEqual([[5, 'hello']])
  expect(table.order({ name: 'Ready', values: { isReady: true } })).toBe('sent')
  table.run(COUNTDOWN + 10)
  expect(table.match.beganAt).toBe(0)
  expect(table.units(0).map(({ x, y }) => [x, y])).toEqual(units)
  table.feed.submit(0, ORDERS.indexOf(Ready), Uint8Array.of(0b1000_0000), 2)
  table.run(COUNTDOWN + 3)
  expect(table.match.beganAt).toBeGreaterThan(COUNTDOWN)
  expect([table.seat(7).isOut, table.buildings(7).length, table.seat(1).isOut]).toEqual([true, 0, false])
  expect(table.order({ name: 'Sit', values: { seat: 3 } })).toBe('refused')
  table.run(30)
  expect(table.units(0).map(({ x, y }) => [x, y])).not.toEqual(units)
})

test('[SKIRM27] in the lobby players choose a map: everything stands on the new one, and no player is ready', () => {
  const table = new Table({ players: 2, hasLobby: true, seed: 5 })
  table.run(2)
  table.order({ name: 'Sit', values: { seat: 6 } })
  table.order({ name: 'Ready', values: { isReady: true } })
  table.run(2)
  const before = table.units(6).map(({ id }) => id)
  expect(table.order({ name: 'ChooseMap', values: { kind: 2 } })).toBe('sent')
  table.run(3)
  const { world } = table.runner
  expect([mapKindOf(world), battlefieldOf(world).map]).toEqual([2, makeMap(5, 2)])
  expect([...world.each(Crystal)].map(({ at }) => at)).toEqual(makeMap(5, 2).deposits)
  expect([table.seat(6).isReady, world.count(Unit), table.buildings(6).length]).toEqual([false, 40, 1])
  // The player's units are new ones, and are the player's again.
  expect(table.units(6).filter(({ id }) => before.includes(id))).toEqual([])
  expect(table.units(6).map(({ owner }) => owner)).toEqual([1, 1, 1, 1, 1])
  table.order({ name: 'Ready', values: { isReady: true } })
  table.feed.submit(0, ORDERS.indexOf(Ready), Uint8Array.of(0b1000_0000), 2)
  table.run(COUNTDOWN + 5)
  expect(table.match.beganAt).toBeGreaterThan(0)
  expect(table.order({ name: 'ChooseMap', values: { kind: 1 } })).toBe('refused')
  // The replay has the same map, and an image restores it.
  const again = new LockstepRunner(table.game, new ReplayFeed(playedMatch(table.feed.log, TICK_RATE, table.feed.seed)))
  for (let now = 0; again.tick < table.runner.tick && now < 60_000; now += 1000 / TICK_RATE) again.update(now)
  expect(again.hash.value).toEqual(table.runner.hash.value)
  const copy = new World(table.game.entities, { seed: world.seed })
  expect(restoreWorld(copy, encodeWorld(world)!)).toBe('restored')
  expect(battlefieldOf(copy).map).toEqual(makeMap(5, 2))
})

test.each([2, 3, 4])('[SKIRM29] %i against %i: teams are set up in the lobby, and allies win together', (size) => {
  const table = new Table({ players: 1, hasLobby: true })
  // One game for relays and players, whatever the teams are.
  expect(table.game.fingerprint).toEqual(skirmishGame().fingerprint)
  table.run(2)
  table.order({ name: 'Sit', values: { seat: 2 * size - 1 } })
  for (let seat = 0; seat < 8; seat++) {
    const [team, level] = [seat < size ? 0 : 1, seat < 2 * size ? table.seat(seat).level : 0]
    table.order({ name: 'SetUp', values: { seat, team, level } })
    table.run(1)
  }
  table.order({ name: 'Ready', values: { isReady: true } })
  table.run(COUNTDOWN + 5)
  expect(table.match.beganAt).toBeGreaterThan(0)
  for (let seat = 0; seat < 8; seat++)
    expect([table.seat(seat).isOut, table.units(seat).length > 0]).toEqual([seat >= 2 * size, seat < 2 * size])
  const [own] = table.units(2 * size - 1)
  const [ally] = table.units(size)
  const [enemy] = table.units(0)
  expect(table.order({ name: 'Attack', values: { units: [own!.id], target: ally!.id } })).toBe('refused')
  expect(table.order({ name: 'Attack', values: { units: [own!.id], target: enemy!.id } })).toBe('sent')
  // An ally falls, and the match goes on. The last enemy falls, and the team has won.
  table.seat(size).isOut = true
  for (let seat = 0; seat < size; seat++) {
    table.run(3)
    expect(table.match.winner).toBe(0)
    table.seat(seat).isOut = true
  }
  table.run(3)
  expect(table.match.winner).toBe(2)
})

test('[SKIRM14] a vote of all other players but one gives the seat of a player to a bot', () => {
  const table = new Table({ players: 4 })
  table.run(1)
  const vote = (player: number): void => {
    table.feed.submit(0, ORDERS.indexOf(Vote), Uint8Array.of(0b0110_0000), player)
    table.run(2)
  }
  vote(1)
  vote(1)
  vote(2)
  expect(table.seat(3).player).toBe(4)
  vote(1)
  expect(table.seat(3).player).toBe(0)
})
