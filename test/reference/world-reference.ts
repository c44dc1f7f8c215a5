/**
 * A world once more, slow and simple: plain objects with plain values in a Map by id. Written from
 * docs/spec/world.md; of src it knows only types. Values become words by way of the schema's own twin.
 */

import type { Shape } from '../../packages/tickwire/src/core/schema/field.ts'
import { BitSource, bitsToBytes, type Bits } from './bits-reference.ts'
import { referenceHash } from './hash-reference.ts'
import { referenceKeyed } from './prng-reference.ts'
import { decodeField, encodeField, initialValues, type Plain, type Values } from './schema-reference.ts'
import { allocatorHash, objectHash, referenceTree, worldHash } from './world-hash.ts'

export interface PlainObject {
  readonly type: number
  owner: number
  values: Record<string, unknown>
  /** The words of its row; undefined since it was written to, until the tick ends. */
  words: readonly number[] | undefined
}

/** Everything that is saved. */
interface State {
  tick: number
  isStepping: boolean
  objects: Map<number, PlainObject>
  /** By index: the generation that lives there, or lived there last. */
  generations: number[]
  /** Indexes that may be used again, the longest free first. */
  free: number[]
  /** Indexes of objects that died in this tick. */
  buried: number[]
  prng: number[]
  /** By object: words drawn for it in this tick. */
  draws: Map<number, number>
  external: number
}

export class ReferenceWorld {
  readonly shapes: readonly Shape[]
  readonly #seed: number
  #state: State
  readonly #hashes = new Map<string, bigint>()

  constructor(shapes: readonly Shape[], seed: number) {
    this.shapes = shapes
    this.#seed = seed
    this.#state = {
      tick: 0,
      isStepping: false,
      objects: new Map(),
      generations: [],
      free: [],
      buried: [],
      prng: [0, seed >>> 0, Math.floor(seed / 2 ** 32), 1],
      draws: new Map(),
      external: 0,
    }
    // [RNG1] Twelve words are thrown away.
    for (let word = 0; word < 12; word++) this.nextWord()
  }

  get tick(): number { return this.#state.tick }
  get external(): number { return this.#state.external }
  set external(to: number) { this.#state.external = to }

  /** [WORLD2] Ids of living objects, ascending. */
  get ids(): number[] {
    return [...this.#state.objects.keys()].sort((a, b) => a - b)
  }

  /** The object, to be written to. */
  write(id: number): PlainObject {
    const object = this.get(id)
    object.words = undefined
    return object
  }

  get(id: number): PlainObject {
    const object = this.#state.objects.get(id)
    if (object === undefined) throw new Error(`no object ${id}`)
    return object
  }

  has(id: number): boolean {
    return this.#state.objects.has(id)
  }

  /** [WORLD1, WORLD3] */
  spawn(type: number, init: Values, owner: number): number {
    const index = this.#state.free.shift() ?? this.#state.generations.length
    const generation = (this.#state.generations[index] ?? 0) % 65_535 + 1
    this.#state.generations[index] = generation
    const id = index * 65_536 + generation
    this.#state.objects.set(id, {
      type,
      owner,
      values: { ...freshValues(this.shapes[type]!, undefined), ...init },
      words: undefined,
    })
    return id
  }

  /** [WORLD4] */
  despawn(id: number): void {
    this.#state.objects.delete(id)
    this.#state.buried.push(id >>> 16)
  }

  beginTick(): void {
    this.#state.tick++
    this.#state.isStepping = true
    this.#state.draws.clear()
  }

  endTick(): void {
    this.#state.isStepping = false
    this.#state.draws.clear()
    for (const object of this.#state.objects.values()) {
      if (object.words !== undefined) continue
      object.words = settle(this.shapes[object.type]!, object.values)
    }
    this.#state.free.push(...this.#state.buried)
    this.#state.buried = []
  }

  /** The streaming generator: sfc32. */
  nextWord(): number {
    const [a, b, c, counter] = this.#state.prng as [number, number, number, number]
    const word = (a + b + counter) % 2 ** 32
    const turned = ((c << 21) | (c >>> 11)) >>> 0
    this.#state.prng = [
      (b ^ (b >>> 9)) >>> 0,
      (c + ((c << 3) >>> 0)) % 2 ** 32,
      (turned + word) % 2 ** 32,
      (counter + 1) % 2 ** 32,
    ]
    return word
  }

  /** [WORLD14] The keyed generator; object 0 is the world. */
  draw(id: number): number {
    const { draws, isStepping, tick } = this.#state
    const drawn = draws.get(id) ?? 0
    draws.set(id, drawn + 1)
    return referenceKeyed(this.#seed, tick, id, drawn + (isStepping ? 0 : 2 ** 31))
  }

  save(): unknown {
    return structuredCopy(this.#state)
  }

  load(saved: unknown): void {
    this.#state = structuredCopy(saved as State)
  }

  /** [STATE1] */
  hash(): bigint {
    const { tick, prng, external, generations, free, buried } = this.#state
    const roots = this.shapes.map((_, type) => {
      const objects = [...this.#state.objects].filter(([, object]) => object.type === type)
      return referenceTree(
        new Map(objects.map(([id, { owner, words = [] }]) => [id >>> 16, this.#hashOf(id, owner, words)])),
      )
    })
    const lastId = (index: number): number => index * 65_536 + generations[index]!
    return worldHash(
      tick,
      prng,
      roots,
      external,
      allocatorHash(generations.length, free.map(lastId), buried.map(lastId)),
    )
  }

  #hashOf(id: number, owner: number, words: readonly number[]): bigint {
    const key = `${id} ${owner} ${words.join()}`
    let hash = this.#hashes.get(key)
    if (hash === undefined) this.#hashes.set(key, (hash = objectHash(id, owner, words)))
    return hash
  }
}

function structuredCopy(state: State): State {
  const objects = [...state.objects].map(
    ([id, object]) => [id, { ...object, values: copyOf(object.values) as Record<string, unknown> }] as const,
  )
  return {
    ...state,
    objects: new Map(objects),
    generations: [...state.generations],
    free: [...state.free],
    buried: [...state.buried],
    prng: [...state.prng],
    draws: new Map(state.draws),
  }
}

/** Structs and groups are written in place; everything else is replaced as a whole. */
export function copyOf(value: unknown): unknown {
  const isPlain = typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array)
  return isPlain ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copyOf(inner)])) : value
}

const fresh = new WeakMap<Shape, Values>()

/**
 * What a fresh object, or a fresh group with this initial value, holds: computed once, for the schema's twin is slow.
 */
function freshValues(shape: Shape, around: unknown): Record<string, unknown> {
  let values = fresh.get(shape)
  if (values === undefined) fresh.set(shape, (values = initialValues(shape, (around ?? {}) as Values)))
  return copyOf(values) as Record<string, unknown>
}

/** One value of one field after quantising, and the words that are hashed. */
interface Settled {
  readonly value: unknown
  readonly words: readonly number[]
}

/** [WORLD12] The values of an object, snapped in place; returns the words of its row. */
function settle(shape: Shape, values: Record<string, unknown>): number[] {
  const words: number[] = []
  for (const name in shape) {
    const field = shape[name]!
    const { spec, options } = field
    if (spec.kind === 'struct' || spec.kind === 'vector') {
      words.push(...settle(spec.shape, values[name] as Record<string, unknown>))
    } else if (spec.kind === 'group') {
      // [WORLD7] An absent group has the words of a fresh one.
      const inside = values[name] ?? freshValues(spec.shape, options.initial)
      words.push(values[name] === null ? 0 : 1, ...settle(spec.shape, inside as Record<string, unknown>))
    } else {
      const settled = settledLeaf(field, values[name])
      values[name] = settled.value
      words.push(...settled.words)
    }
  }
  return words
}

/** Results of earlier calls, by field and value: games draw on few values, and the schema's twin is slow. */
const memory = new WeakMap<Plain, Map<unknown, Settled>>()
const MEMORY_MAX = 500

function settledLeaf(field: Plain, value: unknown): Settled {
  let known = memory.get(field)
  if (known === undefined || known.size > MEMORY_MAX) memory.set(field, (known = new Map<unknown, Settled>()))
  // A Map treats 0 and -0 as one key.
  const key = Object.is(value, -0) ? '-0' : value
  let settled = known.get(key)
  if (settled === undefined) {
    const bits = encodeField(field, value)
    const snapped = decodeField(new BitSource(bits), field)
    known.set(key, (settled = { value: snapped, words: leafWords(field, snapped, bits) }))
  }
  return settled
}

/** The words of a leaf, given its value and its bits. */
function leafWords({ spec }: Plain, value: unknown, bits: Bits): number[] {
  switch (spec.kind) {
    case 'word':
    case 'varint':
      return [value as number]
    case 'ref':
      return [(value as number | null) ?? 0]
    case 'long':
      return halves(value as bigint)
    case 'ranged-long':
      return halves((value as bigint) - spec.min)
    case 'float':
      return littleEndian(bits, 4)
    case 'double':
      return littleEndian(bits, 8)
    case 'text':
    case 'fixed-text':
    case 'bytes':
    case 'list':
    case 'manual':
      return halves(referenceHash(bitsToBytes(bits), bits.length))
    case 'quat':
      throw new Error('the twin leaves rotations to the bits layer')
    default:
      return [Number.parseInt(bits, 2)]
  }
}

function halves(value: bigint): number[] {
  return [Number(BigInt.asUintN(32, value)), Number(BigInt.asUintN(32, value >> 32n))]
}

function littleEndian(bits: string, size: number): number[] {
  const view = new DataView(bitsToBytes(bits).buffer)
  return Array.from({ length: size / 4 }, (_, word) => view.getUint32(4 * word, true))
}
