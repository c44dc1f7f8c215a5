/**
 * How one leaf of an object is read and written through its handle: `player.x`, `player.isReady`, `player.target`.
 *
 * The accessors of numbers, the common case, are so small in bytecode (19 and 24 bytes, below V8's limit of 27) that V8
 * inlines them into `step`, however long `step` is. A loop over handles then costs about as much as one over plain
 * objects (bench/world.bench.ts, `iterate_ratio_objects`).
 */

import type { Leaf } from '../schema/leaf.ts'
import { loadLeaf, storeLeaf } from '../schema/values.ts'
import type { Place } from './handle.ts'

export interface Accessors {
  readonly get: (this: Place) => unknown
  readonly set: (this: Place, value: never) => void
}

export function accessorsOf(leaf: Leaf): Accessors {
  switch (leaf.field.spec.kind) {
    case 'bool':
      return boolean(leaf)
    case 'enum':
      return name(leaf, leaf.field.spec.names)
    case 'ref':
      return reference(leaf)
    case 'int':
    case 'fixed':
    case 'angle':
    case 'word':
    case 'varint':
    case 'float':
    case 'double':
      return number(leaf.cell)
    default:
      return value(leaf)
  }
}

function number(cell: number): Accessors {
  return {
    get(): number { return this.$cells[cell] },
    set(to: number): void { this.$cells[cell] = to },
  }
}

function boolean(leaf: Leaf): Accessors {
  const { cell } = leaf
  return {
    get(): boolean { return this.$cells[cell] !== 0 },
    set(to: boolean): void {
      if (typeof to === 'boolean') this.$cells[cell] = to ? 1 : 0
      else storeLeaf(leaf, to, this.$cells, 0, this.$store.heap)
    },
  }
}

function name(leaf: Leaf, names: readonly string[]): Accessors {
  const { cell } = leaf
  return {
    get(): string { return names[this.$cells[cell]] },
    set: value(leaf).set,
  }
}

/** An id reads as null while no object has it: on a client also while the object is out of sight. */
function reference(leaf: Leaf): Accessors {
  const { cell } = leaf
  return {
    get(): number | null {
      const id = this.$cells[cell]
      return this.$store.objects.isAlive(id) ? id : null
    },
    set: value(leaf).set,
  }
}

/** All other kinds, converted to and from plain values. */
function value(leaf: Leaf): Accessors {
  return {
    get(): unknown { return loadLeaf(leaf, this.$cells, 0, this.$store.heap) },
    set(to: unknown): void { storeLeaf(leaf, to, this.$cells, 0, this.$store.heap) },
  }
}
