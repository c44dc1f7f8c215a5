/**
 * Which fields of an entity are written to a component: fields of the entity itself, or those of a vector, struct or
 * group in it.
 *
 * Only plain values are written. A vector of an object is a window into its cells and dies with the object, so no
 * component may keep one.
 *
 * Numbers are read from the cells of the object, and not by their names: one loop reads many names, which V8 is slow at
 * (bench/ecs.bench.ts).
 */

import { assert, ConfigError } from '../core/base/assert.ts'
import type { Entity } from '../core/schema/definition.ts'
import type { Field, Shape } from '../core/schema/field.ts'
import { innerShape } from '../core/schema/values.ts'
import { accessorsOf } from '../core/world/accessor.ts'
import type { Handle, Place } from '../core/world/handle.ts'

type Getter = (this: Place) => unknown

/** Members of every object that may be written to components too. */
const IDENTITY: ReadonlyMap<string, Getter> = new Map<string, Getter>([
  ['id', function (): unknown { return (this as Handle).id }],
  ['owner', function (): unknown { return (this as Handle).owner }],
])

/** Kinds whose value is the cell itself. */
const NUMBERS: ReadonlySet<string> = new Set(['int', 'fixed', 'angle', 'word', 'varint', 'float', 'double'])
/** Instead of a cell: none. */
const NONE = -1

/** The fields of one component. */
export class Part {
  readonly names: readonly string[]
  /** Indexed like `names`: the cell of a number, or -1. */
  readonly #cells: Int32Array
  /** Indexed like `names`: how the others are read. */
  readonly #getters: readonly Getter[]
  /** The cell that says whether a group is there, or -1. */
  readonly #presence: number

  /** `inside`: the field that has the named fields; undefined: the entity itself. */
  constructor(entity: Entity, names: readonly string[], inside?: string) {
    const { name, shape, leaves } = entity.schema
    const fields = inside === undefined ? shape : fieldsInside(name, shape, inside)
    const path = inside === undefined ? name : `${name}.${inside}`
    this.names = names
    this.#presence = leaves.find((leaf) => leaf.path === `${path}?`)?.cell ?? NONE
    const read = names.map((each) => {
      const own = inside === undefined ? IDENTITY.get(each) : undefined
      if (own !== undefined) return { cell: NONE, get: own }
      const field = plainField(path, fields, each)
      const leaf = leaves.find((one) => one.path === `${path}.${each}`)
      assert(leaf !== undefined, 'a plain field is one leaf')
      return { cell: NUMBERS.has(field.spec.kind) ? leaf.cell : NONE, get: accessorsOf(leaf).get }
    })
    this.#cells = Int32Array.from(read, ({ cell }) => cell)
    this.#getters = read.map(({ get }) => get)
  }

  /** Whether an object has these fields: it has not while they are in a group that is absent. */
  isIn(object: Handle): boolean {
    return this.#presence === NONE || object.$cells[this.#presence] !== 0
  }

  /** The field with this index in `names`. */
  read(object: Handle, at: number): unknown {
    const cell = this.#cells[at]
    return cell === NONE ? this.#getters[at].call(object) : object.$cells[cell]
  }
}

/** The fields inside of a field; undefined if it has none. */
export function namesInside(entity: Entity, name: string): readonly string[] | undefined {
  const field = entity.schema.shape[name]
  const inner = field === undefined ? undefined : innerShape(field)
  return inner === undefined ? undefined : Object.keys(inner)
}

function fieldsInside(path: string, shape: Shape, inside: string): Shape {
  const field = shape[inside]
  if (field === undefined) throw unknown(path, inside, shape)
  const inner = innerShape(field)
  if (inner !== undefined) return inner
  throw new ConfigError(`${path}.${inside}`, 'has no fields inside', 'name it as a field of the component.')
}

function plainField(path: string, fields: Shape, name: string): Field<unknown> {
  const field = fields[name]
  if (field === undefined) throw unknown(path, name, fields)
  if (innerShape(field) === undefined) return field
  throw new ConfigError(
    `${path}.${name}`,
    'is not a plain value',
    `give it a component of its own, as [Component, '${name}'], or write it with mirror().`,
  )
}

function unknown(path: string, name: string, fields: Shape): ConfigError {
  return new ConfigError(path, `has no field "${name}"`, `write one of: ${Object.keys(fields).join(', ')}.`)
}
