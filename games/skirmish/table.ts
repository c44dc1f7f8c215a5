/** A match in this process, for tests and benches: bots, and players whose orders are in the very next tick. */

import type { ObjectId } from 'tickwire'
import { LocalFeed, LockstepRunner, type RunnerOptions } from 'tickwire/lockstep'
import { Building, Match, Seat, Unit, type BuildingObject, type MatchObject, type SeatObject,
  type UnitObject } from './definitions.ts'
import { skirmishGame, type SkirmishGame, type SkirmishOptions } from './game.ts'
import { kindOf, ORDERS, type Command } from './orders.ts'
import { TICK_RATE } from './rules.ts'

export interface TableOptions extends SkirmishOptions, RunnerOptions {
  readonly seed?: number
  /** Players, in the first seats. Default: 0. */
  readonly players?: number
}

export class Table {
  readonly game: SkirmishGame
  readonly feed: LocalFeed
  readonly runner: LockstepRunner<typeof ORDERS>
  /** The hash after every tick. */
  readonly hashes: string[] = []
  #now = 0

  constructor({ seed = 1, players = 0, ...options }: TableOptions = {}) {
    this.game = skirmishGame(options)
    this.feed = new LocalFeed({ tickRate: TICK_RATE, seed, players })
    this.runner = new LockstepRunner(this.game, this.feed, {
      ...options, onTick: (_tick, low, high) => { this.hashes.push(`${high}.${low}`) },
    })
  }

  get match(): MatchObject {
    return [...this.runner.world.each(Match)][0]!
  }

  seat(number: number): SeatObject {
    return [...this.runner.world.each(Seat)][number]!
  }

  units(seat: number, kind?: number): UnitObject[] {
    return [...this.runner.world.each(Unit)]
      .filter((unit) => unit.seat === seat && (kind === undefined || unit.kind === kind))
  }

  buildings(seat: number): BuildingObject[] {
    return [...this.runner.world.each(Building)].filter((building) => building.seat === seat)
  }

  /** Gives an order of the first player. */
  order(command: Command): string {
    return this.runner.order(this.#now, kindOf(command) as never, command.values as never)
  }

  run(ticks: number): void {
    for (let each = 0; each < ticks; each++) {
      this.runner.update(this.#now)
      this.#now += 1000 / TICK_RATE
    }
  }

  /** Plays until the match is over. Returns the seat's team that has won, or -1 after too long. */
  runToEnd(ticksMax: number): number {
    const { match } = this
    while (match.winner === 0 && this.runner.tick < ticksMax) this.run(1)
    return match.winner - 1
  }
}

export function idsOf(objects: readonly { readonly id: ObjectId }[]): ObjectId[] {
  return objects.map(({ id }) => id)
}
