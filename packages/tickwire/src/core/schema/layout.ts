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

import { ConfigError } from '../base/assert.ts'
import { SCHEMA_DEPTH_MAX, SCHEMA_LANES_MAX } from '../base/limits.ts'
import { Field, type Audience, type FieldSpec, type Role, type Shape } from './field.ts'
import { bool } from './field-kinds.ts'
import { cellCount, check, makeLeaf, type Leaf } from './leaf.ts'

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

/** The members one mask speaks of, in wire order. `dirty` is scratch for the codec: one bit a member, highest first. */
export interface Mask {
  readonly members: readonly Member[]
  readonly dirty: Uint32Array
}

/** A rate of change and what it is the rate of, as members of the layout. */
export interface Motion {
  readonly role: Role
  readonly rate: Member
  readonly of: Member
}

/** Who a delta is for: each holds what the ones before it hold, and more. */
export const AUDIENCES = ['all', 'team', 'owner'] as const

export interface Layout {
  /** What errors and reports call the definition. */
  readonly name: string
  readonly shape: Shape
  readonly leaves: readonly Leaf[]
  readonly members: readonly Member[]
  readonly laneCount: number
  readonly cellCount: number
  /** By audience: index 0 everyone, 1 the team, 2 the owner. */
  readonly masks: readonly [Mask, Mask, Mask]
  readonly motions: readonly Motion[]
  /** Leaves whose lane is a handle. */
  readonly heapLeaves: readonly Leaf[]
}

const NO_MASK: Mask = { members: [], dirty: new Uint32Array(0) }

/** Lays a shape out, or throws a ConfigError that names the path and the fix. */
export function makeLayout(name: string, shape: Shape): Layout {
  return layOut(name, shape, 0, true)
}

/** Items of a list are laid out by themselves, as a shape of one field called `item`. */
function itemLayout(path: string, item: Field<unknown>, depth: number): Layout {
  return layOut(`${path}[]`, { item }, depth, false)
}

function layOut(name: string, shape: Shape, depth: number, isTop: boolean): Layout {
  const draft = new Draft()
  const members = draft.members(name, shape, depth, isTop)
  check(draft.lanes <= SCHEMA_LANES_MAX, name, `${draft.lanes} numbers`, `Split it: at most ${SCHEMA_LANES_MAX}`)
  const visible = (audiences: readonly Audience[]): Mask =>
    makeMask(members.filter((member) => audiences.includes(member.audience)))
  return {
    name,
    shape,
    leaves: draft.leaves,
    members,
    laneCount: draft.lanes,
    cellCount: draft.cells,
    masks: [visible(['all']), visible(['all', 'team']), visible(['all', 'team', 'owner'])],
    motions: motionsOf(name, members),
    heapLeaves: draft.leaves.filter((leaf) => isHeap(leaf.field.spec)),
  }
}

/** True for kinds of variable size, whose lane holds a handle. */
export function isHeap(spec: FieldSpec): boolean {
  return spec.kind === 'text' || spec.kind === 'fixed-text' || spec.kind === 'bytes' || spec.kind === 'list' ||
    spec.kind === 'manual'
}

function makeMask(members: readonly Member[]): Mask {
  return { members, dirty: new Uint32Array((members.length + 31) >>> 5) }
}

const AXES = ['x', 'y', 'z', 'w'] as const

/** The shape a vector is made of, so that nothing below this line knows vectors. */
export function vectorShape(path: string, spec: FieldSpec & { kind: 'vector' }, field: Field<unknown>): Shape {
  const { arity, components } = spec
  check(components.length === arity, path, `${components.length} bounds for ${arity} components`, 'Give min, max, precision once, or one { min, max, precision } a component')
  return Object.fromEntries(components.map((bounds, axis) => {
    const part = new Field<number>({ kind: 'fixed', ...bounds })
    return [AXES[axis], field.options.blend === 'snap' ? part.snap() : part]
  }))
}

/** Collects leaves while walking a shape. */
class Draft {
  readonly leaves: Leaf[] = []
  lanes = 0
  cells = 0

  members(path: string, shape: Shape, depth: number, isTop: boolean): Member[] {
    const entries = Object.entries(shape)
    check(entries.length > 0, path, 'no fields', 'Declare at least one')
    return entries.map(([name, field]) => this.#member(`${path}.${name}`, name, field, depth, isTop))
  }

  #member(path: string, name: string, field: Field<unknown>, depth: number, isTop: boolean): Member {
    check(field instanceof Field, path, 'not a field', 'Use bool, u8, fixed(min, max, precision) and their kin')
    checkName(path, name)
    check(depth < SCHEMA_DEPTH_MAX, path, `nested deeper than ${SCHEMA_DEPTH_MAX}`, 'Flatten it')
    const { spec, options } = field
    check(isTop || options.audience === 'all', path, `${options.audience}() inside a struct or group`, 'Put it on the whole member, or move the field to the top')
    check(isTop || options.role === undefined, path, `${options.role} inside a struct or group`, 'Move the field to the top')
    check(isTop || spec.kind !== 'group', path, 'a group inside a struct or group', 'Move the group to the top')
    const firstLeaf = this.leaves.length
    const lane = this.lanes
    const inner = this.#contents(path, field, depth)
    return {
      name, path, field, firstLeaf, lane, inner,
      kind: kindOf(spec),
      audience: options.audience,
      leafCount: this.leaves.length - firstLeaf,
      laneCount: this.lanes - lane,
    }
  }

  /** Adds the leaves of a field; gives the mask inside it, if it has one. */
  #contents(path: string, field: Field<unknown>, depth: number): Mask {
    const { spec } = field
    switch (spec.kind) {
      case 'vector':
        this.members(path, vectorShape(path, spec, field), depth + 1, false)
        return NO_MASK
      case 'struct': {
        const members = this.members(path, spec.shape, depth + 1, false)
        return spec.perMember ? makeMask(members) : NO_MASK
      }
      case 'group':
        this.#leaf(`${path}?`, bool)
        return makeMask(this.members(path, spec.shape, depth + 1, false))
      case 'list':
        this.#leaf(path, field, itemLayout(path, spec.item, depth + 1))
        return NO_MASK
    }
    this.#leaf(path, field)
    return NO_MASK
  }

  #leaf(path: string, field: Field<unknown>, item?: Layout): void {
    const leaf = makeLeaf(path, field, this.cells, this.lanes, item)
    this.leaves.push(leaf)
    this.lanes += leaf.laneCount
    this.cells += cellCount(leaf)
  }
}

function kindOf(spec: FieldSpec): MemberKind {
  if (spec.kind === 'bool') return 'flag'
  if (spec.kind === 'group') return 'group'
  return spec.kind === 'struct' && spec.perMember ? 'masked' : 'plain'
}

/** Handles have these names for themselves; a field called so would hide them. */
const RESERVED = ['id', 'owner', 'tick', 'isAlive', 'constructor', '__proto__']

function checkName(path: string, name: string): void {
  check(/^[A-Za-z_][A-Za-z0-9_]*$/.test(name), path, 'not a plain name', 'Use letters, digits and _')
  check(!RESERVED.includes(name), path, `"${name}" is a name of every object`, 'Call the field something else')
}

/** What each rate may be the rate of: a role, or (for angular velocity) a kind. */
const RATE_OF: { readonly [R in Role]?: (field: Field<unknown>) => boolean } = {
  'velocity': (field) => field.options.role === 'position',
  'acceleration': (field) => field.options.role === 'velocity',
  'angular-velocity': (field) => field.spec.kind === 'angle' || field.spec.kind === 'quat',
}

function motionsOf(name: string, members: readonly Member[]): readonly Motion[] {
  const motions: Motion[] = []
  for (const rate of members) {
    const { role, roleOf } = rate.field.options
    if (role === undefined) continue
    checkMoves(rate)
    const fits = RATE_OF[role]
    if (!fits) continue
    const candidates = members.filter((member) => roleOf === undefined ? fits(member.field) : member.name === roleOf)
    if (candidates.length !== 1) {
      const problem = roleOf === undefined ? `${role} of ${candidates.length} fields` : `${role} of "${roleOf}", which is no field of ${name}`
      throw new ConfigError(rate.path, problem, `Name the field: .${role === 'angular-velocity' ? 'angularVelocity' : role}('...').`)
    }
    const [of] = candidates
    check(fits(of.field), rate.path, `${role} of ${of.path}, which cannot have one`, 'Mark that field .position(), .velocity(), or make it an angle or a quaternion')
    const same = role === 'angular-velocity' ? rate.leafCount === (of.field.spec.kind === 'quat' ? 3 : 1) : rate.leafCount === of.leafCount
    check(same, rate.path, `${rate.leafCount} components for ${of.path}'s ${of.leafCount}`, 'Give both the same number of components (a quaternion turns by a vec3)')
    motions.push({ role, rate, of })
  }
  return motions
}

function checkMoves(member: Member): void {
  const { kind } = member.field.spec
  const moves = kind === 'fixed' || kind === 'vector' || kind === 'float' || kind === 'double' || kind === 'int'
  check(moves, member.path, `a ${kind} cannot move`, 'Roles are for fixed, float, whole-number and vector fields')
}
