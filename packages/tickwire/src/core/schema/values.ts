/**
 * Plain JavaScript values to cells and back: how spawns, messages, inputs and list items enter and leave.
 *
 * Live cells are doubles; this file knows that `true` is 1, that 'run' is the second name of its `oneOf`, that a
 * bigint is two int32 halves, and that text lives in a `ValueHeap`. It allocates; the tick does not come here.
 */

import type { Field, FieldSpec, Shape } from './field.ts'
import { isHeap, vectorShape, type Layout } from './layout.ts'
import type { Leaf } from './leaf.ts'
import type { ValueHeap } from './value-heap.ts'

type Values = { readonly [name: string]: unknown }

/** Stores the fields that `values` names; the others keep what is in their cells. Unknown names are the compiler's. */
export function storeValues(layout: Layout, values: Values, cells: Float64Array, at: number, heap: ValueHeap): void {
  for (const member of layout.members) {
    const value = values[member.name]
    if (value !== undefined) storeField(layout.leaves, member.firstLeaf, member.field, value, cells, at, heap)
  }
}

/** The fields of an object as a fresh plain value. */
export function loadValues(layout: Layout, cells: Float64Array, at: number, heap: ValueHeap): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const member of layout.members) {
    const cursor = { leaf: member.firstLeaf }
    values[member.name] = loadField(layout.leaves, cursor, member.field, cells, at, heap)
  }
  return values
}

/** Cells of a fresh object: every field's initial value, or the zero of its kind. Handles are 0, which means initial. */
export function initialCells(layout: Layout): Float64Array {
  const cells = new Float64Array(layout.cellCount)
  for (const member of layout.members) storeInitial(layout.leaves, member.firstLeaf, member.field, cells)
  return cells
}

/** Stores one field from its first leaf on; returns the leaf after its last. */
export function storeField(
  leaves: readonly Leaf[], first: number, field: Field<unknown>, value: unknown,
  cells: Float64Array, at: number, heap: ValueHeap,
): number {
  const shape = innerShape(field)
  if (!shape) {
    storeLeaf(leaves[first], value, cells, at, heap)
    return first + 1
  }
  let next = first
  if (field.spec.kind === 'group') {
    cells[at + leaves[next++].cell] = value === null ? 0 : 1
    if (value === null) return storeInitialShape(leaves, next, shape, cells, at)
  }
  for (const [name, inner] of Object.entries(shape)) {
    next = storeField(leaves, next, inner, (value as Values)[name], cells, at, heap)
  }
  return next
}

/** Loads one field as a plain value, moving the cursor past its leaves. */
export function loadField(
  leaves: readonly Leaf[], cursor: { leaf: number }, field: Field<unknown>, cells: Float64Array, at: number, heap: ValueHeap,
): unknown {
  const shape = innerShape(field)
  if (!shape) return loadLeaf(leaves[cursor.leaf++], cells, at, heap)
  const isHere = field.spec.kind !== 'group' || cells[at + leaves[cursor.leaf++].cell] !== 0
  const value: Record<string, unknown> = {}
  for (const [name, inner] of Object.entries(shape)) value[name] = loadField(leaves, cursor, inner, cells, at, heap)
  return isHere ? value : null
}

/** The value of one leaf, as the game sees it. */
export function loadLeaf(leaf: Leaf, cells: Float64Array, at: number, heap: ValueHeap): unknown {
  const cell = at + leaf.cell
  const { spec } = leaf.field
  switch (spec.kind) {
    case 'bool': return cells[cell] !== 0
    case 'enum': return spec.names[cells[cell]]
    case 'long': return joinLong(cells[cell], cells[cell + 1])
    case 'ranged-long': return spec.min + BigInt.asUintN(64, joinLong(cells[cell], cells[cell + 1]))
    case 'ref': return cells[cell] === 0 ? null : cells[cell]
    case 'quat': return { x: cells[cell], y: cells[cell + 1], z: cells[cell + 2], w: cells[cell + 3] }
    case 'text': case 'fixed-text': case 'bytes': case 'list': case 'manual': return heap.get(leaf, cells[cell])
    default: return cells[cell]
  }
}

/** Stores the value of one leaf. Numbers are kept as they are: the next sample clamps them. */
export function storeLeaf(leaf: Leaf, value: unknown, cells: Float64Array, at: number, heap: ValueHeap): void {
  const cell = at + leaf.cell
  const { spec } = leaf.field
  switch (spec.kind) {
    case 'bool': cells[cell] = value ? 1 : 0; break
    case 'enum': cells[cell] = nameIndex(leaf, spec.names, value); break
    case 'long': splitLong(BigInt.asIntN(64, value as bigint), cells, cell); break
    case 'ranged-long': splitLong(clampLong(value as bigint, spec.min, spec.max) - spec.min, cells, cell); break
    case 'ref': cells[cell] = (value as number | null) ?? 0; break
    case 'quat': {
      const { x, y, z, w } = value as { x: number; y: number; z: number; w: number }
      cells[cell] = x
      cells[cell + 1] = y
      cells[cell + 2] = z
      cells[cell + 3] = w
      break
    }
    case 'text': case 'fixed-text': case 'bytes': case 'list': case 'manual': cells[cell] = heap.put(leaf, value); break
    default: cells[cell] = value as number
  }
}

/** The initial value of a field of variable size: its handle is 0, so nobody stores it. */
export function initialValue(field: Field<unknown>): unknown {
  return field.options.initial ?? zeroOf(field.spec)
}

function zeroOf(spec: FieldSpec): unknown {
  switch (spec.kind) {
    case 'bool': return false
    case 'enum': return spec.names[0]
    case 'long': return 0n
    case 'ranged-long': return clampLong(0n, spec.min, spec.max)
    case 'quat': return { x: 0, y: 0, z: 0, w: 1 }
    case 'text': case 'fixed-text': return ''
    case 'bytes': return new Uint8Array(0)
    case 'list': return []
    case 'ref': case 'group': return null
    case 'manual': return spec.codec.initial
    default: return 0
  }
}

function storeInitial(leaves: readonly Leaf[], first: number, field: Field<unknown>, cells: Float64Array, at = 0): number {
  const { initial } = field.options
  const shape = innerShape(field)
  if (!shape) {
    const leaf = leaves[first]
    if (isHeap(field.spec)) cells[at + leaf.cell] = 0
    else storeLeaf(leaf, initialValue(field), cells, at, NO_HEAP)
    return first + 1
  }
  const isGroup = field.spec.kind === 'group'
  const after = storeInitialShape(leaves, isGroup ? first + 1 : first, shape, cells, at)
  if (isGroup) cells[at + leaves[first].cell] = 0
  if (initial !== undefined && initial !== null) storeField(leaves, first, field, initial, cells, at, NO_HEAP)
  return after
}

function storeInitialShape(leaves: readonly Leaf[], first: number, shape: Shape, cells: Float64Array, at: number): number {
  let next = first
  for (const inner of Object.values(shape)) next = storeInitial(leaves, next, inner, cells, at)
  return next
}

/** Never asked: initial values of variable size are handle 0. An initial inside an initial struct would ask. */
const NO_HEAP = {
  put(leaf: Leaf): number {
    throw new RangeError(`${leaf.path}: put initially(...) on this field itself, not on the struct around it.`)
  },
} as unknown as ValueHeap

/** The fields inside a field; undefined for a leaf. */
export function innerShape(field: Field<unknown>): Shape | undefined {
  const { spec } = field
  if (spec.kind === 'struct' || spec.kind === 'group') return spec.shape
  return spec.kind === 'vector' ? vectorShape('vector', spec, field) : undefined
}

function nameIndex(leaf: Leaf, names: readonly string[], value: unknown): number {
  const index = names.indexOf(value as string)
  if (index < 0) throw new RangeError(`${leaf.path}: "${String(value)}" is none of ${names.join(', ')}.`)
  return index
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
