import { expect, test } from 'vitest'
import { defineLockstep, order, served } from 'tickwire/lockstep'
import { simulate } from 'tickwire/testing'
import { game as guide, Move as GuideMove, Unit as GuideUnit } from '../../docs/guide/examples/lockstep-served.ts'
import { Crate, game as rules, Move, Spawn, Take, Unit } from './lockstep-game.ts'

const LINK = { latencyMs: 40, jitterMs: 10, loss: 0.03 }
const game = served(rules)

test('[LOCK75] a server steps the rules of a lockstep game; orders arrive as messages, checked and in sequence', () => {
  const sim = simulate(game, { seed: 5, clients: 2, link: LINK })
  sim.run(1000)
  expect(sim.server(Unit)).toHaveLength(12)
  expect(sim.server(Crate)).toHaveLength(1)
  const [first, second] = sim.players.map(({ host }) => host)
  const units = sim.server(Unit).filter(({ owner }) => owner === first!.peer).map(({ id }) => id)
  const foreign = sim.server(Unit).filter(({ owner }) => owner === second!.peer).map(({ id }) => id)
  expect(game.order(first!, Move, { units: foreign, to: { x: 1, y: 1 } })).toBe('refused')
  // The last of three orders of one moment wins.
  for (const x of [10, 20, 30]) expect(game.order(first!, Move, { units, to: { x, y: 50 } })).toBe('sent')
  expect(game.order(second!, Take, { crate: 1 })).toBe('sent')
  expect(game.order(second!, Spawn, { count: 3 })).toBe('sent')
  sim.run(500)
  const goals = sim.server(Unit).filter(({ owner }) => owner === first!.peer).map(({ to }) => to.x)
  expect(goals).toEqual(new Array(6).fill(30))
  expect(sim.server(Crate)[0]!.takes).toBe(1)
  expect(sim.server(Unit)).toHaveLength(15)
  expect(sim.client(0, Unit)).toHaveLength(15)
  sim.leave(1)
  // Until all units stand still: views of moving ones are a little behind.
  sim.run(20_000)
  expect(sim.server(Unit)).toHaveLength(6)
  expect(sim.difference()).toBeUndefined()
})

test('[LOCK75] the server skips orders that its check refuses, of no kind, and of broken bytes', () => {
  // A client with changed code: no order of it is checked, and one kind more exists.
  const orders = [order(Move.schema.shape, 'Move'), Take, Spawn] as const
  const changed = served(defineLockstep({ ...rules, orders, step: () => {} }))
  expect([...changed.fingerprint]).toEqual([...game.fingerprint])
  const sim = simulate(game, { seed: 6, clients: 2 })
  sim.run(500)
  const [host] = sim.players.map((player) => player.host)
  const foreign = sim.server(Unit).filter(({ owner }) => owner !== host!.peer)
  const units = foreign.map(({ id }) => id)
  expect(changed.order(host!, orders[0], { units, to: { x: 0, y: 0 } })).toBe('sent')
  const message = game.messages[0]!
  for (const [type, data] of [[191, []], [0, []], [0, [255, 255, 255, 255]], [2, [9, 9]]] as const)
    expect(host!.send(message as never, { type, data: Uint8Array.from(data) } as never)).toBe('queued')
  sim.run(500)
  expect(sim.server(Unit)).toHaveLength(12)
  expect(foreign.every(({ isMoving }) => !isMoving)).toBe(true)
})

test('[LOCK75] a unit of the guide is received by players that see it, without its goal', () => {
  const sim = simulate(guide, { seed: 7, clients: 2, link: LINK })
  sim.run(800)
  expect(sim.server(GuideUnit)).toHaveLength(2)
  expect([sim.client(0, GuideUnit).length, sim.client(1, GuideUnit).length]).toEqual([1, 1])
  const [host] = sim.players.map((player) => player.host)
  const own = sim.client(0, GuideUnit)[0]!
  expect(guide.order(host!, GuideMove, { units: [own.id], to: { x: 110, y: 128 } })).toBe('sent')
  sim.run(1500)
  const seen = sim.client(1, GuideUnit).find(({ id }) => id === own.id)!
  expect(seen.at.x).toBeGreaterThan(80)
  expect([seen.to.x, sim.own(0, GuideUnit).to.x]).toEqual([0, 110])
  guide.order(host!, GuideMove, { units: [own.id], to: { x: 10, y: 128 } })
  sim.run(3000)
  expect([sim.client(0, GuideUnit).length, sim.client(1, GuideUnit).length]).toEqual([1, 1])
})
