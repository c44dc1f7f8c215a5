/**
 * The worlds that a client keeps for one case of desync, and the answers of a donor about them.
 *
 * `world` is the world in which the difference was seen. `#before` is the world one tick earlier, which was still
 * equal: the trace steps from there.
 */

import type { Tick } from '../../base/time.ts'
import { copyWorld } from '../../world/copy-world.ts'
import { FAN, type HashTree } from '../../world/hash-tree.ts'
import { encodeScope } from '../../world/image-patch.ts'
import { StateHash } from '../../world/state-hash.ts'
import type { World } from '../../world/world.ts'
import { encodeWorld } from '../../world/world-image.ts'
import type { LockstepRunner } from '../lockstep-runner.ts'
import { Roster } from '../roster.ts'
import { encodeTop, encodeWords, FOLDS, LEVELS, type NodeAddress, type Question, type Top } from './descent-wire.ts'
import type { History, KeptWorld } from './history.ts'
import { TracedWorld } from './traced-world.ts'
import { WriteTrace } from './write-trace.ts'

const NO_BYTES = new Uint8Array(0)

/** A tick that was stepped again, under a trace. */
export interface Traced {
  readonly trace: WriteTrace
  /** The hash of the result: low and high half. */
  readonly root: readonly [number, number]
}

/** The worlds of one case. */
export class CaseFile {
  /** The tick of `world`. */
  readonly tick: Tick
  readonly world: World
  readonly hash: StateHash
  readonly history: History
  readonly #runner: LockstepRunner
  readonly #roster: Roster
  readonly #before: KeptWorld | undefined
  #trace: Traced | undefined

  constructor(runner: LockstepRunner, history: History, kept: KeptWorld, before: KeptWorld | undefined) {
    this.#runner = runner
    this.history = history
    this.#roster = kept.roster
    this.#before = before
    this.world = kept.world
    this.tick = kept.world.tick
    this.hash = new StateHash(this.world)
    this.hash.update()
  }

  /** The players after its tick. */
  get roster(): Roster {
    return this.#roster
  }

  /** Whether the tick can be stepped again. */
  get canTrace(): boolean {
    return this.#before !== undefined
  }

  /** Releases the worlds. */
  close(): void {
    this.history.discard(this.world)
    if (this.#before !== undefined) this.history.discard(this.#before.world)
  }

  /** Steps the tick again, from the world before it. `wanted`: the record to store. Undefined: not possible. */
  stepAgain(wanted: number = -1): Traced | undefined {
    const before = this.#before
    if (before === undefined) return undefined
    const { game } = this.#runner
    const trace = new WriteTrace(wanted)
    const { live } = this.history
    const external = game.external?.()
    const world = new TracedWorld(
      game.entities, { seed: before.world.seed, sharing: live, ...(external && { external }) }, trace,
    )
    try {
      return this.history.borrow(() => {
        copyWorld(before.world, world)
        trace.count = 0
        this.#runner.replay(world, before.roster.copy(), this.tick)
        const [low, high] = new StateHash(world).update()
        return { trace, root: [low, high] as const }
      })
    } finally {
      this.history.discard(world)
    }
  }

  /** The trace of the tick. Made once. */
  get traced(): Traced | undefined {
    return (this.#trace ??= this.stepAgain())
  }

  /** The hashes three levels below a node, low and high half each. */
  nodesBelow({ type, height, place }: NodeAddress): Uint32Array {
    const tree = this.hash.trees[type]
    if (tree === undefined) return new Uint32Array(0)
    const levels = Math.min(LEVELS, height)
    const count = placesBelow(levels)
    const first = nodeAt(tree, height - levels, place * count)
    return tree.nodes.slice(2 * first, 2 * (first + count))
  }

  /** The answer of this client as the donor. */
  answer(question: Question): Uint8Array {
    switch (question.kind) {
      case 'top': return encodeTop(this.top())
      case 'nodes': return encodeWords(Uint32Array.from(question.nodes.flatMap((node) => [...this.nodesBelow(node)])))
      case 'rows': return encodeScope(this.world, question) ?? NO_BYTES
      case 'image': return encodeWorld(this.world) ?? NO_BYTES
      case 'folds': return this.#folds(question.first, question.step)
      case 'record': return this.#record(question.number)
    }
  }

  /** The state outside of objects, and the roots of the entities. */
  top(): Top {
    const { objects, prng, external } = this.world
    const entities = this.hash.trees.map((tree) => {
      const [low, high] = tree.nodes
      return { height: heightOf(tree), low, high }
    })
    return {
      highWater: objects.highWater, generator: [...prng.state], external: external.hash() >>> 0,
      allocator: [...this.hash.allocator], entities,
    }
  }

  /** How many records there are, and the folds after `first`, `first + step`, … of them. */
  #folds(first: number, step: number): Uint8Array {
    const traced = this.traced
    if (traced === undefined) return NO_BYTES
    return encodeWords(Uint32Array.of(traced.trace.count, ...foldsOf(traced.trace, first, step)))
  }

  #record(number: number): Uint8Array {
    const record = this.stepAgain(number)?.trace.record
    return textBytes(record === undefined ? '' : JSON.stringify(record))
  }
}

/** The folds after `first`, `first + step`, … records, at most 64. */
export function foldsOf(trace: WriteTrace, first: number, step: number): number[] {
  const folds: number[] = []
  for (let at = first; at <= trace.count && folds.length < FOLDS && step > 0; at += step)
    folds.push(trace.foldOf(at) >>> 0)
  return folds
}

/** Levels of a tree above its leaves. */
export function heightOf({ capacity }: HashTree): number {
  let height = 0
  for (let places = capacity; places > 1; places /= FAN) height++
  return height
}

/** The number of a node in a tree, which grows if it is too small. */
export function nodeAt(tree: HashTree, height: number, place: number): number {
  tree.reserve((place + 1) * placesBelow(height))
  tree.settle()
  const depth = heightOf(tree) - height
  return (placesBelow(depth) - 1) / (FAN - 1) + place
}

/** How many places a node of a height stands for. */
export function placesBelow(height: number): number {
  return 1 << (2 * height)
}

/** Text in bytes of UTF-16, so that any text of a game passes. */
export function textBytes(text: string): Uint8Array {
  return Uint8Array.from({ length: 2 * text.length }, (_, at) => text.charCodeAt(at >> 1) >>> (at & 1 ? 0 : 8))
}

/** The opposite of `textBytes`. */
export function bytesText(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at + 1 < bytes.length; at += 2) text += String.fromCharCode((bytes[at] << 8) | bytes[at + 1])
  return text
}
