/** What stands on a map when a match begins: crystals, and headquarters and workers of every seat. */

import type { World } from 'tickwire'
import type { Battlefield } from './battlefield.ts'
import { Building, Crystal, GATHERING, Seat, Unit } from './definitions.ts'
import { makeMap } from './map.ts'
import { columnOf, rowOf, SIZE } from './map-cells.ts'
import { BUILDINGS, DEPOSIT, HEADQUARTERS, START_WORKERS, WORKER } from './rules.ts'
import { distance, orderUnit, spawnUnit } from './units.ts'

/** Puts everything on the map of a kind. Seats that are out have nothing. */
export function layOut(world: World, mapKind: number): void {
  const { deposits, starts } = makeMap(world.seed, mapKind)
  for (const at of deposits) world.spawn(Crystal, { at, left: DEPOSIT })
  for (const { number, player, isOut } of world.each(Seat))
    if (!isOut) settle(world, number, player, starts[number]!, deposits)
}

/** Another map, in the lobby: everything is put on it again, and every player looks at it before being ready. */
export function changeMap({ world, match, seats }: Battlefield, mapKind: number): void {
  if (mapKind === match.mapKind) return
  match.mapKind = mapKind
  for (const entity of [Crystal, Unit, Building] as const) for (const each of world.each(entity)) world.despawn(each)
  layOut(world, mapKind)
  for (const seat of seats) seat.isReady = false
}

/** Headquarters and workers of a seat. */
function settle(world: World, seat: number, player: number, start: number, deposits: readonly number[]): void {
  world.spawn(Building, { kind: HEADQUARTERS, seat, at: start - SIZE - 1, hp: BUILDINGS[HEADQUARTERS]!.hp }, player)
  const near = [...deposits].sort((a, b) => distance(a, start) - distance(b, start) || a - b)
  for (let each = 0; each < START_WORKERS; each++) {
    const unit = spawnUnit(world, WORKER, seat, columnOf(start) - 1.5 + each, rowOf(start) + 2.5, player)
    orderUnit(unit, GATHERING, near[each]!, 0, false)
  }
}
