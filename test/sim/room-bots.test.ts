/** Bots across a restart (`keepRooms`): bots that the next process adds again take over the former bots. */

import { expect, test } from 'vitest'
import { addBots } from '../../docs/guide/examples/bots.ts'
import { game as coins, Player } from '../../docs/guide/examples/first-game/game.ts'
import { bool, defineGame, entity, fixed, type Peer, type Match, type RoomType } from 'tickwire'
import { simulate } from 'tickwire/testing'
import { Party } from './rooms-party.ts'

const Walker = entity({ x: fixed(0, 1000, 0.1) }, { name: 'Walker' })
const events: string[] = []
const game = defineGame({
  tickRate: 30,
  input: { right: bool },
  entities: [Walker],
  onJoin(world, peer) {
    events.push(`join ${peer.id}`)
    world.spawn(Walker, { x: 10 }, peer)
  },
  onLeave: (_world, peer) => { events.push(`leave ${peer.id}`) },
  step(world, inputs) {
    for (const walker of world.each(Walker)) if (inputs.of(walker.owner).right) walker.x += 1
  },
})

/** The next process: the same types of rooms, and the rooms of the former one. */
function restart(before: Party, type: RoomType): Party {
  const { rooms } = before.host.images()
  const next = new Party({ duel: type })
  next.now = before.now
  expect(next.host.restore(next.now, rooms)).toHaveLength(rooms.length)
  return next
}

const roomOf = (party: Party): Match => party.host.rooms[0]!
const walkers = (party: Party): (readonly [owner: number, x: number])[] =>
  [...roomOf(party).world.each(Walker)].map(({ owner, x }) => [owner, x] as const).toSorted(([a], [b]) => a - b)
const FIRST_BOT = 0x8000_0000

test('[ROOM12] bots that `onCreate` adds survive two restarts in place, and do not join again', () => {
  const bots: Peer[][] = []
  const type: RoomType = {
    game, capacity: 4, emptyMs: Infinity,
    onCreate: (room) => { bots.push([room.addBot(() => ({ right: true })), room.addBot(() => ({}))]) },
  }
  events.length = 0
  let party = new Party({ duel: type })
  party.host.create('duel')
  party.run(500)
  for (let restarts = 1; restarts <= 2; restarts++) {
    const before = walkers(party)
    party = restart(party, type)
    expect(walkers(party)).toEqual(before)
    expect(roomOf(party).isRestored).toBe(true)
    party.run(500)
    expect(walkers(party).map(([owner]) => owner)).toEqual([FIRST_BOT, FIRST_BOT + 1])
    expect(walkers(party)[0]![1], 'the new input function moves the old bot').toBeGreaterThan(before[0]![1] + 5)
    expect(roomOf(party).peers.map(({ id }) => id)).toEqual([FIRST_BOT, FIRST_BOT + 1])
  }
  expect(events).toEqual([`join ${FIRST_BOT}`, `join ${FIRST_BOT + 1}`])
  expect(bots.map((each) => each.map(({ id }) => id))).toEqual(Array(3).fill([FIRST_BOT, FIRST_BOT + 1]))
  // Past the time that restored bots wait, nothing changes.
  party.run(8000)
  expect(walkers(party).map(([owner]) => owner)).toEqual([FIRST_BOT, FIRST_BOT + 1])
})

test('[ROOM12] more bots than before join; bots that the next process does not add leave after `resumeMs`', () => {
  const type: RoomType = { game, capacity: 4, emptyMs: Infinity, resumeMs: 1000 }
  events.length = 0
  const first = new Party({ duel: type })
  const room = first.host.create('duel')
  const [gone] = [room.addBot(() => ({})), room.addBot(() => ({}))]
  first.run(300)
  room.kick(gone!)
  first.run(300)
  expect(walkers(first).map(([owner]) => owner)).toEqual([FIRST_BOT + 1])
  const second = restart(first, {
    ...type,
    onCreate: (again) => {
      for (let count = 0; count < 2; count++) again.addBot(() => ({}))
    },
  })
  second.run(300)
  expect(walkers(second).map(([owner]) => owner), 'ids are not reused').toEqual([FIRST_BOT + 1, FIRST_BOT + 2])
  const third = restart(second, type)
  third.run(500)
  expect(walkers(third).map(([owner]) => owner)).toEqual([FIRST_BOT + 1, FIRST_BOT + 2])
  const late = roomOf(third).addBot(() => ({ right: true }))
  expect(late.id, 'a bot that is added a moment later takes over too').toBe(FIRST_BOT + 1)
  events.length = 0
  third.run(1500)
  expect([walkers(third).map(([owner]) => owner), events]).toEqual([[FIRST_BOT + 1], [`leave ${FIRST_BOT + 2}`]])
})

test('[ROOM12] the guide: bots collect coins, also at a server that starts again', () => {
  const sim = simulate(coins, { seed: 3, keepRooms: true, onMatch: addBots })
  sim.run(10_000)
  const bots = sim.server(Player).filter(({ owner }) => owner >= FIRST_BOT)
  expect(bots).toHaveLength(2)
  expect(Math.min(...bots.map((bot) => bot.coins))).toBeGreaterThan(2)
  sim.restart()
  expect(sim.server(Player).filter(({ owner }) => owner >= FIRST_BOT)).toHaveLength(2)
})
