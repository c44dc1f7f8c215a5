/**
 * The scene of 901 cubes: bytes of a snapshot when frame t is encoded against frames t-6 and t-7, and nothing newer.
 * Every snapshot is read back and compared, number by number.
 *
 * A snapshot is written as the engine sends it: its tick, then a head and a row for each cube that changed. Tables are
 * trained on scenes of other seeds (`bench/cubes/priors.json`, or `--train`), never on the scene that is measured.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { BitReader } from '../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../packages/tickwire/src/core/bits/bit-writer.ts'
import { readVarint, writeVarint } from '../packages/tickwire/src/core/bits/varint.ts'
import { EntropyCoder } from '../packages/tickwire/src/core/codec/entropy-coder.ts'
import { PackedCoder } from '../packages/tickwire/src/core/codec/packed-coder.ts'
import { TrainedTables, type EntityPriors } from '../packages/tickwire/src/core/codec/priors.ts'
import { RowPair, type RowCoder } from '../packages/tickwire/src/core/codec/row-coder.ts'
import { train } from '../packages/tickwire/src/core/codec/training.ts'
import { DELTA } from '../packages/tickwire/src/core/replication/encode/delta-cache.ts'
import { mannerOf, NO_MANNER, writeDeltaHead } from '../packages/tickwire/src/core/replication/encode/delta-head.ts'
import { readAge, readKind, readHead } from '../packages/tickwire/src/core/replication/encode/entry-code.ts'
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
  summary:
    "the scene of 901 cubes of the articles on snapshot compression: bytes a packet, beside the articles' scheme",
  options: [
    `--seed S         the seed of the scene (default ${SEED}; not ${TRAINED_SEEDS.join(', ')}, used for training)`,
    `--frames N       (default ${FRAMES})`,
    '--file F         another recorded scene, in the layout of bench/cubes/cube-rows.ts',
    '--write F        keep the scene in that layout, for other programs',
    '--train S,F...   train on scenes of these seeds or files instead of taking bench/cubes/priors.json',
    '--save F         write what was trained',
  ],
  run: async (args) => {
    const text = { type: 'string' } as const
    const { values } = parseArgs({
      args: [...args],
      options: { file: text, seed: text, frames: text, write: text, train: text, save: text },
    })
    const frames = Number(values.frames ?? FRAMES)
    const tested = values.file ?? values.seed ?? String(SEED)
    const trainedOn = values.train?.split(',') ?? TRAINED_SEEDS.map(String)
    if (trainedOn.includes(tested)) throw new Error(`trained and tested on one scene, ${tested}: choose others`)
    const priors =
      values.train === undefined
        ? (JSON.parse(readFileSync(PRIORS, 'utf8')) as EntityPriors)
        : await trainOn(trainedOn, frames)
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
    [
      'entropy, trained',
      new EntropyCoder(schema, TICKS_PER_SECOND, { grid, tables: (plan) => new TrainedTables(plan, priors) }),
    ],
    ['entropy, built-in tables', new EntropyCoder(schema, TICKS_PER_SECOND, { grid })],
    ['packed', new PackedCoder(schema, grid)],
  ]
  const article = articleBytes(rows, DISTANCE)
  const results = coders.map(([name, coder]) => ({ name, ...measure(coder, rows) }))
  const [trained] = results
  return {
    tables: [
      {
        title: `${scene}: ${rows.length} frames of ${CUBES} cubes, t-${DISTANCE}: bytes a packet`,
        columns: ['', 'bytes', 'heads', 'bits a changed cube', "of the articles' scheme"],
        rows: [
          ...results.map(({ name, total, heads, bits }) => [name, total, heads, bits, total / article]),
          ["the articles' scheme, sizes only", article, '', '', 1],
        ],
      },
    ],
    figures: [
      { name: 'bytes_per_packet', value: trained!.total, unit: 'B', against: null },
      {
        name: 'bytes_ratio_article_scheme',
        value: trained!.total / article,
        unit: 'ratio',
        against: 'index, relative position and smallest three, as the articles give it',
        atMost: 0.56,
      },
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

function measure(
  coder: RowCoder,
  rows: readonly Int32Array[],
): { readonly total: number; readonly heads: number; readonly bits: number } {
  const writer = new BitWriter(new Uint8Array(ROOM_BYTES))
  const reader = new BitReader(writer.bytes)
  const heap = new ValueHeap()
  const pair = new RowPair()
  let [total, heads, changed] = [0, 0, 0]
  for (let frame = DISTANCE; frame < rows.length; frame++) {
    writer.reset(writer.bytes)
    writeVarint(writer, frame)
    let headBits = writer.bitLength
    let before = -1
    for (let cube = 0; cube < CUBES; cube++) {
      if (!differs(rows[frame]!, rows[frame - DISTANCE]!, cube)) continue
      aim(pair, rows, frame, cube)
      const { bitLength } = writer
      writeHead(writer, cube, before, pair.olderAt >= 0)
      headBits += writer.bitLength - bitLength
      coder.write(writer, 0, pair, heap)
      before = cube
      changed++
    }
    heads += headBits / 8
    total += writer.finish()
    reader.reset(writer.bytes)
    verify(reader, coder, rows, frame)
  }
  const packets = rows.length - DISTANCE
  return { total: total / packets, heads: heads / packets, bits: ((total - heads) * 8) / changed }
}

/** All baselines have the same age, so only the first head of a snapshot contains it. */
function writeHead(out: BitWriter, cube: number, before: number, hasOlder: boolean): void {
  const flags = hasOlder ? DELTA.older : 0
  writeDeltaHead(out, cube - before, cube, DISTANCE, flags, before < 0 ? NO_MANNER : mannerOf(DISTANCE, flags))
}

/** Reads a snapshot back: the cubes that changed, and every number of them. */
function verify(reader: BitReader, coder: RowCoder, rows: readonly Int32Array[], frame: number): void {
  const heap = new ValueHeap()
  const pair = new RowPair()
  const got = new Int32Array(CUBE_LANES)
  const now = rows[frame]!
  readVarint(reader)
  let before = -1
  for (let cube = 0; cube < CUBES; cube++) {
    if (!differs(now, rows[frame - DISTANCE]!, cube)) continue
    const step = readHead(reader, before)
    if ((step & 1) === 0) {
      readKind(reader)
      readAge(reader)
      reader.skipBits(2)
    }
    aim(pair, rows, frame, cube)
    pair.rows = got
    pair.at = 0
    coder.read(reader, 0, pair, heap)
    const isRead = !reader.failed && before + (step >> 1) === cube
    if (!isRead || got.some((value, lane) => value !== now[cube * CUBE_LANES + lane]))
      throw new Error(`frame ${frame}: cube ${cube} was lost`)
    before = cube
  }
}

function differs(rows: Int32Array, others: Int32Array, cube: number): boolean {
  for (let lane = cube * CUBE_LANES; lane < (cube + 1) * CUBE_LANES; lane++)
    if (rows[lane] !== others[lane]) return true
  return false
}
