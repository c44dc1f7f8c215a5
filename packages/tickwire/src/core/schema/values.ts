/**
 * Plain JavaScript values to cells and back: how spawns, messages, inputs and list items enter and leave.
 *
 * Live cells are doubles. This file knows that `true` is 1, that 'run' is the second name of its `oneOf`, that a bigint
 * is two int32 halves, and that text is in a `ValueStore`. It allocates; a tick does not use it.
 *
 * A value of the wrong type is an error of the caller and throws a RangeError that names the field. A value out of its
 * bounds is not: the next sample clamps a number, and the store cuts a text, bytes or a list.
 */

import type { BitReader } from '../bits/bit-reader.ts'
import type { BitWriter } from '../bits/bit-writer.ts'
import type { Field, Shape } from './field.ts'
import type { Layout } from './layout.ts'
import { LEAF, type Leaf } from './leaf.ts'
import { whyNotValue } from './value-check.ts'

type Values = { readonly [name: string]: unknown }

/** The storage of values of variable size: a `ValueHeap`, or temporarily the inside of a list. */
export interface ValueStore {
  /** The handle of a value, cut to the limit of its field; `kept`, a handle, when there is no room for it. */
  put(leaf: Leaf, value: unknown, kept: number): number
  /** The value of a handle. */
  get(leaf: Leaf, handle: number): unknown
  /** Writes the value of a handle. */
  write(writer: BitWriter, leaf: Leaf, handle: number): void
  /** Reads a value and returns its handle; on invalid input the reader has failed. */
  read(reader: BitReader, leaf: Leaf): number
}

/**
 * Stores the fields that `values` names; the others keep the content of their cells. Unknown names are for the compiler
 * to reject.
 */
export function storeValues(layout: Layout, values: Values, cells: Float64Array, at: number, heap: ValueStore): void {
  for (const member of layout.members) {
    const value = values[member.name]
    if (value !== undefined) storeField(layout.leaves, member.firstLeaf, member.field, value, cells, at, heap)
  }
}

/** The fields of an object as a fresh plain value. */
export function loadValues(layout: Layout, cells: Float64Array, at: number, heap: ValueStore): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const member of layout.members) {
    values[member.name] = loadField(layout.leaves, { leaf: member.firstLeaf }, member.field, cells, at, heap)
  }
  return values
}

/** Stores one field from its first leaf on; returns the leaf after its last. */
export function storeField(
  leaves: readonly Leaf[], first: number, field: Field<unknown>, value: unknown,
  cells: Float64Array, at: number, heap: ValueStore,
): number {
  const shape = innerShape(field)
  if (!shape) {
    storeLeaf(leaves[first], value, cells, at, heap)
    return first + 1
  }
  const isGroup = field.spec.kind === 'group'
  if (!isObject(value) && !(isGroup && value === null))
    throw mistake(leaves[first].path, value, 'not an object with its fields')
  let next = first
  if (isGroup) cells[at + leaves[next++].cell] = value === null ? 0 : 1
  // The shape was checked to be a plain object, so this loop sees only its fields, and allocates nothing.
  for (const name in shape) {
    next = value === null
      ? storeInitial(leaves, next, shape[name], cells, at)
      : storeField(leaves, next, shape[name], value[name], cells, at, heap)
  }
  return next
}

/** Stores the initial value of one field from its first leaf on; returns the leaf after its last. */
export function storeInitial(
  leaves: readonly Leaf[],
  first: number,
  field: Field<unknown>,
  cells: Float64Array,
  at: number,
): number {
  const shape = innerShape(field)
  if (!shape) {
    storeInitialLeaf(leaves[first], cells, at)
    return first + 1
  }
  let next = first
  if (field.spec.kind === 'group') storeInitialLeaf(leaves[next++], cells, at)
  for (const name in shape) next = storeInitial(leaves, next, shape[name], cells, at)
  return next
}

/** Loads one field as a plain value, moving the cursor past its leaves. */
export function loadField(
  leaves: readonly Leaf[],
  cursor: { leaf: number },
  field: Field<unknown>,
  cells: Float64Array,
  at: number,
  heap: ValueStore,
): unknown {
  const shape = innerShape(field)
  if (!shape) return loadLeaf(leaves[cursor.leaf++], cells, at, heap)
  const isHere = field.spec.kind !== 'group' || cells[at + leaves[cursor.leaf++].cell] !== 0
  const value: Record<string, unknown> = {}
  for (const name in shape) value[name] = loadField(leaves, cursor, shape[name], cells, at, heap)
  return isHere ? value : null
}

/** The value of one leaf, as the game sees it. */
export function loadLeaf(leaf: Leaf, cells: Float64Array, at: number, heap: ValueStore): unknown {
  const cell = at + leaf.cell
  const { spec } = leaf.field
  if (leaf.kind === LEAF.heap) return heap.get(leaf, cells[cell])
  switch (spec.kind) {
    case 'bool': return cells[cell] !== 0
    case 'enum': return spec.names[cells[cell]]
    case 'long': return joinLong(cells[cell], cells[cell + 1])
    case 'ranged-long': return spec.min + BigInt.asUintN(64, joinLong(cells[cell], cells[cell + 1]))
    case 'ref': return cells[cell] === 0 ? null : cells[cell]
    case 'quat': return { x: cells[cell], y: cells[cell + 1], z: cells[cell + 2], w: cells[cell + 3] }
    default: return cells[cell]
  }
}

/** Stores the value of one leaf. Numbers are kept as they are: the next sample clamps them. */
export function storeLeaf(leaf: Leaf, value: unknown, cells: Float64Array, at: number, heap: ValueStore): void {
  if (leaf.kind === LEAF.heap) cells[at + leaf.cell] = heap.put(leaf, value, cells[at + leaf.cell])
  else storeNumbers(leaf, value, cells, at)
}

/** The fields inside a field, in wire order; undefined for a leaf. */
export function innerShape(field: Field<unknown>): Shape | undefined {
  const { spec } = field
  return spec.kind === 'struct' || spec.kind === 'group' || spec.kind === 'vector' ? spec.shape : undefined
}

/** A value of the wrong type that the compiler could not see. */
export function mistake(path: string, value: unknown, problem: string): RangeError {
  const shown =
    typeof value === 'object' && value !== null
      ? 'the value'
      : typeof value === 'string'
        ? JSON.stringify(value)
        : String(value)
  return new RangeError(`${path}: ${shown} is ${problem}.`)
}

function storeInitialLeaf(leaf: Leaf, cells: Float64Array, at: number): void {
  // Handle 0 is the initial value of every leaf, in every heap.
  if (leaf.kind === LEAF.heap) cells[at + leaf.cell] = 0
  else storeNumbers(leaf, leaf.initial, cells, at)
}

function storeNumbers(leaf: Leaf, value: unknown, cells: Float64Array, at: number): void {
  const cell = at + leaf.cell
  const { spec } = leaf.field
  switch (spec.kind) {
    case 'bool':
      if (typeof value === 'boolean') { cells[cell] = value ? 1 : 0; return }
      break
    case 'enum': {
      const index = typeof value === 'string' ? spec.names.indexOf(value) : -1
      if (index >= 0) { cells[cell] = index; return }
      break
    }
    case 'long':
      if (typeof value === 'bigint') { splitLong(clampLong(value, -(2n ** 63n), 2n ** 63n - 1n), cells, cell); return }
      break
    case 'ranged-long':
      if (typeof value === 'bigint') { splitLong(clampLong(value, spec.min, spec.max) - spec.min, cells, cell); return }
      break
    case 'ref':
      if (value === null || typeof value === 'number') { cells[cell] = value ?? 0; return }
      break
    case 'quat':
      if (isObject(value) && whyNotValue(spec, value) === undefined) { storeQuat(value, cells, cell); return }
      break
    default:
      if (typeof value === 'number') { cells[cell] = value; return }
  }
  throw mistake(leaf.path, value, whyNotValue(spec, value) ?? 'no value of this field')
}

function storeQuat(value: Values, cells: Float64Array, cell: number): void {
  cells[cell] = Number(value['x'])
  cells[cell + 1] = Number(value['y'])
  cells[cell + 2] = Number(value['z'])
  cells[cell + 3] = Number(value['w'])
}

function isObject(value: unknown): value is Values {
  return typeof value === 'object' && value !== null
}

function joinLong(low: number, high: number): bigint {
  return (BigInt(high) << 32n) | BigInt(low >>> 0)
}

function splitLong(value: bigint, cells: Float64Array, at: number): void {
  cells[at] = Number(BigInt.asIntN(32, value))
  cells[at + 1] = Number(BigInt.asIntN(32, value >> 32n))
}

function clampLong(value: bigint, min: bigint, max: bigint): bigint {
  return value < min ? min : value > max ? max : value
}
