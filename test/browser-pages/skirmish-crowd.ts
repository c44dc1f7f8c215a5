/**
 * A page that draws 2,000 units of eight seats, for the test of its draw calls and GPU objects, and for the bench. It
 * has the picture and the fog of skirmish, and steps a match in this page.
 */

import { Building, Unit } from '../../games/skirmish/definitions.ts'
import { cellAt } from '../../games/skirmish/map-cells.ts'
import { Picture } from '../../games/skirmish/page/picture.ts'
import { SEATS, UNITS_PER_SEAT } from '../../games/skirmish/rules.ts'
import { Table } from '../../games/skirmish/table.ts'
import { spawnUnit } from '../../games/skirmish/units.ts'
import { countGpuObjects } from './gpu-objects.ts'

/** Ticks from one order of a seat to the next. */
const ORDER_EVERY = 60
const HEALTH = 511
const LOOK_EVERY = 6

const counts = countGpuObjects()
const canvas = document.querySelector('canvas')!
const graphics = location.search === '?reduced' ? 'reduced' as const : undefined
const picture = new Picture(canvas, graphics)
const table = new Table({ seed: 3, levels: new Array(SEATS).fill(0), teams: [0, 0, 0, 0, 1, 1, 1, 1] })
const { world } = table.runner
table.run(1)
for (let seat = 0; seat < SEATS; seat++) {
  const [x, y] = [30 + (seat % 4) * 18, 40 + Math.floor(seat / 4) * 36]
  for (let each = table.units(seat).length; each < UNITS_PER_SEAT; each++)
    spawnUnit(world, each % 5, seat, x + (each % 16) * 0.7, y + Math.floor(each / 16) * 0.7)
}
picture.camera.lookAt({ x: 64, y: 70 })
picture.camera.height = 62

/** One tick of the match, as the page of a player does it. */
function step(): void {
  const { tick } = world
  const seat = tick % ORDER_EVERY
  if (seat < SEATS) {
    const to = cellAt(20 + ((tick * 37) % 88), 20 + ((tick * 53) % 88))
    for (const unit of table.units(seat)) Object.assign(unit, { mode: 2, goal: to, isDirect: false })
  }
  for (const unit of world.each(Unit)) unit.hp = HEALTH
  for (const building of world.each(Building)) building.hp = HEALTH
  table.run(1)
  picture.memory.note(world, (happening) => picture.effects.show(happening))
  if (tick % LOOK_EVERY === 0) picture.look(world, 0)
}

const selected = new Set<number>()

/** One frame. All units are seen: nothing is hidden by fog. */
function draw(): void {
  picture.fog.isOff = true
  picture.draw(world, { seat: 0, selected, alpha: 0.5 }, performance.now())
}

/** Draws another map, as a new match has it. */
function change(seed: number): void {
  const other = new Table({ seed, levels: new Array(SEATS).fill(0) })
  other.run(1)
  picture.draw(other.runner.world, { seat: 0, selected, alpha: 1 }, performance.now())
}

Object.assign(globalThis, {
  crowd: {
    step, draw, change, counts,
    look: () => ({
      units: world.count(Unit), drawCalls: picture.drawCalls, isReduced: picture.quality.isReduced,
      memory: { ...picture.renderer.info.memory }, alive: counts.made - counts.deleted, made: counts.made,
    }),
  },
})
