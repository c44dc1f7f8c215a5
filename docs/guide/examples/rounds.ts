/** The code of docs/guide/rounds.md. It is run by test/sim/rounds-docs.test.ts. */

import { bool, defineGame, entity, fixed, oneOf, ref, u32, u8, type Game, type ObjectOf, type World } from 'tickwire'

const INPUT = { right: bool }

// #region round
const TICK_RATE = 30
const PAUSE = 2 * TICK_RATE
const GOAL = 500

/** The match: one object, which belongs to the server. */
export const Round = entity({
  number: u8,
  phase: oneOf('wait', 'run', 'won'),
  /** The tick in which the phase begins. It is in the future while the phase is announced. */
  since: u32,
  winner: ref(),
}, { name: 'Round' })

export const Runner = entity({ x: fixed(0, GOAL, 0.1).position(), score: u8 }, { name: 'Runner' })

type RoundState = Pick<ObjectOf<typeof Round>, 'phase' | 'since'>

/** Until a phase begins, the one before it lasts. */
export function isRunning({ phase, since }: RoundState, tick: number): boolean {
  return phase === 'run' ? tick >= since : phase === 'won' && tick < since
}
// #endregion

// #region server
/** Decides about the rounds. Only the server has a Round in `world.each`, so only the server runs this. */
function runRound(world: World, round: ObjectOf<typeof Round>, ahead: number): void {
  const { phase, since } = round
  if (world.tick <= since) return
  const runners = [...world.each(Runner)]
  const [winner] = runners.filter(({ x }) => x === GOAL)
  if (phase === 'run' && winner !== undefined) {
    Object.assign(round, { phase: 'won', since: world.tick + ahead, winner: winner.id })
  } else if (phase === 'wait' ? runners.length >= 2 : phase === 'won' && world.tick >= since + PAUSE) {
    Object.assign(round, { phase: 'run', since: world.tick + ahead, winner: null, number: round.number + 1 })
  }
}
// #endregion

// #region step
export const makeRace = (ahead: number): Game<typeof INPUT> => defineGame({
  tickRate: TICK_RATE,
  net: { teleport: 100 },
  input: INPUT,
  entities: [Round, Runner],
  onJoin(world, peer) {
    if (world.count(Round) === 0) world.spawn(Round, {})
    world.spawn(Runner, {}, peer)
  },
  step(world, inputs) {
    for (const round of world.each(Round)) runRound(world, round, ahead)
    const [round] = world.seen(Round)
    if (round === undefined) return
    for (const runner of world.each(Runner)) {
      if (world.tick === round.since) {
        if (round.phase === 'run') runner.x = 0
        else if (round.winner === runner.id) runner.score++
      }
      if (isRunning(round, world.tick) && inputs.of(runner.owner).right) runner.x = Math.min(runner.x + 8, GOAL)
    }
  },
})

/** Phases begin half a second after the server has decided it. */
export const game: Game<typeof INPUT> = makeRace(TICK_RATE / 2)
// #endregion
