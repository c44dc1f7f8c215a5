/**
 * The search of a diverged client: down the trees of hashes to the objects that differ, then their rows from the donor,
 * then the first write that differs.
 *
 * Searches are generators: they yield a question and are resumed with the answer, so they read as if the donor were
 * here. An answer may be hostile: an invalid one ends the search, and the root of the majority decides at the end
 * whether a repaired world is right.
 */

import type { Root } from '../../order/sync-messages.ts'
import { restorePatch } from '../../world/image-patch.ts'
import { StateHash } from '../../world/state-hash.ts'
import type { World } from '../../world/world.ts'
import { restoreWorld } from '../../world/world-image.ts'
import {
  decodeTop, decodeWords, FOLDS, LEVELS, NODES_MAX, type NodeAddress, type Question, type Top,
} from './descent-wire.ts'
import { bytesText, foldsOf, heightOf, nodeAt, placesBelow, type CaseFile } from './donor.ts'
import type { TraceRecord } from './write-trace.ts'

/** A search in progress: yields questions, takes answers, returns what it found. */
export type Search<T> = Generator<Question, T, Uint8Array>

/** The differences, and a repaired world. */
export interface Repair {
  /** The state as the majority has it. Undefined: the donor's state does not have the majority's root. */
  readonly world: World | undefined
  /** Object indexes that differ, ascending. Empty: a whole image was needed, or no object differs. */
  readonly indexes: readonly number[]
  /** Entities that have objects that differ. */
  readonly entities: readonly string[]
}

/** Rounds of nodes after which a whole image is cheaper. */
const NODE_ROUNDS_MAX = 24
/** Objects that are repaired one by one: a quarter of all, or at most this many. */
const ROWS_MAX = 1024
const ROWS_SHARE = 0.25

/** Finds all objects that differ and asks for their rows. */
export function* searchRepair(own: CaseFile, root: Root): Search<Repair> {
  const top = decodeTop(yield { kind: 'top' }, own.world.stores.length)
  if (top === undefined) return { world: undefined, indexes: [], entities: [] }
  const { indexes, types } = yield* searchObjects(own, top)
  const entities = types.map((type) => own.world.stores[type].schema.name)
  const count = own.world.stores.reduce((sum, store) => sum + store.count, 0)
  if (indexes !== undefined && indexes.length <= Math.max(1, Math.min(ROWS_MAX, ROWS_SHARE * count))) {
    const mine = own.top()
    const hasAllocator = mine.allocator.some((word, at) => word !== top.allocator[at])
    const hasExternal = mine.external !== top.external
    const patch = yield { kind: 'rows', indexes, hasAllocator, hasExternal }
    const world = own.history.make()
    const isRight = (): boolean => restorePatch(world, own.world, patch) === 'restored' && hasRoot(world, root)
    if (own.history.borrow(isRight)) return { world, indexes, entities }
    own.history.discard(world)
  }
  const image = yield { kind: 'image' }
  const world = own.history.make()
  const isRight = own.history.borrow(() => restoreWorld(world, image) === 'restored' && hasRoot(world, root))
  if (isRight) return { world, indexes: [], entities }
  own.history.discard(world)
  return { world: undefined, indexes: indexes ?? [], entities }
}

/** Undefined indexes: too many differ to name them one by one. */
function* searchObjects(
  own: CaseFile, top: Top,
): Search<{ indexes: readonly number[] | undefined; types: readonly number[] }> {
  const waiting: NodeAddress[] = []
  const types: number[] = []
  own.hash.trees.forEach((tree, type) => {
    const { height, low, high } = top.entities[type]
    if (tree.nodes[0] === low && tree.nodes[1] === high) return
    types.push(type)
    waiting.push({ type, height: Math.max(height, heightIn(own, type)), place: 0 })
  })
  const indexes = new Set<number>()
  for (let round = 0; waiting.length > 0; round++) {
    if (round === NODE_ROUNDS_MAX || indexes.size > ROWS_MAX) return { indexes: undefined, types }
    // The lowest object first: its name is the one that is reported.
    const nodes = waiting.splice(0, NODES_MAX)
    const answer = yield { kind: 'nodes', nodes }
    const counts = nodes.map(({ height }) => 2 * placesBelow(Math.min(LEVELS, height)))
    const words = decodeWords(answer, counts.reduce((sum, each) => sum + each, 0))
    if (words === undefined) return { indexes: undefined, types }
    let from = 0
    nodes.forEach((node, at) => {
      waiting.push(...compare(own, node, words.subarray(from, from + counts[at]), indexes))
      from += counts[at]
    })
  }
  return { indexes: [...indexes].sort((a, b) => a - b), types }
}

/** The descendants of a node that differ. Leaves go to `indexes`. */
function compare(own: CaseFile, node: NodeAddress, theirs: Uint32Array, indexes: Set<number>): NodeAddress[] {
  const mine = own.nodesBelow(node)
  const height = Math.max(0, node.height - LEVELS)
  const count = theirs.length / 2
  const different: NodeAddress[] = []
  for (let at = 0; at < count; at++) {
    if (mine[2 * at] === theirs[2 * at] && mine[2 * at + 1] === theirs[2 * at + 1]) continue
    const place = node.place * count + at
    if (height === 0) indexes.add(place)
    else different.push({ type: node.type, height, place })
  }
  return different
}

function heightIn(own: CaseFile, type: number): number {
  const tree = own.hash.trees[type]
  nodeAt(tree, 0, 0)
  return heightOf(tree)
}

function hasRoot(world: World, { low, high }: Root): boolean {
  const [ownLow, ownHigh] = new StateHash(world).update()
  return ownLow === low && ownHigh === high
}

/** The first thing that `step` did differently on the two peers. */
export interface TraceFinding {
  /**
   * `write`: both peers step differently, and this is the first difference. `outside`: this peer's step, repeated,
   * gives the majority's result: its world was written outside of `step`. `unsteady`: its step gives another result
   * each time. `same`: the writes are equal, and something that is not a write differs. `unknown`: not possible.
   */
  readonly kind: 'write' | 'outside' | 'unsteady' | 'same' | 'unknown'
  /** Records of the tick on this peer. */
  readonly records?: number
  /** The record of the majority. Undefined: its step has ended there. */
  readonly theirs?: TraceRecord | undefined
  /** The record of this peer. Undefined: its step has ended there. */
  readonly own?: TraceRecord | undefined
}

/** Finds the first record of the trace that differs. `seen`: the hash that this peer had when it stepped the tick. */
export function* searchTrace(own: CaseFile, root: Root, seen: Root): Search<TraceFinding> {
  const first = own.traced
  if (first === undefined) return { kind: 'unknown' }
  const { trace } = first
  const again = own.stepAgain()
  const records = trace.count
  if (again === undefined || again.root[0] !== first.root[0] || again.root[1] !== first.root[1])
    return { kind: 'unsteady', records }
  if (first.root[0] === root.low && first.root[1] === root.high) return { kind: 'outside', records }
  if (first.root[0] !== seen.low || first.root[1] !== seen.high) return { kind: 'unsteady', records }
  // Equal after `low` records, different after `high` records, or one of the two has fewer.
  let low = 0
  let high = Infinity
  for (let step = Math.max(1, Math.ceil(records / (FOLDS - 1))); ; step = Math.ceil(step / (FOLDS - 1))) {
    const answer = yield { kind: 'folds', first: low, step }
    const words = answer.length >= 4 && answer.length % 4 === 0 ? decodeWords(answer, answer.length / 4) : undefined
    if (words === undefined) return { kind: 'unknown', records }
    const [count, ...theirs] = words
    const mine = foldsOf(trace, low, step)
    let at = 0
    while (at < mine.length && at < theirs.length && mine[at] === theirs[at]) at++
    if (at === 0) return { kind: 'unknown', records }
    const equal = low + (at - 1) * step
    high = Math.min(high, at < mine.length && at < theirs.length ? low + at * step : Math.max(count, records) + 1)
    low = equal
    if (low === records && count === records) return { kind: 'same', records }
    if (high - low <= 1 || step === 1) break
  }
  const text = bytesText(yield { kind: 'record', number: low })
  return { kind: 'write', records, own: own.stepAgain(low)?.trace.record, theirs: parseRecord(text) }
}

function parseRecord(text: string): TraceRecord | undefined {
  if (text === '') return undefined
  try {
    const { number, kind, entity, id, field, value, site } = JSON.parse(text) as TraceRecord
    return { number, kind, entity, id, field, value, site }
  } catch {
    // reason: the donor may send anything
    return undefined
  }
}
