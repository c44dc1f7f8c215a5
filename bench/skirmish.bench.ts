/**
 * Skirmish with 2,000 units of eight seats that all move and fight: the CPU time of a tick, and of what lockstep adds
 * to it. And the ticks of a whole match of eight players, in bytes.
 */

import { parseArgs } from 'node:util'
import { SaveSlots } from 'tickwire/engine'
import { battlefieldOf } from '../games/skirmish/battlefield.ts'
import { Building, Unit } from '../games/skirmish/definitions.ts'
import { cellAt } from '../games/skirmish/map-cells.ts'
import { SEATS, UNITS_PER_SEAT } from '../games/skirmish/rules.ts'
import { Table as Match } from '../games/skirmish/table.ts'
import { spawnUnit } from '../games/skirmish/units.ts'
import type { Bench, BenchResult } from './harness.ts'
import { skirmishTrace } from './lockstep/skirmish-trace.ts'
import { pageFigures } from './skirmish/page-figures.ts'

const WARM_TICKS = 300
/** Ticks from one order of a seat to the next: a new flow field each time. */
const ORDER_EVERY = 60
/** More than any unit loses in a tick. */
const HEALTH = 511

export const bench: Bench = {
  name: 'skirmish',
  summary: 'the CPU time of a tick with 2,000 units, and the bytes of a match of eight players',
  options: ['--ticks N      timed ticks (default 900)'],
  run: async (args) => {
    const { values } = parseArgs({ args: [...args], options: { ticks: { type: 'string', default: '900' } } })
    const { tables, figures } = run(Number(values.ticks))
    return { tables, figures: [...figures, ...await pageFigures()] }
  },
}

/** Microseconds of CPU time of this process. */
function cpuUs(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}

/** Eight armies of 250, two teams, that walk back and forth over the map and fight. They are healed: none falls. */
function crowd(): Match {
  const match = new Match({ seed: 3, levels: new Array(SEATS).fill(0), teams: [0, 0, 0, 0, 1, 1, 1, 1] })
  match.run(1)
  for (let seat = 0; seat < SEATS; seat++) {
    const [x, y] = [30 + (seat % 4) * 18, 40 + Math.floor(seat / 4) * 36]
    for (let each = match.units(seat).length; each < UNITS_PER_SEAT; each++)
      spawnUnit(match.runner.world, each % 5, seat, x + (each % 16) * 0.7, y + Math.floor(each / 16) * 0.7)
  }
  return match
}

function run(ticks: number): BenchResult {
  const match = crowd()
  const { runner, game } = match
  const slots = new SaveSlots(runner.world, 2)
  const [steps, hashes, saves]: [number[], number[], number[]] = [[], [], []]
  let [stepUs, hashUs] = [0, 0]
  const { step } = game
  Object.assign(game, {
    step: (...args: Parameters<typeof step>) => {
      const from = cpuUs()
      step(...args)
      stepUs = cpuUs() - from
    },
  })
  const update = runner.hash.update.bind(runner.hash)
  runner.hash.update = () => {
    const from = cpuUs()
    const hash = update()
    hashUs = cpuUs() - from
    return hash
  }
  for (let tick = 0; tick < WARM_TICKS + ticks; tick++) {
    const seat = tick % ORDER_EVERY
    if (seat < SEATS) {
      const to = cellAt(20 + ((tick * 37) % 88), 20 + ((tick * 53) % 88))
      for (const unit of match.units(seat)) Object.assign(unit, { mode: 2, goal: to, isDirect: false })
    }
    for (const unit of runner.world.each(Unit)) unit.hp = HEALTH
    for (const building of runner.world.each(Building)) building.hp = HEALTH
    match.run(1)
    const from = cpuUs()
    slots.save(tick & 1)
    if (tick < WARM_TICKS) continue
    steps.push(stepUs / 1000)
    hashes.push(hashUs / 1000)
    saves.push((cpuUs() - from) / 1000)
  }
  const extra = hashes.map((hash, at) => hash + saves[at]!)
  const units = runner.world.count(Unit)
  const fieldsComputed = battlefieldOf(runner.world).computed
  const bytes = skirmishTrace().length
  return {
    tables: [{
      title: `${units} units at the end, ${fieldsComputed} flow fields, CPU milliseconds a tick`,
      columns: ['part', 'p50', 'p99'],
      rows: [
        ['step, with flow fields', share(steps, 0.5), share(steps, 0.99)],
        ['hash of the whole state', share(hashes, 0.5), share(hashes, 0.99)],
        ['save slot', share(saves, 0.5), share(saves, 0.99)],
      ],
    }],
    figures: [
      { name: 'step_ms_p50', value: share(steps, 0.5), unit: 'ms', against: null, atMost: 2.5 },
      { name: 'step_ms_p99', value: share(steps, 0.99), unit: 'ms', against: null, atMost: 6 },
      { name: 'hash_and_slot_ms_p50', value: share(extra, 0.5), unit: 'ms', against: null, atMost: 0.45 },
      { name: 'relay_kb_per_match', value: bytes / 1024, unit: 'KB', against: null },
    ],
  }
}

function share(values: readonly number[], part: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? 0
}

