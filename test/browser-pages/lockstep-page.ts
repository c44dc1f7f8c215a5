/** A page in a lockstep match. The test in test/browser drives it. */

import { connect, type Rung } from 'tickwire/browser'
import { hosting, relay, type LockstepPlace, type LockstepRoom } from 'tickwire/lockstep'
import { game, Spawn, Take } from '../sim/lockstep-game.ts'

let room: LockstepRoom<typeof game.orders> | undefined
/** Indexed by tick. */
const hashes: string[] = []
/** Ticks at which the match went on at another relay. */
const continued: number[] = []
let tickAt = Infinity
let gapMs = 0
let timers = 0

/** Joins the match at `url`. Returns the local player. */
export async function join(url: string, transports: readonly Rung[] = ['websocket']): Promise<number> {
  return await enter(relay(url), transports)
}

/** Hosts a match in a Worker. Returns the local player. */
export async function host(): Promise<number> {
  return await enter(hosting({ worker: () => new Worker('/relay-worker.js') }), [])
}

async function enter(where: LockstepPlace, transports: readonly Rung[]): Promise<number> {
  const onTick = (tick: number, low: number, high: number): void => {
    hashes[tick] = `${high}.${low}`
    gapMs = Math.max(gapMs, performance.now() - tickAt)
    tickAt = performance.now()
  }
  const entered = await connect(game, where, { runner: { onTick }, transports })
  room = entered
  entered.onContinued((tick) => { continued.push(tick) })
  return entered.player
}

/** How the match goes: the last tick, the transport, and the longest time between two ticks since the last call. */
export function state(): { tick: number; transport: string; gapMs: number; timers: number; isHidden: boolean } {
  const seen = { tick: room?.tick ?? 0, transport: room?.transport ?? '', gapMs, timers, isHidden: document.hidden }
  gapMs = 0
  timers = 0
  return seen
}

/** Handovers: the ticks that the page was called with, and whether it plays again. */
export function handovers(): { continued: readonly number[]; isBack: boolean } {
  return { continued, isBack: room?.isContinued === true && !room.isAway }
}

/** Counts what a timer of 20 ms does, from now on. */
export function countTimers(): void {
  setInterval(() => { timers++ }, 20)
}

/** Gives two orders. */
export function give(round: number): string {
  room?.order(Take, { crate: round })
  return room?.order(Spawn, { count: 1 + (round % 3) }) ?? 'closed'
}

/** Gives an order again and again, until the match is over. */
export function giveOften(everyMs: number): void {
  let round = 0
  const timer = setInterval(() => {
    if (room === undefined || room.isOver) return clearInterval(timer)
    give(round++ % 65_536)
  }, everyMs)
}

/** Leaves the match, and forgets it. */
export function leave(): void {
  room?.leave()
  hashes.length = 0
}

/** The hashes of all ticks so far, from tick 1 on. */
export function look(): string[] {
  return hashes.slice(1)
}
