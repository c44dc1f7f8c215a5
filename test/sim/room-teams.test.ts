/** Teams in rooms: `teamOf` and `viewpoint` know which room they are asked for. */

import { expect, test } from 'vitest'
import { always, bool, defineGame, entity, near, u8, vec2, type Match } from 'tickwire'
import { type Guest, Party } from './rooms-party.ts'

const Soldier = entity({ at: vec2(0, 1000, 1).position(), plan: u8.team() }, { name: 'Soldier', interest: always })
const Crate = entity({ at: vec2(0, 1000, 1).position() }, { name: 'Crate', interest: near(10) })
const game = defineGame({
  tickRate: 30,
  input: { go: bool },
  entities: [Soldier, Crate],
  onJoin(world, peer) {
    world.spawn(Soldier, { at: { x: 100 * peer.id, y: 0 }, plan: 40 + peer.id }, peer)
    if (world.count(Crate) === 0) world.spawn(Crate, { at: { x: 900, y: 900 } })
  },
  step: () => {},
})
type Player = Guest<typeof game.input>

/** The plans that a player's view shows, by owner. */
function plansOf(guest: Player): (readonly [owner: number, plan: number])[] {
  return [...guest.host.view.each(Soldier)].map(({ owner, plan }) => [owner, plan] as const)
}

test('[INT12] two rooms of one type have different teams, and no team field reaches the other team', () => {
  const allied = new Set<Match>()
  const party = new Party({
    match: {
      game, capacity: 2,
      interest: { teamOf: (peer, room) => (allied.has(room) ? 1 : peer) },
    },
  })
  const [mates, rivals] = [party.host.create('match'), party.host.create('match')]
  allied.add(mates)
  const join = (room: Match): Player[] => [0, 1].map(() => party.ask(game, { room: room.id }))
  const [inMates, inRivals] = [join(mates), join(rivals)]
  party.run(1000)
  expect(inMates.map(plansOf)).toEqual([
    [
      [1, 41],
      [2, 42],
    ],
    [
      [1, 41],
      [2, 42],
    ],
  ])
  expect(inRivals.map(plansOf), 'the rival plan stays at its initial value').toEqual([
    [
      [1, 41],
      [2, 0],
    ],
    [
      [1, 0],
      [2, 42],
    ],
  ])
  expect(party.faults).toEqual([])
})

test('[INT12] viewpoint receives the room', () => {
  const watched = new Set<Match>()
  const party = new Party({
    match: {
      game, capacity: 2,
      interest: { viewpoint: (_peer, points, room) => { if (watched.has(room)) points.add(900, 900) } },
    },
  })
  const [far, close] = [party.host.create('match'), party.host.create('match')]
  watched.add(close)
  const [blind, seeing] = [party.ask(game, { room: far.id }), party.ask(game, { room: close.id })]
  party.run(1000)
  expect([blind, seeing].map(({ host }) => [...host.view.each(Crate)].length)).toEqual([0, 1])
})
