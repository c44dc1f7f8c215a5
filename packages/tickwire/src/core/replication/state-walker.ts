/**
 * One receiver's way through the states that he shares with others (state-graph.ts), or alone.
 *
 *   alone     his own ToldBlocks are what they are
 *   behind    he is in a state of the graph and has only followed: his own ToldBlocks are those of some time ago
 *   abreast   he is in a state of the graph, and his own ToldBlocks are that too
 *
 * Before anything reads or writes his ToldBlocks he catches up; before anything that others cannot follow he leaves. Neither
 * changes anything of what is sent: test/sim/replication-blocks.test.ts.
 */

import type { ChangeMarks } from './change-marks.ts'
import { NOWHERE, STEP, type StateGraph, type Walker } from './state-graph.ts'
import type { ToldBlocks } from './told-blocks.ts'

// Constants of this module, for speed: see schema/leaf-table.ts.
const NOBODY = NOWHERE
const { begin: BEGIN, fill: FILL, deliver: DELIVER } = STEP
/** Who found nobody looks again after two ticks, four, and so on up to 2 to the power of this; at the same ticks as all others. */
const MISSES_MAX = 4
/** Ticks that somebody went ahead and nobody followed, until he is alone. */
const LONELY_MAX = 2

export class StateWalker implements Walker {
  #graph: StateGraph
  readonly #blocks: ToldBlocks
  readonly #marks: ChangeMarks
  /** Whether he looks for others at all. */
  readonly #isSocial: boolean
  #number = NOBODY
  #isBehind = false
  #misses = 0
  #isInvited = false
  /** Ticks that began since he is not alone. */
  #beginCount = 0
  #strays = 0
  /** The state that he was first in when the last tick began; how many such ticks nobody came after him. */
  #ahead = NOBODY
  #aheadNumber = 0
  #lonely = 0

  constructor(graph: StateGraph, blocks: ToldBlocks, marks: ChangeMarks, isSocial: boolean) {
    this.#graph = graph
    this.#blocks = blocks
    this.#marks = marks
    this.#isSocial = isSocial
  }

  /** Where his states are. */
  get graph(): StateGraph {
    return this.#graph
  }

  /** From now on he goes with those who are told by other tables. */
  move(graph: StateGraph): void {
    this.leave()
    this.#graph = graph
  }

  get isAlone(): boolean {
    return this.#number === NOBODY
  }

  /** The state he is in. Not alone. */
  get state(): number {
    return this.#graph.stateOf(this.#number)
  }

  /** Follows who has begun this tick in the same state; false: he does it himself. @hot */
  followBegin(): boolean {
    if (this.#number === NOBODY) this.#meet()
    else this.#beginCount++
    const step = this.#number === NOBODY ? NOBODY : this.#graph.find(this.#number, BEGIN, 0, this.#marks.tick)
    if (step !== NOBODY) {
      this.#take(step)
      this.#ahead = NOBODY
      return true
    }
    this.catchUp()
    if (this.#number !== NOBODY) this.#graph.show(this.#number, this.#blocks)
    return false
  }

  /** The step of who has filled a packet with so much room in the same state; `NOWHERE` if nobody has. @hot */
  findFill(room: number): number {
    return this.#number === NOBODY ? NOBODY : this.#graph.find(this.#number, FILL, room, this.#marks.tick)
  }

  /** Takes a step that was found. @hot */
  followFill(step: number): void {
    this.#take(step)
  }

  /** Follows who has heard in the same state that a frame arrived; false: he does it himself. @hot */
  followDelivered(frame: number): boolean {
    const step = this.#number === NOBODY || frame === 0 ? NOBODY : this.#graph.find(this.#number, DELIVER, frame, this.#marks.tick)
    if (step !== NOBODY) {
      this.#take(step)
      return true
    }
    this.catchUp()
    if (frame === 0) this.leave()
    return false
  }

  /** He has begun a tick himself. @hot */
  addBegin(count: number): void {
    if (this.#number === NOBODY) return
    if (this.#ahead !== NOBODY && !this.#graph.isFollowed(this.#ahead, this.#aheadNumber)) this.#lonely++
    else this.#lonely = 0
    this.#ahead = NOBODY
    if (this.#lonely > LONELY_MAX) {
      this.#beginCount = 0
      this.leave()
    }
    if (this.#add(BEGIN, 0, count, 0, 0) === NOBODY) return
    this.#ahead = this.state
    this.#aheadNumber = this.#graph.numberOf(this.state)
  }

  /** He has filled a packet himself, with a frame that others can copy. @hot */
  addFill(room: number, count: number, cursor: number, block: number, frame: number, frameNumber: number): void {
    const step = this.#add(FILL, room, count, cursor, block)
    if (step === NOBODY) return
    this.#graph.frames[step] = frame
    this.#graph.frameNumbers[step] = frameNumber
  }

  /** He has dealt with a frame's arrival himself. @hot */
  addDelivered(frame: number, count: number, cursor: number, block: number): void {
    this.#add(DELIVER, frame, count, cursor, block)
  }

  /** Makes his own ToldBlocks what his state is. @hot */
  catchUp(): void {
    if (this.#isBehind) this.#graph.read(this.#number, this.#blocks)
    this.#isBehind = false
    this.#strays = this.#blocks.strays
  }

  /** From now on he is alone. */
  leave(): void {
    if (this.#number === NOBODY) return
    this.catchUp()
    this.#graph.leave(this.#number)
    this.forget()
  }

  forget(): void {
    this.#number = NOBODY
    this.#ahead = NOBODY
    // Who was in company for a while has most often parted from it together with the others.
    if (this.#beginCount > LONELY_MAX + 1) this.invite()
    else if (this.#misses < MISSES_MAX) this.#misses++
    this.#beginCount = 0
    this.#lonely = 0
  }

  invite(): void {
    this.#isInvited = true
    this.#misses = 0
  }

  #take(step: number): void {
    this.#graph.take(this.#number, step)
    this.#isBehind = true
  }

  /** Writes down where a step has led, unless something was done on the way that others must do for themselves. */
  #add(kind: number, key: number, count: number, cursor: number, block: number): number {
    if (this.#number === NOBODY) return NOBODY
    const step = this.#blocks.strays === this.#strays ? this.#graph.add(this.#number, kind, key, this.#marks.tick, this.#blocks, count, cursor, block) : NOBODY
    if (step === NOBODY) this.leave()
    return step
  }

  #meet(): void {
    if (!this.#isSocial || (!this.#isInvited && (this.#marks.tick & ((1 << this.#misses) - 1)) !== 0)) return
    const isInvited = this.#isInvited
    this.#isInvited = false
    if (this.#misses < MISSES_MAX) this.#misses++
    this.#number = this.#graph.meet(this.#blocks, this, isInvited)
    if (this.#number !== NOBODY) this.#misses = 0
  }
}
