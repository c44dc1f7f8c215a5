/**
 * The world beside the alternatives of a game: plain objects and bitECS to loop over; one memory copy, structuredClone,
 * JSON and msgpackr to save and load; xxhash-wasm to hash.
 *
 * One entity of 20 numbers, at 32, 1,000 and 10,000 objects. The budgets hold at every size: each figure is the worst
 * of the three.
 */

import { addComponent, addEntity, createWorld, query } from 'bitecs'
import { Packr } from 'msgpackr'
import { parseArgs } from 'node:util'
import xxhash, { type XXHashAPI } from 'xxhash-wasm'
import { entity } from '../packages/tickwire/src/core/schema/definition.ts'
import { angle, bool, fixed, u16, u8 } from '../packages/tickwire/src/core/schema/field-kinds.ts'
import type { ObjectOf } from '../packages/tickwire/src/core/world/handle.ts'
import { SaveSlots } from '../packages/tickwire/src/core/world/save-slots.ts'
import { StateHash } from '../packages/tickwire/src/core/world/state-hash.ts'
import { Timeline } from '../packages/tickwire/src/core/world/timeline.ts'
import { World } from '../packages/tickwire/src/core/world/world.ts'
import {
  allocatedBytes, interleave, ratio, type Bench, type BenchResult, type Contender, type Figure, type Table, type Timing,
} from './harness.ts'
import { makePlain, type Plain } from './world-plain.ts'

/** Rounds that do not count: the compiler runs at the same time, and needs longer on a busy machine. */
const WARMUPS = 200
const SLOW_ROUNDS = 9

const PLAIN = 'an array of plain objects'
const MEMCPY = 'one Float64Array.set of equal bytes'
const XXHASH = 'xxhash-wasm 1.1.0'

export const bench: Bench = {
  name: 'world',
  summary:
    'iterate, save, load, hash and sample, beside plain objects, bitECS, structuredClone, JSON, msgpackr, xxhash-wasm',
  options: ['--sizes A,B     objects (default 32,1000,10000)', '--rounds N      timed rounds (default 41)'],
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { sizes: { type: 'string', default: '32,1000,10000' }, rounds: { type: 'string', default: '41' } },
    })
    return await run(values.sizes.split(',').map(Number), Number(values.rounds))
  },
}

const place = fixed(-1000, 1000, 0.01)
const speed = fixed(-50, 50, 0.01)

const Unit = entity({
  x: place, y: place, z: place, vx: speed, vy: speed, vz: speed, heading: angle(12), pitch: angle(10),
  hp: u8, armor: u8, ammo: u8, weapon: u8, team: u8, level: u8, score: u16, kills: u16,
  isCrouched: bool, isFiring: bool, isReady: bool, charge: fixed(0, 1, 0.01),
}, { name: 'Unit' })

/**
 * Two more entities in the same world, and three in another: then the shared code of handles has seen more kinds of
 * objects than any JavaScript engine specialises code for, as in a real game.
 */
const OTHERS = ['A', 'B', 'C', 'D', 'E'].map((name) => entity({ x: place, y: place, [`own${name}`]: u8 }, { name }))
const NEIGHBOURS = OTHERS.slice(0, 2)

function useOthers(): void {
  const world = new World(OTHERS)
  for (const other of OTHERS) world.spawn(other, {})
  for (let round = 0; round < 3000; round++)
    for (const other of OTHERS) for (const object of world.each(other)) object.x = object.y + 1
}

async function run(sizes: readonly number[], rounds: number): Promise<BenchResult> {
  const hasher = await xxhash()
  useOthers()
  const tables: Table[] = []
  const worst: Record<'iterate' | 'save' | 'load' | 'hash', number[]> = { iterate: [], save: [], load: [], hash: [] }
  for (const size of sizes) {
    const scene = makeScene(size)
    const iterate = interleave(iterateContenders(scene), rounds, WARMUPS)
    const copy = interleave(copyContenders(scene), rounds, WARMUPS)
    const save = interleave(saveContenders(scene), SLOW_ROUNDS, SLOW_ROUNDS)
    const load = interleave(loadContenders(scene), SLOW_ROUNDS, SLOW_ROUNDS)
    const hash = interleave(hashContenders(scene, hasher), rounds, WARMUPS)
    const sample = interleave(sampleContenders(scene), rounds, WARMUPS)
    worst.iterate.push(ratio(iterate, 'tickwire handles', 'plain objects'))
    worst.save.push(ratio(copy, 'tickwire save', MEMCPY))
    worst.load.push(ratio(copy, 'tickwire load', MEMCPY))
    worst.hash.push(ratio(hash, XXHASH, 'tickwire, all changed'))
    tables.push(
      timeTable(`${size} objects: read and write 3 fields, ns an object`, iterate, size, 'plain objects'),
      timeTable(`${size} objects: save and load ${savedBytes(scene)} bytes, us`, copy, 1000, MEMCPY),
      timeTable(`${size} objects: save, us`, save, 1000, 'tickwire save'),
      timeTable(`${size} objects: load, us`, load, 1000, 'tickwire load'),
      timeTable(`${size} objects: hash ${scene.hashedBytes} bytes, us`, hash, 1000, XXHASH),
      timeTable(`${size} objects: sample, us`, sample, 1000, 'world.sample, none moves'),
    )
  }
  const figures: Figure[] = [
    { name: 'iterate_ratio_objects', value: Math.max(...worst.iterate), unit: 'ratio', against: PLAIN, atMost: 2 },
    { name: 'save_ratio_memcpy', value: Math.max(...worst.save), unit: 'ratio', against: MEMCPY, atMost: 3 },
    { name: 'load_ratio_memcpy', value: Math.max(...worst.load), unit: 'ratio', against: MEMCPY, atMost: 3 },
    {
      name: 'hash_ratio_xxhash',
      value: Math.min(...worst.hash),
      unit: 'ratio of rates',
      against: XXHASH,
      atLeast: 0.15,
    },
    { name: 'heap_bytes_per_tick', value: bytesPerTick(), unit: 'B/tick', against: null, atMost: 0 },
  ]
  return { tables, figures }
}

interface Scene {
  readonly size: number
  readonly world: World
  readonly slots: SaveSlots
  readonly units: readonly ObjectOf<typeof Unit>[]
  readonly plain: Plain[]
  readonly hashedBytes: number
}

function makeScene(size: number): Scene {
  const world = new World([Unit, ...NEIGHBOURS], { seed: 1 })
  const plain = Array.from({ length: size }, makePlain)
  const units = plain.map((init) => world.spawn(Unit, init))
  for (const other of NEIGHBOURS) for (let count = 0; count < 3; count++) world.spawn(other, {})
  world.endTick()
  const slots = new SaveSlots(world, 2)
  slots.save(0)
  const lanes = world.stores[0]!.schema.laneCount
  return { size, world, slots, units, plain, hashedBytes: size * (lanes + 2) * 4 }
}

/**
 * Runs of one operation per timing: about a tenth of a millisecond, so that the resolution of the clock does not
 * matter.
 */
function times(size: number, nsEach: number): number {
  return Math.max(1, Math.round(100_000 / (size * nsEach)))
}

const DT = 1 / 64

function iterateContenders({ size, world, plain }: Scene): Contender[] {
  const runs = times(size, 6)
  const columns = {
    x: new Float64Array(size + 1),
    y: new Float64Array(size + 1),
    z: new Float64Array(size + 1),
    vx: new Float64Array(size + 1),
    vy: new Float64Array(size + 1),
    vz: new Float64Array(size + 1),
  }
  const ecs = createWorld()
  for (let count = 0; count < size; count++) addComponent(ecs, addEntity(ecs), columns)
  const repeat = (name: string, body: () => void): Contender => ({
    name,
    ops: runs,
    run: () => {
      for (let at = 0; at < runs; at++) body()
    },
  })
  return [
    repeat('tickwire handles', () => moveHandles(world)),
    repeat('plain objects', () => movePlain(plain)),
    repeat('bitecs 0.4.0', () => moveColumns(query(ecs, [columns]), columns)),
  ]
}

function moveHandles(world: World): void {
  for (const unit of world.each(Unit)) {
    unit.x += unit.vx * DT
    unit.y += unit.vy * DT
    unit.z += unit.vz * DT
  }
}

function movePlain(units: readonly Plain[]): void {
  for (const unit of units) {
    unit.x += unit.vx * DT
    unit.y += unit.vy * DT
    unit.z += unit.vz * DT
  }
}

function moveColumns(
  entities: ArrayLike<number>,
  { x, y, z, vx, vy, vz }: Record<'x' | 'y' | 'z' | 'vx' | 'vy' | 'vz', Float64Array>,
): void {
  for (let at = 0; at < entities.length; at++) {
    const eid = entities[at]!
    x[eid]! += vx[eid]! * DT
    y[eid]! += vy[eid]! * DT
    z[eid]! += vz[eid]! * DT
  }
}

/** Bytes that a save has to copy: the live numbers and the object table. */
function savedBytes({ world }: Scene): number {
  // Live numbers and rows: a slot has both.
  const state = world.stores.reduce(
    (sum, { highSlot, schema }) => sum + highSlot * (schema.cellCount * 8 + schema.laneCount * 4),
    0,
  )
  return (state + world.objects.highWater * 16) & ~7
}

/** The ways that copy memory. The budgets are for these. */
function copyContenders(scene: Scene): Contender[] {
  const from = new Float64Array(savedBytes(scene) / 8).fill(1)
  const to = new Float64Array(from.length)
  const runs = times(scene.size, 10)
  return [
    saveContender(scene),
    loadContender(scene),
    { name: MEMCPY, ops: runs, run() { for (let at = 0; at < runs; at++) to.set(from) } },
  ]
}

function saveContender({ size, slots }: Scene): Contender {
  const runs = times(size, 10)
  return { name: 'tickwire save', ops: runs, run() { for (let at = 0; at < runs; at++) slots.save(1) } }
}

function loadContender({ size, slots }: Scene): Contender {
  const runs = times(size, 10)
  return { name: 'tickwire load', ops: runs, run() { for (let at = 0; at < runs; at++) slots.load(0) } }
}

/** The ways that visit every object. They are a hundred times slower, so they run fewer rounds. */
function saveContenders(scene: Scene): Contender[] {
  const { plain } = scene
  const packr = new Packr()
  return [
    saveContender(scene),
    { name: 'structuredClone', ops: 1, run() { sink = structuredClone(plain) } },
    { name: 'JSON.stringify', ops: 1, run() { sink = JSON.stringify(plain) } },
    { name: 'msgpackr 2.1.3', ops: 1, run() { sink = packr.pack(plain) } },
  ]
}

function loadContenders(scene: Scene): Contender[] {
  const { plain } = scene
  const packr = new Packr()
  const packed = packr.pack(plain)
  const text = JSON.stringify(plain)
  return [
    loadContender(scene),
    { name: 'structuredClone', ops: 1, run() { sink = structuredClone(plain) } },
    { name: 'JSON.parse', ops: 1, run() { sink = JSON.parse(text) } },
    { name: 'msgpackr 2.1.3', ops: 1, run() { sink = packr.unpack(packed) } },
  ]
}

/** Everything changes in every run: the rows are swapped for others, and every change mark is set. */
function hashContenders({ world, units, size, hashedBytes }: Scene, { h64Raw }: XXHashAPI): Contender[] {
  const store = world.stores[0]!
  const [all, few] = [new StateHash(world), new StateHash(world)]
  const slots = units.map((unit) => store.slotOf(unit as never))
  const both = [store.rows.slice(), store.rows.slice()] as const
  for (let lane = 0; lane < both[1].length; lane++) both[1][lane]! ^= 5
  const bytes = new Uint8Array(hashedBytes).map((_, at) => at * 31)
  const runs = times(size, 60)
  let turn = 0
  const repeat = (name: string, body: () => unknown): Contender => ({
    name,
    ops: runs,
    run: () => {
      for (let at = 0; at < runs; at++) sink = body()
    },
  })
  return [
    repeat('tickwire, all changed', () => {
      store.rows = both[turn++ & 1]!
      store.stamps.fill(Infinity)
      return all.update()[0]
    }),
    repeat('tickwire, a tenth changed', () => {
      store.rows = both[turn++ & 1]!
      store.stamps.fill(0)
      for (let at = turn % 10; at < size; at += 10) store.stamps[slots[at]!] = Infinity
      return few.update()[0]
    }),
    repeat(XXHASH, () => h64Raw(bytes)),
  ]
}

function sampleContenders({ world, units, size }: Scene): Contender[] {
  const store = world.stores[0]!
  const slots = units.map((unit) => store.slotOf(unit as never))
  const timeline = new Timeline(world, 128)
  const runs = times(size, 60)
  const { laneCount } = store.schema
  let turn = 0
  const moveEvery = (step: number): void => {
    for (let at = turn++ % step; at < size; at += step) units[at]!.x = turn % 100
  }
  const repeat = (name: string, body: () => void): Contender => ({
    name,
    ops: runs,
    run: () => {
      for (let at = 0; at < runs; at++) body()
    },
  })
  return [
    repeat('world.sample, none moves', () => world.sample()),
    repeat('world.sample, a tenth moves', () => {
      moveEvery(10)
      world.sample()
    }),
    repeat('world.sample, all move', () => {
      moveEvery(1)
      world.sample()
    }),
    repeat('Timeline.sample, a tenth moved', () => {
      turn++
      world.tick++
      store.stamps.fill(0)
      for (let at = turn % 10; at < size; at += 10) {
        store.rows[slots[at]! * laneCount]! ^= 1
        store.stamps[slots[at]!] = Infinity
      }
      timeline.sample()
    }),
  ]
}

const TICKS = 10_000

/** The memory that 10,000 ticks of a whole game leave: step, sample, Timeline, hash, save. */
function bytesPerTick(): number {
  const { world } = makeScene(200)
  const timeline = new Timeline(world, 64)
  const hash = new StateHash(world)
  const slots = new SaveSlots(world, 8)
  return allocatedBytes(() => {
    for (let tick = 0; tick < TICKS; tick++) {
      world.beginTick()
      moveHandles(world)
      world.endTick()
      timeline.sample()
      hash.update()
      slots.save(world.tick & 7)
    }
  }, TICKS, 5)
}

/** Results are stored here, so that nothing is optimised away. */
let sink: unknown
export const kept = (): unknown => sink

function timeTable(title: string, timings: readonly Timing[], scale: number, against: string): Table {
  return {
    title,
    columns: ['what', title.split(', ').at(-1)!, 'times'],
    rows: timings.map(({ name, ns }) => [name, ns / scale, ratio(timings, name, against)]),
  }
}
