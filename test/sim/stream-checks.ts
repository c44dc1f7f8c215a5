/** Checks of the orders in the ticks of a lockstep match, as a reader of the wire document has them. */

import type { OrderMeaning } from '../reference/lockstep-checker.ts'
import { ViolationError } from './invariants.ts'

const [JOIN, LEAVE] = [0xc0, 0xc1]

/**
 * I25: each order is of a player that is in the match. Orders of the kind `take` have serial numbers: they ascend in
 * the stream, so none is there twice. Players of `uncounted` have lost count of theirs.
 */
export function checkStream(
  ticks: readonly (readonly OrderMeaning[])[], take: number, uncounted: ReadonlySet<number> = new Set(),
): void {
  const present = new Set<number>()
  const last = new Map<number, number>()
  for (const { player, type, data } of ticks.flat()) {
    if (player === 0 && type === JOIN) present.add(readVarint(data))
    if (player === 0 && type === LEAVE) present.delete(readVarint(data))
    if (player === 0 ? type < JOIN : !present.has(player))
      throw new ViolationError('I25', `an order of player ${player} is in a tick, and that player is not in the match`)
    if (type !== take || player === 0 || uncounted.has(player)) continue
    const serial = Number.parseInt(data.slice(2) + data.slice(0, 2), 16)
    if (serial <= (last.get(player) ?? 0))
      throw new ViolationError('I25', `order ${serial} of player ${player} is there twice, or late`)
    last.set(player, serial)
  }
}

/** The first number of hexadecimal digits. */
export function readVarint(data: string): number {
  const bytes = (data.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16))
  const end = bytes.findIndex((byte) => byte < 128)
  return bytes.slice(0, end + 1).reduce((value, byte, at) => value + (byte & 127) * 128 ** at, 0)
}
