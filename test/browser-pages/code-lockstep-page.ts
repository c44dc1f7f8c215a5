/** A page that plays a lockstep match by a code: with its relay in a Worker of this page, as a guest, or in a mesh. */

import { connect, host, type HostedMatch, type HostedMesh } from 'tickwire/browser'
import { mesh, relay, type LockstepGame, type LockstepPlace, type LockstepRoom } from 'tickwire/lockstep'
import { game as sums, Spawn } from '../sim/lockstep-game.ts'

const game = sums as unknown as LockstepGame
let hosted: HostedMatch | HostedMesh | undefined
let room: LockstepRoom | undefined
/** Indexed by tick. */
const hashes: string[] = []
let end = ''

/** Hosts the relay of a match in a Worker, and plays in it. Returns the code. */
export async function hostMatch(): Promise<string> {
  const opened = await host(game, { worker: () => new Worker('/worker.js') })
  hosted = opened
  await enter(relay(opened))
  return opened.code
}

/** Makes the code of a mesh. The match begins when all players are there. */
export async function hostMesh(players: number): Promise<string> {
  const opened = await host(game, { mesh: players })
  hosted = opened
  void enter(mesh(opened))
  return opened.code
}

export async function join(code: string): Promise<void> {
  await enter(relay(code))
}

export async function joinMesh(code: string): Promise<void> {
  await enter(mesh(code))
}

async function enter(where: LockstepPlace): Promise<void> {
  const onTick = (tick: number, low: number, high: number): void => { hashes[tick] = `${high}.${low}` }
  room = await connect(game, where, { runner: { onTick } })
  void room.closed.then(({ code }) => { end = code })
}

export function give(): string {
  return room?.order(Spawn, { count: 1 }) ?? 'closed'
}

/** The hashes of all ticks so far, from tick 1 on. */
export function look(): string[] {
  return hashes.slice(1)
}

export function state(): object {
  return {
    player: room?.player ?? 0, players: room?.players.length ?? 0, tick: room?.tick ?? 0, path: room?.path ?? '',
    isHidden: document.hidden, end,
  }
}

export function leave(): void {
  room?.leave()
}

export async function close(): Promise<void> {
  await hosted?.close()
}
