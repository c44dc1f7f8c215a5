/**
 * Random games through save, load, despawn, id reuse and group changes: 1,000 of them, 10,000 in the long form. The
 * engine and a slow twin hash every tick of each game, and each game is played again with wrong branches that are
 * undone.
 */

import { expect, test } from 'vitest'
import { hashHex } from '../../packages/tickwire/src/core/base/hash.ts'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { SaveSlots } from '../../packages/tickwire/src/core/world/save-slots.ts'
import type { Shape } from '../../packages/tickwire/src/core/schema/field.ts'
import { encodeWorld, restoreWorld } from '../../packages/tickwire/src/core/world/world-image.ts'
import { StateHash } from '../../packages/tickwire/src/core/world/state-hash.ts'
import { Timeline } from '../../packages/tickwire/src/core/world/timeline.ts'
import { form } from '../form.ts'
import {
  happened, innerShape, makeGame, makePieces, PlayedReference, PlayedWorld, playTick, type RandomGame,
} from './world-games.ts'
import type { Values } from './schema-reference.ts'

/** How many games: the sum over the parts below. */
const GAMES = Number(process.env['TICKWIRE_GAMES'] ?? form(1000, 10_000))
const PARTS = 10
/** In one of this many games all values are compared, and not only hashes. */
const COMPARE_EVERY = 20
const SLOTS = 3

const pieces = makePieces(7)
const counts = { games: 0, hashes: 0, loads: 0, wrongTicks: 0, images: 0 }

/** A game, tick by tick: hash and living ids after it. Index 0 is before the first tick. */
interface Truth {
  readonly hashes: string[]
  readonly ids: (readonly number[])[]
}

/** Plays a game from end to end on engine and twin. */
function playStraight(game: RandomGame): Truth {
  const engine = new PlayedWorld(game)
  const twin = new PlayedReference(game)
  const hash = new StateHash(engine.world)
  const truth: Truth = { hashes: [hashHex(hash.update(), 0)], ids: [[]] }
  for (let tick = 1; tick <= game.ticks; tick++) {
    for (const played of [engine, twin]) {
      played.world.beginTick()
      playTick(game, tick, 0, played)
      played.world.endTick()
    }
    const value = hashHex(hash.update(), 0)
    const wanted = twin.world.hash().toString(16).padStart(16, '0')
    if (value !== wanted)
      throw new Error(`game ${game.seed}, tick ${tick}: the engine's hash is ${value}, the twin's ${wanted}`)
    counts.hashes++
    truth.hashes.push(value)
    truth.ids.push(engine.ids)
  }
  if (game.seed % COMPARE_EVERY === 0) compareValues(game, engine, twin)
  return truth
}

function compareValues(game: RandomGame, engine: PlayedWorld, twin: PlayedReference): void {
  expect(engine.ids, `game ${game.seed}`).toEqual(twin.ids)
  for (const id of twin.ids) {
    const { type, owner, values } = twin.world.get(id)
    const actual = JSON.stringify(engine.handle(id), plainly)
    expect(actual, `game ${game.seed} object ${id}`).toBe(
      JSON.stringify({ id, owner, ...resolved(game.pieces[type]!.shape, values, twin) }, plainly),
    )
  }
}

/** [WORLD8] The values with every reference to a missing object as null; lists hold ids as they are. */
function resolved(shape: Shape, values: Values, twin: PlayedReference): Values {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => {
    const inner = innerShape(shape[name]!)
    if (inner !== undefined && value !== null) return [name, resolved(inner, value as Values, twin)]
    const isDangling = shape[name]!.spec.kind === 'ref' && value !== null && !twin.world.has(value as number)
    return [name, isDangling ? null : value]
  }))
}

function plainly(_: string, value: unknown): unknown {
  if (typeof value === 'bigint') return `${value}n`
  if (value instanceof Uint8Array) return [...value]
  return typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)) ? String(value) : value
}

/**
 * Plays a game with wrong branches: saves, plays another branch for a few ticks, loads, and must be at the same state
 * and go on the same way.
 */
function playWithRollback(game: RandomGame, truth: Truth): void {
  const dice = new Prng(game.seed ^ 0x5a5a)
  const played = new PlayedWorld(game)
  const { world } = played
  const slots = new SaveSlots(world, SLOTS)
  const timeline = new Timeline(world, 4)
  const hash = new StateHash(world)
  const handles = new Map<number, unknown>()
  const step = (branch: number): void => {
    world.beginTick()
    playTick(game, world.tick, branch, played)
    world.endTick()
    timeline.sample()
  }
  const check = (what: string): void => {
    const value = hashHex(hash.update(), 0)
    if (value !== truth.hashes[world.tick])
      throw new Error(`game ${game.seed}, tick ${world.tick}, ${what}: ${value} instead of ${truth.hashes[world.tick]}`)
    for (const id of truth.ids[world.tick]!) {
      const handle = played.handle(id)
      if ((handles.get(id) ?? handle) !== handle)
        throw new Error(`game ${game.seed}, tick ${world.tick}, ${what}: object ${id} has another handle`)
      handles.set(id, handle)
    }
  }
  slots.save(0)
  while (world.tick < game.ticks) {
    step(0)
    check('played')
    if (dice.nextInt(0, 1) === 0) slots.save(dice.nextInt(0, SLOTS - 1))
    if (dice.nextInt(0, 2) !== 0) continue
    const slot = dice.nextInt(0, SLOTS - 1)
    if (slots.tickOf(slot) < 0) continue
    for (let wrong = dice.nextInt(0, 3); wrong > 0; wrong--) {
      step(dice.nextInt(1, 9))
      counts.wrongTicks++
    }
    slots.load(slot)
    // A slot may be from later than here: then the Timeline has a gap, and restarts.
    timeline.truncate(world.tick > timeline.newest ? -1 : world.tick)
    world.sample()
    check('loaded')
    counts.loads++
  }
}

for (let part = 0; part < PARTS; part++) {
  test(
    `[SAVE1, STATE1] load and step give the same hashes as no load, and the twin's: ${part} of ${PARTS}`,
    { timeout: 120_000 },
    () => {
      for (let game = part; game < GAMES; game += PARTS) {
        const random = makeGame(pieces, game + 1)
        playWithRollback(random, playStraight(random))
        counts.games++
      }
    },
  )
}

/**
 * Plays a game, restores an image of it into a fresh world at every tick, and plays each copy on beside the live one.
 */
function playFromImages(game: RandomGame, truth: Truth): void {
  const live = new PlayedWorld(game)
  for (let first = 0; first <= game.ticks; first++) {
    if (first > 0) {
      live.world.beginTick()
      playTick(game, first, 0, live)
      live.world.endTick()
    }
    const image = encodeWorld(live.world)!
    const copy = new PlayedWorld(game)
    const verdict = restoreWorld(copy.world, image)
    if (verdict !== 'restored') throw new Error(`game ${game.seed}, image of tick ${first}: ${verdict}`)
    if (!isEqual(encodeWorld(copy.world)!, image))
      throw new Error(`game ${game.seed}, image of tick ${first}: encoded again it differs`)
    const hash = new StateHash(copy.world)
    for (let tick = first; tick <= game.ticks; tick++) {
      if (tick > first) {
        copy.world.beginTick()
        playTick(game, tick, 0, copy)
        copy.world.endTick()
      }
      const value = hashHex(hash.update(), 0)
      const isSame = value === truth.hashes[tick] && copy.ids.join() === truth.ids[tick]!.join()
      if (!isSame)
        throw new Error(
          `game ${game.seed}, image of tick ${first}, tick ${tick}: ${value} instead of ${truth.hashes[tick]}`,
        )
    }
    counts.images++
  }
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
}

test(
  '[IMAGE1, IMAGE2] a world restored from an image goes on as the live one: hash, ids and spawns of every tick',
  { timeout: 120_000 },
  () => {
    for (let seed = 1; seed <= GAMES / 20; seed++) {
      const game = makeGame(pieces, 50_000 + seed)
      playFromImages(game, playStraight(game))
    }
    expect(counts.images).toBeGreaterThan(GAMES / 10)
  },
)

test('[SAVE1] the games had births, deaths, reused ids, groups, owners, draws, loads, wrong branches', () => {
  expect(counts.games).toBe(GAMES)
  const share = Math.min(counts.loads, counts.wrongTicks, counts.hashes, ...Object.values(happened))
  expect(share, JSON.stringify({ ...counts, ...happened })).toBeGreaterThan(GAMES / 10)
})
