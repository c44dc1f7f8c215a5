/**
 * Which objects go first when not all fit: the most urgent ones, in about as many steps as there are objects.
 *
 * A counting sort by the float's exponent and the two bits below it. Urgencies within a fifth of each other count as
 * equal and stay in the order of their index, which is the order of entries in packets. Used only when room is short.
 */

const BUCKET_SHIFT = 21
const BUCKETS = 1 << (32 - 1 - BUCKET_SHIFT)

const counts = new Uint32Array(BUCKETS)
const cell = new Float32Array(1)
const cellBits = new Int32Array(cell.buffer)

/** Looks up urgencies. */
export interface Urgencies {
  urgencyOf(index: number): number
}

/** Puts the first `count` of `indexes` into `out`, the most urgent first. Urgencies are not negative. @hot */
export function orderByUrgency(indexes: Uint32Array, count: number, urgencies: Urgencies, out: Uint32Array): void {
  counts.fill(0)
  for (let at = 0; at < count; at++) counts[bucketOf(urgencies.urgencyOf(indexes[at]))]++
  let first = 0
  for (let bucket = BUCKETS - 1; bucket >= 0; bucket--) {
    const size = counts[bucket]
    counts[bucket] = first
    first += size
  }
  for (let at = 0; at < count; at++) out[counts[bucketOf(urgencies.urgencyOf(indexes[at]))]++] = indexes[at]
}

/** Sorts `order[first..end)` and, along with it, `along`, ascending. Short, and mostly sorted runs. @hot */
export function sortAscending(order: Uint32Array, along: Int32Array, first: number, end: number): void {
  for (let next = first + 1; next < end; next++) {
    const value = order[next]
    const other = along[next]
    let at = next
    for (; at > first && order[at - 1] > value; at--) {
      order[at] = order[at - 1]
      along[at] = along[at - 1]
    }
    order[at] = value
    along[at] = other
  }
}

function bucketOf(urgency: number): number {
  cell[0] = urgency
  return cellBits[0] >>> BUCKET_SHIFT
}
