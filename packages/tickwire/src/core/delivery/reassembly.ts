/**
 * Large messages from their fragments, in whatever order those arrive.
 *
 * ```
 * a message of a large channel:
 *   ┌────────┬──────────────────────────────────────────┐
 *   │ 00     │ the whole message, up to 1023 bytes      │
 *   ├────────┼──────────┬─────────┬─────────┬───────────┴─┐
 *   │ 01     │ group 16 │ index 8 │ last 8  │ 1..1019     │
 *   └────────┴──────────┴─────────┴─────────┴─────────────┘
 * ```
 *
 * Fragments 0 to last - 1 have 1019 bytes each, the last has the rest: a part's place follows from its index, and one
 * message is cut in one way. The group tells messages apart whose fragments arrive mixed.
 *
 * Invariants: what is held is within its quota on every insert (FRAG3); a message is handed out once, whole (FRAG2).
 *
 * It does not allocate by `last`: a group costs 1.3 KiB when it begins, and a block for each part that is here.
 */

import { assert } from '../base/assert.ts'
import { FRAGMENT_BYTES, FRAGMENT_GROUPS_MAX, FRAGMENTS_PER_MESSAGE_MAX, MESSAGE_BYTES_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { FragmentQuota } from './fragment-pool.ts'

/** Bytes before the data of a fragment, and before that of a whole message. */
export const FRAGMENT_HEAD_BYTES = 5
export const WHOLE_HEAD_BYTES = 1

/**
 * What became of a fragment. `complete`: its message can be taken. `no-room`: nothing changed, try again when something
 * was taken. `broken`: no honest sender makes such a one.
 */
export type FragmentVerdict = 'held' | 'complete' | 'duplicate' | 'no-room' | 'broken'

/** One message in pieces. Kept and reused. */
class Group {
  isOpen: boolean = false
  number: number = 0
  last: number = 0
  beganAt: Millis = 0
  parts: number = 0
  lastLength: number = 0
  readonly blocks: Int32Array = new Int32Array(FRAGMENTS_PER_MESSAGE_MAX).fill(-1)

  lengthOf(index: number): number {
    return index === this.last ? this.lastLength : FRAGMENT_BYTES
  }
}

/** Puts the messages of one channel of one peer together. */
export class Reassembler {
  /** Groups given up because they were too old, or newer ones needed their place. */
  abandonedCount: number = 0
  #quota: FragmentQuota
  #groups: Group[] = []
  #complete: Group | undefined = undefined

  constructor(quota: FragmentQuota) {
    this.#quota = quota
  }

  /** Messages that are incomplete. */
  get openCount(): number {
    let count = 0
    for (const group of this.#groups) if (group.isOpen && group !== this.#complete) count++
    return count
  }

  /** The length of the complete message; -1 while there is none. */
  get completeLength(): number {
    const group = this.#complete
    return group === undefined ? -1 : group.last * FRAGMENT_BYTES + group.lastLength
  }

  /** Takes the fragment in the first `length` bytes of `bytes`. While a message is complete, take that first. */
  insert(now: Millis, bytes: Uint8Array, length: number): FragmentVerdict {
    assert(this.#complete === undefined, 'a complete message is taken before more is inserted')
    const size = length - FRAGMENT_HEAD_BYTES
    const number = bytes[1] * 256 + bytes[2]
    const index = bytes[3]
    const last = bytes[4]
    if (size < 1 || size > FRAGMENT_BYTES || last === 0 || index > last) return 'broken'
    if (index < last ? size !== FRAGMENT_BYTES : last === 1 && size <= MESSAGE_BYTES_MAX - WHOLE_HEAD_BYTES - FRAGMENT_BYTES) return 'broken'
    const known = this.#find(number)
    if (known !== undefined && known.last !== last) return 'broken'
    if (known !== undefined && known.blocks[index] >= 0) return 'duplicate'
    const group = known ?? this.#free()
    if (group === undefined) return 'no-room'
    const block = this.#quota.hold(bytes, FRAGMENT_HEAD_BYTES, size)
    if (block < 0) return 'no-room'
    if (known === undefined) open(group, now, number, last)
    group.blocks[index] = block
    group.parts++
    if (index === last) group.lastLength = size
    if (group.parts <= last) return 'held'
    this.#complete = group
    return 'complete'
  }

  /** Copies the complete message to the start of `out` and forgets it; its length. */
  take(out: Uint8Array): number {
    const group = this.#complete
    const length = this.completeLength
    assert(group !== undefined && out.length >= length, 'a message that is complete fits where it is received')
    for (let index = 0; index <= group.last; index++) {
      this.#quota.pool.read(group.blocks[index], out, index * FRAGMENT_BYTES, group.lengthOf(index))
    }
    this.#complete = undefined
    this.#close(group)
    return length
  }

  /** Gives up incomplete messages that began at `before` or earlier. */
  abandon(before: Millis): void {
    for (const group of this.#groups) {
      if (!group.isOpen || group === this.#complete || group.beganAt > before) continue
      this.abandonedCount++
      this.#close(group)
    }
  }

  /** Gives up the oldest incomplete message; false when there is none. */
  abandonOldest(): boolean {
    let oldest: Group | undefined
    for (const group of this.#groups) {
      if (group.isOpen && group !== this.#complete && (oldest === undefined || group.beganAt < oldest.beganAt)) oldest = group
    }
    if (oldest === undefined) return false
    this.abandonedCount++
    this.#close(oldest)
    return true
  }

  /** Forgets everything: the connection is over. */
  clear(): void {
    this.#complete = undefined
    for (const group of this.#groups) if (group.isOpen) this.#close(group)
  }

  #find(number: number): Group | undefined {
    for (let at = 0; at < this.#groups.length; at++) {
      if (this.#groups[at].isOpen && this.#groups[at].number === number) return this.#groups[at]
    }
    return undefined
  }

  #free(): Group | undefined {
    for (let at = 0; at < this.#groups.length; at++) if (!this.#groups[at].isOpen) return this.#groups[at]
    if (this.#groups.length === FRAGMENT_GROUPS_MAX) return undefined
    const group = new Group()
    this.#groups.push(group)
    return group
  }

  #close(group: Group): void {
    for (let index = 0; index <= group.last; index++) {
      const block = group.blocks[index]
      if (block < 0) continue
      this.#quota.release(block, group.lengthOf(index))
      group.blocks[index] = -1
    }
    group.isOpen = false
  }
}

function open(group: Group, now: Millis, number: number, last: number): void {
  group.isOpen = true
  group.number = number
  group.last = last
  group.beganAt = now
  group.parts = 0
  group.lastLength = 0
}
