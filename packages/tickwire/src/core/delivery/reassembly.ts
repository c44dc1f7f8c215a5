/**
 * Reassembles large messages from their fragments, which may arrive in any order.
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
 * Fragments 0 to last - 1 have 1019 bytes each, the last has the rest. So the position of a fragment follows from its
 * index, and a message is split in only one way. The group separates messages whose fragments arrive interleaved.
 *
 * Invariants: the stored data is within its quota on every insert (FRAG3); a message is delivered once, complete
 * (FRAG2).
 *
 * Memory is not allocated by `last`: a group costs 1.3 KiB when it begins, and one block for each fragment that
 * arrived.
 */

import { assert } from '../base/assert.ts'
import { FRAGMENT_BYTES, FRAGMENT_GROUPS_MAX, FRAGMENTS_PER_MESSAGE_MAX, MESSAGE_BYTES_MAX } from '../base/limits.ts'
import type { Millis } from '../base/time.ts'
import type { FragmentQuota } from './fragment-pool.ts'

/** Bytes before the data of a fragment, and before the data of an unfragmented message. */
export const FRAGMENT_HEAD_BYTES = 5
export const WHOLE_HEAD_BYTES = 1

/**
 * The result of a fragment. `complete`: its message can be taken. `no-room`: nothing changed, try again after a message
 * was taken. `broken`: no honest sender produces such a fragment.
 */
export type FragmentVerdict = 'held' | 'complete' | 'duplicate' | 'no-room' | 'broken'

/** One incomplete message. Kept and reused. */
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

/** Reassembles the messages of one channel of one peer. */
export class Reassembler {
  /** Messages that were discarded because they were too old, or newer ones needed their memory. */
  abandonedCount: number = 0
  #quota: FragmentQuota
  #groups: Group[] = []
  #complete: Group | undefined = undefined

  constructor(quota: FragmentQuota) {
    this.#quota = quota
  }

  /** Number of incomplete messages. */
  get openCount(): number {
    let count = 0
    for (const group of this.#groups) if (group.isOpen && group !== this.#complete) count++
    return count
  }

  /** Bytes received of the incomplete message that began first; 0 when there is none. */
  get openBytes(): number {
    const group = this.#oldest()
    return group === undefined ? 0 : group.parts * FRAGMENT_BYTES
  }

  /** Total bytes of that message, rounded up to whole fragments; 0 when there is none. */
  get openTotalBytes(): number {
    const group = this.#oldest()
    return group === undefined ? 0 : (group.last + 1) * FRAGMENT_BYTES
  }

  /** The length of the complete message; -1 while there is none. */
  get completeLength(): number {
    const group = this.#complete
    return group === undefined ? -1 : group.last * FRAGMENT_BYTES + group.lastLength
  }

  /** Inserts the fragment in the first `length` bytes of `bytes`. A complete message must be taken first. */
  insert(now: Millis, bytes: Uint8Array, length: number): FragmentVerdict {
    assert(this.#complete === undefined, 'a complete message is taken before more is inserted')
    const size = length - FRAGMENT_HEAD_BYTES
    const number = bytes[1] * 256 + bytes[2]
    const index = bytes[3]
    const last = bytes[4]
    if (size < 1 || size > FRAGMENT_BYTES || last === 0 || index > last) return 'broken'
    if (
      index < last
        ? size !== FRAGMENT_BYTES
        : last === 1 && size <= MESSAGE_BYTES_MAX - WHOLE_HEAD_BYTES - FRAGMENT_BYTES
    )
      return 'broken'
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

  /** Copies the complete message to the start of `out` and releases it; returns its length. */
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

  /** Discards incomplete messages that began at `before` or earlier. */
  abandon(before: Millis): void {
    for (const group of this.#groups) {
      if (!group.isOpen || group === this.#complete || group.beganAt > before) continue
      this.abandonedCount++
      this.#close(group)
    }
  }

  /** Discards the oldest incomplete message; false when there is none. */
  abandonOldest(): boolean {
    const oldest = this.#oldest()
    if (oldest === undefined) return false
    this.abandonedCount++
    this.#close(oldest)
    return true
  }

  /** Discards everything: the connection is over. */
  clear(): void {
    this.#complete = undefined
    for (const group of this.#groups) if (group.isOpen) this.#close(group)
  }

  /** The incomplete message that began first. */
  #oldest(): Group | undefined {
    let oldest: Group | undefined
    for (const group of this.#groups) {
      if (group.isOpen && group !== this.#complete && (oldest === undefined || group.beganAt < oldest.beganAt))
        oldest = group
    }
    return oldest
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
