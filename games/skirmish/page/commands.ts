/** The buttons for what is selected, with their hotkeys. */

import type { World } from 'tickwire'
import { Building } from '../definitions.ts'
import { BARRACKS, BUILDINGS, FACTORY, HEADQUARTERS, TURRET, UNITS } from '../rules.ts'
import type { Selection } from './selection.ts'

/** What the pointer does with its next click. */
export type Aim = { readonly kind: 'advance' } | { readonly kind: 'build'; readonly building: number } | undefined

/** One button. */
export interface Command {
  readonly key: string
  readonly label: string
  readonly hint: string
  readonly cost?: number
  readonly act:
    | { readonly kind: 'aim'; readonly aim: Exclude<Aim, undefined> }
    | { readonly kind: 'stop' | 'hold' | 'cancel' }
    | { readonly kind: 'train'; readonly unit: number }
}

const BUILD_KEYS: readonly (readonly [string, number])[] = [
  ['Q', BARRACKS], ['W', FACTORY], ['E', TURRET], ['R', HEADQUARTERS],
]
const GOOD_AGAINST: readonly string[] = [
  'mines crystals and builds', 'good against raiders', 'fast; good against artillery and workers',
  'good against most units and buildings', 'good against buildings and tanks, from afar',
]
const PURPOSE: readonly string[] = [
  'takes crystals, trains workers', 'trains soldiers and raiders', 'trains tanks and artillery', 'shoots at enemies',
]

function capital(name: string): string {
  return name === 'headquarters' ? 'HQ' : name[0]!.toUpperCase() + name.slice(1)
}

/** The buttons for a selection. */
export function commandsFor(world: World, selection: Selection, seat: number): Command[] {
  const units = selection.units(world, seat)
  if (units.length > 0) {
    const commands: Command[] = [
      { key: 'A', label: 'Attack', hint: 'goes to a place and fights what it meets',
        act: { kind: 'aim', aim: { kind: 'advance' } } },
      { key: 'S', label: 'Stop', hint: 'stands still', act: { kind: 'stop' } },
      { key: 'D', label: 'Hold', hint: 'stands still and follows no enemy', act: { kind: 'hold' } },
    ]
    if (selection.workers(world, seat).length === 0) return commands
    for (const [key, building] of BUILD_KEYS) {
      const { name, cost } = BUILDINGS[building]!
      commands.push({ key, label: capital(name), hint: PURPOSE[building]!, cost,
        act: { kind: 'aim', aim: { kind: 'build', building } } })
    }
    return commands
  }
  const [first] = selection.buildings(world, seat)
  const building = first === undefined ? null : world.get(Building, first)
  if (building === null || building.builtAt > world.tick) return []
  const commands: Command[] = []
  UNITS.forEach(({ name, cost, trainedIn }, unit) => {
    if (trainedIn !== building.kind) return
    commands.push({ key: 'QWE'[commands.length]!, label: capital(name), hint: GOOD_AGAINST[unit]!, cost,
      act: { kind: 'train', unit } })
  })
  if (building.queue > 0)
    commands.push({ key: 'X', label: 'Cancel', hint: 'the last one of the queue', act: { kind: 'cancel' } })
  return commands
}
