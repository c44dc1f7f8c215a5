import { expect, test } from 'vitest'
import {
  ADVANCING, Building, BUILDING, Crystal, Field, GATHERING, HOLDING, IDLE, MOVING, Unit, type UnitObject,
} from './definitions.ts'
import { battlefieldOf } from './battlefield.ts'
import { FlowFinder, NO_WAY, STEP_X, STEP_Y } from './flow-field.ts'
import { LAYOUTS } from './layouts.ts'
import { makeMap } from './map.ts'
import { CELLS, cellAt, columnOf, rowOf, SIZE } from './map-cells.ts'
import {
  BARRACKS, BUILDINGS, FACTORY, HEADQUARTERS, RAIDER, SOLDIER, START_CRYSTALS, TANK, TURRET, UNITS, UNITS_PER_SEAT,
  WORKER,
} from './rules.ts'
import { idsOf, Table } from './table.ts'
import { distance, spawnUnit } from './units.ts'

/** Name and number of every kind of map. */
const KINDS = LAYOUTS.map(({ name }, kind) => [name, kind] as const)

/** One player against a seat in which nothing plays. */
function alone(options: { seed?: number; checkPurity?: boolean } = {}): Table {
  const table = new Table({ players: 1, levels: [0, 0, 0, 0, 0, 0, 0, 0], seats: [0, 4], ...options })
  table.run(1)
  return table
}

/** Adds fighters beside the headquarters of a seat. */
function army(table: Table, seat: number, kind: number, count: number, atX = 60, atY = 22): UnitObject[] {
  return Array.from({ length: count }, (_, each) =>
    spawnUnit(table.runner.world, kind, seat, atX + (each % 10) * 0.8, atY + Math.floor(each / 10) * 0.8))
}

test.each(KINDS)('[SKIRM1] map %s has starts, free deposits, an edge of rocks, and all are reached', (_, kind) => {
  for (const seed of [1, 2, 3, 99, 2 ** 40]) {
    const { rocks, ground, starts, deposits } = makeMap(seed, kind)
    expect(starts).toHaveLength(8)
    expect(deposits.length).toBeGreaterThan(80)
    for (const cell of [...starts, ...deposits]) expect(rocks[cell]).toBe(0)
    for (let at = 0; at < SIZE; at++) expect(rocks[cellAt(at, 0)]! + rocks[cellAt(0, at)]!).toBe(2)
    const directions = new Uint8Array(CELLS)
    new FlowFinder(rocks).find(starts[0]!, directions)
    for (const cell of [...starts.slice(1), ...deposits]) expect(directions[cell]).not.toBe(NO_WAY)
    directions[starts[0]!] = 0
    expect(ground).toEqual(rocks.map((rock, cell) => (rock === 0 && directions[cell] !== NO_WAY ? 1 : 0)))
    expect(makeMap(seed, kind).rocks).toEqual(rocks)
  }
  expect(makeMap(1, kind).rocks).not.toEqual(makeMap(2, kind).rocks)
  for (const [, other] of KINDS)
    if (other !== kind) expect(makeMap(1, other).rocks).not.toEqual(makeMap(1, kind).rocks)
})

test('[SKIRM2] a flow field leads from every cell to the goal, over no rock and no corner', () => {
  const { rocks, starts } = makeMap(5)
  const directions = new Uint8Array(CELLS)
  new FlowFinder(rocks).find(starts[3]!, directions)
  for (let from = 0; from < CELLS; from += 7) {
    if (directions[from] === NO_WAY || rocks[from] !== 0) continue
    let [cell, steps, touched] = [from, 0, 0]
    for (; cell !== starts[3] && steps < 1000; steps++) {
      const way = directions[cell]!
      touched += rocks[cell + STEP_X[way]!]! + rocks[cell + STEP_Y[way]! * SIZE]!
      cell += STEP_X[way]! + STEP_Y[way]! * SIZE
      touched += rocks[cell]!
    }
    expect([cell, touched]).toEqual([starts[3], 0])
  }
})

test('[SKIRM2] at most one flow field is computed in a tick, 4 ticks or more after its order; 64 are kept', () => {
  const table = alone()
  const fighters = army(table, 0, SOLDIER, 90)
  table.run(1)
  const field = battlefieldOf(table.runner.world)
  const from = field.computed
  fighters.forEach((unit, each) =>
    table.order({ name: 'Move', values: { units: [unit.id], to: cellAt(20 + each, 100), isQueued: false } }))
  let [before, most] = [from, 0]
  for (let tick = 1; tick <= 120; tick++) {
    table.run(1)
    if (tick <= 4) expect(field.computed).toBe(from)
    most = Math.max(most, field.computed - before)
    before = field.computed
    expect(table.runner.world.count(Field)).toBeLessThanOrEqual(64)
  }
  expect(most).toBe(1)
  expect(field.computed - from).toBe(64)
})

test('[SKIRM3] units move over the map, share a flow field, and end apart from each other and off the rocks', () => {
  const table = alone({ seed: 3 })
  const fighters = army(table, 0, SOLDIER, 40)
  table.run(1)
  const to = makeMap(3).starts[2]!
  expect(table.order({ name: 'Move', values: { units: idsOf(fighters), to, isQueued: false } })).toBe('sent')
  table.run(1)
  expect(fighters.every(({ mode }) => mode === MOVING)).toBe(true)
  table.run(1500)
  const { rocks } = makeMap(3)
  for (const unit of fighters) {
    expect(unit.mode).toBe(IDLE)
    const cell = cellAt(Math.floor(unit.x), Math.floor(unit.y))
    expect(distance(cell, to)).toBeLessThan(8)
    expect(rocks[cell]).toBe(0)
    for (const other of fighters) {
      if (other === unit) continue
      expect(Math.abs(unit.x - other.x) + Math.abs(unit.y - other.y)).toBeGreaterThan(0.4)
    }
  }
  expect([...table.runner.world.each(Field)].filter(({ goal }) => goal === to)).toHaveLength(1)
})

test('[SKIRM3] a unit on either side of a building walks around it', () => {
  const table = alone()
  const home = makeMap(1).starts[0]!
  const walkers: UnitObject[] = []
  const goals: number[] = []
  // From all around the headquarters to the other side of it.
  const from = [[4, 0], [4, 1], [4, -1], [-4, 1], [-4, -2], [0, 4], [1, 4], [1, -4], [-2, -4], [3, 3]] as const
  for (const [dx, dy] of from) {
    walkers.push(...army(table, 0, RAIDER, 1, columnOf(home) + dx, rowOf(home) + dy))
    goals.push(cellAt(columnOf(home) - dx, rowOf(home) - Math.trunc(dy / 2)))
  }
  table.run(1)
  walkers.forEach(({ id }, each) =>
    table.order({ name: 'Move', values: { units: [id], to: goals[each]!, isQueued: false } }))
  table.run(8 * 30)
  expect(walkers.map(({ mode }) => mode)).toEqual(walkers.map(() => IDLE))
})

test('[SKIRM3] two tanks keep farther apart than two soldiers', () => {
  const table = alone()
  const gap = (kind: number): number => {
    const pair = army(table, 0, kind, 2, 70, 30 + 4 * kind)
    table.run(90)
    return Math.hypot(pair[0]!.x - pair[1]!.x, pair[0]!.y - pair[1]!.y)
  }
  expect(gap(SOLDIER)).toBeGreaterThan(0.7)
  expect(gap(TANK)).toBeGreaterThan(1.05)
})

test('[SKIRM3] 200 units walk through a gap of three cells, and none is stuck', () => {
  const table = alone({ seed: 3 })
  const { rocks } = battlefieldOf(table.runner.world).map
  // A wall through the middle of the map, with one gap.
  for (let x = 1; x < SIZE - 1; x++)
    for (const y of [63, 64]) rocks[cellAt(x, y)] = x >= 63 && x <= 65 ? 0 : 1
  const crowd = Array.from({ length: 200 }, (_, each) =>
    spawnUnit(table.runner.world, 1 + (each % 4), 0, 50 + (each % 20) * 0.8, 38 + Math.floor(each / 20) * 0.8))
  table.run(1)
  const to = cellAt(64, 88)
  expect(table.order({ name: 'Move', values: { units: idsOf(crowd), to, isQueued: false } })).toBe('sent')
  const passed = (): number => crowd.filter(({ y }) => y > 65).length
  let [half, all] = [0, 0]
  for (let second = 1; second <= 60 && all === 0; second++) {
    table.run(30)
    if (half === 0 && passed() >= 100) half = second
    if (passed() === 200) all = second
  }
  // Artillery alone, the slowest kind, needs 16 seconds to the wall.
  expect(half).toBeLessThanOrEqual(20)
  expect(all).toBeGreaterThan(0)
  expect(all).toBeLessThanOrEqual(40)
  table.run(900)
  expect(crowd.filter(({ mode }) => mode === IDLE).length).toBe(200)
  for (const { x, y } of crowd) expect(distance(cellAt(Math.floor(x), Math.floor(y)), to)).toBeLessThan(16)
})

test('[SKIRM3] queued orders are executed one after the other; a full queue drops the last', () => {
  const table = alone()
  const [unit] = army(table, 0, RAIDER, 1)
  table.run(1)
  const stops = [[70, 24], [58, 24], [64, 30], [60, 26], [70, 30]] as const
  stops.forEach(([x, y], each) => {
    const values = { units: [unit!.id], to: cellAt(x, y), isQueued: each > 0 }
    table.order(each % 2 === 0 ? { name: 'Move', values } : { name: 'Advance', values })
  })
  const visited: number[] = []
  for (let tick = 0; tick < 600; tick++) {
    table.run(1)
    if (unit!.mode !== IDLE && visited.at(-1) !== unit!.goal) visited.push(unit!.goal)
  }
  expect(visited).toEqual(stops.slice(0, 4).map(([x, y]) => cellAt(x, y)))
  expect(unit!.mode).toBe(IDLE)
})

test('[SKIRM4] an advance fights what it meets, a move does not, and hold follows no enemy', () => {
  const table = alone()
  const target = army(table, 4, SOLDIER, 1, 70, 30)[0]!
  target.hp = 400
  const [mover] = army(table, 0, SOLDIER, 1, 70, 36)
  const [holder] = army(table, 0, SOLDIER, 1, 63, 30)
  table.run(1)
  table.order({ name: 'Hold', values: { units: [holder!.id] } })
  table.order({ name: 'Move', values: { units: [mover!.id], to: cellAt(70, 24), isQueued: false } })
  const at = { x: holder!.x, y: holder!.y }
  table.run(40)
  expect(mover!.target).toBe(0)
  expect(holder!.mode).toBe(HOLDING)
  expect([holder!.x, holder!.y]).toEqual([at.x, at.y])
  table.order({ name: 'Advance', values: { units: [mover!.id], to: cellAt(70, 44), isQueued: false } })
  table.run(10)
  expect(mover!.mode).toBe(ADVANCING)
  expect(mover!.target).toBe(target.id)
  const { hp } = target
  table.run(60)
  expect(target.hp).toBeLessThan(hp)
})

test('[SKIRM4] an attack follows one enemy until it has fallen, and stop ends it', () => {
  const table = alone()
  const [prey] = army(table, 4, WORKER, 1, 80, 40)
  const hunters = army(table, 0, RAIDER, 3)
  table.run(1)
  expect(table.order({ name: 'Attack', values: { units: idsOf(hunters), target: prey!.id } })).toBe('sent')
  table.run(5)
  table.order({ name: 'Stop', values: { units: [hunters[2]!.id] } })
  table.run(500)
  expect(prey!.isAlive).toBe(false)
  expect(hunters.slice(0, 2).every(({ mode, target }) => mode === IDLE && target === 0)).toBe(true)
  expect(distance(cellAt(Math.floor(hunters[2]!.x), Math.floor(hunters[2]!.y)), cellAt(62, 22))).toBeLessThan(10)
  expect(table.seat(0).kills).toBe(1)
  expect(table.seat(4).losses).toBe(1)
})

test('[SKIRM5] workers mine, bring crystals home, and go on at the next deposit', () => {
  const table = alone()
  const workers = table.units(0, WORKER)
  const at = workers[0]!.site
  const deposit = [...table.runner.world.each(Crystal)].find((each) => each.at === at)!
  expect(table.order({ name: 'Gather', values: { units: idsOf(workers), at, isQueued: false } })).toBe('sent')
  table.run(400)
  const { mined, crystals } = table.seat(0)
  expect(mined).toBeGreaterThan(0)
  expect(crystals).toBe(START_CRYSTALS + mined)
  deposit.left = 8
  table.run(600)
  expect(deposit.isAlive).toBe(false)
  expect(table.seat(0).mined).toBeGreaterThan(mined + 40)
  expect(workers.every(({ site }) => site !== at)).toBe(true)
})

test('[SKIRM5] workers share the deposits of a field, and new fighters leave the exit of their building', () => {
  const table = alone()
  const workers = [...table.units(0, WORKER), ...army(table, 0, WORKER, 11)]
  table.run(1)
  const at = workers[0]!.site
  table.order({ name: 'Gather', values: { units: idsOf(workers), at, isQueued: false } })
  table.run(1)
  const crowds = new Map<number, number>()
  for (const { site } of workers) crowds.set(site, (crowds.get(site) ?? 0) + 1)
  expect(Math.max(...crowds.values())).toBeLessThanOrEqual(4)
  expect(crowds.get(at)).toBeGreaterThan(0)
  const place = { kind: BARRACKS, seat: 0, at: cellAt(56, 20), hp: BUILDINGS[BARRACKS]!.hp }
  const barracks = table.runner.world.spawn(Building, place, 1)
  table.seat(0).crystals = 5 * UNITS[SOLDIER]!.cost
  for (let each = 0; each < 5; each++)
    table.order({ name: 'Train', values: { building: barracks.id, kind: SOLDIER } })
  table.run(6 * UNITS[SOLDIER]!.training)
  const soldiers = table.units(0, SOLDIER)
  expect(soldiers).toHaveLength(5)
  for (const unit of soldiers) {
    expect(unit.mode).toBe(IDLE)
    expect(unit.y).toBeGreaterThan(22.5)
    for (const other of soldiers)
      if (other !== unit) expect(Math.hypot(unit.x - other.x, unit.y - other.y)).toBeGreaterThan(0.6)
  }
})

test('[SKIRM5] a worker builds, buildings train, cancel pays back, and new units go to the rally point', () => {
  const table = alone()
  const [worker] = table.units(0, WORKER)
  const at = cellAt(56, 20)
  table.order({ name: 'Build', values: { unit: worker!.id, kind: BARRACKS, at } })
  table.run(1)
  expect(worker!.mode).toBe(BUILDING)
  table.run(200)
  const barracks = table.buildings(0).find(({ kind }) => kind === BARRACKS)!
  expect(barracks.at).toBe(at)
  expect(worker!.mode).not.toBe(BUILDING)
  const seat = table.seat(0)
  seat.crystals = 500
  table.order({ name: 'Train', values: { building: barracks.id, kind: SOLDIER } })
  table.order({ name: 'Train', values: { building: barracks.id, kind: RAIDER } })
  table.order({ name: 'Rally', values: { buildings: [barracks.id], to: cellAt(50, 30) } })
  table.run(1)
  const paid = seat.crystals
  expect(paid).toBeLessThanOrEqual(500 - UNITS[SOLDIER]!.cost - UNITS[RAIDER]!.cost + 8)
  table.order({ name: 'Cancel', values: { building: barracks.id } })
  table.run(1)
  expect(seat.crystals).toBeGreaterThanOrEqual(paid + UNITS[RAIDER]!.cost)
  table.run(BUILDINGS[BARRACKS]!.building + UNITS[SOLDIER]!.training + 300)
  expect(table.units(0, RAIDER)).toHaveLength(0)
  const [soldier] = table.units(0, SOLDIER)
  expect(distance(cellAt(Math.floor(soldier!.x), Math.floor(soldier!.y)), cellAt(50, 30))).toBeLessThan(4)
  const [home] = table.buildings(0)
  table.order({ name: 'Train', values: { building: home!.id, kind: WORKER } })
  table.run(UNITS[WORKER]!.training + 10)
  expect(table.units(0, WORKER)).toHaveLength(6)
  expect(table.units(0, WORKER).at(-1)!.mode).toBe(GATHERING)
})

test('[SKIRM5] a seat has at most 250 units: a building waits until there is room', () => {
  const table = alone()
  const fighters = army(table, 0, SOLDIER, UNITS_PER_SEAT - 5)
  table.seat(0).crystals = 500
  const [home] = table.buildings(0)
  table.order({ name: 'Train', values: { building: home!.id, kind: WORKER } })
  table.run(UNITS[WORKER]!.training + 60)
  expect(table.units(0)).toHaveLength(UNITS_PER_SEAT)
  table.runner.world.despawn(fighters[0]!)
  table.run(3)
  expect(table.units(0, WORKER)).toHaveLength(6)
})

test('[SKIRM6] control groups are part of the state, and a player may surrender', () => {
  const table = alone()
  const workers = table.units(0)
  table.order({ name: 'Group', values: { units: idsOf(workers.slice(0, 3)), group: 4 } })
  table.run(1)
  expect(workers.map(({ group }) => group)).toEqual([4, 4, 4, 0, 0])
  expect(table.order({ name: 'Surrender', values: { isSure: false } })).toBe('refused')
  expect(table.order({ name: 'Surrender', values: { isSure: true } })).toBe('sent')
  table.run(1)
  expect(table.match.winner - 1).toBe(4)
  expect(table.units(0)).toHaveLength(0)
})

test('[SKIRM7] orders for units of others, of nothing and of the wrong kind are refused', () => {
  const table = alone({ checkPurity: true })
  const [[own], [foreign], [home], [foreignHome]] = [
    table.units(0), table.units(4), table.buildings(0), table.buildings(4),
  ]
  const [soldier] = army(table, 0, SOLDIER, 1)
  const to = cellAt(60, 30)
  const refused: Parameters<Table['order']>[0][] = [
    ...(['Move', 'Advance'] as const).flatMap((name) => [
      { name, values: { units: [foreign!.id], to, isQueued: false } },
      { name, values: { units: [own!.id, foreign!.id], to, isQueued: false } },
      { name, values: { units: [], to, isQueued: false } },
      { name, values: { units: [home!.id], to, isQueued: false } },
      { name, values: { units: [own!.id + 1], to, isQueued: false } },
    ]),
    { name: 'Attack', values: { units: [own!.id], target: soldier!.id } },
    { name: 'Attack', values: { units: [own!.id], target: 77 } },
    { name: 'Attack', values: { units: [foreign!.id], target: own!.id } },
    { name: 'Gather', values: { units: [soldier!.id], at: own!.site, isQueued: false } },
    { name: 'Gather', values: { units: [own!.id], at: to, isQueued: false } },
    { name: 'Stop', values: { units: [foreign!.id] } },
    { name: 'Hold', values: { units: [foreign!.id] } },
    { name: 'Group', values: { units: [foreign!.id], group: 1 } },
    { name: 'Build', values: { unit: soldier!.id, kind: BARRACKS, at: to } },
    { name: 'Build', values: { unit: foreign!.id, kind: BARRACKS, at: to } },
    { name: 'Build', values: { unit: own!.id, kind: HEADQUARTERS, at: to } },
    { name: 'Train', values: { building: home!.id, kind: TANK } },
    { name: 'Train', values: { building: foreignHome!.id, kind: WORKER } },
    { name: 'Train', values: { building: own!.id, kind: WORKER } },
    { name: 'Cancel', values: { building: home!.id } },
    { name: 'Rally', values: { buildings: [foreignHome!.id], to } },
  ]
  for (const command of refused) expect(table.order(command), JSON.stringify(command)).toBe('refused')
  const allowed = { name: 'Attack', values: { units: [soldier!.id], target: foreign!.id } } as const
  expect(table.order(allowed)).toBe('sent')
  // The same values from another player are skipped on every peer.
  const before = table.runner.skipped
  table.feed.submit(0, 4, Uint8Array.of(255, 255, 255), 1)
  table.run(1)
  expect(table.runner.skipped).toBe(before + 1)
})

test('[SKIRM7] two orders of one tick cannot spend the same crystals, and no building stands on another', () => {
  const table = alone()
  const [first, second] = table.units(0)
  const seat = table.seat(0)
  seat.crystals = UNITS[WORKER]!.cost
  const [home] = table.buildings(0)
  table.order({ name: 'Train', values: { building: home!.id, kind: WORKER } })
  table.order({ name: 'Train', values: { building: home!.id, kind: WORKER } })
  table.run(1)
  expect(seat.crystals).toBe(0)
  expect(home!.queue).toBe(WORKER + 1)
  seat.crystals = 2000
  const at = cellAt(56, 20)
  for (const unit of [first!, second!]) table.order({ name: 'Build', values: { unit: unit.id, kind: FACTORY, at } })
  table.run(300)
  expect(table.buildings(0).filter(({ kind }) => kind === FACTORY)).toHaveLength(1)
  const rock = makeMap(1).rocks.indexOf(1, 40 * SIZE + 20)
  table.order({ name: 'Build', values: { unit: first!.id, kind: TURRET, at: cellAt(columnOf(rock), rowOf(rock)) } })
  table.run(900)
  expect(table.buildings(0).filter(({ kind }) => kind === TURRET)).toHaveLength(0)
  expect(table.runner.world.count(Unit)).toBeGreaterThan(0)
})
