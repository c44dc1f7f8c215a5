import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LocalFeed, LockstepRunner } from 'tickwire/lockstep'
import { game, Move, Unit } from './game.ts'

test('units march where their player orders them to, and stay there', () => {
  const runner = new LockstepRunner(game, new LocalFeed({ tickRate: game.tickRate, seed: 7, players: 2 }))
  let now = 0
  const run = (ticks: number): void => {
    for (let each = 0; each < ticks; each++) runner.update(now += 1000 / game.tickRate)
  }
  run(1)
  const own = [...runner.world.each(Unit)].filter(({ owner }) => owner === 1).map(({ id }) => id)
  assert.equal(runner.order(now, Move, { units: own, to: { x: 200, y: 100 } }), 'sent')
  run(300)
  for (const id of own) {
    const { x, y } = runner.world.get(Unit, id)!.at
    assert.deepEqual({ x, y }, { x: 200, y: 100 })
  }
})
