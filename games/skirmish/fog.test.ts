import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ObjectId, Tick, World } from 'tickwire'
import { order, served, type ServedGame } from 'tickwire/lockstep'
import { connect, serveRooms, type ServingRooms } from 'tickwire/node'
import { ATTACKING, Building, Crystal, Field, MOVING, Seat, Unit } from './definitions.ts'
import { Chart, fogGame, teamOf } from './fog-game.ts'
import { skirmishGame } from './game.ts'
import { cellAt, columnOf, rowOf } from './map-cells.ts'
import { Attack, Move } from './orders.ts'
import { BUILDING_SIGHT, RAIDER, SIGHT, TANK } from './rules.ts'
import { spawnUnit } from './units.ts'

/** One player against a seat in which nothing plays, without a lobby. */
const OPTIONS = { hasLobby: false, levels: [0, 0, 0, 0, 0, 0, 0, 0], seats: [0, 4] }
/** A cell is seen as a whole: what is seen may be this much farther than the sight. */
const CORNER = 1.5

/** What the team of seat 0 saw, by the slow way: every object against every other. Ticks by object. */
const seenAt = new Map<ObjectId, Set<Tick>>()
let world: World
let serving: ServingRooms

function watch(game: ServedGame): ServedGame {
  return {
    ...game,
    step(stepped, inputs) {
      game.step(stepped, inputs)
      world = stepped
      for (const unit of stepped.each(Unit)) if (isNear(unit.x, unit.y)) note(unit.id)
      for (const { id, at } of stepped.each(Building)) if (isNear(columnOf(at) + 1, rowOf(at) + 1, 1)) note(id)
      for (const { id, at } of stepped.each(Crystal)) if (isNear(columnOf(at) + 0.5, rowOf(at) + 0.5)) note(id)
    },
  }
}

function note(id: ObjectId): void {
  if (!seenAt.has(id)) seenAt.set(id, new Set())
  seenAt.get(id)!.add(world.tick)
}

function isNear(x: number, y: number, more = 0): boolean {
  for (const unit of world.each(Unit))
    if (unit.seat === 0 && Math.hypot(unit.x - x, unit.y - y) <= SIGHT + CORNER + more) return true
  for (const { seat, at } of world.each(Building)) {
    const apart = Math.hypot(columnOf(at) + 1.5 - x, rowOf(at) + 1.5 - y)
    if (seat === 0 && apart <= BUILDING_SIGHT + CORNER + more) return true
  }
  return false
}

beforeAll(async () => {
  const game = watch(fogGame(OPTIONS))
  serving = await serveRooms({ skirmish: { game, capacity: 8, interest: { teamOf } } }, { port: 0, development: false })
  serving.create('skirmish', { seed: 1 })
})
afterAll(async () => await serving.close())

test('[SKIRM16] a client of a match with fog receives no object that its team does not see', async () => {
  // A page with changed code: it does not check its orders.
  const rules = skirmishGame({ ...OPTIONS, isFoggy: true })
  const orders = rules.orders.map(({ name, schema }) => order(schema.shape as never, name))
  const changed = served({ ...rules, orders } as never, { entities: [Chart] })
  const room = await connect(changed, serving.url, { join: { quick: 'skirmish' }, keepSeat: false })
  room.play({ input: () => ({}) })
  await expect.poll(() => world?.tick ?? 0).toBeGreaterThan(10)
  // Raiders run through the sight of the player, from one side to the other. Tanks stay where no one sees them.
  const raiders = Array.from({ length: 12 }, (_, each) => spawnUnit(world, RAIDER, 4, 44 + (each % 3), 11 + each / 3))
  for (const raider of raiders) Object.assign(raider, { mode: MOVING, goal: cellAt(88, 12) })
  const tanks = Array.from({ length: 20 }, (_, each) => spawnUnit(world, TANK, 4, 64 + (each % 5), 60 + each / 5))
  const { held } = room.tools.host.insides.snapshots
  const received = new Set<ObjectId>()
  const wrong: string[] = []
  const look = (): void => {
    for (let index = 0; index < held.ids.length; index++) {
      const id = held.ids[index]!
      const [kind, tick] = [changed.entities[held.types[index]!], held.receivedAt[index]!]
      if (id === 0 || (kind !== Unit && kind !== Building && kind !== Crystal)) continue
      received.add(id)
      if (seenAt.get(id)?.has(tick) !== true) wrong.push(`${kind.schema.name} ${id} in tick ${tick}`)
    }
  }
  const timer = setInterval(look, 8)
  const visible = (): number => raiders.filter(({ id }) => room.view.get(Unit, id) !== null).length
  const draw = (): void => { room.tools.host.draw(performance.now()) }
  await expect.poll(() => { draw(); return visible() }, { timeout: 15_000 }).toBeGreaterThan(6)
  // An enemy in sight shows where it is, and not where it goes.
  const [shown] = [...room.view.each(Unit)].filter(({ seat }) => seat === 4)
  expect(world.get(Unit, shown!.id)!.goal).not.toBe(0)
  expect(shown!.goal).toBe(0)
  // What is hidden cannot be attacked, not even by a page that knows its id.
  const own = [...world.each(Unit)].filter(({ seat }) => seat === 0)
  const units = own.map(({ id }) => id)
  const give = (kind: { readonly name: string }, values: object): string =>
    changed.order(room, orders.find(({ name }) => name === kind.name) as never, values as never)
  expect(give(Attack, { units, target: tanks[0]!.id })).toBe('sent')
  expect(give(Move, { units: [units[0]], to: cellAt(60, 30), isQueued: false })).toBe('sent')
  await expect.poll(() => own[0]!.mode).toBe(MOVING)
  expect(own.filter(({ mode }) => mode === ATTACKING)).toEqual([])
  // Raiders that left the sight are gone from the view, and alive on the server.
  await expect.poll(() => { draw(); return visible() }, { timeout: 20_000 }).toBe(0)
  clearInterval(timer)
  expect(raiders.filter(({ isAlive }) => isAlive).length).toBeGreaterThan(0)
  expect(wrong).toEqual([])
  expect(tanks.filter(({ id }) => received.has(id))).toEqual([])
  expect(received.size).toBeGreaterThan(15)
  expect([...room.view.each(Field)]).toEqual([])
  expect(world.count(Field)).toBeGreaterThan(0)
  const seats = [...room.view.each(Seat)]
  expect(seats[0]!.crystals).toBeGreaterThan(0)
  expect(seats[4]!.crystals).toBe(0)
  room.leave()
  await room.closed
})
