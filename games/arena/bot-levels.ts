/** How well bots fight. */

export const BOT_LEVELS = ['gentle', 'normal', 'hard'] as const
export type BotLevel = (typeof BOT_LEVELS)[number]

/** The numbers of one level. */
export interface BotSkill {
  /** The most that the aim is off at first, in radians, and how fast it gets better while it looks at one player. */
  readonly errorRadians: number
  readonly focus: number
  readonly reactionSeconds: number
  /** Radians per second. */
  readonly turnSpeed: number
  /** How long it shoots, and how long it pauses then, at least and in addition at random. */
  readonly burstSeconds: number
  readonly pauseSeconds: readonly [least: number, more: number]
  readonly hasRail: boolean
  /** Of the shots at a distance, the share with rockets. */
  readonly rocketShare: number
  /** A player counts as this many times as far away as another bot. */
  readonly mercy: number
}

export const BOT_SKILLS: { readonly [level in BotLevel]: BotSkill } = {
  gentle: {
    errorRadians: 0.42, focus: 0.12, reactionSeconds: 1.1, turnSpeed: 3.5, burstSeconds: 1, pauseSeconds: [1.4, 1.6],
    hasRail: false, rocketShare: 0.3, mercy: 3,
  },
  normal: {
    errorRadians: 0.165, focus: 0.5, reactionSeconds: 0.35, turnSpeed: 7, burstSeconds: 1.6, pauseSeconds: [0.3, 0.9],
    hasRail: true, rocketShare: 0.75, mercy: 1,
  },
  hard: {
    errorRadians: 0.07, focus: 1, reactionSeconds: 0.2, turnSpeed: 11, burstSeconds: 3, pauseSeconds: [0.1, 0.3],
    hasRail: true, rocketShare: 0.75, mercy: 1,
  },
}

/** The level of that name. */
export function botLevel(name: string | null | undefined): BotLevel | undefined {
  return BOT_LEVELS.find((level) => level === name)
}
