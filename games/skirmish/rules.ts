/** The numbers of the game: what units and buildings cost, do and endure. Times are in ticks, lengths in cells. */

export const TICK_RATE = 30
export const SEATS = 8
export const UNITS_PER_SEAT = 250
/** Kinds of maps: `layouts.ts`. */
export const MAP_KINDS = 3
export const NAME_BYTES = 16
export const SAY_BYTES = 120

/** The kinds of units, by number. */
export const WORKER = 0
export const SOLDIER = 1
export const RAIDER = 2
export const TANK = 3
export const ARTILLERY = 4

/** The kinds of buildings, by number. */
export const HEADQUARTERS = 0
export const BARRACKS = 1
export const FACTORY = 2
export const TURRET = 3

/** One kind of unit. */
export interface UnitRule {
  readonly name: string
  readonly cost: number
  readonly hp: number
  /** Cells a tick. */
  readonly speed: number
  readonly range: number
  readonly damage: number
  /** Ticks between two shots. */
  readonly reload: number
  /** Ticks to train it. */
  readonly training: number
  /** The kind of building that trains it. */
  readonly trainedIn: number
  /** Sixteenths of the damage that a shot does to each kind of unit. Indexed by kind of unit. */
  readonly against: readonly number[]
  /** Sixteenths of the damage that a shot does to buildings. */
  readonly againstBuildings: number
}

/** Indexed by kind of unit. */
export const UNITS: readonly UnitRule[] = [
  {
    name: 'worker', cost: 50, hp: 60, speed: 24 / 256, range: 1, damage: 4, reload: 30, training: 240,
    trainedIn: HEADQUARTERS, against: [16, 16, 16, 8, 16], againstBuildings: 8,
  },
  {
    name: 'soldier', cost: 60, hp: 100, speed: 22 / 256, range: 4, damage: 10, reload: 24, training: 240,
    trainedIn: BARRACKS, against: [16, 16, 24, 12, 16], againstBuildings: 10,
  },
  {
    name: 'raider', cost: 80, hp: 110, speed: 36 / 256, range: 1.5, damage: 15, reload: 20, training: 270,
    trainedIn: BARRACKS, against: [24, 14, 16, 10, 32], againstBuildings: 10,
  },
  {
    name: 'tank', cost: 150, hp: 340, speed: 18 / 256, range: 4.5, damage: 28, reload: 36, training: 450,
    trainedIn: FACTORY, against: [16, 18, 20, 16, 20], againstBuildings: 20,
  },
  {
    name: 'artillery', cost: 180, hp: 90, speed: 14 / 256, range: 8.5, damage: 40, reload: 75, training: 540,
    trainedIn: FACTORY, against: [16, 20, 8, 24, 16], againstBuildings: 40,
  },
]

/** One kind of building. */
export interface BuildingRule {
  readonly name: string
  readonly cost: number
  readonly hp: number
  /** Cells of one side. */
  readonly size: number
  /** Ticks to build it. */
  readonly building: number
  readonly range: number
  readonly damage: number
  readonly reload: number
}

/** Indexed by kind of building. */
export const BUILDINGS: readonly BuildingRule[] = [
  { name: 'headquarters', cost: 600, hp: 2400, size: 3, building: 1800, range: 6, damage: 16, reload: 24 },
  { name: 'barracks', cost: 150, hp: 900, size: 2, building: 600, range: 0, damage: 0, reload: 0 },
  { name: 'factory', cost: 250, hp: 1100, size: 2, building: 900, range: 0, damage: 0, reload: 0 },
  { name: 'turret', cost: 120, hp: 700, size: 1, building: 450, range: 6.5, damage: 22, reload: 20 },
]

export const START_CRYSTALS = 300
export const START_WORKERS = 5
/** What a worker carries, and the ticks that it takes to mine it. */
export const LOAD = 8
export const MINING_TICKS = 75
/** Crystals in one deposit. */
export const DEPOSIT = 1400
/** How far a unit sees an enemy by itself. */
export const SIGHT = 8
/** How far a building sees. */
export const BUILDING_SIGHT = 10

/** From this tick on a storm wears every headquarters and silences the guns of buildings, so that a match ends. */
export const STORM_AT: number = 8 * 60 * TICK_RATE
/** Ticks from one blow of the storm to the next. */
export const STORM_EVERY = 30
/** What one blow takes: a headquarters endures four minutes of it. */
export const STORM_DAMAGE = 10

/** Pauses of one player in a match, and the longest one. The relay holds both. */
export const PAUSES_MAX = 3
export const PAUSE_MS_MAX = 60_000
