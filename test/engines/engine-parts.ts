/**
 * What every JavaScript engine must compute to the same bits, as a digest for each part: exact numbers, schemas,
 * codecs, a world, and two recorded lockstep matches, one of them skirmish. And a control of native functions, which
 * must differ somewhere.
 *
 * It runs without a platform: a shell of an engine has no console, no timers and no page.
 */

import { HashStream } from '../../packages/tickwire/src/core/base/hash-stream.ts'
import { hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import { math } from '../../packages/tickwire/src/core/index.ts'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { BitReader } from '../../packages/tickwire/src/core/bits/bit-reader.ts'
import { BitWriter } from '../../packages/tickwire/src/core/bits/bit-writer.ts'
import { EntropyCoder } from '../../packages/tickwire/src/core/codec/entropy-coder.ts'
import { PackedCoder } from '../../packages/tickwire/src/core/codec/packed-coder.ts'
import { RowPair, type RowCoder } from '../../packages/tickwire/src/core/codec/row-coder.ts'
import type { LockstepGame } from '../../packages/tickwire/src/core/lockstep/define-lockstep.ts'
import { LockstepRunner } from '../../packages/tickwire/src/core/lockstep/lockstep-runner.ts'
import { ReplayFeed } from '../../packages/tickwire/src/core/lockstep/replay-feed.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { bool, f32, f64, fixed, quat, text, u8, vec2 } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { compileSchema, type Schema } from '../../packages/tickwire/src/core/schema/schema.ts'
import { ValueHeap } from '../../packages/tickwire/src/core/schema/value-heap.ts'
import { StateHash } from '../../packages/tickwire/src/core/world/state-hash.ts'
import { encodeWorld, restoreWorld } from '../../packages/tickwire/src/core/world/world-image.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { partDigest, PARTS } from '../browser-pages/numbers-page.ts'
import { SHAPES, wander } from '../reference/moving-rows.ts'
import { SchemaEngine } from '../reference/schema-engine.ts'
import { skirmishGame } from '../../games/skirmish/game.ts'
import { game as marching } from '../sim/lockstep-game.ts'

/** A match as text, so that it can be a constant of the bundle. */
export interface MatchText {
  readonly tickRate: number
  readonly seed: number
  readonly ticks: number
  /** The bytes of its ticks, as numbers. */
  readonly bytes: readonly number[]
}

/** The name of the part that must not be the same everywhere. */
export const CONTROL = 'control: native functions'
/** The rules of the two matches. Their kinds of orders do not matter here. */
const game = marching as unknown as LockstepGame
const skirmish = skirmishGame() as unknown as LockstepGame
/** Ticks from one digest of a match to the next. */
const PULSE_TICKS = 30
/** Shapes without texts and rotations, so that their values can be any number. */
const SHAPES_OF_NUMBERS = ['Walker', 'Wheel', 'Lift', 'Fleet']

/** The digests of all parts by their names. The matches are replayed. */
export function engineDigests(match: MatchText, battle: MatchText): Record<string, string> {
  const digests: Record<string, string> = {}
  for (const part of Object.keys(PARTS)) digests[`numbers: ${part}`] = partDigest(part)
  digests.schema = digestOf(hashSchemas)
  digests['codec: packed'] = digestOf((into) => hashCodec(into, (schema) => new PackedCoder(schema)))
  digests['codec: entropy'] = digestOf((into) => hashCodec(into, (schema) => new EntropyCoder(schema, 60)))
  digests.world = digestOf(hashWorld)
  replay(game, match, (tick, digest) => { digests[`match: tick ${tick}`] = digest })
  replay(skirmish, battle, (tick, digest) => { digests[`skirmish: tick ${tick}`] = digest })
  digests[CONTROL] = digestOf(hashNative)
  return digests
}

function digestOf(fill: (into: HashStream) => void): string {
  const out = new Uint32Array(2)
  const stream = new HashStream()
  fill(stream)
  stream.finish(out, 0)
  return hashHex(out, 0)
}

const Thing = compileSchema('Thing', {
  at: vec2(-100, 100, 0.01), turn: quat(9), heat: f32, mass: f64, trim: fixed(-1, 1, 0.001), name: text(12), gear: u8,
})

/** Live numbers to rows, rows to bits and back. */
function hashSchemas(into: HashStream): void {
  const engine = new SchemaEngine(Thing)
  const dice = new Prng(11)
  for (let count = 0; count < 500; count++) {
    const size = dice.nextFloat() * 220 - 110
    const row = engine.row({
      at: { x: size, y: -size / 3 }, heat: size / 7, mass: 1 / size, trim: size / 100, gear: count % 256,
      turn: { x: math.sin(size), y: 0.1, z: math.cos(size), w: 0.5 }, name: `Zoë ${count}`,
    })
    for (const lane of row.subarray(0, 4)) into.word(lane)
    for (const bit of engine.writeRow(row)) into.word(Number(bit))
    for (const cell of engine.cells(row)) into.double(cell)
  }
}

/** Rows that move, as deltas and back. */
function hashCodec(into: HashStream, makeCoder: (schema: Schema) => RowCoder): void {
  const heap = new ValueHeap()
  for (const name of SHAPES_OF_NUMBERS) {
    const schema = compileSchema(name, SHAPES[name] ?? {})
    const rows = wander(schema, 80, 5)
    const coder = makeCoder(schema)
    const pair = new RowPair()
    for (let tick = 2; tick < rows.length; tick++) {
      const writer = new BitWriter(new Uint8Array(1024))
      Object.assign(pair, { rows: rows[tick], baseRows: rows[tick - 1], olderRows: rows[tick - 2], olderAt: 0, age: 1 })
      coder.write(writer, 2, pair, heap)
      const size = writer.finish()
      for (const byte of writer.bytes.subarray(0, size)) into.word(byte)
      pair.rows = new Int32Array(schema.laneCount)
      coder.read(new BitReader(writer.bytes.subarray(0, size)), 2, pair, heap)
      for (const lane of pair.rows) into.word(lane)
    }
  }
}

const Ship = entity({ at: vec2(0, 500, 0.01), yaw: f64, name: text(8), isLost: bool }, { name: 'Ship' })

/** Spawns, despawns, exact curves, random numbers, hashes of the state, and images. */
function hashWorld(into: HashStream): void {
  const world = new World([Ship], { seed: 77 })
  const hash = new StateHash(world)
  for (let tick = 0; tick < 200; tick++) {
    world.beginTick()
    if (tick % 2 === 0) world.spawn(Ship, { at: { x: world.prng.nextFloat() * 500, y: 250 }, name: `s${tick}` })
    for (const ship of world.each(Ship)) {
      ship.yaw += world.prng.nextFloat() - 0.5
      ship.at.x += 3 * math.cos(ship.yaw)
      ship.at.y += 3 * math.sin(ship.yaw)
      if (world.prng.nextFloat() < 0.02) world.despawn(ship)
    }
    world.endTick()
    const [low = 0, high = 0] = hash.update()
    into.word(low).word(high)
  }
  const image = encodeWorld(world) ?? new Uint8Array(0)
  for (const byte of image) into.word(byte)
  const copy = new World([Ship], { seed: 77 })
  if (restoreWorld(copy, image) !== 'restored') throw new Error('the image was refused')
  const [low = 0, high = 0] = new StateHash(copy).update()
  into.word(low).word(high)
}

/** Replays the match, and takes a digest every second of it. */
function replay(
  rules: LockstepGame, { tickRate, seed, ticks, bytes }: MatchText, take: (tick: number, digest: string) => void,
): void {
  const feed = new ReplayFeed({ tickRate, seed, ticks, bytes: Uint8Array.from(bytes) })
  feed.speed = Infinity
  const out = new Uint32Array(2)
  const runner = new LockstepRunner(rules, feed, {
    onTick(tick, low, high) {
      out[0] = low
      out[1] = high
      if (tick % PULSE_TICKS === 0) take(tick, hashHex(out, 0))
    },
  })
  while (runner.update(0) > 0);
}

/** Functions whose last bits the language leaves to the engine. */
function hashNative(into: HashStream): void {
  const names = ['sin', 'cos', 'tan', 'exp', 'log', 'pow', 'sinh', 'cbrt', 'hypot', 'atan2', 'expm1'] as const
  const dice = new Prng(9)
  for (const name of names) {
    const apply = Math[name] as (x: number, y: number) => number
    for (let count = 0; count < 4000; count++) into.double(apply(dice.nextFloat() * 20, dice.nextFloat() * 3))
  }
}
