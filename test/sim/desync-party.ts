/** Matches in which a world is changed, for tests of desyncs. */

import { expect } from 'vitest'
import type { LockstepGame } from 'tickwire/lockstep'
import { game, Move, Spawn, Unit } from './lockstep-game.ts'
import { LockstepParty, type PartyClient } from './lockstep-party.ts'

export const LINE = { latencyMs: 25, jitterMs: 5, loss: 0.01 }

export function match(clients: number, options: object = {}): LockstepParty {
  const party = new LockstepParty({ game: game as never, seed: 41, clients, weather: () => LINE, ...options })
  party.run(1000)
  for (let at = 0; at < 20; at++) {
    party.run(100)
    const { now } = party.clock
    party.clients[at % clients]!.order(now, Spawn as never, { count: 2 })
    const { runner, player } = party.clients[at % clients]!.client
    const units = [...runner!.world.each(Unit)].filter(({ owner }) => owner === player).map(({ id }) => id)
    party.clients[at % clients]!.order(now, Move as never, { units, to: { x: 10 * at, y: 200 } })
  }
  return party
}

/** A game whose external state cannot be made any more from a moment on, as when memory is full. */
export class BrokenGame {
  isBroken = false
  readonly game: LockstepGame = {
    ...game as unknown as LockstepGame,
    external: () => {
      if (this.isBroken) throw new Error('no room for the physics')
      return { encode: () => new Uint8Array(0), decode: () => {}, hash: () => 0 }
    },
  }
}

/** Changes one number of one unit, as a bad memory cell would. */
export function corrupt({ client }: PartyClient, at = 3): { id: number; before: number } {
  const unit = [...client.runner!.world.each(Unit)][at]!
  const before = unit.hp
  unit.hp = before === 50 ? 49 : 50
  return { id: unit.id, before }
}

export function hashesAgree(party: LockstepParty, from: number): void {
  const [first, ...others] = party.clients
  for (const other of others)
    for (let tick = from; tick < Math.min(first!.hashes.length, other.hashes.length); tick++)
      expect(other.hashes[tick], `tick ${tick}`).toBe(first!.hashes[tick])
}

/** Pages that draw slowly: their machines do nothing for most of the time, each at its own pace. */
export function drawSlowly(party: LockstepParty, ms: number, drawMs: readonly number[]): void {
  const until = party.clock.now + ms
  while (party.clock.now < until) {
    party.clients.forEach((client, at) => {
      if (party.clock.now >= client.frozenUntil + 15) client.frozenUntil = party.clock.now + drawMs[at]!
    })
    party.run(10)
  }
}
