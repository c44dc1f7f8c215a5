/**
 * Rolls back six ticks and steps to the present again, in every frame: the cost of a frame at 32, 200 and 1,000
 * objects, beside netplayjs.
 *
 * All rivals step the same ten numbers per object by the same rules, take turns in one process, and end in the state of
 * a simulation that never rolled back. Times are CPU time of the process. Ratios are medians of the ratios within a
 * turn.
 */

import { parseArgs } from 'node:util'
import { allocatedBytes, median, type Bench, type BenchResult, type Figure, type Table } from './harness.ts'
import { moved, start, TICK_S, type Body } from './rollback/bodies.ts'
import { loadNetplay, NetplayRollback } from './rollback/netplay-rollback.ts'
import { PredictorRollback, SlotsRollback } from './rollback/tickwire-rollback.ts'
import { cpuMs } from './scenario/crowd-peer.ts'

const SIZES = [32, 200, 1000]
const NETPLAY = 'netplayjs 0.4.1'
const WARMUPS = 8
const CHECKED_FRAMES = 40
/** The push of the other player, in steps of the field and in units. */
const PUSH_UNITS = 64
const PUSH = PUSH_UNITS / 256

interface Rival {
  readonly name: string
  /** Frames in one turn: enough for the resolution of the clock. */
  readonly frames: number
  frame(): void
  /** Milliseconds per frame, by turn. */
  readonly taken: number[]
}

export const bench: Bench = {
  name: 'rollback',
  summary: 'rolling back six ticks in every frame, beside netplayjs',
  options: ['--depth N     ticks back (default 6)', '--turns N     timed, of each rival (default 15)'],
  run: async (args) => {
    const { values } = parseArgs({
      args: [...args],
      options: { depth: { type: 'string', default: '6' }, turns: { type: 'string', default: '15' } },
    })
    return run(Number(values.depth), Number(values.turns))
  },
}

async function run(depth: number, turns: number): Promise<BenchResult> {
  const modules = await loadNetplay()
  checkNetplay(new NetplayRollback(modules, 32, depth, false))
  checkNetplay(new NetplayRollback(modules, 32, depth, true))
  checkPredictor(new PredictorRollback(32, depth), depth)
  const tables: Table[] = []
  const figures: Figure[] = []
  for (const size of SIZES) {
    const rivals = rivalsOf(size, depth, modules)
    race(rivals, turns)
    const [ours, slots, theirs, byHand] = rivals as [Rival, Rival, Rival, Rival]
    tables.push({
      title: `${size} objects of ten numbers, ${depth} ticks back and one on, ${turns} turns`,
      columns: ['what', 'us a frame', 'least', 'most', `of ${NETPLAY}`],
      rows: rivals.map((rival) => [
        rival.name,
        middle(rival.taken) * 1000,
        Math.min(...rival.taken) * 1000,
        Math.max(...rival.taken) * 1000,
        ratio(rival, theirs),
      ]),
    })
    figures.push(
      {
        name: `ratio_netplayjs_${size}`,
        value: ratio(ours, theirs),
        unit: 'ratio',
        against: NETPLAY,
        ...(size === 1000 && { atMost: 0.01 }),
      },
      { name: `slots_ratio_netplayjs_${size}`, value: ratio(slots, theirs), unit: 'ratio', against: NETPLAY },
      {
        name: `ratio_netplayjs_by_hand_${size}`,
        value: ratio(ours, byHand),
        unit: 'ratio',
        against: `${NETPLAY}, values given by hand`,
      },
    )
  }
  const allocating = new PredictorRollback(200, depth)
  figures.push({
    name: 'heap_bytes_per_rollback',
    value: allocatedBytes(() => {
      for (let at = 0; at < 200; at++) allocating.frame(at & 1 ? -PUSH_UNITS : PUSH_UNITS)
    }, 200),
    unit: 'B',
    against: null,
  })
  return { tables, figures }
}

function rivalsOf(size: number, depth: number, modules: Awaited<ReturnType<typeof loadNetplay>>): Rival[] {
  const [predicted, slots] = [new PredictorRollback(size, depth), new SlotsRollback(size, depth)]
  const [netplay, byHand] = [
    new NetplayRollback(modules, size, depth, false),
    new NetplayRollback(modules, size, depth, true),
  ]
  // Back and forth, so that the speed stays bounded.
  let turn = 0
  const sign = (): number => (turn++ & 1 ? -1 : 1)
  const frames = Math.max(1, Math.round(1000 / size))
  return [
    {
      name: 'tickwire, the whole Predictor',
      frames: frames * 10,
      frame: () => predicted.frame(sign() * PUSH_UNITS),
      taken: [],
    },
    { name: 'tickwire, slots and steps', frames: frames * 10, frame: () => slots.frame(), taken: [] },
    { name: 'netplayjs', frames, frame: () => netplay.frame(sign() * PUSH), taken: [] },
    { name: 'netplayjs, values given by hand', frames, frame: () => byHand.frame(sign() * PUSH), taken: [] },
  ]
}

function race(rivals: readonly Rival[], turns: number): void {
  for (let turn = 0; turn < WARMUPS + turns; turn++) {
    for (let at = 0; at < rivals.length; at++) {
      const rival = rivals[(turn + at) % rivals.length]!
      const before = cpuMs()
      for (let frame = 0; frame < rival.frames; frame++) rival.frame()
      if (turn >= WARMUPS) rival.taken.push((cpuMs() - before) / rival.frames)
    }
  }
}

const middle = (values: readonly number[]): number => median(values.toSorted((a, b) => a - b))
const ratio = (one: Rival, other: Rival): number => middle(one.taken.map((ms, turn) => ms / other.taken[turn]!))

/** The bodies without a rollback. */
function straight(count: number, frames: number, pushAt: (frame: number) => number): Body[] {
  const bodies = start(count)
  for (let frame = 1; frame <= frames; frame++)
    bodies.forEach((body, at) => moved(body, at === 0 ? pushAt(frame) : 0, TICK_S))
  return bodies
}

/** There are pushes for some frames; then none, until all have been received. */
function checkNetplay(rival: NetplayRollback): void {
  const isPushed = (frame: number): boolean => frame <= CHECKED_FRAMES / 2
  // The last input is also the predicted one, so after the last push no prediction is open.
  for (let frame = 1; frame <= CHECKED_FRAMES; frame++) rival.frame(isPushed(frame) ? PUSH : 0)
  const expected = straight(rival.state.bodies.length, CHECKED_FRAMES + rival.depth, (frame) =>
    isPushed(frame) ? PUSH : 0,
  )
  compare('netplayjs', rival.state.bodies[0]!, expected[0]!)
}

/** A push of six ticks ago is a velocity from then on. */
function checkPredictor(rival: PredictorRollback, depth: number): void {
  const { predictor } = rival
  const begun = predictor.tick
  for (let frame = 0; frame < CHECKED_FRAMES; frame++) rival.frame(PUSH_UNITS)
  if (predictor.rollbacks !== CHECKED_FRAMES)
    throw new Error(`tickwire: ${predictor.rollbacks} times back, not ${CHECKED_FRAMES}`)
  // A row has the state after its tick: the push shows in the position from the next tick on.
  const [body] = start(1)
  for (let tick = 2; tick <= predictor.tick; tick++) {
    moved(body!, 0, TICK_S)
    if (tick > begun - depth && tick <= begun - depth + CHECKED_FRAMES) body!.vx += PUSH
  }
  compare('tickwire', rival.first, body!)
}

function compare(name: string, is: Pick<Body, 'x' | 'vx'>, should: Pick<Body, 'x' | 'vx'>): void {
  // A row has steps of 1/256: each received row has lost the digits below.
  const slack = name === 'tickwire' ? CHECKED_FRAMES / 256 : 0
  if (Math.abs(is.vx - should.vx) > slack || Math.abs(is.x - should.x) > slack)
    throw new Error(`${name}: ${is.x} at ${is.vx}, not ${should.x} at ${should.vx}`)
}
