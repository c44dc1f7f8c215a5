/**
 * The inputs of a headless player: random values within the range of each field, drawn from a seed and held for a
 * while.
 */

import { Prng } from '../core/base/prng.ts'
import { LEAF, type Leaf } from '../core/schema/leaf.ts'
import type { Shape } from '../core/schema/field.ts'
import type { Schema } from '../core/schema/schema.ts'
import type { InitOf } from '../core/schema/value-types.ts'

/** For how many ticks an input is held, at least and at most. */
const HELD_MIN = 5
const HELD_MAX = 60

/** Random inputs of one player. Fields of unknown kinds keep their initial value. */
export class RandomInput {
  readonly #schema: Schema
  readonly #dice: Prng
  #held: Record<string, unknown> = {}
  #ticksLeft = 0

  constructor(schema: Schema, seed: number) {
    this.#schema = schema
    this.#dice = new Prng(seed)
  }

  /** The input for the next tick. */
  next(): InitOf<Shape> {
    if (this.#ticksLeft-- <= 0) {
      this.#ticksLeft = this.#dice.nextInt(HELD_MIN, HELD_MAX)
      this.#held = this.#draw()
    }
    return this.#held as InitOf<Shape>
  }

  #draw(): Record<string, unknown> {
    const { leaves, shape } = this.#schema
    const drawn: Record<string, unknown> = {}
    for (const name of Object.keys(shape)) {
      const leaf = leaves.find(({ field }) => field === shape[name])
      const value = leaf === undefined ? undefined : this.#valueOf(leaf)
      if (value !== undefined) drawn[name] = value
    }
    return drawn
  }

  #valueOf({ kind, field, min, max, quant }: Leaf): unknown {
    const part = this.#dice.nextFloat()
    switch (kind) {
      case LEAF.bits: {
        const step = Math.floor(part * (max + 1))
        const { spec } = field
        return spec.kind === 'bool' ? step === 1 : spec.kind === 'enum' ? spec.names[step] : min + step
      }
      case LEAF.fixed: return quant.min + part * (quant.max - quant.min)
      case LEAF.angle: return (part * 2 - 1) * 3
      case LEAF.float: case LEAF.double: return part * 2 - 1
      default: return undefined
    }
  }
}
