/**
 * The positions of everything in a definition: its leaves, the lanes of its rows, the cells of its live objects, and
 * the masks that say which members a delta has. Computed once; codecs are loops over it.
 *
 * A delta is a mask with one bit per member, first member first, then the members whose bit is set:
 *
 *   flag     a bool. Its mask bit is all of it: set = it changed.
 *   plain    a number, vector or struct. All its leaves follow.
 *   masked   a struct with a mask of its own. The same again, one level down.
 *   group    may be absent. One bit "is present", then, if it is, the same again, one level down.
 *
 * There are three nested masks: the fields for everyone, those for the team in addition, those for the owner in
 * addition. `local` and `server` members are in none of them. Rows always have lanes for all members; fields that are
 * not sent keep their initial values.
 *
 * This file checks definitions. It writes no bits.
 */

import { SCHEMA_DEPTH_MAX, SCHEMA_LANES_MAX, TICK_RATE_MAX } from '../base/limits.ts'
import { Field, type Audience, type FieldOptions, type FieldSpec, type Shape } from './field.ts'
import { bool } from './field-kinds.ts'
import { checkInitial, initialInside, zeroOf } from './initial.ts'
import { check, checkLine, LEAF, planLeaf, type Leaf } from './leaf.ts'
import { makeLeafTable, type LeafTable } from './leaf-table.ts'
import { makeMask, type Mask } from './mask.ts'
import { motionsOf, type Motion } from './motion.ts'

export type MemberKind = 'flag' | 'plain' | 'masked' | 'group'

/** One bit of a mask and its member. */
export interface Member {
  readonly name: string
  readonly path: string
  readonly kind: MemberKind
  readonly field: Field<unknown>
  readonly audience: Audience
  readonly firstLeaf: number
  readonly leafCount: number
  readonly lane: number
  readonly laneCount: number
  /** The mask inside a `masked` or `group` member; empty for the others. */
  readonly inner: Mask
}

/** The audiences of a delta: each receives all that the ones before it receive, and more. */
export const AUDIENCES = ['all', 'team', 'owner'] as const

/** The positions of everything in a definition. */
export interface Layout {
  /** The name of the definition in errors and reports. */
  readonly name: string
  /** The single values of the definition, in order. */
  readonly leaves: readonly Leaf[]
  /** The same leaves as parallel arrays. */
  readonly table: LeafTable
  /** The members, in the order of the declaration. */
  readonly members: readonly Member[]
  /** Lanes of a row: the int32 numbers of one object. */
  readonly laneCount: number
  /** Cells of a live object: its doubles. */
  readonly cellCount: number
  /** Indexed by field set: 0 everyone, 1 the team, 2 the owner. */
  readonly masks: readonly [Mask, Mask, Mask]
  /** Positions and the fields that change them. */
  readonly motions: readonly Motion[]
  /** Members that may be absent. */
  readonly groups: readonly Member[]
  /** Leaves whose lane is a handle. */
  readonly heapLeaves: readonly Leaf[]
}

/** The layout of one item of a list, with a row and cells to pack and unpack it. */
export interface ItemLayout extends Layout {
  readonly row: Int32Array
  readonly cells: Float64Array
}

const NO_MASK: Mask = makeMask([], [])

/** Lays a shape out, or throws a ConfigError that names the path and the fix. */
export function makeLayout(name: string, shape: Shape): Layout {
  const draft = new Draft()
  const members = draft.members(shape, { path: name, depth: 0, isTop: true, snaps: false, initial: undefined })
  return { ...draft.finish(name, members), motions: motionsOf(name, members) }
}

/** Items of a list are laid out by themselves, as an object of one field called `item`. */
function itemLayout(item: Field<unknown>, path: string, depth: number): ItemLayout {
  const draft = new Draft()
  const member = draft.member('item', item, { path, depth, isTop: false, snaps: false, initial: undefined })
  const layout = draft.finish(path, [member])
  return { ...layout, row: new Int32Array(layout.laneCount), cells: new Float64Array(layout.cellCount) }
}

/** What a field inherits from its surroundings. */
interface Place {
  readonly path: string
  readonly depth: number
  /** Whether it is a field of the definition itself, not of a struct, group or list in it. */
  readonly isTop: boolean
  /** Whether a surrounding field is drawn without blending. */
  readonly snaps: boolean
  /** What a surrounding `initially(...)` gives it; undefined = nothing. */
  readonly initial: unknown
}

/** Collects leaves while walking a shape. */
class Draft {
  readonly #leaves: Leaf[] = []
  #laneCount = 0
  #cellCount = 0

  finish(name: string, members: readonly Member[]): Layout {
    const leaves = this.#leaves
    check(
      this.#laneCount <= SCHEMA_LANES_MAX,
      name,
      `too many numbers (expected at most ${SCHEMA_LANES_MAX}, got ${this.#laneCount})`,
      'split the definition',
    )
    const visible = (...audiences: readonly Audience[]): Mask =>
      makeMask(members.filter((member) => audiences.includes(member.audience)), leaves)
    return {
      name, leaves, members,
      table: makeLeafTable(leaves),
      laneCount: this.#laneCount,
      cellCount: this.#cellCount,
      masks: [visible('all'), visible('all', 'team'), visible('all', 'team', 'owner')],
      motions: [],
      groups: members.filter((member) => member.kind === 'group'),
      heapLeaves: leaves.filter((leaf) => leaf.kind === LEAF.heap),
    }
  }

  /** Lays out the fields inside a field; `place` is that of the outer field. */
  members(shape: Shape, place: Place): Member[] {
    checkShape(place.path, shape)
    const names = Object.keys(shape)
    const initial = initialInside(place.path, names, place.initial)
    return names.map((name) => {
      const path = `${place.path}.${name}`
      checkName(path, name)
      return this.member(name, shape[name], { ...place, path, initial: initial[name] })
    })
  }

  /** Lays out one field; `place` is its own. */
  member(name: string, field: Field<unknown>, place: Place): Member {
    const { path } = place
    checkField(field, place)
    const firstLeaf = this.#leaves.length
    const lane = this.#laneCount
    const inner = this.#contents(field, place)
    return {
      name, path, field, firstLeaf, lane, inner,
      kind: kindOf(field.spec),
      audience: field.options.audience,
      leafCount: this.#leaves.length - firstLeaf,
      laneCount: this.#laneCount - lane,
    }
  }

  /** Adds the leaves of a field; returns the mask inside it, if it has one. */
  #contents(field: Field<unknown>, place: Place): Mask {
    const { path, depth } = place
    const { spec, options } = field
    const initial = place.initial === undefined ? options.initial : place.initial
    const inside: Place = {
      path,
      depth: depth + 1,
      isTop: false,
      snaps: place.snaps || options.blend === 'snap',
      initial,
    }
    switch (spec.kind) {
      case 'vector':
        check(initial !== null, path, 'initially(null), and only a group can be absent', 'give a value')
        check(
          spec.components.length === spec.arity,
          path,
          `wrong number of bounds (expected ${spec.arity}, got ${spec.components.length})`,
          'give min, max, precision once, or one { min, max, precision } for a component',
        )
        this.members(spec.shape, inside)
        return NO_MASK
      case 'struct': {
        check(initial !== null, path, 'initially(null), and only a group can be absent', 'give a value')
        const members = this.members(spec.shape, inside)
        return spec.perMember ? makeMask(members, this.#leaves) : NO_MASK
      }
      case 'group':
        this.#leaf(bool, { ...inside, path: `${path}?`, initial: initial !== undefined && initial !== null })
        return makeMask(this.members(spec.shape, inside), this.#leaves)
      default:
        this.#leaf(field, { ...place, initial })
        return NO_MASK
    }
  }

  #leaf(field: Field<unknown>, { path, depth, snaps, initial }: Place): void {
    const { spec } = field
    const item = spec.kind === 'list' ? itemLayout(spec.item, `${path}[]`, depth + 1) : undefined
    const plan = planLeaf(field, { path, snaps, item, cell: this.#cellCount, lane: this.#laneCount })
    const leaf: Leaf = { ...plan, initial: initial === undefined ? zeroOf(spec) : initial }
    checkInitial(leaf)
    this.#leaves.push(leaf)
    this.#laneCount += leaf.laneCount
    this.#cellCount += leaf.cellCount
  }
}

function kindOf(spec: FieldSpec): MemberKind {
  if (spec.kind === 'bool') return 'flag'
  if (spec.kind === 'group') return 'group'
  return spec.kind === 'struct' && spec.perMember ? 'masked' : 'plain'
}

function checkShape(path: string, shape: Shape): void {
  const isPlain = typeof shape === 'object' && shape !== null && isPlainPrototype(Object.getPrototypeOf(shape))
  check(isPlain, path, 'not a plain object of fields', 'give fields by name: { x: fixed(0, 640, 0.1) }')
  check(Object.keys(shape).length > 0, path, 'no fields', 'declare at least one')
}

/**
 * Whether it is the prototype of an object literal. `{ __proto__: u8 }` declares no field and would be lost silently.
 */
function isPlainPrototype(prototype: object | null): boolean {
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function checkField(field: Field<unknown>, { path, depth, isTop }: Place): void {
  check(
    field instanceof Field,
    path,
    'not a field',
    'use bool, u8, fixed(min, max, precision) and others; call the ones that take bounds',
  )
  check(depth < SCHEMA_DEPTH_MAX, path, `nested too deep (expected at most ${SCHEMA_DEPTH_MAX} levels)`, 'flatten it')
  const { spec, options } = field
  check(
    isTop || options.audience === 'all',
    path,
    `${options.audience}() inside a struct, group or list`,
    'put it on the whole member, or move the field to the top',
  )
  check(
    isTop || options.role === undefined,
    path,
    `${options.role} inside a struct, group or list`,
    'move the field to the top',
  )
  checkRate(path, options, isTop)
  check(isTop || spec.kind !== 'group', path, 'a group inside a struct, group or list', 'move the group to the top')
  checkLine(path, field)
}

function checkRate(path: string, { rateHz, audience }: FieldOptions, isTop: boolean): void {
  if (rateHz === undefined) return
  check(
    rateHz > 0 && rateHz <= TICK_RATE_MAX,
    path,
    `invalid rate (expected above 0 and at most ${TICK_RATE_MAX}, got ${rateHz})`,
    'give changes a second',
  )
  check(
    isTop,
    path,
    'rate() inside a struct, group or list',
    'put it on the whole member, or move the field to the top',
  )
  check(
    audience !== 'local' && audience !== 'server',
    path,
    `rate() on a ${audience}() field, which is never sent`,
    'leave it out',
  )
}

/** Names that JavaScript itself looks up on values; a field with such a name would answer. */
const RESERVED = [
  'constructor',
  'prototype',
  '__proto__',
  'hasOwnProperty',
  'toString',
  'toLocaleString',
  'valueOf',
  'toJSON',
  'then',
]

function checkName(path: string, name: string): void {
  check(/^[A-Za-z_][A-Za-z0-9_]*$/.test(name), path, 'not a plain name', 'use letters, digits and _')
  check(!RESERVED.includes(name), path, `"${name}" has a meaning in JavaScript`, 'give the field another name')
}
