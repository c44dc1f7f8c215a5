/**
 * How one leaf of an object is read and written through its handle: `player.x`, `player.isReady`, `player.target`.
 *
 * Numbers, the common case, are so small in bytecode (19 and 24 bytes, below V8's 27) that they are inlined into `step`
 * wherever they stand, however long `step` is: a loop over handles then costs about what one over plain objects does
 * (bench/world.bench.ts, `iterate_ratio_objects`).
 */

import type { Leaf } from '../schema/leaf.ts'
import { loadLeaf, storeLeaf } from '../schema/values.ts'
import type { Place } from './handle.ts'

export interface Accessors {
  readonly get: (this: Place) => unknown
  readonly set: (this: Place, value: never) => void
}

/** The accessors of a leaf. */
export function accessorsOf(leaf: Leaf): Accessors {
  switch (leaf.field.spec.kind) {
    case 'bool': return boolean(leaf)
    case 'enum': return name(leaf, leaf.field.spec.names)
    case 'ref': return reference(leaf)
    case 'int': case 'fixed': case 'angle': case 'word': case 'varint': case 'float': case 'double': return number(leaf.cell)
    default: return value(leaf)
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

/** An id reads as null while nobody has it: on a client, whoever is out of sight. */
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

/** Everything else, by way of plain values. */
function value(leaf: Leaf): Accessors {
  return {
    get(): unknown { return loadLeaf(leaf, this.$cells, 0, this.$store.heap) },
    set(to: unknown): void { storeLeaf(leaf, to, this.$cells, 0, this.$store.heap) },
  }
}
