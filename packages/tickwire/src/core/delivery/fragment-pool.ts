/**
 * Memory for fragments, shared by all peers of a process and limited twice: in total, and for each peer.
 *
 * Each fragment takes one block, whatever its length, so the memory cannot fragment. Slabs of 64 blocks are allocated
 * on demand and kept. Fragments and bytes are counted at both levels, on every insert (FRAG3).
 *
 * Invariant: a quota counts exactly the blocks it took and has not returned; the pool counts the sum of all quotas.
 *
 * Memory is never allocated by a number that a peer sent: a block is taken when its bytes have arrived.
 */

import { assert, ConfigError } from '../base/assert.ts'
import {
  FRAGMENT_BYTES, FRAGMENT_BYTES_PER_PEER_MAX, FRAGMENT_BYTES_PER_PROCESS_MAX, FRAGMENTS_PER_PEER_MAX,
  FRAGMENTS_PER_PROCESS_MAX,
} from '../base/limits.ts'

const SLAB_BLOCKS = 64

/** How much may be stored. */
export interface FragmentLimits {
  readonly partsMax: number
  readonly bytesMax: number
}

/** The memory that all peers share. */
export class FragmentPool {
  /** Stored fragments, and their bytes. */
  parts: number = 0
  /** Bytes of the stored fragments. */
  bytes: number = 0
  /** The limits of all peers together. */
  readonly limits: FragmentLimits
  #slabs: Uint8Array[] = []
  /** Free blocks, as a stack. */
  #free: Int32Array = new Int32Array(0)
  #freeCount: number = 0

  constructor(
    limits: FragmentLimits = { partsMax: FRAGMENTS_PER_PROCESS_MAX, bytesMax: FRAGMENT_BYTES_PER_PROCESS_MAX },
  ) {
    if (!(limits.partsMax >= 2 && limits.bytesMax >= 2 * FRAGMENT_BYTES)) {
      throw new ConfigError(
        'fragments',
        'limits too small for one large message',
        `give at least 2 parts and ${2 * FRAGMENT_BYTES} bytes.`,
      )
    }
    this.limits = limits
  }

  /** Takes a block for a fragment. Call it through a quota, which enforces the limits. */
  take(): number {
    if (this.#freeCount === 0) this.#grow()
    return this.#free[--this.#freeCount]
  }

  /** Returns a block. */
  give(block: number): void {
    this.#free[this.#freeCount++] = block
  }

  /** Copies `length` bytes from byte `from` of `source` into a block. */
  write(block: number, source: Uint8Array, from: number, length: number): void {
    const slab = this.#slabs[Math.floor(block / SLAB_BLOCKS)]
    const at = (block % SLAB_BLOCKS) * FRAGMENT_BYTES
    for (let index = 0; index < length; index++) slab[at + index] = source[from + index]
  }

  /** Copies the first `length` bytes of a block to byte `to` of `target`. */
  read(block: number, target: Uint8Array, to: number, length: number): void {
    const slab = this.#slabs[Math.floor(block / SLAB_BLOCKS)]
    const at = (block % SLAB_BLOCKS) * FRAGMENT_BYTES
    for (let index = 0; index < length; index++) target[to + index] = slab[at + index]
  }

  #grow(): void {
    const first = this.#slabs.length * SLAB_BLOCKS
    this.#slabs.push(new Uint8Array(SLAB_BLOCKS * FRAGMENT_BYTES))
    const free = new Int32Array(first + SLAB_BLOCKS)
    for (let block = 0; block < SLAB_BLOCKS; block++) free[this.#freeCount++] = first + block
    this.#free = free
  }
}

/** The share of the pool that one peer may use. */
export class FragmentQuota {
  /** The pool that it takes blocks from. */
  readonly pool: FragmentPool
  /** The limits of this peer. */
  readonly limits: FragmentLimits
  /** Stored fragments of this peer. */
  parts: number = 0
  /** Bytes of the stored fragments of this peer. */
  bytes: number = 0

  constructor(
    pool: FragmentPool,
    limits: FragmentLimits = { partsMax: FRAGMENTS_PER_PEER_MAX, bytesMax: FRAGMENT_BYTES_PER_PEER_MAX },
  ) {
    this.pool = pool
    this.limits = limits
  }

  /** Stores a copy of a fragment; returns its block, or -1 when this peer or all peers together are at their limit. */
  hold(source: Uint8Array, from: number, length: number): number {
    assert(length <= FRAGMENT_BYTES, 'a fragment fits its block')
    const { pool, limits } = this
    if (this.parts >= limits.partsMax || this.bytes + length > limits.bytesMax) return -1
    if (pool.parts >= pool.limits.partsMax || pool.bytes + length > pool.limits.bytesMax) return -1
    this.parts++
    this.bytes += length
    pool.parts++
    pool.bytes += length
    const block = pool.take()
    pool.write(block, source, from, length)
    return block
  }

  /** Releases a fragment of `length` bytes. */
  release(block: number, length: number): void {
    this.parts--
    this.bytes -= length
    this.pool.parts--
    this.pool.bytes -= length
    this.pool.give(block)
  }
}
