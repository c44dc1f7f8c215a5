/**
 * A page that hosts a lockstep match in a Worker, and the guests in its frames. All of them play by the same code; only
 * the place differs.
 */

import { connect } from 'tickwire/browser'
import { hosting, relay, type LockstepPlace, type LockstepRoom } from 'tickwire/lockstep'
import { game, Spawn, Take } from '../sim/lockstep-game.ts'

const host = hosting({ worker: () => new Worker('/relay-worker.js'), seed: 5 })
let room: LockstepRoom<typeof game.orders> | undefined
/** Indexed by tick. */
const hashes: string[] = []

async function enter(where: LockstepPlace): Promise<number> {
  const onTick = (tick: number, low: number, high: number): void => { hashes[tick] = `${high}.${low}` }
  room = await connect(game, where, { runner: { onTick } })
  return room.player
}

/** Opens the match. Returns the local player. */
export async function open(): Promise<number> {
  return await enter(host)
}

/** Sends an invitation to a frame of this page. */
export function invite(frame: number): void {
  const port = host.invite() as MessagePort
  window.frames[frame]?.postMessage('invitation', '*', [port])
}

addEventListener('message', ({ data, ports: [port] }) => {
  if (data === 'invitation' && port !== undefined) void enter(relay(port))
})

/** Gives two orders. */
export function give(round: number): string {
  room?.order(Take, { crate: round })
  return room?.order(Spawn, { count: 1 + (round % 3) }) ?? 'closed'
}

/** The hashes of all ticks so far, from tick 1 on. */
export function look(): string[] {
  return hashes.slice(1)
}

/** The local player; 0 before the match. */
export function player(): number {
  return room?.player ?? 0
}

/** Leaves the match. The host takes the relay with it. */
export function leave(): void {
  room?.leave()
}

/** Whether the match is over. */
export function isOver(): boolean {
  return room?.isOver === true
}
