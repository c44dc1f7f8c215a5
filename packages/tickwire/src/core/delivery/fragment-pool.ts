/**
 * Memory for fragments, shared by all peers of a process and bounded twice: for all of them, and for each.
 *
 * One block for each fragment, whatever its length, so nothing can fragment; slabs of 64 blocks are made as they are
 * needed and kept. What is held is counted in parts and in bytes, at both levels, on every insert (FRAG3).
 *
 * Invariant: a quota's counts are those of the blocks it took and has not given back; the pool's are the sum of all.
 *
 * It never allocates by a number a peer has said: a block is taken when its bytes are here.
 */

import { assert, ConfigError } from '../base/assert.ts'
import {
  FRAGMENT_BYTES, FRAGMENT_BYTES_PER_PEER_MAX, FRAGMENT_BYTES_PER_PROCESS_MAX, FRAGMENTS_PER_PEER_MAX, FRAGMENTS_PER_PROCESS_MAX,
} from '../base/limits.ts'

const SLAB_BLOCKS = 64

/** How much may be held. */
export interface FragmentLimits {
  readonly partsMax: number
  readonly bytesMax: number
}

/** What all peers share. */
export class FragmentPool {
  /** Fragments held, and their bytes. */
  parts: number = 0
  bytes: number = 0
  readonly limits: FragmentLimits
  #slabs: Uint8Array[] = []
  /** Free blocks, a stack. */
  #free: Int32Array = new Int32Array(0)
  #freeCount: number = 0

  constructor(limits: FragmentLimits = { partsMax: FRAGMENTS_PER_PROCESS_MAX, bytesMax: FRAGMENT_BYTES_PER_PROCESS_MAX }) {
    if (!(limits.partsMax >= 2 && limits.bytesMax >= 2 * FRAGMENT_BYTES)) {
      throw new ConfigError('fragments', 'limits that hold not one large message', `Give at least 2 parts and ${2 * FRAGMENT_BYTES} bytes.`)
    }
    this.limits = limits
  }

  /** A block for a fragment. Ask the quota: it knows whether there may be one. */
  take(): number {
    if (this.#freeCount === 0) this.#grow()
    return this.#free[--this.#freeCount]
  }

  /** The block is free again. */
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

/** What one peer may have us hold. */
export class FragmentQuota {
  readonly pool: FragmentPool
  readonly limits: FragmentLimits
  parts: number = 0
  bytes: number = 0

  constructor(
    pool: FragmentPool, limits: FragmentLimits = { partsMax: FRAGMENTS_PER_PEER_MAX, bytesMax: FRAGMENT_BYTES_PER_PEER_MAX },
  ) {
    this.pool = pool
    this.limits = limits
  }

  /** Keeps a copy of a fragment; its block, or -1 when this peer or all peers together hold too much already. */
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

  /** The fragment of `length` bytes is no longer needed. */
  release(block: number, length: number): void {
    this.parts--
    this.bytes -= length
    this.pool.parts--
    this.pool.bytes -= length
    this.pool.give(block)
  }
}
