/** The three levels: which enemies come when. */

import { BOSS, CARRIER, CHASER, DRONE, KAMIKAZE, ORBITER, PATROL, ROCK, WEAVER } from './definitions.ts'

/** `count` enemies of a kind, `gap` seconds apart, from `y` on with `step` between them. */
export interface Wave {
  readonly at: number
  readonly kind: number
  readonly count: number
  readonly gap: number
  readonly y: number
  readonly step: number
}

export interface Stage {
  readonly name: string
  readonly seconds: number
  readonly waves: readonly Wave[]
}

const wave = (at: number, kind: number, count: number, y: number, step: number = 0, gap: number = 0.45): Wave => (
  { at, kind, count, gap, y, step }
)

export const STAGES: readonly Stage[] = [
  {
    name: 'The Drift',
    seconds: 60,
    waves: [
      wave(2, DRONE, 5, 150), wave(5, DRONE, 5, 390), wave(8, CARRIER, 1, 270), wave(9, ROCK, 3, 120, 140, 0.9),
      wave(12, WEAVER, 6, 270), wave(16, DRONE, 6, 90, 70, 0.3), wave(18, CARRIER, 1, 180), wave(20, ORBITER, 4, 270),
      wave(24, WEAVER, 5, 160), wave(25, WEAVER, 5, 380), wave(28, KAMIKAZE, 3, 120, 150, 0.8), wave(30, CARRIER, 1,
        400),
      wave(32, PATROL, 2, 180, 180), wave(37, DRONE, 8, 60, 60, 0.25), wave(42, BOSS, 1, 270),
    ],
  },
  {
    name: 'Iron Nebula',
    seconds: 70,
    waves: [
      wave(2, WEAVER, 6, 200), wave(4, ROCK, 5, 60, 105, 0.7), wave(7, CARRIER, 1, 300), wave(9, ORBITER, 5, 180),
      wave(13, CHASER, 4, 100, 110, 0.6), wave(17, PATROL, 3, 120, 150), wave(20, CARRIER, 1, 150),
      wave(22, KAMIKAZE, 5, 80, 95, 0.5), wave(26, WEAVER, 7, 380), wave(29, ROCK, 6, 40, 90, 0.4), wave(31, CARRIER,
        1, 400),
      wave(33, ORBITER, 4, 130), wave(34, ORBITER, 4, 410), wave(38, CHASER, 5, 90, 90, 0.5), wave(43, DRONE, 10, 40,
        50, 0.2),
      wave(48, BOSS, 1, 270),
    ],
  },
  {
    name: 'Heart of the Hive',
    seconds: 80,
    waves: [
      wave(2, KAMIKAZE, 4, 90, 120, 0.4), wave(5, PATROL, 3, 110, 160), wave(8, CARRIER, 1, 270), wave(10, CHASER, 6,
        60, 80, 0.4),
      wave(14, ORBITER, 6, 200), wave(16, ORBITER, 6, 360), wave(20, CARRIER, 1, 120), wave(22, WEAVER, 8, 140, 0, 0.3),
      wave(24, WEAVER, 8, 400, 0, 0.3), wave(28, ROCK, 8, 30, 70, 0.35), wave(31, CARRIER, 1, 430), wave(33, KAMIKAZE,
        8, 50, 60, 0.3),
      wave(37, PATROL, 4, 90, 115), wave(42, CHASER, 6, 70, 80, 0.3), wave(46, CARRIER, 1, 270), wave(50, BOSS, 1, 270),
    ],
  },
]
