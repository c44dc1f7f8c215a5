/**
 * Desyncs that are planted on purpose, as code of a game, and the machines on which they show. Every plant is a mistake
 * that a game or a page can make; the nets must find all of them.
 */

import { entity, f64, fixed, list, text, u16, u8, type World } from 'tickwire'
import { defineLockstep, order, type LockstepGame, type LockstepRunner } from 'tickwire/lockstep'

/** What differs between two machines, although the ticks are the same. */
export interface Machine {
  readonly number: number
  /** A number that a page, a connection or a file system of this machine would give. */
  readonly zero: number
  readonly depth: number
  readonly player: number
  /** Set while the match is played. */
  isAway: boolean
  isPaused: boolean
  drawnAt: number
}

export function makeMachine(number: number): Machine {
  return {
    number, zero: number === 0 ? 0 : -0, depth: 600 + 70 * number, player: number, isAway: number > 0,
    isPaused: number > 0, drawnAt: number * 3,
  }
}

/** Functions whose results depend on the engine, the clock or the language of the machine. */
export function onMachine<T>({ number }: Machine, run: () => T): T {
  const originals: [object, string, unknown][] = []
  const replace = (target: object, name: string, make: (original: (...args: never[]) => unknown) => unknown): void => {
    const original = Reflect.get(target, name) as (...args: never[]) => unknown
    originals.push([target, name, original])
    Object.defineProperty(target, name, { value: make(original), configurable: true, writable: true })
  }
  let calls = number * 1000
  replace(Math, 'random', () => () => (++calls * 0.618) % 1)
  replace(Date, 'now', () => () => 1000 + (++calls) * 7)
  replace(Math, 'sin', (original) => (x: never) => Number(original(x)) * (1 + number / 100))
  replace(Number.prototype, 'toLocaleString', () => function (this: number) {
    return number === 0 ? `${this},0` : `${this}.0`
  })
  replace(Intl, 'NumberFormat', () => function () { return { format: (value: number) => `${value}${number}` } })
  type Compare = (a: unknown, b: unknown) => unknown
  replace(Array.prototype, 'sort', (original) => function (this: unknown[], compare?: Compare) {
    const isBoolean = compare !== undefined && this.length > 1 && typeof compare(this[0], this[1]) === 'boolean'
    return isBoolean && number > 0 ? this.reverse() : Reflect.apply(original, this, [compare] as never[])
  })
  try {
    return run()
  } finally {
    for (const [target, name, value] of originals)
      Object.defineProperty(target, name, { value, configurable: true, writable: true })
  }
}

export const Unit = entity(
  { x: fixed(0, 1000, 0.01), f: f64, hp: u16, tag: text(20), cargo: list(u8, 8) }, { name: 'Unit' },
)
export const Poke = order({ value: u16 }, 'Poke')

/** Variables of the game's module: one for each process. */
export type Kept = Record<string, unknown>

/** One planted mistake. */
export interface PlantedDesync {
  readonly name: string
  /** The wrong code in `step`: world, orders, units, machine and kept are there. */
  readonly step?: string
  /** Another part of the game. */
  readonly parts?: (machine: Machine, kept: Kept) => Partial<Parameters<typeof defineLockstep>[0]>
  /** What the page of the machine does after a tick. */
  readonly page?: (runner: LockstepRunner, machine: Machine) => void
  /** The order whose check is wrong. */
  readonly check?: (world: () => World) => boolean
}

const first = 'const unit = units[0]; if (unit !== undefined) '

export const PLANTED: readonly PlantedDesync[] = [
  { name: 'Math.random', step: `${first} unit.hp = Math["random"]() * 1000` },
  { name: 'Date.now', step: `${first} unit.hp = Date["now"]() % 1000` },
  { name: 'Math.sin', step: `${first} unit.x = 500 + 400 * Math["sin"](world.tick)` },
  { name: 'a counter in a closure', step: `kept.count = (kept.count ?? 0) + 1; ${first} unit.hp = kept.count` },
  {
    name: 'a Map that is filled in another order after loading',
    step: `kept.map ??= new Map()
      for (const each of units) if (!kept.map.has(each.id)) kept.map.set(each.id, world.tick)
      const [[, born]] = kept.map; ${first} unit.hp = born`,
  },
  {
    name: 'a comparator that returns a boolean',
    step: `const order = units.map((each) => each.id).sort((a, b) => a > b)
      ${first} unit.hp = (order[0] ?? 0) % 60000`,
  },
  {
    name: 'external state that is left out of images',
    step: `kept.level = (kept.level ?? 0) + 1; ${first} unit.hp = kept.level`,
    parts: () => ({ external: () => ({ encode: () => new Uint8Array(0), decode: () => {}, hash: () => 0 }) }),
  },
  {
    name: 'a stale flow field',
    step: `if (world.tick % 64 === 1 || kept.field === undefined)
        kept.field = units.reduce((sum, each) => sum + each.x, 0)
      ${first} unit.hp = kept.field % 60000`,
    parts: (_machine, kept) => ({
      derived: [{
        name: 'field', hash: () => Number(kept['field']),
        rebuild: (world) => { kept['field'] = [...world.each(Unit)].reduce((sum, each) => sum + each.x, 0) },
      }],
    }),
  },
  {
    name: 'a page that draws from the generator of the world',
    page: ({ world, tick }, { number }) => { if (number > 0 && tick % 50 === 49) world.prng.nextU32() },
  },
  {
    name: 'a check that writes',
    check(world) {
      for (const unit of [...world().each(Unit)].slice(0, 1)) unit.hp = (unit.hp + 1) % 1000
      return true
    },
  },
  {
    name: 'ids of the next spawns that are not those of the others',
    page: ({ world, tick }, { number }) => { if (number > 0 && tick === 60) world.despawn(world.spawn(Unit, {})) },
  },
  {
    name: 'a leave that is seen one tick late',
    step: `if (world.tick === 80 + (machine.number > 0 ? 1 : 0))
        for (const each of units.slice(0, 2)) world.despawn(each)`,
  },
  { name: 'away, read from the connection', step: `${first} if (!machine.isAway) unit.x += 0.5` },
  { name: 'a zero divided by a zero', step: `${first} unit.f = (machine.depth - 600) / (machine.depth - 600)` },
  { name: 'a negative zero', step: `${first} unit.f = 5 * machine.zero` },
  {
    name: 'a RangeError that is caught',
    step: `const deep = (n) => { if (n > machine.depth) throw new RangeError('deep'); return 1 + deep(n + 1) };
      ${first} { try { deep(0); unit.hp = 1 } catch { unit.hp = machine.depth } }`,
  },
  { name: 'the language of the machine', step: `${first} unit.tag = (1234.5).toLocaleString()` },
  { name: 'Intl', step: `${first} unit.tag = new Intl.NumberFormat().format(5)` },
  { name: 'the drawn position, read in step', step: `${first} unit.x = (unit.x + machine.drawnAt) % 1000` },
  { name: 'a pause that is toggled locally', step: `${first} if (!machine.isPaused) unit.hp = (unit.hp + 1) % 1000` },
  {
    name: 'draws in onStart by the sequence of joining',
    parts: (machine) => ({
      onStart(world) {
        for (let at = 0; at < 8; at++) world.spawn(Unit, { hp: 100 })
        for (let draws = 0; draws < machine.number; draws++) world.prng.nextU32()
      },
    }),
  },
  {
    name: 'a list that two objects share',
    step: `kept.bag ??= []; kept.bag.push(world.tick % 200); ${first} unit.cargo = kept.bag.slice(0, 8)`,
  },
  {
    name: 'orders of one time by their arrival',
    step: `const list = [...orders]; if (machine.number > 0) list.reverse();
      for (const given of list) { ${first} unit.hp = (unit.hp * (1 + given.by) + 7 * given.by * given.by) % 997 }`,
  },
  {
    name: 'visibility that a spectator does not step',
    step: `${first} if (machine.player === 0) unit.hp = (unit.hp + 3) % 1000`,
  },
  {
    name: 'seen in step',
    step: `let count = 0
      for (const each of world.seen(kept.Unit)) count += each.hp
      ${first} unit.hp = count % 900`,
    parts: (_machine, kept) => {
      kept['Unit'] = Unit
      return {}
    },
    // The page hides what its player may not see.
    page({ world }, { number }) {
      world.sight = {
        looks: 0,
        each: (type) => [...world.each(type)].slice(number) as never,
        get: (type, id) => world.get(type, id) as never,
      }
    },
  },
  {
    name: 'an event that is forgotten on rejoin',
    step: `${first} if (kept.hasJoined === true) unit.x = (unit.x + 0.25) % 1000`,
    parts: (_machine, kept) => ({ onJoin: () => { kept['hasJoined'] = true } }),
  },
]

/** The game of a machine, with a plant or without. */
export function plantedGame(plant: PlantedDesync | undefined, machine: Machine): LockstepGame {
  const kept: Kept = {}
  let live: World | undefined
  const wrong = plant?.step === undefined ? undefined
    : new Function('world', 'orders', 'units', 'machine', 'kept', plant.step) as (...args: unknown[]) => void
  const check = plant?.check
  const poke = check === undefined ? Poke
    : order({ value: u16 }, 'Poke', { check: () => check(() => live!) })
  return defineLockstep({
    orders: [poke], entities: [Unit],
    onStart(world) {
      for (let at = 0; at < 8; at++) world.spawn(Unit, { x: at * 10, hp: 100, tag: `unit ${at}` })
    },
    ...plant?.parts?.(machine, kept),
    step(world, orders) {
      live = world
      for (const unit of world.each(Unit)) unit.x = (unit.x + world.prng.nextInt(0, 100) / 100) % 1000
      if (world.tick % 10 === 0) world.spawn(Unit, { hp: world.tick, cargo: [world.tick % 200] })
      if (world.tick % 15 === 0) for (const unit of [...world.each(Unit)].slice(2, 4)) world.despawn(unit)
      wrong?.(world, orders, [...world.each(Unit)], machine, kept)
    },
  }) as unknown as LockstepGame
}
