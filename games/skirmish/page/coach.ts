/** The first steps of a new player: what to do next, until it is done. The page marks the place of the step. */

import type { World } from 'tickwire'
import {
  ADVANCING, ATTACKING, Building, Seat, Unit, type BuildingObject, type UnitObject,
} from '../definitions.ts'
import { columnOf, rowOf } from '../map-cells.ts'
import { BARRACKS, FACTORY, HEADQUARTERS, START_WORKERS, WORKER } from '../rules.ts'
import type { Spot } from './camera.ts'
import { button, element, make } from './dom.ts'

const KNOWN = 'skirmish-knows-how'
const ARMY = 5

interface Step {
  readonly mouse: string
  readonly touch: string
  readonly isDone: (world: World, seat: number) => boolean
  /** Where it is done. */
  readonly place: (world: World, seat: number) => Spot | undefined
}

const STEPS: readonly Step[] = [
  {
    mouse: 'Click your headquarters and press Q: it trains a worker. Workers mine crystals by themselves.',
    touch: 'Tap your headquarters, then Worker. Workers mine crystals by themselves.',
    isDone: (world, seat) => unitsOf(world, seat).filter(({ kind }) => kind === WORKER).length > START_WORKERS
      || buildingsOf(world, seat).some(({ kind, queue }) => kind === HEADQUARTERS && queue > 0),
    place: (world, seat) => placeOf(buildingsOf(world, seat).find(({ kind }) => kind === HEADQUARTERS)),
  },
  {
    mouse: 'Click a worker, press Q, and click a free place: barracks, for 150 crystals.',
    touch: 'Tap a worker, then Barracks, then a free place. It costs 150 crystals.',
    isDone: (world, seat) => buildingsOf(world, seat).some(({ kind }) => kind === BARRACKS),
    place: (world, seat) => unitsOf(world, seat).find(({ kind }) => kind === WORKER),
  },
  {
    mouse: `Click the barracks and press Q until you have ${ARMY} soldiers. A right click says where they gather.`,
    touch: `Tap the barracks, then Soldier, until you have ${ARMY}. A tap on the ground says where they gather.`,
    isDone: (world, seat) => unitsOf(world, seat).filter(({ kind }) => kind !== WORKER).length >= ARMY,
    place: (world, seat) => placeOf(buildingsOf(world, seat).find(({ kind }) => kind === BARRACKS)),
  },
  {
    mouse: 'Press F for your army, then A, then click an enemy base: here, or on the map in the corner.',
    touch: 'Tap Army, then Attack, then an enemy base: here, or on the map in the corner.',
    isDone: (world, seat) => unitsOf(world, seat).some(({ kind, mode }) => kind !== WORKER
      && (mode === ADVANCING || mode === ATTACKING)),
    place: (world, seat) => nearestEnemy(world, seat),
  },
  {
    mouse: 'Press . for a worker, then W: a factory trains tanks. More workers mine more; turrets guard your base.',
    touch: 'Tap Worker, then Factory: it trains tanks. More workers mine more; turrets guard your base.',
    isDone: (world, seat) => buildingsOf(world, seat).some(({ kind }) => kind === FACTORY),
    place: () => undefined,
  },
]

export class Coach {
  readonly #panel = element('coach')
  #step = -1
  #isOff: boolean

  constructor() {
    this.#isOff = localStorage.getItem(KNOWN) !== null
    this.#panel.hidden = true
  }

  stop(): void {
    this.#panel.hidden = true
  }

  /** Shows the next step. Returns where it is done. */
  update(world: World, seat: number, isPlaying: boolean): Spot | undefined {
    if (this.#isOff || !isPlaying || seat < 0) {
      this.#panel.hidden = true
      return undefined
    }
    let next = Math.max(0, this.#step)
    while (next < STEPS.length && STEPS[next]!.isDone(world, seat)) next++
    if (next !== this.#step) this.#show(next)
    this.#panel.hidden = false
    return STEPS[next]?.place(world, seat)
  }

  #show(next: number): void {
    this.#step = next
    const step = STEPS[next]
    if (step === undefined) return this.#close()
    const isTouch = matchMedia('(pointer: coarse)').matches
    const done = make('small', `First steps, ${next + 1} of ${STEPS.length}`)
    this.#panel.replaceChildren(done, make('p', isTouch ? step.touch : step.mouse),
      button('I know how to play', () => this.#close()))
  }

  #close(): void {
    this.#isOff = true
    this.#panel.hidden = true
    localStorage.setItem(KNOWN, '1')
  }
}

function unitsOf(world: World, seat: number): UnitObject[] {
  return [...world.each(Unit)].filter((unit) => unit.seat === seat)
}

function buildingsOf(world: World, seat: number): BuildingObject[] {
  return [...world.each(Building)].filter((building) => building.seat === seat)
}

function placeOf(building: BuildingObject | undefined): Spot | undefined {
  return building && { x: columnOf(building.at) + 1.5, y: rowOf(building.at) + 1.5 }
}

/** The headquarters of another team that is nearest to that of the player. */
function nearestEnemy(world: World, seat: number): Spot | undefined {
  const teams = [...world.each(Seat)].map(({ team }) => team)
  const home = placeOf(buildingsOf(world, seat).find(({ kind }) => kind === HEADQUARTERS))
  if (home === undefined) return undefined
  const far = (spot: Spot): number => Math.hypot(spot.x - home.x, spot.y - home.y)
  return [...world.each(Building)].filter((each) => each.kind === HEADQUARTERS && teams[each.seat] !== teams[seat])
    .map((each) => placeOf(each)!).sort((a, b) => far(a) - far(b))[0]
}
