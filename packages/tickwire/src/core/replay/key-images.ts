/**
 * Key images of a replay: every fifth is whole, the others are patches of the image before.
 *
 * Images are patched without code of the game: the text of the game says which fields its objects have, and external
 * state is passed on as bytes.
 */

import { KEY_IMAGES_WHOLE } from '../base/limits.ts'
import { BitReader } from '../bits/bit-reader.ts'
import { readVarint } from '../bits/varint.ts'
import { Entity } from '../schema/definition.ts'
import { encodePatch, restorePatch } from '../world/image-patch.ts'
import { World, type WorldOptions } from '../world/world.ts'
import { encodeWorld, restoreWorld } from '../world/world-image.ts'
import { parseShape } from './shape-text.ts'

const NO_BYTES = new Uint8Array(0)
/** Magic and version of an image. */
const HEAD_BITS = 24

/** The entities of a lockstep game, from its text. Throws if the text is invalid. */
export function entitiesOfText(text: string, names: readonly string[] = []): Entity[] {
  const entities: Entity[] = []
  for (const line of text.split('\n')) {
    const [, shape] = /^entity \d+ (.*)$/.exec(line) ?? []
    if (shape === undefined) continue
    entities.push(new Entity(parseShape(shape), { name: names[entities.length] ?? `entity ${entities.length}` }))
  }
  return entities
}

/** The seed of the world in an image. */
export function seedOfImage(image: Uint8Array): number {
  const reader = new BitReader(image)
  reader.readBits(HEAD_BITS)
  const seed = readVarint(reader)
  return reader.failed ? 0 : seed
}

/** Makes and reads key images, one after the other. */
export class KeyImages {
  readonly #entities: readonly Entity[]
  #last: World | undefined
  #count = 0

  constructor(entities: readonly Entity[]) {
    this.#entities = entities
  }

  /** How an image is stored. Undefined: it is not an image of this game. */
  encode(image: Uint8Array): { readonly bytes: Uint8Array; readonly isWhole: boolean } | undefined {
    const before = this.#last
    const mayPatch = before !== undefined && this.#count % KEY_IMAGES_WHOLE !== 0 && seedOfImage(image) === before.seed
    const world = this.#make(seedOfImage(image), mayPatch ? before : undefined)
    if (restoreWorld(world, image) !== 'restored') return undefined
    this.#last = world
    this.#count++
    const patch = mayPatch ? encodePatch(world, before) : undefined
    return patch === undefined ? { bytes: image, isWhole: true } : { bytes: patch, isWhole: false }
  }

  /** The image that is stored in a chunk. Undefined: it is damaged, or the image before it was not read. */
  decode(bytes: Uint8Array, isWhole: boolean): Uint8Array | undefined {
    const before = this.#last
    if (!isWhole && before === undefined) return undefined
    const base = isWhole ? undefined : before
    const world = this.#make(base?.seed ?? seedOfImage(bytes), base)
    const verdict = base === undefined ? restoreWorld(world, bytes) : restorePatch(world, base, bytes)
    this.#last = verdict === 'restored' ? world : undefined
    return verdict === 'restored' ? encodeWorld(world) : undefined
  }

  /** Worlds of patches share their values, so they are released together, with the next whole image. */
  #make(seed: number, sharing: World | undefined): World {
    let external = NO_BYTES
    const options: WorldOptions = {
      seed, ...(sharing && { sharing }),
      external: { encode: () => external, decode: (bytes) => { external = bytes.slice() } },
    }
    return new World(this.#entities, options)
  }
}
