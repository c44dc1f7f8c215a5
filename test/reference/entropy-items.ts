/**
 * What docs/wire/CODEC.md calls items, chunks and gains, implemented again from that chapter alone: the order in which
 * the entropy codec codes the fields of a schema. Imports nothing from src but types.
 */

import type { Plain, PlainShape } from './schema-reference.ts'

export type Kind = 'flag' | 'number' | 'float' | 'dropped' | 'code' | 'value'
export type Role = 'rate' | 'carried' | 'mover' | 'other'

/**
 * The rate that an item is carried by: its lanes (three for a rotation), and the distance in steps per tick and step of
 * the rate, and at lane 0.
 */
export interface Carrier {
  readonly lanes: readonly number[]
  readonly a: number
  readonly b: number
}

export interface Item {
  readonly path: string
  readonly field: Plain
  readonly kind: Kind
  readonly role: Role
  readonly lane: number
  /** Lanes are 0..largest; words, and lanes that wrap at 2^32, have any value. */
  readonly largest: number
  /** Where differences wrap. */
  readonly round: number
  /** Guesses are clamped to 0..largest, instead of wrapping. */
  readonly isBound: boolean
  readonly isSigned: boolean
  readonly carrier: Carrier | undefined
  /** It is not the first item of its member. */
  readonly isPart: boolean
  /** Lane of the flag of the group it is in; -1 = in none. */
  readonly group: number
  /** Of a rotation: 0 for the dropped component, 1 to 3. */
  readonly code: number
  /** Bits of a rotation's code. */
  readonly bits: number
  /** For the first component of a vector: all its lanes. */
  readonly vector: readonly number[]
}

export interface Plan {
  readonly items: readonly Item[]
  /** First items of chunks, and the end. */
  readonly chunks: readonly number[]
}

interface Leaf {
  readonly path: string
  readonly field: Plain
  readonly isGroupFlag: boolean
  readonly lane: number
  readonly group: number
}

interface Member {
  readonly name: string
  readonly field: Plain
  readonly leaves: readonly Leaf[]
}

const AUDIENCES = ['all', 'team', 'owner'] as const
const GAIN = 2 ** 20

/**
 * The items of a field set: 0 everyone's, 1 the team's too, 2 the owner's too. `name`: the schema's own, for the paths
 * of priors.
 */
export function planItems(shape: PlainShape, ticksPerSecond: number, set: 0 | 1 | 2, name = 'Thing'): Plan {
  const members = membersOf(shape, name)
  const parts = AUDIENCES.slice(0, set + 1).map((audience) =>
    inOrder(
      members.filter(({ field }) => field.options.audience === audience),
      members,
    ),
  )
  const items = parts.flat().flatMap((member) => itemsOf(member, members, ticksPerSecond))
  const chunks = [0]
  for (const part of parts) {
    const first = chunks.at(-1)!
    const count = part.flatMap((member) => itemsOf(member, members, ticksPerSecond)).length
    const cuts = Math.ceil(count / 10)
    for (let cut = 1; cut <= cuts; cut++) chunks.push(first + Math.floor((count * cut) / cuts))
  }
  return { items, chunks }
}

function membersOf(shape: PlainShape, name: string): Member[] {
  let lane = 0
  return Object.entries(shape).map(([key, field]) => {
    const leaves = leavesOf(field, `${name}.${key}`, lane, -1)
    lane = leaves.reduce((end, leaf) => Math.max(end, leaf.lane + lanesOf(leaf)), lane)
    return { name: key, field, leaves }
  })
}

function lanesOf({ field, isGroupFlag }: Leaf): number {
  return !isGroupFlag && field.spec.kind === 'quat' ? 4 : 1
}

function leavesOf(field: Plain, path: string, lane: number, group: number): Leaf[] {
  const { spec } = field
  if (spec.kind !== 'vector' && spec.kind !== 'struct' && spec.kind !== 'group')
    return [{ path, field, isGroupFlag: false, lane, group }]
  const leaves: Leaf[] = spec.kind === 'group' ? [{ path: `${path}?`, field, isGroupFlag: true, lane, group }] : []
  let next = lane + leaves.length
  for (const [key, inner] of Object.entries(spec.shape as PlainShape)) {
    const found = leavesOf(inner, `${path}.${key}`, next, spec.kind === 'group' ? lane : group)
    leaves.push(...found)
    next = found.reduce((end, leaf) => Math.max(end, leaf.lane + lanesOf(leaf)), next)
  }
  return leaves
}

/** The field that a member is the rate of. */
function ownerOf(rate: Member, members: readonly Member[]): Member | undefined {
  const { role, roleOf } = rate.field.options
  if (role === undefined || role === 'position') return undefined
  if (roleOf !== undefined) return members.find(({ name }) => name === roleOf)
  return members.find(({ field }) =>
    role === 'velocity'
      ? field.options.role === 'position'
      : role === 'acceleration'
        ? field.options.role === 'velocity'
        : field.spec.kind === 'angle' || field.spec.kind === 'quat',
  )
}

function inOrder(part: readonly Member[], members: readonly Member[]): Member[] {
  const rank = (member: Member): number =>
    ownerOf(member, members) !== undefined
      ? member.field.options.role === 'acceleration'
        ? 0
        : 1
      : member.field.spec.kind === 'quat'
        ? 3
        : 2
  return part.toSorted((one, other) => rank(one) - rank(other))
}

function itemsOf(member: Member, members: readonly Member[], ticksPerSecond: number): Item[] {
  const isRate = ownerOf(member, members) !== undefined
  const isGroup = member.field.spec.kind === 'group'
  return member.leaves.flatMap((leaf, index) => {
    const carrier = carrierOf(member, index, members, ticksPerSecond)
    const role: Role = isRate ? 'rate' : carrier !== undefined ? 'carried' : isMover(leaf, member) ? 'mover' : 'other'
    const number = numberOf(leaf)
    const isFirst = index === 0
    const item: Item = {
      path: leaf.path,
      field: leaf.field,
      role,
      lane: leaf.lane,
      ...number,
      carrier,
      isPart: !isFirst && !isGroup && number.kind !== 'dropped',
      group: leaf.group,
      code: 0,
      vector: isFirst && member.field.spec.kind === 'vector' ? member.leaves.map(({ lane }) => lane) : [],
    }
    if (number.kind !== 'dropped') return [item]
    return [
      item,
      ...[1, 2, 3].map((code): Item => ({
        ...item,
        path: `${leaf.path}#${code}`,
        kind: 'code',
        lane: leaf.lane + code,
        code,
      })),
    ]
  })
}

function isMover({ field, isGroupFlag }: Leaf, member: Member): boolean {
  if (member.field.options.role === 'position') return true
  return !isGroupFlag && ['fixed', 'vector', 'angle', 'quat', 'float', 'double'].includes(field.spec.kind)
}

function numberOf({
  field: { spec },
  isGroupFlag,
}: Leaf): Pick<Item, 'kind' | 'largest' | 'round' | 'isBound' | 'isSigned' | 'bits'> {
  const wide = 2 ** 32
  const plain = { kind: 'number' as Kind, largest: wide - 1, round: wide, isBound: false, isSigned: false, bits: 0 }
  const bound = (largest: number): typeof plain => ({ ...plain, largest, isBound: largest < 2 ** 30 })
  if (isGroupFlag || spec.kind === 'bool') return { ...plain, kind: 'flag' }
  switch (spec.kind) {
    case 'int': return bound(spec.max - spec.min)
    case 'enum': return bound(spec.names.length - 1)
    case 'fixed': return bound(stepsMax(spec.min, spec.max, spec.precision))
    case 'angle': return { ...plain, largest: 2 ** spec.bits - 1, round: 2 ** spec.bits }
    case 'word': return spec.bits === 16 ? { ...plain, largest: 65_535, round: 65_536, isSigned: spec.signed } : plain
    case 'varint': return plain
    case 'float': return { ...plain, kind: 'float' }
    case 'quat': return { ...plain, kind: 'dropped', largest: 2 ** spec.bits - 1, bits: spec.bits }
    default: return { ...plain, kind: 'value' }
  }
}

function stepsMax(min: number, max: number, precision: number): number {
  const ratio = Math.round((max - min) / precision)
  return Math.min(ratio, 2 ** Math.ceil(Math.log2(ratio)) - 1)
}

/** Value of lane 0, and of a step. */
function stepOf({ spec }: Plain): readonly [zero: number, step: number] | undefined {
  switch (spec.kind) {
    case 'int': return [spec.min, 1]
    case 'fixed': return [spec.min, spec.precision]
    case 'angle': return [0, (2 * Math.PI) / 2 ** spec.bits]
    case 'enum': case 'bool': case 'word': case 'varint': return [0, 1]
    default: return undefined
  }
}

function carrierOf(
  member: Member,
  index: number,
  members: readonly Member[],
  ticksPerSecond: number,
): Carrier | undefined {
  const rate = members.find((each) => ownerOf(each, members) === member)
  if (rate === undefined) return undefined
  const reach = (audience: string): number => AUDIENCES.findIndex((each) => each === audience)
  if (
    reach(rate.field.options.audience) < 0
    || reach(rate.field.options.audience) > reach(member.field.options.audience)
  )
    return undefined
  const isRotation = member.field.spec.kind === 'quat'
  const by = rate.leaves[isRotation ? 0 : index]!
  const from = stepOf(by.field)
  const { largest, kind } = numberOf(by)
  if (
    from === undefined
    || largest >= 2 ** 20
    || kind !== 'number'
    || by.field.spec.kind === 'word'
    || by.field.spec.kind === 'varint'
  )
    return undefined
  if (isRotation) {
    const scale = 1 / (ticksPerSecond * 2)
    return { lanes: rate.leaves.map(({ lane }) => lane), a: from[1] * scale, b: from[0] * scale }
  }
  const of = stepOf(member.leaves[index]!.field)
  if (of === undefined) return undefined
  const scale = GAIN / (ticksPerSecond * of[1])
  const [a, b] = [Math.floor(from[1] * scale + 0.5), Math.floor(from[0] * scale + 0.5)]
  return Math.abs(a) < 2 ** 27 && Math.abs(b) < 2 ** 46 ? { lanes: [by.lane], a: a / GAIN, b: b / GAIN } : undefined
}
