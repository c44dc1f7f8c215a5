/**
 * What the entropy coder encodes of a row, item by item: a schema's leaves in coding order, packed for the loops.
 *
 * An item is a leaf: a flag (its bit in the mask is all of it), a number (predicted, the residual in tokens), or a
 * value encoded as the schema does. A rotation is four items: the index of the dropped component, and the three codes.
 * Items are ordered by audience: everyone's, the team's, the owner's. So a field set is a prefix of the items. Within
 * an audience rates come before the fields they change, and rotations last: the residuals of the other items are
 * context for them.
 *
 * Items are cut into chunks of at most 10, each with one mask symbol; no chunk spans two audiences.
 *
 * ```
 * slots of an item   kind  lane  max  sign  |  rate  before  group  leaf  |  bounds  role  turn  wrap
 *                    rate lane  led  lead lane  lead rate lane
 *                    for the first item of a vector without a rate, the last two: its first lane, and its lane count
 *                                                                                  sixteen int32, at index * 16
 * gains of an item   half its steps per tick and step of its rate, and its steps per tick at rate lane 0; parts of 2^21
 *                                                                                  two doubles, at index * 2
 * ```
 *
 * This file plans. `row-predictor.ts` predicts, `row-model.ts` encodes.
 */

import type { Audience, FieldSpec } from '../schema/field.ts'
import type { Member } from '../schema/layout.ts'
import { LEAF, type Leaf } from '../schema/leaf.ts'
import type { Schema } from '../schema/schema.ts'

/** The kinds of item. */
export const ITEM = { flag: 0, number: 1, float: 2, dropped: 3, code: 4, value: 5 } as const

/** The role of an item, which built-in tables use. */
export const ROLE = { other: 0, rate: 1, carried: 2, mover: 3 } as const

/** The positions in the slots of an item. */
export const SLOT = {
  shift: 4,
  kind: 0,
  lane: 1,
  max: 2,
  sign: 3,
  rate: 4,
  before: 5,
  group: 6,
  leaf: 7,
  bounds: 8,
  role: 9,
  turn: 10,
  wrap: 11,
  rateLane: 12,
  isLed: 13,
  leadLane: 14,
  leadRateLane: 15,
} as const

/** The most items of one mask symbol: the table from masks to symbols has 2^10 entries. */
export const CHUNK_ITEMS_MAX = 10

export interface RowPlan {
  readonly count: number
  readonly slots: Int32Array
  readonly gains: Float64Array
  /**
   * Indexed by item, for items with a rate: the lane value of the rate at which the item does not move; -1 if there is
   * none.
   */
  readonly rests: Int32Array
  /** Indexed by item: 1 = part of a vector without a rate, or of a rotation. */
  readonly parts: Uint8Array
  /** Indexed by item: the path of its leaf. */
  readonly paths: readonly string[]
  /** Indexed by chunk: its first item; one more entry is the end of the last one. */
  readonly chunks: Int32Array
  /** Indexed by field set: its number of chunks. */
  readonly chunkCounts: readonly [number, number, number]
  /** Indexed by chunk: sets of its items, as bits, first item lowest. */
  readonly sorts: readonly ChunkSorts[]
  /** Lanes in item order, the bit of each within its chunk; and, indexed by chunk, where its lanes begin. */
  readonly lanes: Int32Array
  readonly laneBits: Int32Array
  readonly chunkLanes: Int32Array
}

/** Sets of items of one chunk, as bits. */
export interface ChunkSorts {
  /** Predicted from the stored rows: numbers without a rate. */
  readonly free: number
  /** Predicted from items encoded before them; and rotations. */
  readonly carried: number
  /** Not predicted: unchanged, or encoded. */
  readonly plain: number
  /** Members of a group, which may be absent. */
  readonly grouped: number
  /** Items that keep moving once they move: the mask has the difference from the previous motion. */
  readonly lasting: number
}

/** A leaf before it is packed. */
interface Draft {
  readonly leaf: number
  readonly member: Member
  /** The lane of the flag of its group; -1 = none. */
  readonly group: number
  /** For a rotation: 0 for the dropped component, 1 to 3 for the codes; else 0. */
  readonly code: number
}

const HELD: readonly Audience[] = ['all', 'team', 'owner']

/** Plans the rows of a schema at a tick rate. */
export function planRow(schema: Schema, ticksPerSecond: number): RowPlan {
  const parts = HELD.map((audience) => ordered(schema, schema.members.filter((member) => member.audience === audience)))
  const drafts = parts.flat()
  const { slots, gains } = pack(schema, drafts, ticksPerSecond)
  const chunks: number[] = [0]
  const chunkCounts: number[] = []
  let end = 0
  for (const { length } of parts) {
    const count = Math.ceil(length / CHUNK_ITEMS_MAX)
    for (let chunk = 1; chunk <= count; chunk++) chunks.push(end + Math.floor((length * chunk) / count))
    end += length
    chunkCounts.push(chunks.length - 1)
  }
  return {
    count: drafts.length, slots, gains,
    rests: Int32Array.from(drafts, (_, item) => restOf(slots, gains, item)),
    parts: Uint8Array.from(drafts, (_, item) => isPart(slots, item << SLOT.shift) ? 1 : 0),
    paths: drafts.map(({ leaf, code }) => `${schema.leaves[leaf].path}${code > 0 ? `#${code}` : ''}`),
    chunks: Int32Array.from(chunks),
    chunkCounts: [chunkCounts[0], chunkCounts[1], chunkCounts[2]],
    sorts: chunks.slice(0, -1).map((first, chunk) => sortsOf(slots, first, chunks[chunk + 1])),
    ...lanesOf(schema, drafts, chunks),
  }
}

function restOf(slots: Int32Array, gains: Float64Array, item: number): number {
  const lane = -gains[item * 2 + 1] / (2 * gains[item * 2])
  return slots[(item << SLOT.shift) + SLOT.rate] >= 0 && Number.isInteger(lane) && lane >= 0 ? lane : -1
}

function isPart(slots: Int32Array, slot: number): boolean {
  if (slots[slot] === ITEM.code) return true
  // In the first item of a vector without a rate, the last slot is its lane count.
  return slots[slot + SLOT.rate] < 0 && (slots[slot + SLOT.before] >= 0 || slots[slot + SLOT.leadRateLane] > 0)
}

function sortsOf(slots: Int32Array, first: number, end: number): ChunkSorts {
  const which = (isOne: (slot: number) => boolean): number => {
    let bits = 0
    for (let item = first; item < end; item++) if (isOne(item << SLOT.shift)) bits |= 1 << (item - first)
    return bits
  }
  const isPlain = (slot: number): boolean => slots[slot] === ITEM.flag || slots[slot] === ITEM.value
  // The items of a rotation are always visited, because they depend on each other.
  const isCarried = (slot: number): boolean =>
    !isPlain(slot) && (slots[slot + SLOT.rate] >= 0 || slots[slot] === ITEM.dropped || slots[slot] === ITEM.code)
  return {
    free: which((slot) => !isPlain(slot) && !isCarried(slot)),
    carried: which(isCarried),
    plain: which(isPlain),
    grouped: which((slot) => slots[slot + SLOT.group] >= 0),
    lasting: which(
      (slot) => !isPlain(slot) && slots[slot] !== ITEM.dropped && slots[slot + SLOT.role] !== ROLE.carried,
    ),
  }
}

function lanesOf(
  schema: Schema,
  drafts: readonly Draft[],
  chunks: readonly number[],
): Pick<RowPlan, 'lanes' | 'laneBits' | 'chunkLanes'> {
  const lanes: number[] = []
  const laneBits: number[] = []
  const chunkLanes: number[] = [0]
  chunks.slice(0, -1).forEach((first, chunk) => {
    for (let item = first; item < chunks[chunk + 1]; item++) {
      const { kind, lane: itsFirst, laneCount: all } = schema.leaves[drafts[item].leaf]
      const lane = itsFirst + drafts[item].code
      const laneCount = kind === LEAF.quat ? 1 : all
      for (let each = lane; each < lane + laneCount; each++) {
        lanes.push(each)
        laneBits.push(1 << (item - first))
      }
    }
    chunkLanes.push(lanes.length)
  })
  return { lanes: Int32Array.from(lanes), laneBits: Int32Array.from(laneBits), chunkLanes: Int32Array.from(chunkLanes) }
}

/** The leaves of some members: rates before the fields they change, otherwise in declaration order. */
function ordered(schema: Schema, members: readonly Member[]): Draft[] {
  const rank = (member: Member): number => {
    const role = schema.motions.find(({ rate }) => rate === member)?.role
    return role === 'acceleration' ? 0 : role !== undefined ? 1 : member.field.spec.kind === 'quat' ? 3 : 2
  }
  const inOrder = members
    .map((member, at) => ({ member, at }))
    .sort((a, b) => rank(a.member) - rank(b.member) || a.at - b.at)
  return inOrder.flatMap(({ member }) =>
    Array.from({ length: member.leafCount }, (_, index): Draft[] => {
      const isInside = member.kind === 'group' && index > 0
      const draft = { leaf: member.firstLeaf + index, member, group: isInside ? member.lane : -1, code: 0 }
      return schema.leaves[draft.leaf].kind === LEAF.quat ? [0, 1, 2, 3].map((code) => ({ ...draft, code })) : [draft]
    }).flat())
}

function pack(schema: Schema, drafts: readonly Draft[], ticksPerSecond: number): Pick<RowPlan, 'slots' | 'gains'> {
  const slots = new Int32Array(drafts.length << SLOT.shift)
  const gains = new Float64Array(drafts.length * 2)
  drafts.forEach(({ leaf: index, member, group, code }, item) => {
    const leaf = schema.leaves[index]
    const rate = rateOf(schema, drafts, item)
    const gain = rate < 0 ? undefined : gainOf(schema.leaves[drafts[rate].leaf], leaf, ticksPerSecond)
    const isBound = leaf.kind <= LEAF.fixed && leaf.max < 2 ** 30
    const isPart = item > 0 && drafts[item - 1].member === member && member.kind !== 'group' && leaf.kind !== LEAF.quat
    const before = isPart ? item - 1 : -1
    const isRate = schema.motions.some((motion) => motion.rate === member)
    const role = isRate
      ? ROLE.rate
      : gain !== undefined
        ? ROLE.carried
        : isMover(leaf, member)
          ? ROLE.mover
          : ROLE.other
    const first = item << SLOT.shift
    slots.set([code > 0 ? ITEM.code : kindOf(leaf, member, index), leaf.lane + code, maxOf(leaf), signOf(leaf)], first)
    slots.set(
      [gain === undefined ? -1 : rate, before, group, index, isBound ? 1 : 0, role, ...roundOf(leaf)],
      first + SLOT.rate,
    )
    // The context of a vector's first component is how fast the whole vector moved.
    if (gain === undefined && before < 0 && member.field.spec.kind === 'vector')
      slots.set([member.lane, member.laneCount], first + SLOT.leadLane)
    if (gain === undefined) return
    gains.set([gain[0] / (2 * GAIN_UNIT), gain[1] / GAIN_UNIT], item * 2)
    slots[first + SLOT.rateLane] = schema.leaves[drafts[rate].leaf].lane
    // The component before leads, if it has a rate too.
    const lead = before << SLOT.shift
    if (before < 0 || slots[lead + SLOT.rate] < 0) return
    slots.set([1, slots[lead + SLOT.lane], slots[lead + SLOT.rateLane]], first + SLOT.isLed)
  })
  return { slots, gains }
}

function kindOf(leaf: Leaf, member: Member, index: number): number {
  const isFlag =
    member.kind === 'flag' || leaf.field.spec.kind === 'bool' || (member.kind === 'group' && index === member.firstLeaf)
  if (isFlag) return ITEM.flag
  if (leaf.kind <= LEAF.varint) return ITEM.number
  return leaf.kind === LEAF.float ? ITEM.float : leaf.kind === LEAF.quat ? ITEM.dropped : ITEM.value
}

/** The largest lane value, counted from the least, as int32; -1 where numbers wrap at 2^32. */
function maxOf({ kind, width, max }: Leaf): number {
  if (kind === LEAF.word && width === 16) return 0xffff
  if (kind === LEAF.quat) return (1 << width) - 1
  return kind <= LEAF.angle ? max : -1
}

/**
 * How a field wraps. A difference is shifted left and right by `turn` bits, which gives the short way round; a value is
 * masked with `wrap`. Fields that do not wrap, or wrap at 2^32, are unaffected.
 */
function roundOf({ kind, width, max }: Leaf): readonly [turn: number, wrap: number] {
  if (kind === LEAF.angle) return [32 - width, max]
  return kind === LEAF.word && width === 16 ? [16, 0xffff] : [0, -1]
}

/** How far a 16-bit word is shifted left and right to restore its sign. */
function signOf({ kind, width, isSigned }: Leaf): number {
  return kind === LEAF.word && width === 16 && isSigned ? 16 : 0
}

/** Kinds of field that tend to change when an object moves, if they have no rate. */
const MOVERS: readonly FieldSpec['kind'][] = ['fixed', 'vector', 'angle', 'quat', 'float', 'double']

function isMover(leaf: Leaf, member: Member): boolean {
  return member.field.options.role === 'position' || MOVERS.includes(leaf.field.spec.kind)
}

/**
 * The item that is the rate of this one, if every receiver of this one also has the rate; else -1. For a rotation, the
 * first of three.
 */
function rateOf(schema: Schema, drafts: readonly Draft[], item: number): number {
  const { member, leaf } = drafts[item]
  const motion = schema.motions.find(({ of }) => of === member)
  if (motion === undefined || HELD.indexOf(motion.rate.audience) < 0) return -1
  if (HELD.indexOf(motion.rate.audience) > HELD.indexOf(member.audience)) return -1
  const wanted = motion.rate.firstLeaf + (schema.leaves[leaf].kind === LEAF.quat ? 0 : leaf - member.firstLeaf)
  return drafts.findIndex((draft) => draft.leaf === wanted)
}

const TURN = 2 * Math.PI

/** Gains are whole multiples of 1 / GAIN_UNIT, so that products of them are exact. */
export const GAIN_UNIT = 1_048_576

/** The value of lane 0, and of one step, for a leaf that counts in steps; undefined for the others. */
function stepsOf({ kind, min, max, quant }: Leaf): readonly [zero: number, step: number] | undefined {
  switch (kind) {
    case LEAF.bits: return [min, 1]
    case LEAF.fixed: return [quant.min, quant.precision]
    case LEAF.angle: return [0, TURN / (max + 1)]
    case LEAF.word: case LEAF.varint: return [0, 1]
    default: return undefined
  }
}

/** Both gains as whole parts of 2^20; undefined if there is nothing to integrate, or not exactly. */
function gainOf(rate: Leaf, of: Leaf, ticksPerSecond: number): readonly [number, number] | undefined {
  const from = stepsOf(rate)
  if (from === undefined || rate.max >= 2 ** 20 || rate.kind > LEAF.angle) return undefined
  // A rotation is turned by an angle in radians: by half of it, in units of one.
  const step = of.kind === LEAF.quat ? 2 : stepsOf(of)?.[1]
  if (step === undefined) return undefined
  const scale = GAIN_UNIT / (ticksPerSecond * step)
  // A rotor uses doubles in any case, and its gains are too small to be rounded to whole parts.
  if (of.kind === LEAF.quat) return [from[1] * scale, from[0] * scale]
  const gains = [Math.round(from[1] * scale), Math.round(from[0] * scale)] as const
  // Products of gain, rate and ticks stay exact: below 2^53.
  return Math.abs(gains[0]) < 2 ** 27 && Math.abs(gains[1]) < 2 ** 46 ? gains : undefined
}
