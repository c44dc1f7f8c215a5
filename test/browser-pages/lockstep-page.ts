/** A page in a lockstep match. The test in test/browser drives it. */

import { connect } from 'tickwire/browser'
import { relay, type LockstepRoom } from 'tickwire/lockstep'
import { game, Spawn, Take } from '../sim/lockstep-game.ts'

let room: LockstepRoom<typeof game.orders> | undefined
/** Indexed by tick. */
const hashes: string[] = []

/** Joins the match at `url`. Returns the own player. */
export async function join(url: string): Promise<number> {
  const onTick = (tick: number, low: number, high: number): void => { hashes[tick] = `${high}.${low}` }
  room = await connect(game, relay(url), { runner: { onTick } })
  return room.player
}

/** Gives two orders. */
export function give(round: number): string {
  room?.order(Take, { crate: round })
  return room?.order(Spawn, { count: 1 + (round % 3) }) ?? 'closed'
}

/** The hashes of all ticks so far, from tick 1 on. */
export function look(): string[] {
  return hashes.slice(1)
}
