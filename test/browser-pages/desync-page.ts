/** A page in a lockstep match whose world the test changes, or whose step differs. */

import { connect } from 'tickwire/browser'
import { readReplay, relay, replay, type DesyncReport, type LockstepRoom } from 'tickwire/lockstep'
import { makeLockstepGame, Spawn, Unit } from '../sim/lockstep-game.ts'

let isBad = false
/** The tick in which `step` is wrong, each time it is stepped. 0: none yet. */
let badTick = 0
const game = makeLockstepGame((tick) => {
  if (isBad) badTick ||= tick
  return tick === badTick ? 1 : 0
})
let room: LockstepRoom<typeof game.orders> | undefined
const reports: DesyncReport[] = []
/** How often the page was away, and the ticks at which the match went on at another relay. */
const line: { aways: number; continued: number[] } = { aways: 0, continued: [] }
/** Indexed by tick. */
const hashes: string[] = []

/** Joins the match at `url`. Returns the local player. */
export async function join(url: string): Promise<number> {
  const onTick = (tick: number, low: number, high: number): void => { hashes[tick] = `${high}.${low}` }
  const entered = await connect(game, relay(url), {
    runner: { onTick }, onDesync: (report) => { reports.push(report) },
  })
  entered.onAway(() => { line.aways++ })
  entered.onContinued((tick) => { line.continued.push(tick) })
  room = entered
  return entered.player
}

/** Gives an order. */
export function give(): string {
  return room?.order(Spawn, { count: 4 }) ?? 'closed'
}

/** Changes one bit of one number in the live world, as a bad memory cell would. */
export function corrupt(): { id: number; before: number; after: number } {
  const unit = [...room!.world.each(Unit)][2]!
  const before = unit.hp
  unit.hp = before ^ 64
  return { id: unit.id, before, after: unit.hp }
}

/**
 * The next `step` that takes hit points takes more than on the other machines. It is one tick: a page that differed
 * again and again would lose its seat.
 */
export function goWrong(): void {
  isBad = true
}

/** The reports, and the hashes of all ticks. */
export function look(): { reports: DesyncReport[]; hashes: string[]; tick: number; isOver: boolean } {
  return { reports, hashes, tick: room?.tick ?? 0, isOver: room?.isOver ?? true }
}

/** How the connection is, and was. */
export function lineState(): { aways: number; continued: number[]; isAway: boolean } {
  return { ...line, isAway: room?.isAway ?? true }
}

/** Leaves the match. */
export function leave(): void {
  room?.leave()
}

/** Shows the recording at `url`. */
export async function watch(url: string): Promise<number> {
  const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer())
  room = await connect(game, replay(readReplay(bytes)))
  room.setSpeed(0)
  return room.runner.feed.log.newest
}

/** Goes to a tick of the recording. Returns the hash of its world, and how long it took. */
export function seek(tick: number): { isThere: boolean; low: number; high: number; ms: number } {
  const before = performance.now()
  const isThere = room!.seek(tick)
  const [low = 0, high = 0] = room!.runner.hash.update()
  return { isThere, low, high, ms: performance.now() - before }
}

/** Plays on at a speed for a while. Returns how many times as fast as the match the ticks were stepped. */
export async function fastForward(speed: number, ms: number): Promise<number> {
  const [from, before] = [room!.tick, performance.now()]
  room!.setSpeed(speed)
  await new Promise((resolve) => { setTimeout(resolve, ms) })
  room!.setSpeed(0)
  return (room!.tick - from) * 1000 / (performance.now() - before) / game.tickRate
}
