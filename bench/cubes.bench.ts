/**
 * The scene of 901 cubes: bytes a packet when frame t is told against frames t-6 and t-7, and nothing newer. Every packet is read
 * back and compared, number by number.
 *
 * A packet is a presence section and the rows of the cubes that changed. Tables are trained on scenes of other seeds
 * (`bench/cubes/priors.json`, or `--train`), never on the scene that is measured.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { BitReader } from '../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../packages/tickwire/src/core/bits/bit-writer.ts'
import { EntropyCoder } from '../packages/tickwire/src/core/codec/entropy-coder.ts'
import { PackedCoder } from '../packages/tickwire/src/core/codec/packed-coder.ts'
import { IndexSet, PresenceSection } from '../packages/tickwire/src/core/codec/presence-section.ts'
import { TrainedTables, type EntityPriors } from '../packages/tickwire/src/core/codec/priors.ts'
import { RowPair, type RowCoder } from '../packages/tickwire/src/core/codec/row-coder.ts'
import { train } from '../packages/tickwire/src/core/codec/training.ts'
import { ValueHeap } from '../packages/tickwire/src/core/schema/value-heap.ts'
import { articleGrid, CUBE_LANES, cubeFile, cubeRows, CUBES, cubeSchema, TICKS_PER_SECOND } from './cubes/cube-rows.ts'
import { articleBytes } from './cubes/article-scheme.ts'
import { playCubes } from './cubes/cube-scene.ts'
import type { Bench, BenchResult } from './harness.ts'

const DISTANCE = 6
const ROOM_BYTES = 1 << 17
const PRIORS = new URL('./cubes/priors.json', import.meta.url)
/** Seeds of our own scenes that priors.json was trained on: never measured. */
const TRAINED_SEEDS: readonly number[] = [1, 2, 3, 4]
const SEED = 2026
const FRAMES = 1800
const grid = (): typeof articleGrid => articleGrid

export const bench: Bench = {
  name: 'cubes',
  summary: 'the scene of 901 cubes of the articles on snapshot compression: bytes a packet, beside the articles\' scheme',
  options: [
    `--seed S         of the scene that is played (default ${SEED}; not ${TRAINED_SEEDS.join(', ')}, which the tables were trained on)`, `--frames N       (default ${FRAMES})`,
    '--file F         a scene that somebody else played, in the layout of bench/cubes/cube-rows.ts', '--write F        keep the scene in that layout, for other programs',
    '--train S,F...   train on scenes of these seeds or files instead of taking bench/cubes/priors.json', '--save F         write what was trained',
  ],
  run: async (args) => {
    const text = { type: 'string' } as const
    const { values } = parseArgs({ args: [...args], options: { file: text, seed: text, frames: text, write: text, train: text, save: text } })
    const frames = Number(values.frames ?? FRAMES)
    const tested = values.file ?? values.seed ?? String(SEED)
    const trainedOn = values.train?.split(',') ?? TRAINED_SEEDS.map(String)
    if (trainedOn.includes(tested)) throw new Error(`trained and tested on one scene, ${tested}: choose others`)
    const priors = values.train === undefined ? (JSON.parse(readFileSync(PRIORS, 'utf8')) as EntityPriors) : await trainOn(trainedOn, frames)
    if (values.save !== undefined) writeFileSync(values.save, JSON.stringify(priors))
    const rows = await sceneOf(tested, frames)
    if (values.write !== undefined) writeFileSync(values.write, cubeFile(rows))
    return run(rows, priors, values.file === undefined ? `our scene, seed ${tested}` : 'a scene from a file')
  },
}

/** A scene of a seed, or out of a file. */
async function sceneOf(from: string, frames: number): Promise<Int32Array[]> {
  return /^\d+$/.test(from) ? playCubes(frames, Number(from)) : cubeRows(from)
}

function run(rows: readonly Int32Array[], priors: EntityPriors, scene: string): BenchResult {
  const schema = cubeSchema()
  const coders: readonly (readonly [string, RowCoder])[] = [
    ['entropy, trained', new EntropyCoder(schema, TICKS_PER_SECOND, { grid, tables: (plan) => new TrainedTables(plan, priors) })],
    ['entropy, built-in tables', new EntropyCoder(schema, TICKS_PER_SECOND, { grid })],
    ['packed', new PackedCoder(schema, grid)],
  ]
  const article = articleBytes(rows, DISTANCE)
  const results = coders.map(([name, coder]) => ({ name, ...measure(coder, rows) }))
  const [trained] = results
  return {
    tables: [{
      title: `${scene}: ${rows.length} frames of ${CUBES} cubes, t-${DISTANCE}: bytes a packet`,
      columns: ['', 'bytes', 'presence', 'bits a changed cube', 'of the articles\' scheme'],
      rows: [...results.map(({ name, total, presence, bits }) => [name, total, presence, bits, total / article]), ['the articles\' scheme, sizes only', article, '', '', 1]],
    }],
    figures: [
      { name: 'bytes_per_packet', value: trained!.total, unit: 'B', against: null },
      { name: 'bytes_ratio_article_scheme', value: trained!.total / article, unit: 'ratio', against: 'index, relative position and smallest three, as the articles give it', atMost: 0.56 },
    ],
  }
}

async function trainOn(from: readonly string[], frames: number): Promise<EntityPriors> {
  const scenes: Int32Array[][] = []
  for (const each of from) scenes.push(await sceneOf(each, frames))
  return train(cubeSchema(), TICKS_PER_SECOND, 1, (see) => {
    const pair = new RowPair()
    for (const rows of scenes) {
      for (let frame = DISTANCE; frame < rows.length; frame++) {
        for (let cube = 0; cube < CUBES; cube++) {
          if (!differs(rows[frame]!, rows[frame - DISTANCE]!, cube)) continue
          aim(pair, rows, frame, cube)
          see(pair)
        }
      }
    }
  }, grid)
}

function aim(pair: RowPair, rows: readonly Int32Array[], frame: number, cube: number): void {
  const at = cube * CUBE_LANES
  const older = frame - DISTANCE - 1
  pair.rows = rows[frame]!
  pair.at = at
  pair.baseRows = rows[frame - DISTANCE]!
  pair.baseAt = at
  pair.age = DISTANCE
  pair.olderRows = rows[Math.max(0, older)]!
  pair.olderAt = older < 0 ? -1 : at
}

function measure(coder: RowCoder, rows: readonly Int32Array[]): { readonly total: number; readonly presence: number; readonly bits: number } {
  const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
  const reader = new BitReader(writer.bytes)
  const section = new PresenceSection()
  const reference = new IndexSet()
  const heap = new ValueHeap()
  const pair = new RowPair()
  const ordinary = new Uint8Array(CUBES).fill(1)
  const got = new Int32Array(CUBE_LANES)
  let [total, presence, changed] = [0, 0, 0]
  for (let frame = DISTANCE; frame < rows.length; frame++) {
    const [now, base, older] = [rows[frame]!, rows[frame - DISTANCE]!, rows[Math.max(0, frame - DISTANCE - 1)]!]
    const moving = Array.from({ length: CUBES }, (_, cube) => cube).filter((cube) => differs(now, base, cube))
    refer(reference, base, older)
    writer.reset(writer.bytes)
    section.write(writer, moving, ordinary, moving.length, reference)
    presence += writer.bitLength / 8
    for (const cube of moving) {
      aim(pair, rows, frame, cube)
      coder.write(writer, 0, pair, heap)
    }
    total += writer.finish()
    changed += moving.length
    reader.reset(writer.bytes)
    const count = section.read(reader, reference)
    if (count !== moving.length) throw new Error(`frame ${frame}: cubes were lost`)
    for (const cube of moving) {
      aim(pair, rows, frame, cube)
      pair.rows = got
      pair.at = 0
      coder.read(reader, 0, pair, heap)
      if (reader.failed || got.some((value, lane) => value !== now[cube * CUBE_LANES + lane])) throw new Error(`frame ${frame}: cube ${cube} was lost`)
    }
  }
  const packets = rows.length - DISTANCE
  return { total: total / packets, presence: presence / packets, bits: ((total - presence) * 8) / changed }
}

/** Of the baseline and the row before it: who moved, who hardly did, who rests but was touched. */
function refer(reference: IndexSet, base: Int32Array, older: Int32Array): void {
  reference.clear()
  for (let cube = 0; cube < CUBES; cube++) {
    const at = cube * CUBE_LANES
    let most = 0
    for (let lane = at + 1; lane < at + 7; lane++) most |= Math.abs(base[lane]! - older[lane]!)
    if (differs(base, older, cube)) reference.add(cube, most < 2 ? 2 : 3)
    else if (base[at + 7] !== 0) reference.add(cube, 1)
  }
}

function differs(rows: Int32Array, others: Int32Array, cube: number): boolean {
  for (let lane = cube * CUBE_LANES; lane < (cube + 1) * CUBE_LANES; lane++) if (rows[lane] !== others[lane]) return true
  return false
}
