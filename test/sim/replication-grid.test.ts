/** Baselines that are taken from cells of ticks: which ones they are, and that receivers on lines of their own share what is made. */

import { expect, test } from 'vitest'
import { EntropyCoder } from '../../packages/tickwire/src/core/codec/entropy-coder.ts'
import { entity } from '../../packages/tickwire/src/core/schema/definition.ts'
import { fixed } from '../../packages/tickwire/src/core/schema/field-kinds.ts'
import { CLEAR, Party } from './replication-party.ts'

const Cart = entity({ x: fixed(0, 1000, 0.1) }, { name: 'Cart' })
const CELL = 4

function makeParty(cellTicks: number): Party {
  const party = new Party(3, [Cart], 64, () => [new EntropyCoder(Cart.schema, 60)])
  party.replicator.grid.fix(cellTicks)
  return party
}

test('[REPL26] who moves is told from the last tick of a cell, who came to rest from his last row, and first rows count at once', () => {
  const party = makeParty(CELL)
  const receiver = party.join(1, () => 0)
  receiver.line = { ...CLEAR, delay: 3 }
  const { source } = receiver
  const cart = party.world.spawn(Cart, { x: 0 })
  const seen = new Set<number>()
  let first = -1
  for (let tick = 0; tick < 60; tick++) {
    party.tick(() => { cart.x += 0.3 })
    const base = source.baselineOf(cart.id)
    if (first < 0) first = base
    else if (base !== first) seen.add(base % CELL)
  }
  expect(first % CELL, 'the first row does not wait for the end of its cell').not.toBe(CELL - 1)
  expect([...seen]).toEqual([CELL - 1])
  // The last row of all is in the midst of a cell.
  while (party.world.tick % CELL !== 1) party.tick(() => { cart.x += 0.3 })
  const last = party.world.tick
  for (let tick = 0; tick < 12; tick++) party.tick(() => {})
  expect(source.baselineOf(cart.id)).toBe(last)
  expect(receiver.whyNotCurrent()).toBe(undefined)
})

test('[REPL26] receivers on lines of their own share deltas where there are cells', () => {
  const made = [1, CELL].map((cellTicks) => {
    const party = makeParty(cellTicks)
    for (let peer = 1; peer <= 12; peer++) party.join(peer, () => 0).line = { ...CLEAR, delay: peer - 1, patience: 60 }
    const carts = Array.from({ length: 40 }, (_, at) => party.world.spawn(Cart, { x: at }))
    let sum = 0
    for (let tick = 0; tick < 80; tick++) {
      party.tick(() => { for (const cart of carts) cart.x += 0.3 })
      if (tick >= 40) sum += party.replicator.cache.count
    }
    return sum
  })
  expect(made[1]! / made[0]!).toBeLessThan(0.6)
})
