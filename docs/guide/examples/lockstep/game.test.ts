import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LocalFeed, LockstepRunner } from 'tickwire/lockstep'
import { game, Move, Unit } from './game.ts'

test('units march where their player sends them, and the others stay', () => {
  const runner = new LockstepRunner(game, new LocalFeed({ tickRate: game.tickRate, players: 2 }))
  runner.update(0)
  const unitsOf = (player: number) => [...runner.world.seen(Unit)].filter(({ owner }) => owner === player)
  const move = (player: number) => ({ units: unitsOf(player).map(({ id }) => id), to: { x: 200, y: 100 } })
  assert.equal(runner.order(1, Move, move(1)), 'sent')
  assert.equal(runner.order(1, Move, move(2)), 'refused')
  for (let now = 0; runner.tick < 260; now += 100) runner.update(now)
  assert.ok(unitsOf(1).every(({ at }) => at.x === 200 && at.y === 100))
  assert.ok(unitsOf(2).every(({ at }) => at.x === 56))
})
