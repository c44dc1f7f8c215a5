/**
 * A lockstep game whose state depends on its orders and not on their ticks: each player has a sum and a chain of all
 * numbers that it added. After the same orders a tick has the same hash, wherever the match is played.
 */

import { entity, u16, u32 } from 'tickwire'
import { defineLockstep, order, type LockstepGame } from 'tickwire/lockstep'

export const Account = entity({ sum: u32, chain: u32, count: u16 }, { name: 'Account' })
export const Add = order({ amount: u16 }, 'Add')

const ORDERS = [Add] as const
const PRIME = 65_521

export const sums: LockstepGame<typeof ORDERS> = defineLockstep({
  tickRate: 60,
  players: [3, 3],
  orders: ORDERS,
  entities: [Account],
  onJoin: (world, player) => { world.spawn(Account, {}, player) },
  step(world, orders) {
    for (const { by, values: { amount } } of orders) {
      for (const account of world.each(Account)) {
        if (account.owner !== by) continue
        account.sum += amount
        account.chain = (account.chain * 31 + amount) % PRIME
        account.count++
      }
    }
  },
})
