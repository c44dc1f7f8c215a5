/**
 * States that several receivers are in, and what led from one to the next: who is in the same state as another and then hears the
 * same, or is sent the same, is in the same state again, and need not do it himself.
 *
 *   state   all of told-blocks.ts, how much of a tick is due and how much of that is sent
 *           ──▶ up to four steps to other states: what was heard or asked, in which tick, and what was sent
 *   place   a ring: a state is forgotten when its place is needed, and whoever is still in it takes his own copy with him
 *
 *   receivers          a tick begins     a packet is filled     it has arrived
 *   the first of all   does it  ───────▶ does it  ────────────▶ does it             and writes down what came out
 *   all others         follow            copy the bytes         follow
 *
 * Only such steps are written down that follow from the state and from what all receivers share: none that asks or changes what is
 * known of a single object (told-objects.ts), which ToldBlocks counts in `strays`. How receivers find that they are in one state:
 * now and then those who are in none compare their digests, then all of it.
 *
 * It does not know what a step does: that is done by who walks first.
 */

import type { Tick } from '../base/time.ts'
import { PLANE, type ToldBlocks } from './told-blocks.ts'

/** No state, no step. */
export const NOWHERE = -1
/** What a step is; its key: nothing, the room in bits, the number of the frame. */
export const STEP = { begin: 0, fill: 1, deliver: 2 } as const

/** Whoever is in a state: told when it is forgotten. */
export interface Walker {
  catchUp(): void
  /** Somebody is in the same state as he, or was a moment ago. */
  invite(): void
  /** His number is not his any more. */
  forget(): void
}

// Constants of this module, for speed: see schema/leaf-table.ts.
const { aheads: AHEADS, sets: SETS, knowns: KNOWNS, restless: RESTLESS } = PLANE
const PLACES = 128
const STEPS_SHIFT = 2
const STEPS = 1 << STEPS_SHIFT
const WALKERS_FIRST = 64
/** States that were looked at in a tick by who is in none. */
const DIGESTS = 16

export class StateGraph {
  /** By state: how many are due in its tick, how many of them are done with, and the block from which on. */
  readonly counts: Int32Array = new Int32Array(PLACES)
  readonly cursors: Int32Array = new Int32Array(PLACES)
  readonly blocks: Int32Array = new Int32Array(PLACES)
  /** By step: the place of its frame, and that frame's number. */
  readonly frames: Int32Array = new Int32Array(PLACES << STEPS_SHIFT)
  readonly frameNumbers: Int32Array = new Int32Array(PLACES << STEPS_SHIFT)
  /** Steps that somebody followed, ever. */
  followCount = 0
  /** By state: its number, how many are in it, and how many came after who was there first. */
  readonly #numbers = new Int32Array(PLACES)
  readonly #refs = new Int32Array(PLACES)
  readonly #followers = new Int32Array(PLACES)
  readonly #words: Int32Array[] = []
  readonly #levels: Float64Array[] = []
  readonly #ticks = new Float64Array(PLACES << 2)
  /** By state << STEPS_SHIFT: what a step is, in which tick it was made, where it leads, and the number of the state there. */
  readonly #codes = new Int32Array(PLACES << STEPS_SHIFT)
  readonly #stepTicks = new Float64Array(PLACES << STEPS_SHIFT)
  readonly #nexts = new Int32Array(PLACES << STEPS_SHIFT)
  readonly #nextNumbers = new Int32Array(PLACES << STEPS_SHIFT)
  readonly #stepCounts = new Int32Array(PLACES)
  /** By walker: who he is, and his state. */
  readonly #walkers: (Walker | undefined)[] = []
  #states = new Int32Array(WALKERS_FIRST).fill(NOWHERE)
  /** States before a tick begins, by digest: the place, or `NOWHERE` while only one was seen. */
  readonly #digests = new Int32Array(DIGESTS)
  readonly #digestPlaces = new Int32Array(DIGESTS)
  readonly #digestNumbers = new Int32Array(DIGESTS)
  /** Who was seen first with a digest. */
  readonly #firsts = new Array<Walker | undefined>(DIGESTS).fill(undefined)
  #digestCount = 0
  #place = 0
  #number = 0

  /** Another tick: states of before are not met any more. */
  clear(): void {
    this.#digestCount = 0
    this.#firsts.fill(undefined)
  }

  stateOf(walker: number): number {
    return this.#states[walker]
  }

  /** The step from a walker's state that is this one; `NOWHERE` if nobody took it yet. @hot */
  find(walker: number, kind: number, key: number, tick: Tick): number {
    const state = this.#states[walker]
    const code = key << 2 | kind
    const end = (state << STEPS_SHIFT) + this.#stepCounts[state]
    for (let step = state << STEPS_SHIFT; step < end; step++) {
      if (this.#codes[step] === code && this.#stepTicks[step] === tick && this.#numbers[this.#nexts[step]] === this.#nextNumbers[step]) return step
    }
    return NOWHERE
  }

  /** A walker takes a step that was taken before. @hot */
  take(walker: number, step: number): void {
    const next = this.#nexts[step]
    this.#refs[this.#states[walker]]--
    this.#refs[next]++
    this.#states[walker] = next
    this.#followers[next]++
    this.followCount++
  }

  /** A walker has taken a step himself, and is in this state now; the step, or `NOWHERE` when there is no room for it. @hot */
  add(walker: number, kind: number, key: number, tick: Tick, told: ToldBlocks, count: number, cursor: number, block: number): number {
    const state = this.#states[walker]
    const number = this.#numbers[state]
    if (this.#stepCounts[state] === STEPS) return NOWHERE
    const next = this.#make(told, count, cursor, block)
    // Its place may have been taken by the next, if all others are younger.
    if (this.#numbers[state] !== number) return NOWHERE
    const step = (state << STEPS_SHIFT) + this.#stepCounts[state]++
    this.#codes[step] = key << 2 | kind
    this.#stepTicks[step] = tick
    this.#nexts[step] = next
    this.#nextNumbers[step] = this.#numbers[next]
    this.#refs[state]--
    this.#refs[next]++
    this.#states[walker] = next
    return step
  }

  /** Whether anybody came to a walker's state after him. */
  isFollowed(place: number, number: number): boolean {
    return this.#numbers[place] !== number || this.#followers[place] > 0
  }

  numberOf(place: number): number {
    return this.#numbers[place]
  }

  /** A walker's state is met by others who are in none, before a tick begins. */
  show(walker: number, told: ToldBlocks): void {
    if (this.#digestCount === DIGESTS) return
    const digest = digestOf(told)
    for (let at = 0; at < this.#digestCount; at++) {
      if (this.#digests[at] !== digest) continue
      if (this.#digestPlaces[at] !== NOWHERE) return
      this.#show(at, digest, this.#states[walker])
      return
    }
    this.#show(this.#digestCount++, digest, this.#states[walker])
  }

  /**
   * Finds who is in the same state, before a tick begins and with nothing left to send; a walker's number, or `NOWHERE`. The first of
   * those who are in none cannot know that there are others, so they wait for each other until the next tick.
   */
  meet(told: ToldBlocks, walker: Walker, isInvited: boolean): number {
    const digest = digestOf(told)
    for (let at = 0; at < this.#digestCount; at++) {
      if (this.#digests[at] !== digest) continue
      const place = this.#digestPlaces[at]
      if (place !== NOWHERE) return this.#numbers[place] === this.#digestNumbers[at] && this.#isSame(place, told) ? this.#enter(walker, place) : NOWHERE
      this.#firsts[at]?.invite()
      walker.invite()
      return NOWHERE
    }
    if (this.#digestCount === DIGESTS) return NOWHERE
    const at = this.#digestCount++
    this.#firsts[at] = walker
    if (isInvited) {
      const place = this.#make(told, 0, 0, 0)
      this.#show(at, digest, place)
      return this.#enter(walker, place)
    }
    this.#show(at, digest, NOWHERE)
    return NOWHERE
  }

  /** Writes a walker's state into what he has of his own. @hot */
  read(walker: number, told: ToldBlocks): void {
    const place = this.#states[walker]
    told.words.set(this.#words[place])
    told.levelWords.set(this.#levels[place])
    told.sentTick = this.#ticks[place << 2]
    told.sentBefore = this.#ticks[place << 2 | 1]
    told.heardTick = this.#ticks[place << 2 | 2]
  }

  /** A walker goes his own way. */
  leave(walker: number): void {
    this.#refs[this.#states[walker]]--
    this.#states[walker] = NOWHERE
    this.#walkers[walker] = undefined
  }

  #show(at: number, digest: number, place: number): void {
    this.#digests[at] = digest
    this.#digestPlaces[at] = place
    this.#digestNumbers[at] = place === NOWHERE ? 0 : this.#numbers[place]
  }

  #enter(walker: Walker, place: number): number {
    let number = 0
    while (number < this.#walkers.length && this.#walkers[number] !== undefined) number++
    this.#walkers[number] = walker
    if (number === this.#states.length) {
      const states = new Int32Array(2 * number).fill(NOWHERE)
      states.set(this.#states)
      this.#states = states
    }
    this.#states[number] = place
    this.#refs[place]++
    return number
  }

  /** Keeps a state in the place of the oldest. */
  #make(told: ToldBlocks, count: number, cursor: number, block: number): number {
    const place = this.#place
    this.#place = (place + 1) & (PLACES - 1)
    if (this.#refs[place] > 0) this.#evict(place)
    // Numbers wrap: only equal ones count, and those are of the last few ticks.
    this.#number = (this.#number + 1) & 0x3fff_ffff
    this.#numbers[place] = this.#number
    this.#stepCounts[place] = 0
    this.#followers[place] = 0
    if (this.#words[place] === undefined || this.#words[place].length !== told.words.length) {
      this.#words[place] = new Int32Array(told.words.length)
      this.#levels[place] = new Float64Array(told.levelWords.length)
    }
    this.#words[place].set(told.words)
    this.#levels[place].set(told.levelWords)
    this.#ticks[place << 2] = told.sentTick
    this.#ticks[place << 2 | 1] = told.sentBefore
    this.#ticks[place << 2 | 2] = told.heardTick
    this.counts[place] = count
    this.cursors[place] = cursor
    this.blocks[place] = block
    return place
  }

  /** Sends everybody out of a state that is forgotten, each with his own copy. */
  #evict(place: number): void {
    for (let number = 0; number < this.#walkers.length; number++) {
      if (this.#states[number] !== place) continue
      const walker = this.#walkers[number]
      walker?.catchUp()
      this.leave(number)
      walker?.forget()
    }
  }

  #isSame(place: number, told: ToldBlocks): boolean {
    const words = this.#words[place]
    const levels = this.#levels[place]
    const { capacity } = told
    const at = place << 2
    if (words.length !== told.words.length) return false
    if (this.#ticks[at] !== told.sentTick || this.#ticks[at | 1] !== told.sentBefore || this.#ticks[at | 2] !== told.heardTick) return false
    for (let block = 0; block < capacity; block++) {
      for (let at = block; at < words.length; at += capacity) if (words[at] !== told.words[at] && (at !== SETS * capacity + block || words[block] !== 0)) return false
      if (words[block] !== 0 && levels[block] !== told.levelWords[block]) return false
      if (words[AHEADS * capacity + block] !== 0 && levels[capacity + block] !== told.levelWords[capacity + block]) return false
    }
    return true
  }
}

/** Of the words that count, and one level for all: reading doubles allocates as long as this is too rare to be optimised. */
function digestOf({ words, levelWords, capacity, sentTick }: ToldBlocks): number {
  let digest = capacity > 0 && words[0] !== 0 ? mix(sentTick | 0, levelWords[0]) : sentTick | 0
  for (let block = 0; block < capacity; block++) {
    digest = mix(mix(digest, words[block]), words[AHEADS * capacity + block])
    digest = mix(mix(digest, words[KNOWNS * capacity + block]), words[RESTLESS * capacity + block])
  }
  return digest
}

function mix(digest: number, word: number): number {
  const mixed = Math.imul(digest ^ word, 0x9e37_79b1)
  return mixed ^ mixed >>> 15
}
