/**
 * Where everything of a definition lies: its leaves, the lanes of its rows, the cells of its live objects, and the
 * masks that say which members a delta carries. Computed once; codecs are loops over it.
 *
 * A delta is a mask with one bit a member, first member first, then the members whose bit is set:
 *
 *   flag     a bool. Its mask bit is the whole of it: set = not what it was.
 *   plain    a number, vector or struct. All its leaves follow.
 *   masked   a struct with a mask of its own. The same again, one level down.
 *   group    comes and goes. One bit "is here", then, if it is, the same again, one level down.
 *
 * There are three masks, nested: what everyone holds, what the team holds too, what the owner holds too. `local` and
 * `server` members are in none of them. Rows always have lanes for all members; what was not sent stays initial.
 *
 * This file checks definitions. It does not move a single bit.
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

/** One bit of a mask and what it stands for. */
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

/** Who a delta is for: each holds what the ones before it hold, and more. */
export const AUDIENCES = ['all', 'team', 'owner'] as const

export interface Layout {
  /** What errors and reports call the definition. */
  readonly name: string
  readonly leaves: readonly Leaf[]
  readonly table: LeafTable
  readonly members: readonly Member[]
  readonly laneCount: number
  readonly cellCount: number
  /** By audience: index 0 everyone, 1 the team, 2 the owner. */
  readonly masks: readonly [Mask, Mask, Mask]
  readonly motions: readonly Motion[]
  /** Members that come and go. */
  readonly groups: readonly Member[]
  /** Leaves whose lane is a handle. */
  readonly heapLeaves: readonly Leaf[]
}

/** How one item of a list lies, with a row and cells to pack and unpack it in. */
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

/** What a field inherits from where it stands. */
interface Place {
  readonly path: string
  readonly depth: number
  /** A field of the definition itself, not of a struct, group or list in it. */
  readonly isTop: boolean
  /** Something around it is drawn without blending. */
  readonly snaps: boolean
  /** What `initially(...)` around it says of it; undefined = nothing. */
  readonly initial: unknown
}

/** Collects leaves while walking a shape. */
class Draft {
  readonly #leaves: Leaf[] = []
  #laneCount = 0
  #cellCount = 0

  finish(name: string, members: readonly Member[]): Layout {
    const leaves = this.#leaves
    check(this.#laneCount <= SCHEMA_LANES_MAX, name, `${this.#laneCount} numbers`, `Split it: at most ${SCHEMA_LANES_MAX}`)
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

  /** Lays out the fields inside something; `place` is where that stands. */
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

  /** Adds the leaves of a field; gives the mask inside it, if it has one. */
  #contents(field: Field<unknown>, place: Place): Mask {
    const { path, depth } = place
    const { spec, options } = field
    const initial = place.initial === undefined ? options.initial : place.initial
    const inside: Place = { path, depth: depth + 1, isTop: false, snaps: place.snaps || options.blend === 'snap', initial }
    switch (spec.kind) {
      case 'vector':
        check(initial !== null, path, 'initially(null)', 'Only a group can be absent')
        check(spec.components.length === spec.arity, path, `${spec.components.length} bounds for ${spec.arity} components`, 'Give min, max, precision once, or one { min, max, precision } a component')
        this.members(spec.shape, inside)
        return NO_MASK
      case 'struct': {
        check(initial !== null, path, 'initially(null)', 'Only a group can be absent')
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
  check(isPlain, path, 'not a plain object of fields', 'Give fields by name: { x: fixed(0, 640, 0.1) }')
  check(Object.keys(shape).length > 0, path, 'no fields', 'Declare at least one')
}

/** A literal's. `{ __proto__: u8 }` declares no field but a prototype, and would be lost in silence. */
function isPlainPrototype(prototype: object | null): boolean {
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function checkField(field: Field<unknown>, { path, depth, isTop }: Place): void {
  check(field instanceof Field, path, 'not a field', 'Use bool, u8, fixed(min, max, precision) and their kin; call the ones that take bounds')
  check(depth < SCHEMA_DEPTH_MAX, path, `nested deeper than ${SCHEMA_DEPTH_MAX}`, 'Flatten it')
  const { spec, options } = field
  check(isTop || options.audience === 'all', path, `${options.audience}() inside a struct, group or list`, 'Put it on the whole member, or move the field to the top')
  check(isTop || options.role === undefined, path, `${options.role} inside a struct, group or list`, 'Move the field to the top')
  checkRate(path, options, isTop)
  check(isTop || spec.kind !== 'group', path, 'a group inside a struct, group or list', 'Move the group to the top')
  checkLine(path, field)
}

function checkRate(path: string, { rateHz, audience }: FieldOptions, isTop: boolean): void {
  if (rateHz === undefined) return
  check(rateHz > 0 && rateHz <= TICK_RATE_MAX, path, `rate(${rateHz})`, `Give changes a second, above 0 and at most ${TICK_RATE_MAX}`)
  check(isTop, path, 'rate() inside a struct, group or list', 'Put it on the whole member, or move the field to the top')
  check(audience !== 'local' && audience !== 'server', path, `rate() on a ${audience}() field`, 'Leave it out: nobody is told of it')
}

/** JavaScript itself asks values for these; a field called so would answer. */
const RESERVED = ['constructor', 'prototype', '__proto__', 'hasOwnProperty', 'toString', 'toLocaleString', 'valueOf', 'toJSON', 'then']

function checkName(path: string, name: string): void {
  check(/^[A-Za-z_][A-Za-z0-9_]*$/.test(name), path, 'not a plain name', 'Use letters, digits and _')
  check(!RESERVED.includes(name), path, `"${name}" means something to JavaScript`, 'Call the field something else')
}
