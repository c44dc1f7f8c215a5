/**
 * Random games: entities from random definitions, and a script that says what happens in each tick. A game is a
 * function of its seed; the same script plays it on the engine and on the slow twin, through the interface `Played`.
 */

import fc from 'fast-check'
import { Prng } from '../../packages/tickwire/src/core/base/prng.ts'
import { Entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import type { Field, FieldSpec, Shape } from '../../packages/tickwire/src/core/schema/field.ts'
import { World } from '../../packages/tickwire/src/core/world/world.ts'
import { schemaWithValues } from './schema-arbitrary.ts'
import type { Values } from './schema-reference.ts'
import { copyOf, ReferenceWorld } from './world-reference.ts'

/** A definition with values to play with. */
export interface Piece {
  readonly entity: Entity
  readonly shape: Shape
  readonly samples: readonly Values[]
}

export interface RandomGame {
  readonly seed: number
  readonly pieces: readonly Piece[]
  readonly ticks: number
  /** Whether so many objects spawn at once that every table grows. */
  readonly isCrowded: boolean
}

const PIECES = 300
const SAMPLES = 5

/**
 * Which of two rotations is nearer is decided by the last bit of a square root: those are for the bits layer's own
 * twin.
 */
function hasRotation(shape: Shape): boolean {
  return Object.values(shape).some(
    ({ spec }) =>
      spec.kind === 'quat'
      || ('shape' in spec && hasRotation(spec.shape))
      || (spec.kind === 'list' && hasRotation({ item: spec.item })),
  )
}

export function makePieces(seed: number): Piece[] {
  return fc.sample(schemaWithValues(SAMPLES), { numRuns: PIECES, seed })
    .filter(({ schema }) => !hasRotation(schema.shape) && schema.laneCount < 60)
    .map(({ schema, samples }, at) => ({
      entity: new Entity(schema.shape, { name: `Piece${at}` }),
      shape: schema.shape,
      samples,
    }))
}

export function makeGame(pieces: readonly Piece[], seed: number): RandomGame {
  const dice = new Prng(seed)
  const chosen = new Set(Array.from({ length: dice.nextInt(1, 3) }, () => pieces[dice.nextInt(0, pieces.length - 1)]!))
  return { seed, pieces: [...chosen], ticks: dice.nextInt(3, 10), isCrowded: dice.nextInt(0, 99) === 0 }
}

/** The operations of a script on a world. Objects are named by id. */
export interface Played {
  readonly ids: readonly number[]
  typeOf(id: number): number
  spawn(type: number, init: Values, owner: number): void
  despawn(id: number): void
  setOwner(id: number, owner: number): void
  /** Sets the value at a path of names. A path through an absent group is skipped. */
  set(id: number, path: readonly string[], value: unknown): void
  nudge(id: number, path: readonly string[], by: number): void
  isAbsent(id: number, group: string): boolean
  /** Words from the streaming generator and from the keyed one, for an object or the world. */
  nextWord(): number
  draw(id: number): number
  tell(external: number): void
}

/** Counters of events, so that a test can check that they occurred. */
export const happened = { spawns: 0, despawns: 0, reuses: 0, groups: 0, parts: 0, draws: 0, owners: 0, nudges: 0 }

/** Plays the script of one tick. A different branch is a different script: a wrong prediction. */
export function playTick(game: RandomGame, tick: number, branch: number, world: Played): void {
  const dice = new Prng(game.seed * 1000 + tick * 10 + branch)
  const births = tick === 1 ? dice.nextInt(2, 5) + (game.isCrowded ? 90 : 0) : dice.nextInt(0, 2)
  for (let count = 0; count < births; count++) {
    const type = dice.nextInt(0, game.pieces.length - 1)
    const sample = pick(dice, game.pieces[type]!.samples)
    const names = Object.keys(sample).filter(() => dice.nextInt(0, 1) === 0)
    world.spawn(type, Object.fromEntries(names.map((name) => [name, sample[name]])), dice.nextInt(0, 3))
    happened.spawns++
  }
  for (let count = dice.nextInt(0, 4); count > 0 && world.ids.length > 0; count--)
    playOn(game, dice, world, pick(dice, world.ids))
  if (dice.nextInt(0, 3) === 0) world.tell(world.nextWord())
}

function playOn(game: RandomGame, dice: Prng, world: Played, id: number): void {
  const { shape, samples } = game.pieces[world.typeOf(id)]!
  const name = pick(dice, Object.keys(shape))
  const field = shape[name]!
  const value = pick(dice, samples)[name]
  switch (dice.nextInt(0, 7)) {
    case 0:
      happened.despawns++
      return world.despawn(id)
    case 1:
      happened.owners++
      return world.setOwner(id, dice.nextInt(0, 3))
    case 2:
      happened.draws++
      return world.tell(world.draw(dice.nextInt(0, 1) === 0 ? 0 : id))
    case 3: return moveOn(dice, world, id, shape)
    case 4: {
      const [inner] = Object.keys(innerShape(field) ?? {})
      if (inner === undefined || value === null || world.isAbsent(id, name)) return world.set(id, [name], value)
      happened.parts++
      return world.set(id, [name, inner], (value as Values)[inner])
    }
    case 5:
      if (field.spec.kind === 'group') {
        happened.groups++
        return world.set(id, [name], world.isAbsent(id, name) ? value : null)
      }
      return world.set(id, [name], value)
    default: return world.set(id, [name], value)
  }
}

const NUMBERS: readonly FieldSpec['kind'][] = ['fixed', 'int', 'word', 'varint', 'angle', 'float']

/** Adds to every number of an object that can be added to: off the grid, and now and then out of its bounds. */
function moveOn(dice: Prng, world: Played, id: number, shape: Shape): void {
  for (const [name, { spec }] of Object.entries(shape)) {
    const by = (dice.nextFloat() - 0.5) * 100
    if (spec.kind === 'vector') world.nudge(id, [name, 'y'], by)
    else if (NUMBERS.includes(spec.kind)) world.nudge(id, [name], by)
    happened.nudges++
  }
}

export function innerShape({ spec }: Field<unknown>): Shape | undefined {
  return spec.kind === 'struct' || spec.kind === 'vector' || spec.kind === 'group' ? spec.shape : undefined
}

function pick<T>(dice: Prng, items: readonly T[]): T {
  return items[dice.nextInt(0, items.length - 1)]!
}

type Writable = Record<string, unknown>

/** The engine, played. Its external state is one number. */
export class PlayedWorld implements Played {
  readonly world: World
  readonly #entities: readonly Entity[]
  #external = 0

  constructor(game: RandomGame) {
    this.#entities = game.pieces.map(({ entity }) => entity)
    this.world = new World(this.#entities, {
      seed: game.seed,
      external: {
        encode: () => new Uint8Array([0, 8, 16, 24].map((shift) => this.#external >>> shift)),
        decode: (bytes) => { this.#external = bytes.reduceRight((word, byte) => word * 256 + byte, 0) },
        hash: () => this.#external,
      },
    })
  }

  get ids(): readonly number[] {
    return this.#entities.flatMap((entity) => [...this.world.each(entity)].map(({ id }) => id)).sort((a, b) => a - b)
  }

  /** The handle of an object, as code without types sees it. */
  handle(id: number): Writable {
    return this.world.get(this.#entities[this.typeOf(id)]!, id) as unknown as Writable
  }

  typeOf(id: number): number { return this.world.objects.typeAt(id >>> 16) }
  spawn(type: number, init: Values, owner: number): void {
    const { id } = this.world.spawn(this.#entities[type]!, init as never, owner)
    if ((id & 0xffff) > 1) happened.reuses++
  }
  despawn(id: number): void { this.world.despawn({ id }) }
  setOwner(id: number, owner: number): void { this.world.setOwner({ id }, owner) }
  set(id: number, path: readonly string[], value: unknown): void {
    const last = path.at(-1)!
    const target = path.slice(0, -1).reduce((part, name) => part[name] as Writable, this.handle(id))
    target[last] = value
  }
  nudge(id: number, path: readonly string[], by: number): void {
    const target = path.slice(0, -1).reduce((part, name) => part[name] as Writable, this.handle(id))
    ;(target[path.at(-1)!] as number) += by
  }
  isAbsent(id: number, group: string): boolean { return this.handle(id)[group] === null }
  nextWord(): number { return this.world.prng.nextU32() }
  draw(id: number): number { return this.world.random.u32({ id }) }
  tell(external: number): void { this.#external = (this.#external * 31 + external) >>> 0 }
}

/** The twin, played. */
export class PlayedReference implements Played {
  readonly world: ReferenceWorld

  constructor(game: RandomGame) {
    this.world = new ReferenceWorld(game.pieces.map(({ shape }) => shape), game.seed)
  }

  get ids(): readonly number[] { return this.world.ids }
  typeOf(id: number): number { return this.world.get(id).type }
  spawn(type: number, init: Values, owner: number): void { this.world.spawn(type, copyOf(init) as Values, owner) }
  despawn(id: number): void { this.world.despawn(id) }
  setOwner(id: number, owner: number): void { this.world.write(id).owner = owner }
  set(id: number, path: readonly string[], value: unknown): void {
    const last = path.at(-1)!
    const target = path.slice(0, -1).reduce((part, name) => part[name] as Writable, this.world.write(id).values)
    target[last] = copyOf(value)
  }
  nudge(id: number, path: readonly string[], by: number): void {
    const target = path.slice(0, -1).reduce((part, name) => part[name] as Writable, this.world.write(id).values)
    ;(target[path.at(-1)!] as number) += by
  }
  isAbsent(id: number, group: string): boolean { return this.world.get(id).values[group] === null }
  nextWord(): number { return this.world.nextWord() }
  draw(id: number): number { return this.world.draw(id) }
  tell(external: number): void { this.world.external = (this.world.external * 31 + external) >>> 0 }
}
