/**
 * The hashes of consecutive ticks, for the order log of debugging: low and high half, 32 bits each, lowest byte first,
 * 0 for a tick that was not hashed. The chunk's tick is the first.
 */

import type { Tick } from '../base/time.ts'
import type { Root } from '../order/sync-messages.ts'
import { readU32, writeU32 } from './chunk.ts'

const ROOT_BYTES = 8

/** The body of a chunk of hashes. */
export function encodeHashes(roots: readonly Root[]): Uint8Array {
  const bytes = new Uint8Array(ROOT_BYTES * roots.length)
  roots.forEach(({ low, high }, at) => {
    writeU32(bytes, ROOT_BYTES * at, low)
    writeU32(bytes, ROOT_BYTES * at + 4, high)
  })
  return bytes
}

/** The hashes in a body, by tick. Undefined: it is damaged. */
export function decodeHashes(body: Uint8Array, first: Tick): Map<Tick, Root> | undefined {
  if (body.length % ROOT_BYTES !== 0) return undefined
  const roots = new Map<Tick, Root>()
  for (let at = 0; at < body.length; at += ROOT_BYTES) {
    const root = { low: readU32(body, at), high: readU32(body, at + 4) }
    if (root.low !== 0 || root.high !== 0) roots.set(first + at / ROOT_BYTES, root)
  }
  return roots
}
