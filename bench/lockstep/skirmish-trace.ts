/** The log of ten minutes of skirmish: eight players, each played by a bot that gives its orders as a player does. */

import type { TickLog } from 'tickwire/lockstep'
import { ordersOfPlayer } from '../../games/skirmish/bots.ts'
import { kindOf } from '../../games/skirmish/orders.ts'
import { SEATS, TICK_RATE } from '../../games/skirmish/rules.ts'
import { Table } from '../../games/skirmish/table.ts'

const MINUTES = 10

export function skirmishTrace(): TickLog {
  const table = new Table({ seed: 11, players: SEATS })
  for (let tick = 0; tick < MINUTES * 60 * TICK_RATE && table.match.winner === 0; tick++) {
    table.run(1)
    for (let player = 1; player <= SEATS; player++) {
      for (const command of ordersOfPlayer(table.runner.world, player, 3)) {
        Object.assign(table.feed, { player })
        table.runner.order(0, kindOf(command) as never, command.values as never)
        Object.assign(table.feed, { player: 1 })
      }
    }
  }
  return table.feed.log
}
